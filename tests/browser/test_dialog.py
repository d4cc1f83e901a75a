"""The main job in real browsers: an agent asks, a person ticks, and exactly what was shown is gone."""

import signal

from playwright.async_api import expect

from tests.browser.conftest import SWIMMING

DIALOG = "dialog#ask"


async def test_a_tick_deletes_exactly_the_date_that_was_shown(stage):
    alice, bob = await stage.open("alice"), await stage.open("bob")
    for page in (alice, bob):
        # Held before the dialog opens, and still held while it opens.
        await page.keyboard.down("Enter")
        await page.keyboard.down(" ")
    asked = await stage.ask(item=await stage.swimming())
    await expect(alice.locator("[data-card] h3")).to_have_text("Delete 'Swimming' on Wednesday, 9 December 2026?")
    dialog = alice.locator(DIALOG)
    await expect(dialog).to_have_attribute("open", "")
    await expect(dialog).to_have_role("alertdialog")
    await expect(dialog).to_have_accessible_name("Delete 'Swimming' on Wednesday, 9 December 2026?")
    await expect(dialog.get_by_role("button", name="Keep it")).to_be_focused()
    confirm = dialog.get_by_role("button", name="Delete 'Swimming' on 9 December")
    tick = dialog.get_by_role("checkbox")
    await expect(tick).not_to_be_checked()
    for _ in range(5):
        await alice.keyboard.down("Enter")
        await alice.keyboard.down(" ")
    await expect(dialog).to_have_attribute("data-arming", "")
    for key in ("Enter", " "):
        await alice.keyboard.up(key)
    await expect(dialog).not_to_have_attribute("data-arming", "")
    await expect(dialog).to_have_attribute("open", "")
    await expect(confirm).to_be_disabled()
    assert await stage.ends() == []
    await tick.check()
    await expect(confirm).to_be_enabled()
    await confirm.click()
    answer = await asked.answer()
    assert answer["status"] == 200
    assert answer["body"]["status"] == "success"
    assert answer["body"]["result"]["item"] | {"deleted": True} == answer["body"]["result"]["item"]
    assert await stage.stored("swim") == [start for start in SWIMMING if start != "2026-12-09T18:00"]
    assert await stage.ends() == ["executed"]
    # Both windows know at once, and by whom.
    for page in (alice, bob):
        await expect(page.locator("[data-card]")).to_have_count(0)
        await expect(page.locator("[data-past] .past-row")).to_contain_text("by alice")
    await expect(alice.locator(DIALOG)).not_to_have_attribute("open", "")
    await alice.get_by_role("link", name="Receipt").first.click()
    await expect(alice.get_by_role("heading", level=1)).to_contain_text("Swimming")


async def test_a_single_event_is_gone_with_the_keyboard_alone(stage):
    alice = await stage.open("alice")
    asked = await stage.ask(item=await stage.dentist())
    dialog = alice.locator(DIALOG)
    await expect(dialog).to_have_attribute("open", "")
    await expect(dialog).not_to_have_attribute("data-arming", "")
    # Escape closes and decides nothing; the card stays.
    await alice.keyboard.press("Escape")
    await expect(dialog).not_to_have_attribute("open", "")
    await alice.locator("[data-card]").get_by_role("button", name="Review").press("Enter")
    await expect(dialog).to_have_attribute("open", "")
    await expect(dialog).not_to_have_attribute("data-arming", "")
    await dialog.get_by_role("checkbox").press(" ")
    await dialog.get_by_role("button", name="Delete 'Dentist' on 3 December").press("Enter")
    assert (await asked.answer())["body"]["status"] == "success"
    assert await stage.stored("dentist") == "gone"
    assert await stage.stored("swim") == SWIMMING


