"""Fill an empty database with one person, one profile, one agent and a small calendar, and say how to begin."""

from __future__ import annotations

import json
import os
import re
import secrets
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction

from apps.accounts.actions import create_person, create_profile, create_token
from apps.accounts.models import Profile, User
from apps.accounts.queries import caller_for, memberships_of
from apps.accounts.rules import Caller
from apps.calendars.actions.calendars import create_calendar
from apps.calendars.actions.import_file import import_file
from apps.calendars.actions.importing import Asking
from apps.calendars.queries.listing import window_items
from apps.calendars.queries.values import Shown
from apps.core.environment import address
from apps.core.threads import Steps, run_inline
from apps.core.values import now_ms
from apps.sessions.actions import create_session

NAME = "demo"
PROFILE = "default"
CALENDAR = "Home"
SCOPES = [
    "calendar.read",
    "calendar.write",
    "calendar.delete",
    "reminder.read",
    "reminder.write",
    "reminder.delete",
    "session.read",
    "session.append",
    "session.delete",
    "confirmation.read",
]
DAY_MS = 86_400_000
FALLBACK_ZONE = "Europe/Berlin"
DEMO_FILE = "project/demo.ics"
WRITTEN_FOR = date(2024, 1, 1)
"""The Monday around which the demo calendar was written; it is moved to the present week."""


class Command(BaseCommand):
    """`manage.py first_run`: what `serve --first-run` does before it serves."""

    help = "Make a demo person, profile, token, session and calendar when the database is empty."

    def handle(self, *args: Any, **options: Any) -> None:
        """Make everything at once and print the secrets this once; on a second run change nothing."""
        origin = address(host=settings.SAYSO_HOST, port=settings.SAYSO_PORT, origin=settings.SAYSO_ORIGIN)
        if User.objects.exists() or Profile.objects.exists():
            move_agent(origin=origin)
            self.stdout.write(f"Sayso has its data in {settings.SAYSO_DATA_DIR}; open {origin}/ and sign in as before.")
            return
        password, moment = "-".join(secrets.token_hex(2) for _ in range(4)), now_ms()
        with transaction.atomic():
            caller, token = make_people(password=password, moment=moment)
        # Printed before anything else can go wrong: nothing can show them again.
        self.stdout.write(welcome(origin=origin, password=password, token=token))
        keep_for_agent(origin=origin, token=token)
        fill_calendar(by=caller, moment=moment)
        event = next_event(caller, moment)
        if event is not None:
            self.stdout.write(f"  Ask to delete “{event.title}”, then decide in the browser:\n")
            self.stdout.write(ask_line(origin, token, event) + "\n")


def make_people(*, password: str, moment: int) -> tuple[Caller, str]:
    """Make the person, the profile, the agent's token and the session; returns the person and the token's secret."""
    user = create_person(username=NAME, password=password, operator=True)
    profile = create_profile(name=PROFILE, time_zone=system_zone(), owner=user)
    caller = caller_for(user=user, membership=memberships_of(user_id=user.pk)[0])
    _token, secret = create_token(user=user, profile=profile, label="Demo agent", scopes=SCOPES)
    create_session(by=caller, ref=NAME, title="Demo", now_ms=moment)
    return caller, secret


def system_zone() -> str:
    """Return the machine's time zone if it says more than UTC."""
    candidates = [os.environ.get("TZ", "").lstrip(":")]
    if Path("/etc/timezone").is_file():
        candidates.append(Path("/etc/timezone").read_text().strip())
    candidates.append(str(Path("/etc/localtime").resolve()).partition("/zoneinfo/")[2])
    return next(
        (name for name in candidates if re.fullmatch(r"[A-Z]\w+(?:/[\w+-]+)+", name) and "Etc" not in name),
        FALLBACK_ZONE,
    )


def fill_calendar(*, by: Caller, moment: int) -> None:
    """Import the demo calendar, moved to the present week."""
    calendar = create_calendar(by=by, name=CALENDAR, colour="#0d6355", now_ms=moment)
    today = datetime.fromtimestamp(moment / 1000, UTC).date()
    monday = today - timedelta(days=today.weekday())
    text = moved(Path(settings.BASE_DIR, DEMO_FILE).read_bytes().decode(), days=(monday - WRITTEN_FOR).days)
    options = {"owner_zone": by.time_zone, "now_ms": moment}
    asking = Asking(purpose="Demo", now_ms=moment)
    work = import_file(
        steps=Steps(inline=True),
        by=by,
        calendar=calendar,
        asking=asking,
        data=text.encode(),
        options=options,
        replaces=False,
    )
    run_inline(work)


def moved(text: str, *, days: int) -> str:
    """Return iCalendar text with every date some days later."""

    def later(found: re.Match[str]) -> str:
        day = datetime.strptime(found[2], "%Y%m%d").replace(tzinfo=UTC) + timedelta(days=days)
        return f"{found[1]}{day:%Y%m%d}"

    return re.sub(r"^((?:DTSTART|DTEND|DUE)[^:\r\n]*:)(\d{8})", later, text, flags=re.MULTILINE)


def next_event(by: Caller, moment: int) -> Shown | None:
    """Return the next single event."""
    found = window_items(profile_id=by.profile_id, kind="VEVENT", start_ms=moment, end_ms=moment + 30 * DAY_MS)
    single = [shown for shown in found if not shown.recurring and not shown.all_day]
    return next(iter([shown for shown in single if shown.title == "Dentist"] or single or found), None)


def keep_for_agent(*, origin: str, token: str) -> None:
    """Keep what `make demo-agent` needs in a file that only this user reads."""
    path = Path(settings.SAYSO_DATA_DIR, "demo-agent.json")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        json.dump({"url": origin, "token": token, "session": NAME}, file)


def move_agent(*, origin: str) -> None:
    """Tell `make demo-agent` when the server has another address than on the first run."""
    path = Path(settings.SAYSO_DATA_DIR, "demo-agent.json")
    if path.is_file():
        known = json.loads(path.read_text())
        if known["url"] != origin:
            keep_for_agent(origin=origin, token=known["token"])


def welcome(*, origin: str, password: str, token: str) -> str:
    """Return what a new person needs to begin."""
    return "\n".join(
        [
            "",
            f"  Sayso is ready at: {origin}/",
            f"  login:       {NAME}",
            f"  password:    {password}   (shown this once; change it in Settings)",
            f"  agent token: {token}   (shown this once)",
            "",
        ]
    )


def ask_line(origin: str, token: str, event: Shown) -> str:
    """Return a command line that asks for the deletion of one event and waits for the decision."""
    body = {
        "session_id": NAME,
        "capability": "calendar",
        "action": "delete",
        "purpose": "Trying out Sayso",
        "item": {"id": event.id, "title": event.title, "start_ms": event.start_ms},
    }
    text = json.dumps(body).replace("'", "\\u0027")
    return (
        f"curl -s {origin}/api/studio/mobile-calendar/request \\\n"
        f"  -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' \\\n"
        f"  -d '{text}'"
    )
