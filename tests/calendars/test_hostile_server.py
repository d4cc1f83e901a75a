"""Hostile files and rules on a real server: each is answered with its code, and meanwhile others are served."""

import asyncio
import json

import pytest

from tests.conformance.gate.wire import fetch

NOW_MS = 1_796_025_600_000
NINE_MS = 1_796_112_000_000
DAY_MS = 86_400_000
ANSWER_S = 5
"""The contract's own bound for one hostile file."""
WRITES = 19
"""How often an agent may write in a minute without a person."""
EACH_HOUR, EACH_MINUTE = (",".join(map(str, range(end))) for end in (24, 60))
BOMB = f"FREQ=DAILY;BYHOUR={EACH_HOUR};BYMINUTE={EACH_MINUTE};BYSECOND={EACH_MINUTE}"
"""86,400 times a day: just within the bound of BY lists."""
RULES = {
    "bomb": BOMB,
    "bomb_of_weeks": BOMB.replace("DAILY", "WEEKLY") + ";BYDAY=MO",
    "counted": f"{BOMB};COUNT=99999999",
    "until": f"{BOMB};UNTIL=99991231T235959Z",
    "never": "FREQ=YEARLY;BYDAY=FR;BYMONTHDAY=13;BYWEEKNO=53",
    "hourly": "FREQ=HOURLY;INTERVAL=5;BYHOUR=9;COUNT=1000000",
}
WORLD = {
    "settings": {"device_relay": True, "denied_recently_s": 600, "max_open": 100},
    "profiles": {"default": {"zone": "Europe/Berlin", "calendars": "sayso"}},
    "people": {"alice": {"default": "owner"}},
    "tokens": {
        name: {"person": "alice", "profile": "default", "scopes": "all", "kind": "person"} for name in ("rude", "kind")
    },
    "sessions": [{"id": "s1", "profile": "default"}],
}


def file_of(*lines, count=1, start="DTSTART:20261201T090000Z"):
    """Return a file with events that share some lines."""
    events = []
    for number in range(count):
        head = [f"UID:{number}@rude", "DTSTAMP:20260101T000000Z", start, f"SUMMARY:Rude {number}"]
        events += ["BEGIN:VEVENT", *head, *lines, "END:VEVENT"]
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//r//r//EN", *events, "END:VCALENDAR", ""])


def nested(depth):
    return "BEGIN:VCALENDAR\r\n" + "BEGIN:VEVENT\r\n" * depth + "END:VEVENT\r\n" * depth + "END:VCALENDAR\r\n"


FILES = {
    # What is too much of it: the status, the file's or the component's code.
    "octets": ("x" * 10_600_000, 413, "too_large"),
    "lines": (file_of() + "x\r\n" * 3_000_000, 200, None),
    "components": (file_of(count=20_001), 400, "too_many_components"),
    "depth": (nested(5_000), 200, None),
    "truncated": (file_of()[:-30], 400, "truncated"),
    "secondly": (file_of("RRULE:FREQ=SECONDLY"), 200, "rrule_too_frequent"),
    "minutely": (file_of("RRULE:FREQ=MINUTELY", count=500), 200, "rrule_too_frequent"),
    "too_dense": (file_of(f"RRULE:{BOMB};BYDAY=MO,TU"), 200, "rrule_too_dense"),
    "year_9999": (file_of("RRULE:FREQ=DAILY", start="DTSTART:99991230T090000Z"), 200, None),
    "year_1": (file_of("RRULE:FREQ=HOURLY", start="DTSTART:00010101T090000Z"), 200, None),
    "bombs": (file_of(f"RRULE:{BOMB}", count=40), 200, None),
    "excluded": (file_of(f"RRULE:{BOMB}", *["EXDATE;VALUE=DATE:20261201,20261202"] * 2_000), 200, None),
}


@pytest.fixture
async def house(server):
    """Two agents, one of them rude; every answer of the server comes in time."""
    await server.reset(NOW_MS)
    secrets = (await server.call("world", world=WORLD))["secrets"]
    house = House(server.origin, secrets)
    listed = await house.send("kind", "GET", "/api/calendars")
    if not listed.json["calendars"]:
        await house.send("kind", "POST", "/api/calendars", {"name": "work"})
        listed = await house.send("kind", "GET", "/api/calendars")
    house.calendar = listed.json["calendars"][0]["id"]
    yield house
    assert server.complaints() == ""