async def test_a_no_reaches_the_agent_with_its_reason(stage):
    alice = await stage.open("alice", "/calendar/")
    asked = await stage.ask(item=await stage.dentist())
    dialog = alice.locator(DIALOG)
    await dialog.get_by_text("Say why not").click()
    await dialog.get_by_role("textbox").fill("I still need it")
    await dialog.get_by_role("button", name="Keep it").click()
    answer = await asked.answer()
    assert (answer["status"], answer["body"]["status"], answer["body"]["reason"]) == (200, "denied", "I still need it")
    assert await stage.stored("dentist") == ["2026-12-03T09:30"]
    assert await stage.ends() == ["denied"]
    again = await (await stage.ask(item=await stage.dentist())).answer()
    assert again["body"]["code"] == "denied_recently"
    await alice.goto(f"{stage.server.origin}/inbox/")
    await alice.get_by_role("button", name="Allow asking again").click()
    await expect(alice.get_by_text("May be asked again")).to_be_visible()
    # The page is a new one: what waits before it listens opens no dialog.
    await expect(alice.locator("[data-connection]")).to_have_attribute("data-connection", "open")
    await stage.ask(item=await stage.dentist())
    await expect(alice.locator(DIALOG)).to_have_attribute("open", "")


async def test_what_nobody_decides_expires_and_is_kept(stage):
    alice = await stage.open("alice")
    asked = await stage.ask(item=await stage.dentist(), timeout_ms=60_000)
    dialog = alice.locator(DIALOG)
    await expect(dialog).to_have_attribute("open", "")
    await stage.server.advance(60_000)
    answer = await asked.answer()
    assert answer["body"]["error"] == {"code": "calendar_failed", "reason": "expired"}
    await expect(dialog.get_by_role("alert")).to_contain_text("Nobody decided in time. Nothing was changed.")
    await expect(dialog.get_by_role("button", name="Delete")).to_be_hidden()
    await dialog.get_by_role("button", name="Close").click()
    await expect(alice.locator("[data-past] .past-row")).to_contain_text("Expired")
    assert await stage.stored("dentist") == ["2026-12-03T09:30"]
    assert await stage.ends() == ["expired"]


async def test_a_decision_in_one_window_closes_the_other(stage):
    alice, bob = await stage.open("alice"), await stage.open("bob")
    asked = await stage.ask(item=await stage.dentist())
    for page in (alice, bob):
        await expect(page.locator(DIALOG)).to_have_attribute("open", "")
    await bob.locator(DIALOG).get_by_role("button", name="Keep it").click()
    assert (await asked.answer())["body"]["status"] == "denied"
    await expect(alice.locator(DIALOG).get_by_role("alert")).to_contain_text("Decided by bob")
    await expect(alice.locator(DIALOG).get_by_role("button", name="Delete")).to_be_hidden()
    assert await stage.ends() == ["denied"]


async def test_a_target_that_changed_is_not_deleted(stage):
    alice = await stage.open("alice")
    asked = await stage.ask(item=await stage.dentist())
    dialog = alice.locator(DIALOG)
    await dialog.get_by_role("checkbox").check()
    await stage.story.look_up(["<event:dentist>"])
    await stage.story.do({"do": "change_target", "kind": "event", "id": "dentist", "set": {"location": "Elsewhere"}})
    await dialog.get_by_role("button", name="Delete 'Dentist'").click()
    answer = await asked.answer()
    assert answer["body"]["error"] == {"code": "calendar_failed", "reason": "changed"}
    await expect(dialog.get_by_role("alert")).to_contain_text(
        "It had changed after it was shown, so nothing was deleted."
    )
    assert await stage.stored("dentist") == ["2026-12-03T09:30"]
    assert await stage.ends() == ["changed"]


async def test_a_double_click_decides_once(stage):
    alice = await stage.open("alice")
    frames = []

    def sent(payload):
        frames.append(payload)

    alice.on("websocket", lambda socket: socket.on("framesent", sent))
    await alice.reload()
    await expect(alice.locator("[data-connection]")).to_have_attribute("data-connection", "open")
    asked = await stage.ask(item=await stage.dentist())
    dialog = alice.locator(DIALOG)
    await dialog.get_by_role("checkbox").check()
    await dialog.get_by_role("button", name="Delete 'Dentist'").dblclick()
    assert (await asked.answer())["body"]["status"] == "success"
    await expect(alice.locator("[data-past] .past-row")).to_have_count(1)
    assert len(frames) == 1
    assert await stage.ends() == ["executed"]


