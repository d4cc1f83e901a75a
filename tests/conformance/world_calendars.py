"""Calendars in a story's world: which ids the room gave, and what exists. People make them over HTTP, not here."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from apps.calendars.models import Calendar, CalendarObject, Occurrence
from apps.calendars.rules.targets import occurrence_id

KINDS = ("event", "series", "occurrence", "reminder", "calendar", "events", "reminders")


def make(world: dict[str, Any]) -> None:
    """Leave it to the people of the story."""


def id_of(kind: str, name: str) -> str:
    """Return the id under which agents know an item."""
    if kind == "calendar":
        return str(Calendar.objects.get(name=name).pk)
    uid, _, time = name.partition("@")
    stored = CalendarObject.objects.get(uid=uid)
    if kind != "occurrence":
        return str(stored.pk)
    moment = datetime.fromisoformat(time)
    utc = moment.replace(tzinfo=ZoneInfo(stored.profile.time_zone)).astimezone(UTC)
    forms = {f"{moment:%Y-%m-%dT%H:%M:%S}", f"{utc:%Y-%m-%dT%H:%M:%S}Z", f"{moment:%Y-%m-%d}"}
    slots = list(Occurrence.objects.filter(object=stored).values_list("slot", flat=True))
    slot = next(slot for slot in slots if slot.partition(" ")[0] in forms)
    return str(occurrence_id(stored.pk, slot=slot))


def rows(kind: str, wanted: dict[str, Any], world: dict[str, Any]) -> dict[str, Any]:
    """Return what exists, in the form in which the story asks for it."""
    find = event if kind == "events" else reminder
    return {name: find(name, expected, world) for name, expected in wanted.items()}


def event(name: str, expected: Any, world: dict[str, Any]) -> Any:
    calendar, _, uid = name.partition("/")
    stored = CalendarObject.objects.filter(calendar__name=calendar, kind="VEVENT").select_related("profile")
    if not uid:
        return stored.count()
    row = stored.filter(uid=uid).first()
    if row is None:
        return "gone"
    zone = ZoneInfo(row.profile.time_zone)
    moments = Occurrence.objects.filter(object=row).order_by("start_ms").values_list("start_ms", flat=True)
    starts = [f"{datetime.fromtimestamp(ms / 1000, zone):%Y-%m-%dT%H:%M}" for ms in moments]
    if isinstance(expected, dict):
        return {"starts": starts, "title": row.title, "location": row.location or None, "notes": row.notes or None}
    return starts


def reminder(name: str, expected: Any, world: dict[str, Any]) -> str:
    calendar, _, uid = name.partition("/")
    row = CalendarObject.objects.filter(calendar__name=calendar, uid=uid, kind="VTODO").first()
    if row is None:
        return "gone"
    made = next((one for one in world["calendars"][calendar].get("reminders", ()) if one["uid"] == uid), None)
    return "here" if made is None or made["title"] == row.title else f"here as {row.title}"
