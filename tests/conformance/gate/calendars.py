"""The calendars of a story's world, made and changed by their owner over HTTP as the page does it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.conformance.gate.wire import Answer, fetch

if TYPE_CHECKING:
    from tests.conformance.gate.browser import Person
    from tests.conformance.gate.story import Story


async def make(story: Story) -> None:
    """Make every calendar of the world and import what lies in it."""
    for name, calendar in story.world.get("calendars", {}).items():
        first = next(n for n, c in story.world["calendars"].items() if c["profile"] == calendar["profile"]) == name
        made = await by_owner(story, calendar["profile"], "POST", "/api/calendars", {"name": name, "is_default": first})
        story.calendars[name] = made.json["id"]
        text = calendar.get("ics") or ics_of(
            calendar, story.world["now"], story.world["profiles"][calendar["profile"]]["zone"]
        )
        if text:
            path = f"/api/calendars/{story.calendars[name]}/import"
            await by_owner(story, calendar["profile"], "POST", path, {"ics": text})


async def change(story: Story, uid: str, fields: dict[str, Any]) -> None:
    """Change an event as its owner does in the page."""
    name = next(n for n, c in story.world["calendars"].items() if any(e["uid"] == uid for e in c.get("events", ())))
    path = f"/api/calendars/events/{story.items[f'event:{uid}']}"
    await by_owner(story, story.world["calendars"][name]["profile"], "PATCH", path, fields)


async def by_owner(story: Story, profile: str, method: str, path: str, body: Any) -> Answer:
    owner = owner_of(story, profile)
    headers = owner.headers(story.server.origin) | {"content-type": "application/json", "x-hermes-profile": profile}
    answer = await fetch(story.server.origin, method, path, headers=headers, body=json.dumps(body).encode())
    assert answer.status in (200, 201), f"{method} {path}: {answer.status} {answer.text}"
    return answer


def owner_of(story: Story, profile: str) -> Person:
    name = next(name for name, roles in story.world["people"].items() if roles.get(profile) == "owner")
    return story.people[name]


def ics_of(calendar: dict[str, Any], now: str, zone: str) -> str:
    """Return the events and reminders of a calendar as a file: SEQUENCE 0, DTSTAMP now, times with the TZID."""
    stamp = f"{datetime.fromisoformat(now).astimezone(UTC):%Y%m%dT%H%M%SZ}"
    lines: list[str] = []
    for event in calendar.get("events", ()):
        start = datetime.fromisoformat(event["start"])
        end = start + timedelta(minutes=event["minutes"])
        lines += ["BEGIN:VEVENT", *head(event, stamp)]
        lines += [f"DTSTART;TZID={zone}:{start:%Y%m%dT%H%M%S}", f"DTEND;TZID={zone}:{end:%Y%m%dT%H%M%S}"]
        lines += [f"RRULE:{event['rrule']}"] if "rrule" in event else []
        lines += [
            f"{name}:{escaped(event[key])}"
            for name, key in (("LOCATION", "location"), ("DESCRIPTION", "notes"))
            if key in event
        ]
        lines.append("END:VEVENT")
    for reminder in calendar.get("reminders", ()):
        lines += ["BEGIN:VTODO", *head(reminder, stamp)]
        if "due" in reminder:
            lines.append(f"DUE;TZID={zone}:{datetime.fromisoformat(reminder['due']):%Y%m%dT%H%M%S}")
        lines.append("END:VTODO")
    if not lines:
        return ""
    return "\r\n".join(["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Sayso//stories//EN", *lines, "END:VCALENDAR", ""])


def head(item: dict[str, Any], stamp: str) -> list[str]:
    return [f"UID:{item['uid']}", f"DTSTAMP:{stamp}", "SEQUENCE:0", f"SUMMARY:{escaped(item['title'])}"]


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")