class House:
    """The two agents."""

    def __init__(self, origin, secrets):
        self.origin, self.secrets, self.calendar = origin, secrets, ""
        self.served = 0

    async def send(self, by, method, path, body=None, **headers):
        known = {"authorization": f"Bearer {self.secrets[by]}", "content-type": "application/json", **headers}
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        return await fetch(self.origin, method, path, headers=known, body=data)

    async def beside(self, work):
        """Do something rude while the other agent reads and writes all the time; return how often it was served."""
        task = asyncio.ensure_future(work)
        served = 0
        while not task.done() or not served:
            title = f"kind {min(served, WRITES - 1)}"
            if served < WRITES:
                # One more in a minute would wait for a person.
                made = await self.send("kind", "POST", "/api/calendars/events", {"title": title, "start_ms": NINE_MS})
                assert made.status == 201, made.text
            read = await self.send("kind", "GET", f"/api/calendars/events/{made.json['item']['id']}")
            assert (read.status, read.json["item"]["title"]) == (200, title)
            served += 1
        async with asyncio.timeout(ANSWER_S):
            return served, await task

    async def imported(self, text):
        return await self.send(
            "rude",
            "POST",
            f"/api/calendars/{self.calendar}/import",
            text.encode(),
            **{"content-type": "text/calendar"},
        )


def codes_of(answer):
    body = answer.json
    if answer.status != 200:
        return {body["code"]}
    return {note["code"] for note in (*body["skipped"], *body["warnings"])}


@pytest.mark.parametrize("name", FILES)
async def test_a_hostile_file_gets_its_code_while_others_are_served(house, name):
    text, status, code = FILES[name]
    async with asyncio.timeout(ANSWER_S):
        served, answer = await house.beside(house.imported(text))
    assert answer.status == status, answer.text[:300]
    assert code is None or code in codes_of(answer), answer.text[:300]
    assert served >= 1


@pytest.mark.parametrize("name", RULES)
async def test_a_hostile_rule_is_kept_listed_changed_and_left_while_others_are_served(house, name):
    async def rude():
        body = {"title": "Rude", "start_ms": NINE_MS, "end_ms": NINE_MS + 1000, "rrule": RULES[name]}
        made = await house.send("rude", "POST", "/api/calendars/events", body)
        assert made.status == 201, made.text
        item = f"/api/calendars/events/{made.json['item']['id']}"
        for start_ms in (NINE_MS - DAY_MS, NINE_MS + 1500 * DAY_MS):
            window = f"start_ms={start_ms}&end_ms={start_ms + 399 * DAY_MS}&limit=500"
            for more in ("", "&q=nothing"):
                listed = await house.send("rude", "GET", f"/api/calendars/events?{window}{more}")
                assert listed.status == 200
                assert len(listed.json["items"]) <= 500
        renamed = await house.send("rude", "PATCH", item, {"title": "Ruder"})
        assert renamed.status == 200
        asked = await house.send("rude", "PATCH", item, {"rrule": "FREQ=YEARLY"}, prefer="respond-async")
        assert asked.status in (200, 202)
        gone = await house.send("rude", "DELETE", item, prefer="respond-async")
        assert gone.status == 202
        return gone

    served, _ = await house.beside(rude())
    # Eight requests in a row: the lane came round to the other agent between any two of them.
    assert served >= 4


async def test_many_series_without_rows_are_expanded_beside_the_lane(house):
    """A calendar full of bombs makes every window one that has to be expanded."""
    made = await house.imported(file_of(f"RRULE:{BOMB}", count=200))
    assert made.status == 200
    window = f"start_ms={NINE_MS}&end_ms={NINE_MS + DAY_MS}&limit=300"

    async def listed():
        agents = [house.send("rude", "GET", f"/api/calendars/events?{window}{more}") for more in ("", "&q=rude")]
        body = {"session_id": "s1", "capability": "calendar", "action": "list", "purpose": "p", "start_ms": NINE_MS}
        return await asyncio.gather(*agents, house.send("rude", "POST", "/api/studio/mobile-calendar/request", body))

    served, (plain, searched, mobile) = await house.beside(listed())
    assert served >= 4
    starts = [item["start_ms"] for item in plain.json["items"]]
    assert (len(starts), starts, plain.json["truncated"]) == (300, sorted(starts), True)
    assert all(item["title"].startswith("Rude") for item in searched.json["items"])
    assert len(searched.json["items"]) == 300
    assert (mobile.json["status"], len(mobile.json["result"]["items"])) == ("success", 50)
    assert mobile.json["result"]["truncated"] is True
