"""What the dialog of a session's deletion says, and the milder ways that it offers first."""

from playwright.async_api import expect

DIALOG = "dialog#ask"
ROUTE = "/api/agent-control/session/delete"


async def asked_for(stage, session="s1"):
    alice = await stage.open("alice")
    asked = await stage.send("POST", ROUTE, {"sessionId": session})
    dialog = alice.locator(DIALOG)
    await expect(dialog).to_have_attribute("open", "")
    await expect(dialog).not_to_have_attribute("data-arming", "")
    return alice, asked, dialog


async def test_archiving_instead_keeps_the_session_and_tells_the_agent(stage):
    _alice, asked, dialog = await asked_for(stage)
    await expect(dialog).to_have_accessible_name("Delete the session 's1' for good?")
    await expect(dialog).to_contain_text("There is no trash and no backup")
    await expect(dialog.get_by_role("checkbox")).to_have_accessible_name(
        "I have read what goes, and want this session deleted for good"
    )
    for name, form in (("Save the log (JSONL)", "jsonl"), ("Save the transcript (Markdown)", "markdown")):
        link = dialog.get_by_role("link", name=name)
        await expect(link).to_have_attribute("href", f"/api/sessions/s1/export?format={form}")
    # The milder way comes before the tick, for the eye and for the keyboard.
    await dialog.get_by_role("button", name="Archive it instead").press("Enter")
    answer = await asked.answer()
    assert (answer["status"], answer["body"]["error"]["code"]) == (403, "CONFIRMATION_DENIED")
    assert answer["body"]["error"]["reason"] == "Archive it instead"
    await expect(dialog).not_to_have_attribute("open", "")
    rows = await stage.server.call("rows", wanted={"sessions": {"s1": ""}}, world={})
    stored = await stage.server.call("stored")
    assert (rows["sessions"]["s1"], stored["archived"]) == ("here", ["s1"])


async def test_the_next_card_has_no_offers_left_over_and_its_own_words_beside_the_box(stage):
    _alice, asked, dialog = await asked_for(stage)
    await dialog.get_by_role("button", name="Keep it").click()
    assert (await asked.answer())["status"] == 403
    # A card that comes while another is still shown waits behind a notice.
    await expect(dialog).not_to_have_attribute("open", "")
    other = await stage.ask(item=await stage.dentist())
    await expect(dialog).to_have_attribute("open", "")
    await expect(dialog.get_by_role("button", name="Archive it instead")).to_have_count(0)
    await expect(dialog.get_by_role("checkbox")).to_have_accessible_name("I have read this and agree")
    await expect(dialog).not_to_have_attribute("data-arming", "")
    await dialog.get_by_role("button", name="Keep it").click()
    assert (await other.answer())["body"]["status"] == "denied"


async def test_a_tick_deletes_the_session(stage):
    _, asked, dialog = await asked_for(stage)
    await dialog.get_by_role("checkbox").check()
    await dialog.get_by_role("button", name="Delete the session 's1'").click()
    answer = await asked.answer()
    assert (answer["status"], answer["body"]["ok"], answer["body"]["sessionId"]) == (200, True, "s1")
    rows = await stage.server.call("rows", wanted={"sessions": {"s1": ""}}, world={})
    assert rows["sessions"]["s1"] == "gone"
    assert await stage.ends() == ["executed"]
