"""What a session's page reads: the log a page at a time, what the model sees, and how the session stands."""

import pytest

from apps.sessions.actions.appending import append_events
from apps.sessions.models import Session
from apps.sessions.rules.removal import removal_events
from apps.sessions.rules.removal_plan import Plan
from tests.sessions.logs import (
    a_turn,
    call,
    call_block,
    numbered,
    reply,
    result,
    step_end,
    step_start,
    text,
    turn_end,
    turn_start,
    user,
)
from tests.sessions.place import NOW

PATH = "/api/sessions/s1/transcript"


def put(place, rows):
    session = Session.objects.get(ref="s1")
    append_events(
        by=place.owner,
        session=session,
        expected_seq=session.next_seq,
        events=numbered(rows, first=session.next_seq, time_ms=NOW),
        now_ms=NOW,
    )


@pytest.fixture
def said(place):
    """Three turns of six events each, the second of them removed."""
    place.session()
    put(place, [*a_turn(1), *a_turn(2), *a_turn(3)])
    plan = Plan(turn=2, start_seq=8, end_seq=9, source_seqs=(8, 9))
    made = removal_events(plan=plan, price=1, compaction_id="c", message_id="m", next_seq=18, time_ms=NOW)
    put(place, [{name: value for name, value in event.items() if name not in ("seq", "time")} for event in made])
    return place


def get(place, path=PATH, **query):
    answer = place.call("GET", path + ("?" + "&".join(f"{k}={v}" for k, v in query.items()) if query else ""))
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_log_is_read_page_by_page_from_its_end(said):
    pages, before = [], ""
    while before is not None:
        page = get(said, limit=5, before=before)
        pages.insert(0, [row["seq"] for row in page["rows"]])
        before = page["before"]
    assert pages == [[0, 1], [2, 3, 4, 5, 6], [7, 8, 9, 10, 11], [12, 13, 14, 15, 16], [17, 18, 19, 20, 21]]


def test_every_row_carries_the_turn_that_owns_it(said):
    rows = get(said)["rows"]
    assert [row["turn"] for row in rows] == [1] * 6 + [2] * 6 + [3] * 6 + [None] * 4
    standing = get(said, "/api/sessions/s1/standing")
    assert standing["removed"] == [{"turn": 2, "seq": 20, "time_ms": NOW}]
    assert (standing["open_turn"], standing["compacting"], standing["running"], standing["replaces"]) == (
        None,
        False,
        False,
        1,
    )


def test_what_the_model_sees_has_the_notice_in_the_place_of_the_turn(said):
    page = get(said, view="seen", limit=3)
    assert [row["seq"] for row in page["rows"]] == [20, 14, 15]
    assert page["rows"][0]["removes"] == 2
    assert [row["seq"] for row in get(said, view="seen", limit=3, before=page["before"])["rows"]] == [2, 3]
    assert {row["seq"] for row in get(said)["rows"] if row["seen"]} == {2, 3, 14, 15, 20}


def test_what_is_new_comes_after_a_number(said):
    put(said, a_turn(4))
    page = get(said, after=21, limit=4)
    assert ([row["seq"] for row in page["rows"]], page["more"]) == ([22, 23, 24, 25], True)
    page = get(said, after=25, limit=4)
    assert ([row["seq"] for row in page["rows"]], page["more"]) == ([26, 27], False)


def test_texts_are_safe_short_and_whole_on_request(place):
    place.session()
    long = "word " * 2000
    blocks = [
        text("a\u202eb\tc  d\u0000"),
        {"type": "reasoning", "text": "hm"},
        call_block("c1", arguments=long),
        {"type": "image", "attachment": {"attachmentId": "x", "mediaType": "image/png", "bytes": 9, "name": "\u200b"}},
        {"type": "plugin:odd", "any": ["\u2066"]},
    ]
    put(
        place,
        [
            turn_start(1),
            step_start(1, 1),
            user("u", "ask"),
            reply(1, 1, "a", *blocks),
            call(1, 1, "c1", arguments=long),
            result(1, 1, "c1", "done"),
            step_end(1, 1),
            turn_end(1, "max-tokens"),
            {"type": "x/unknown", "data": {"html": "<b>"}, "ignorable": True},
        ],
    )
    rows = get(place)["rows"]
    assert rows[3]["blocks"] == [
        {"kind": "text", "text": "a[U+202E]b\tc  d[U+0000]"},
        {"kind": "reasoning", "text": "hm"},
        {"kind": "call", "name": "read", "call": "c1", "text": long[:4000], "length": len(long)},
        {
            "kind": "attachment",
            "of": "image",
            "text": "",
            "name": "[U+200B]",
            "media_type": "image/png",
            "id": "x",
            "bytes": 9,
        },
        {"kind": "other", "name": "plugin:odd", "text": '{"type":"plugin:odd","any":["[U+2066]"]}'},
    ]
    assert (rows[5]["call"], rows[5]["failed"], rows[7]["ended"], rows[8]["kind"]) == (
        "c1",
        False,
        "max-tokens",
        "entry",
    )
    assert get(place, f"{PATH}/3")["blocks"][2] == {"kind": "call", "name": "read", "call": "c1", "text": long}
    assert get(place, f"{PATH}/8")["blocks"] == [{"kind": "other", "text": '{"html":"<b>"}'}]


def test_an_event_of_a_megabyte_is_read_on_request_only(place):
    place.session()
    put(place, [user("u", "x" * 1_000_000), user("v", "short")])
    long, short = get(place)["rows"]
    assert (long["kind"], long["length"] > 1_000_000, short["kind"]) == ("long", True, "message")
    assert get(place, f"{PATH}/0")["blocks"][0]["text"] == "x" * 1_000_000


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (f"{PATH}?view=all", "view"),
        (f"{PATH}?limit=0", "limit"),
        (f"{PATH}?before=x", "before"),
        (f"{PATH}?after=-1", "after"),
        (f"{PATH}/abc", "seq"),
    ],
)
def test_what_is_no_page_is_refused_by_its_name(place, path, field):
    place.session()
    answer = place.call("GET", path)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_a_hidden_session_and_a_missing_one_answer_alike(said):
    said.restrict(said.bob)
    for path in (PATH, f"{PATH}/0", "/api/sessions/s1/standing"):
        hidden = said.call("GET", path)
        missing = said.call("GET", path.replace("s1", "s2"))
        assert (hidden.status_code, hidden.json()) == (missing.status_code, missing.json())
        assert hidden.status_code == 404
        assert said.call("GET", path, by="charlies").status_code == 404
        assert said.call("GET", path, by="bobs").status_code == 200
