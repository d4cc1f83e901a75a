"""Fill a fresh Sayso database for a benchmark: `fill.py NAME OPTIONS-JSON`; prints facts as JSON."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "project.settings")

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402

from apps.accounts.actions import create_profile, create_token  # noqa: E402
from apps.accounts.models import User  # noqa: E402
from apps.accounts.queries import caller_of_token  # noqa: E402
from apps.accounts.rules import SCOPES  # noqa: E402
from apps.core.values import now_ms  # noqa: E402
from apps.sessions.actions import create_session  # noqa: E402


def people() -> dict[str, Any]:
    """Make one owner, one profile and one token with every scope."""
    user = User.objects.create_user("alice", password="correct horse battery")
    profile = create_profile(name="default", time_zone="Europe/Berlin", owner=user)
    _, secret = create_token(user=user, profile=profile, label="bench", scopes=[s for s in SCOPES if s != "device"])
    return {"user": user, "profile": profile, "token": secret}


def signed_in(user: User) -> str:
    """Return the key of a session in which the person is signed in."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.save()
    return str(store.session_key)


def fill_api(count: int = 50) -> dict[str, Any]:
    """Fifty sessions."""
    made = people()
    caller = caller_of_token(secret=made["token"], now_ms=now_ms())
    assert caller is not None
    for number in range(count):
        create_session(by=caller[0], ref=f"s{number}", title=f"Session number {number}", now_ms=now_ms())
    return {"token": made["token"]}


def fill_asks(tokens: int = 1, events: int = 1000) -> dict[str, Any]:
    """A calendar with single events, tokens, a session and a signed-in person."""
    from apps.calendars.actions.calendars import create_calendar

    made = people()
    secrets = [made["token"]]
    with transaction.atomic():
        for number in range(1, tokens):
            scopes = ["calendar.read", "calendar.delete"]
            _, secret = create_token(user=made["user"], profile=made["profile"], label=f"t{number}", scopes=scopes)
            secrets.append(secret)
    found = caller_of_token(secret=made["token"], now_ms=now_ms())
    assert found is not None
    create_session(by=found[0], ref="s1", now_ms=now_ms())
    store_singles(create_calendar(by=found[0], name="work", now_ms=now_ms()), events)
    return {"tokens": secrets, "session": signed_in(made["user"]), "events": listed_items(found[0], events)}


def fill_calendar(profiles: int = 1, tokens: int = 60) -> dict[str, Any]:
    """An owner with so many profiles, each with an empty calendar, and another person with a hundred events."""
    from apps.calendars.actions.calendars import create_calendar

    made, empty = people(), []
    user, first = made["user"], made["profile"]
    for number in range(profiles):
        profile = first if number == 0 else create_profile(name=f"p{number}", time_zone="Europe/Berlin", owner=user)
        own = many_tokens(user, profile, tokens if number == 0 else 1)
        caller = caller_of_token(secret=own[0], now_ms=now_ms())
        assert caller is not None
        calendar = create_calendar(by=caller[0], name="bench", now_ms=now_ms())
        empty.append({"profile": profile.pk, "calendar": calendar.pk, "tokens": own})
    bob = User.objects.create_user("bob", password="correct horse battery")
    other = create_profile(name="other", time_zone="Europe/Berlin", owner=bob)
    secrets = many_tokens(bob, other, tokens)
    caller = caller_of_token(secret=secrets[0], now_ms=now_ms())
    assert caller is not None
    store_singles(create_calendar(by=caller[0], name="work", now_ms=now_ms()), 100)
    return {"profiles": empty, "other": secrets}


def many_tokens(user: User, profile: Any, count: int) -> list[str]:
    """Return secrets of tokens that may read and write a calendar; each may write a few times a minute only."""
    scopes = ["calendar.read", "calendar.write", "reminder.write"]
    with transaction.atomic():
        return [create_token(user=user, profile=profile, label=f"t{n}", scopes=scopes)[1] for n in range(count)]


def store_singles(calendar: Any, count: int) -> None:
    """Store single events straight into a calendar."""
    from apps.calendars.actions.storing import filled, insert_objects
    from apps.calendars.rules.ics_parse import parse_calendar

    parsed = parse_calendar(data=single_events(count).encode(), owner_zone="Europe/Berlin")
    whole = [(stored, filled(stored, now_ms=now_ms())) for stored in parsed.objects]
    with transaction.atomic():
        insert_objects(calendar=calendar, objects=whole, now_ms=now_ms())


def single_events(count: int) -> str:
    """Return a calendar of single half-hour events, ten to a day, from tomorrow on."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Sayso//bench//EN"]
    first = datetime.now(UTC).replace(hour=6, minute=0, second=0, microsecond=0) + timedelta(days=1)
    for number in range(count):
        start = first + timedelta(days=number // 10, hours=number % 10)
        lines += [
            "BEGIN:VEVENT",
            f"UID:bench-{number}@sayso.test",
            f"DTSTAMP:{datetime.now(UTC):%Y%m%dT%H%M%SZ}",
            f"DTSTART:{start:%Y%m%dT%H%M%SZ}",
            f"DTEND:{start + timedelta(minutes=30):%Y%m%dT%H%M%SZ}",
            f"SUMMARY:Event number {number}",
            "END:VEVENT",
        ]
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


def listed_items(by: Any, count: int) -> list[dict[str, Any]]:
    """Return what an ask needs of each event, in order of its number."""
    from apps.calendars.models import CalendarObject

    rows = CalendarObject.objects.filter(profile_id=by.profile_id).values("id", "title", "start_ms")
    items = [{"id": row["id"], "title": row["title"], "start_ms": row["start_ms"]} for row in rows]
    return sorted(items, key=lambda item: int(item["title"].rpartition(" ")[2]))[:count]


FILLS = {"api": fill_api, "asks": fill_asks, "calendar": fill_calendar}

if __name__ == "__main__":
    call_command("migrate", verbosity=0, interactive=False)
    print(json.dumps(FILLS[sys.argv[1]](**json.loads(sys.argv[2]))))