async def test_a_socket_that_drops_comes_back_with_what_it_missed(stage):
    alice = await stage.open("alice")
    routes, cut = [], []

    def connected(route):
        routes.append(route)
        if not cut:
            route.connect_to_server()

    await alice.route_web_socket("**/ws/confirmations/**", connected)
    await alice.reload()
    await expect(alice.locator("[data-connection]")).to_have_attribute("data-connection", "open")
    cut.append(True)
    await routes[-1].close(code=1011)
    await expect(alice.locator("[data-connection]")).to_have_attribute("data-connection", "lost")
    asked = await stage.ask(item=await stage.dentist())
    await expect(alice.locator("[data-offline]")).to_be_visible()
    cut.clear()
    for route in routes[1:]:
        await route.close(code=1011)
    await expect(alice.locator("[data-card] h3")).to_contain_text("Dentist")
    await expect(alice.locator("[data-offline]")).to_be_hidden()
    # While the socket was away the page may have asked by itself, and found the card as it came.
    if await alice.locator(DIALOG).get_attribute("open") is None:
        await alice.locator("[data-card]").get_by_role("button", name="Review").click()
    await alice.locator(DIALOG).get_by_role("checkbox").check()
    await alice.locator(DIALOG).get_by_role("button", name="Delete 'Dentist'").click()
    assert (await asked.answer())["body"]["status"] == "success"


async def test_a_card_survives_a_restart_of_the_server(stage):
    alice = await stage.open("alice")
    asked = await stage.ask(item=await stage.dentist())
    dialog = alice.locator(DIALOG)
    await dialog.get_by_role("checkbox").check()
    now_ms = stage.server.now_ms
    stage.server.process.send_signal(signal.SIGTERM)
    waiter = await asked.answer()
    assert (waiter["status"], waiter["body"]["confirmation_id"]) == (503, waiter["body"]["confirmation_id"])
    await stage.server.gone()
    await expect(alice.locator("[data-connection]")).to_have_attribute("data-connection", "lost")
    await dialog.get_by_role("button", name="Delete 'Dentist'").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("It is not known whether your decision arrived.")
    stage.server.start(now_ms=now_ms)
    await expect(dialog.get_by_role("alert")).to_contain_text("so nothing was decided. Try again.")
    await expect(dialog.get_by_role("checkbox")).not_to_be_checked()
    await dialog.get_by_role("checkbox").check()
    await dialog.get_by_role("button", name="Delete 'Dentist'").click()
    await expect(alice.locator("[data-past] .past-row")).to_contain_text("Done")
    poll = await (await stage.send("GET", f"/api/confirmations/{waiter['body']['confirmation_id']}")).answer()
    assert poll["body"]["state"] == "executed"
    assert await stage.stored("dentist") == "gone"
    assert await stage.ends() == ["executed"]


async def test_long_text_is_read_to_its_end_first_and_shows_no_tricks(stage):
    notes = "\n".join(f"Line {number}" for number in range(80)) + "\u202egnp.exe <b>bold</b>"
    ids = await stage.server.call("ids", names=["event:dentist"])
    path = f"/api/calendars/events/{ids['event:dentist']}"
    changed = await (await stage.send("PATCH", path, {"notes": notes})).answer()
    assert changed["status"] == 200
    alice = await stage.open("alice")
    await stage.ask(item=await stage.dentist())
    dialog = alice.locator(DIALOG)
    await expect(dialog.get_by_text("Read to the end")).to_be_visible()
    await expect(dialog.get_by_role("checkbox")).to_be_disabled()
    await expect(dialog.locator("dl")).to_contain_text("[U+202E]gnp.exe <b>bold</b>")
    await dialog.locator("[data-part=text]").press("End")
    await expect(dialog.get_by_role("checkbox")).to_be_enabled()


async def test_whoever_types_is_not_disturbed(stage):
    alice = await stage.open("alice", "/reminders/")
    field = alice.get_by_label("Add a reminder")
    await field.fill("Buy ")
    await stage.ask(item=await stage.dentist())
    notice = alice.locator(".notice")
    await expect(notice).to_contain_text("Delete 'Dentist' on Thursday, 3 December 2026?")
    await expect(alice).to_have_title("(1) Reminders · Sayso")
    await expect(alice.locator("[data-live=assertive]")).to_contain_text("New request: Delete 'Dentist'")
    await expect(field).to_be_focused()
    await alice.keyboard.type("milk")
    await expect(field).to_have_value("Buy milk")
    await expect(alice.locator(DIALOG)).not_to_have_attribute("open", "")
    await notice.get_by_role("button", name="Review").click()
    await expect(alice.locator(DIALOG)).to_have_attribute("open", "")
