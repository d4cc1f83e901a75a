"""The store of the iCalendar vectors: the calendars room itself, asked and decided as its endpoints do it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.test import Client

from apps.calendars.actions.calendars import create_calendar
from apps.calendars.actions.planning import plan_deletion
from apps.calendars.actions.storing import stored_of
from apps.calendars.models import CalendarObject
from apps.calendars.queries.calendars import texts_of
from apps.calendars.queries.items import find_item, stored_object
from apps.calendars.queries.listing import window_items
from apps.calendars.queries.previews import identity_of
from apps.calendars.queries.reminders import timeless_reminders
from apps.calendars.queries.values import Shown
from apps.calendars.rules.alarms import Alarm, alarms_between
from apps.calendars.rules.components import Occurrence, StoredObject
from apps.calendars.rules.freebusy import BusyPeriod, busy
from apps.calendars.rules.limits import NoSuchOccurrence
from apps.calendars.rules.occurrences import expand, find_slot
from apps.calendars.rules.removal_by_update import removed_by_update
from apps.calendars.rules.targets import ItemNotFound, listed_title, occurrence_id, split_id
from apps.confirmations.actions import decide, submit
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import EXPIRES_ASYNC_S, Decider, Frame, new_nonce
from apps.core import values
from apps.core.contracts import contract_named
from tests import factories
from tests.conformance.ics_ops import Report

IN_2026_MS = 1_767_600_000_000
IN_2036_MS = 2_083_219_200_000
"""Two moments: the rows of a series reach a year beyond them, and what lies further off is expanded on demand."""
WHOLE = {"delete_event", "delete_series", "delete_reminder"}


class FixedClock:
    """A clock that stands."""

    def __init__(self, ms: int) -> None:
        self.ms = ms

    def now_ms(self) -> int:
        return self.ms

    def call_at(self, at_ms: int, callback: Any) -> Any:
        raise AssertionError("nothing waits here")


class DatabaseStore:
    """A profile in a zone with one calendar; an agent imports, lists and asks, the owner decides."""

    def __init__(self, owner_zone: str, *, now_ms: int = IN_2026_MS) -> None:
        self.now_ms = now_ms
        name = f"owner-{values.new_id()}"
        self.profile = factories.profile(name, zone=owner_zone)
        self.owner = factories.person(name, **{name: "owner"})
        _, self.secret = factories.token(self.owner, of=self.profile)
        self.agent = factories.caller(self.secret)
        human = factories.human(self.owner, of=self.profile)
        self.calendar = create_calendar(by=human, name="Vectors", now_ms=now_ms)
        self.client = Client(headers={"Authorization": f"Bearer {self.secret}"})
        self.asked: list[str] = []

    @contextmanager
    def _standing(self) -> Iterator[None]:
        before = values.clock()
        values.set_clock(FixedClock(self.now_ms))
        try:
            yield
        finally:
            values.set_clock(before)

    def import_ics(self, data: bytes) -> Report:
        before = self._objects()
        with self._standing():
            path = f"/api/calendars/{self.calendar.pk}/import"
            answer = self.client.post(path, data=data, content_type="text/calendar")
        body = answer.json()
        if answer.status_code != 200:
            assert self._objects() == before, "a refused file changed something"
            return Report(error=body["code"])
        self.asked += [each["confirmation_id"] for each in body["confirmations"]]
        skipped = [(note["summary"], note["code"]) for note in body["skipped"]]
        skipped += [(entry["title"], entry["code"]) for entry in body["items"] if entry["outcome"] == "refused"]
        codes = {note["code"] for note in body["warnings"]}
        codes |= {entry["code"] for entry in body["items"] if entry["outcome"] == "asked" and "code" in entry}
        return Report(skipped=skipped, warnings=codes)

    def _objects(self) -> list[StoredObject]:
        return [StoredObject(**text) for text in texts_of(calendar_id=self.calendar.pk)]

    def occurrences(self, *, component: str, start_ms: int, end_ms: int) -> list[Occurrence]:
        window = {"start_ms": start_ms, "end_ms": end_ms}
        found = [self._said(one) for one in window_items(profile_id=self.profile.pk, kind=component, **window)]
        if component == "VEVENT":
            return found
        # The room lists reminders by when they are due, and those without any time apart from windows.
        timeless = timeless_reminders(profile_id=self.profile.pk)
        found += [self._said(one) for one in timeless if self._is_in_window(one, start_ms, end_ms)]
        return sorted(found, key=lambda each: each.start_ms or each.end_ms or 0)

    def _stored(self, shown: Shown) -> StoredObject:
        return stored_object(profile_id=self.profile.pk, object_id=shown.object_id)

    def _is_in_window(self, shown: Shown, start_ms: int, end_ms: int) -> bool:
        return bool(expand(stored=self._stored(shown), window_start_ms=start_ms, window_end_ms=end_ms))

    def _said(self, shown: Shown) -> Occurrence:
        """What the room lists of an occurrence, and beside it what only the text knows, such as categories."""
        stored = self._stored(shown)
        text = find_slot(stored=stored, slot=shown.slot)
        assert text is not None, f"listed but not there: {shown.slot}"
        return replace(
            text,
            uid=stored.uid,
            slot=shown.slot,
            start_ms=shown.start_ms,
            end_ms=shown.end_ms,
            all_day=shown.all_day,
            start_date=shown.start_date or None,
            end_date=shown.end_date or None,
            title=shown.title,
            location=shown.location,
            notes=shown.notes,
            status=shown.status,
            recurring=shown.recurring,
            alarm_minutes=shown.alarm_minutes,
            attendees=shown.attendees,
            priority=shown.priority,
            completed=shown.completed,
            completed_ms=shown.completed_ms,
        )

    def busy(self, *, start_ms: int, end_ms: int) -> list[BusyPeriod]:
        return busy(objects=self._objects(), window_start_ms=start_ms, window_end_ms=end_ms)

    def alarms(self, *, start_ms: int, end_ms: int) -> list[Alarm]:
        window = {"window_start_ms": start_ms, "window_end_ms": end_ms}
        return sorted(alarm for stored in self._objects() for alarm in alarms_between(stored=stored, **window))

    def _row(self, uid: str) -> CalendarObject:
        row = CalendarObject.objects.filter(calendar=self.calendar, uid=uid).first()
        if row is None:
            raise NoSuchOccurrence
        return row

    def delete_occurrence(self, *, uid: str, slot: str) -> None:
        row = self._row(uid)
        self._delete(row, self._listed(row, slot))

    def delete_following(self, *, uid: str, slot: str) -> None:
        row = self._row(uid)
        self._delete(row, self._listed(row, slot), following=True)

    def delete_series(self, *, uid: str) -> None:
        row = self._row(uid)
        self._delete(row, identity_of(find_item(profile_id=self.profile.pk, item_id=row.pk)))

    def _listed(self, row: CalendarObject, slot: str) -> dict[str, Any]:
        """Name an occurrence as a list does; one that is not there as if it were the first."""
        found = find_slot(stored=stored_of(row), slot=slot)
        name, at = ("start_ms", row.start_ms) if row.kind == "VEVENT" else ("due_ms", row.end_ms)
        if found is None:
            return {"id": occurrence_id(row.pk, slot=slot), "title": listed_title(row.title), name: at}
        at = found.start_ms if row.kind == "VEVENT" else found.end_ms
        named = {"id": occurrence_id(row.pk, slot=found.slot), "title": listed_title(found.title)}
        return named if at is None else {**named, name: at}

    def _delete(self, row: CalendarObject, item: dict[str, Any], *, following: bool = False) -> None:
        """Ask as the agent; until the owner's decision everything stays."""
        capability = "calendar" if row.kind == "VEVENT" else "reminder"
        before = self._objects()
        try:
            plan = plan_deletion(by=self.agent, item=item, capability=capability, following=following)
            outcome = submit(
                by=self.agent,
                contract=contract_named(plan.contract),
                arguments=plan.arguments,
                expires_ms=EXPIRES_ASYNC_S * 1000,
                now_ms=self.now_ms,
            )
        except ItemNotFound:
            raise NoSuchOccurrence from None
        assert outcome.state == "pending"
        assert self._objects() == before, "asking alone changed something"
        self._approve(outcome.confirmation_id)

    def _approve(self, confirmation_id: str) -> None:
        who = Decider(user_id=self.owner.pk, label=self.owner.username, session="s1", connection="c1")
        nonce = new_nonce(
            key=settings.SAYSO_KEYS.key("django_secret"),
            card=confirmation_id,
            user_id=who.user_id,
            session="s1",
            connection="c1",
        )
        digest = Confirmation.objects.get(pk=confirmation_id).digest
        frame = Frame(decision="approve", acknowledged=True, digest=digest, nonce=nonce)
        decision = decide(by=who, confirmation_id=confirmation_id, frame=frame, now_ms=self.now_ms)
        assert decision.error is None, decision.error
        assert decision.row.state == "executed", (decision.row.state, decision.row.code)

    def pending(self) -> list[dict[str, Any]]:
        """What waits, in the order in which the reports of the imports named it."""
        rows = Confirmation.objects.filter(profile=self.profile, state="pending").in_bulk()
        assert rows.keys() <= set(self.asked), "something waits that no report named"
        return [self._waiting(rows[each]) for each in dict.fromkeys(self.asked) if each in rows]

    def _waiting(self, row: Confirmation) -> dict[str, Any]:
        """Say what waits in the words of the vectors."""
        arguments, name = json.loads(row.arguments), row.contract.partition(".")[2]
        near_ms = arguments.get("start_ms", arguments.get("due_ms"))
        found = find_item(profile_id=self.profile.pk, item_id=row.target_id, near_ms=near_ms)
        if name == "remove_by_import":
            stored = self._stored(found.shown)
            lost = removed_by_update(before=stored, after=replace(stored, ics=arguments["ics"]))
            return {"pending": "update", "uid": found.uid, "slots": list(lost)}
        if name in WHOLE and not split_id(row.target_id)[1]:
            return {"pending": "delete_series", "uid": found.uid}
        name = "delete_occurrence" if name == "delete_reminder" else name
        return {"pending": name, "uid": found.uid, "recurrence_id": found.shown.slot}

    def export(self) -> bytes:
        with self._standing():
            answer = self.client.get(f"/api/calendars/{self.calendar.pk}/export.ics")
        assert answer.status_code == 200
        return bytes(answer.content)
