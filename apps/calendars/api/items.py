"""Events and reminders over REST (family R)."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.response import Response

from apps.accounts.rules import Caller
from apps.calendars.actions.planning import Plan, deletion_contract, plan_change, plan_creation
from apps.calendars.actions.revising import duplicate_item, restore_revision
from apps.calendars.api.carrying import ASKING, carry_out, json_body, owner_now, whole_number, zone_member
from apps.calendars.queries.bodies import item_body, zone_named
from apps.calendars.queries.items import calendar_names, find_calendar, find_item
from apps.calendars.queries.listing import reminders, window_items
from apps.calendars.queries.previews import check_writable, identity_of
from apps.calendars.queries.revisions import revisions_of
from apps.calendars.queries.values import Found, Shown
from apps.calendars.rules.mobile_request import normalize_item
from apps.calendars.rules.mobile_values import DAY_MS, bool_field, int_field, pick, text_field
from apps.calendars.rules.targets import ItemNotFound, split_id
from apps.calendars.serializers import ItemSerializer
from apps.confirmations.serializers import ErrorSerializer
from apps.core.contracts import Call
from apps.core.dispatch import ApiView
from apps.core.errors import Denied, InvalidField
from apps.core.values import now_ms
from apps.ledger.api import once

KINDS = {"calendar": "VEVENT", "reminder": "VTODO"}
LIMIT_DEFAULT, LIMIT_MAX = 500, 5_000
WINDOW_MAX_MS = 400 * DAY_MS
WINDOW = [
    OpenApiParameter("start_ms", int),
    OpenApiParameter("end_ms", int),
    OpenApiParameter("calendar", str, description="id or name"),
    OpenApiParameter("q", str, description="a text in title, notes or location"),
    OpenApiParameter("limit", int),
]
IDENTITY = [
    OpenApiParameter("start_ms", int, description="the listed time; another one is calendar_item_not_found"),
    OpenApiParameter("expires_in_s", int),
]


class Items(ApiView):
    """What the views of events and of reminders share."""

    capability = "calendar"

    def write_item(self, body: dict[str, Any], *, action: str, item_id: str = "") -> dict[str, Any]:
        """Return the clean item of a body; dates of all-day events and a time zone may be given here, too."""
        item = dict(body)
        if item_id:
            item["id"] = item_id
        if "alarm" in item and "reminder_minutes" not in item:
            value = item["alarm"]
            item["reminder_minutes"] = None if value is None else int_field(value, name="alarm", low=0, high=43_200)
        self.take_dates(item)
        clean = normalize_item(item, capability=self.capability, action=action, now_ms=now_ms(), recurrence=True)
        zone = zone_member(body)
        if zone is not None:
            clean["zone"] = zone
        if self.capability == "reminder":
            self.take_reminder_extras(item, clean)
        return clean

    def take_dates(self, item: dict[str, Any]) -> None:
        """Turn `start_date` and `last_day` of an all-day event into local midnights."""
        zone = zone_named(owner_now(cast("Caller", self.request.user)).zone)
        for name, field, days in (("start_date", "start_ms", 0), ("last_day", "end_ms", 1)):
            value = item.get(name)
            if value is None:
                continue
            try:
                day = date.fromordinal(date.fromisoformat(value).toordinal() + days)
            except (TypeError, ValueError, OverflowError):
                raise InvalidField(name, f"{name} must be a date such as 2026-12-01") from None
            item.setdefault(field, int(datetime.combine(day, time(), tzinfo=zone).timestamp()) * 1000)

    def take_reminder_extras(self, item: dict[str, Any], clean: dict[str, Any]) -> None:
        """Take what reminders may carry here beyond the mobile door: a rule, an alarm, a whole day."""
        rule = text_field(item.get("rrule"), name="rrule", units=1000)
        if rule:
            clean["rrule"] = rule
        name, value = pick(item, names=("reminder_minutes", "reminderMinutes"))
        if value is not None:
            clean["reminder_minutes"] = int_field(value, name=name, low=0, high=43_200)
        all_day = bool_field(item.get("all_day"), name="all_day")
        if all_day is not None:
            clean["all_day"] = all_day

    def list_answer(self, found: list[Shown], owner_zone: str, by: Caller, limit: int) -> dict[str, Any]:
        """Return a list answer."""
        names = calendar_names(profile_id=by.profile_id)
        items = [
            item_body(shown, zone=owner_zone, calendar=names.get(shown.calendar_id, "")) for shown in found[:limit]
        ]
        for item, shown in zip(items, found, strict=False):
            item["calendar_id"] = shown.calendar_id
        return {"items": items, "truncated": len(found) > limit, "time_zone": owner_zone}

    def window(self, request: Any, *, default_start_ms: int) -> tuple[int, int, int, str, str]:
        """Return start, end, limit, calendar id and search text of a list request."""
        start = whole_number(request, "start_ms", default=default_start_ms)
        assert start is not None
        end = whole_number(request, "end_ms", default=start + 7 * DAY_MS)
        assert end is not None
        if end <= start:
            raise InvalidField("end_ms", "end_ms must be after start_ms")
        if end - start > WINDOW_MAX_MS:
            raise InvalidField("end_ms", "end_ms is more than 400 days after start_ms")
        limit = whole_number(request, "limit", default=LIMIT_DEFAULT)
        assert limit is not None
        calendar = request.query_params.get("calendar", "")
        calendar_id = find_calendar(profile_id=request.user.profile_id, name=calendar).pk if calendar else ""
        return start, end, max(1, min(limit, LIMIT_MAX)), calendar_id, request.query_params.get("q", "").strip().lower()

    def found(self, request: Any, item_id: str, *, near_ms: int | None) -> Found:
        """Return an item, checked against the time that the caller states."""
        by: Caller = request.user
        found = find_item(profile_id=by.profile_id, item_id=item_id, near_ms=near_ms, kind=KINDS[self.capability])
        if near_ms is not None and found.shown.at_ms != near_ms:
            raise ItemNotFound
        return found


def matching(found: list[Shown], text: str) -> list[Shown]:
    """Return the items in whose texts a text occurs."""
    if not text:
        return found
    return [shown for shown in found if text in f"{shown.title}\n{shown.notes}\n{shown.location}".lower()]


class EventList(Items):
    """The events of a window, and new ones."""

    scopes = {"GET": "calendar.read", "POST": "calendar.write"}

    @extend_schema(operation_id="events_list", parameters=WINDOW, responses={200: dict})
    def get(self, request: Any) -> Response:
        """List the occurrences that touch a window, by start."""
        owner = owner_now(request.user)
        start, end, limit, calendar_id, text = self.window(request, default_start_ms=now_ms())
        found = window_items(
            profile_id=owner.profile_id, kind="VEVENT", start_ms=start, end_ms=end, calendar_id=calendar_id
        )
        return Response(self.list_answer(matching(found, text), owner.zone, request.user, limit))

    @extend_schema(operation_id="events_create", request=ItemSerializer, responses={201: dict, **ASKING})
    def post(self, request: Any) -> Response:
        """Make an event, once or repeating."""
        body = json_body(request)

        def plan() -> Plan:
            item = self.write_item(body, action="create")
            return plan_creation(by=request.user, item=item, capability=self.capability, now_ms=now_ms())

        return carry_out(request, capability=self.capability, plan=plan, status=201)


class ReminderList(Items):
    """The reminders, and new ones."""

    capability = "reminder"
    scopes = {"GET": "reminder.read", "POST": "reminder.write"}

    @extend_schema(
        operation_id="reminders_list",
        parameters=[*WINDOW, OpenApiParameter("include_completed", bool)],
        responses={200: dict},
    )
    def get(self, request: Any) -> Response:
        """List the reminders of a window; without a start also the overdue and the undated ones."""
        owner = owner_now(request.user)
        default = "start_ms" not in request.query_params
        start, end, limit, calendar_id, text = self.window(request, default_start_ms=now_ms() - DAY_MS)
        found = reminders(
            profile_id=owner.profile_id,
            start_ms=start,
            end_ms=end,
            include_completed=request.query_params.get("include_completed") in ("true", "1"),
            with_open=default,
            calendar_id=calendar_id,
        )
        return Response(self.list_answer(matching(found, text), owner.zone, request.user, limit))

    @extend_schema(operation_id="reminders_create", request=ItemSerializer, responses={201: dict, **ASKING})
    def post(self, request: Any) -> Response:
        """Make a reminder."""
        body = json_body(request)

        def plan() -> Plan:
            item = self.write_item(body, action="create")
            return plan_creation(by=request.user, item=item, capability=self.capability, now_ms=now_ms())

        return carry_out(request, capability=self.capability, plan=plan, status=201)


class ItemDetail(Items):
    """One item: an event or reminder, a series, or one occurrence."""

    def shown(self, request: Any, item_id: str) -> Response:
        """Show the item."""
        owner = owner_now(request.user)
        found = self.found(request, item_id, near_ms=whole_number(request, "start_ms"))
        item = item_body(found.shown, zone=owner.zone, calendar=found.calendar_name)
        item |= {"calendar_id": found.shown.calendar_id, "version": found.version}
        if found.shown.recurring:
            item["occurrences"] = found.occurrences
            item["rrule"] = found.shown.rrule
        return Response({"item": item})

    def changed(self, request: Any, item_id: str) -> Response:
        """Change the fields that are given; what takes something away waits for a person."""
        body = json_body(request)
        near = whole_number(request, "start_ms")

        def plan() -> Plan:
            item = self.write_item(body, action="update", item_id=item_id)
            if near is not None:
                self.found(request, item_id, near_ms=near)
            return plan_change(
                by=request.user,
                item=item,
                capability=self.capability,
                action="update",
                now_ms=now_ms(),
                near_ms=near,
            )

        return carry_out(request, capability=self.capability, plan=plan)

    def removed(self, request: Any, item_id: str) -> Response:
        """Ask a person to delete exactly this; `scope=following` means this occurrence and all later ones."""
        following = request.query_params.get("scope") == "following"

        def plan() -> Plan:
            found = self.found(request, item_id, near_ms=whole_number(request, "start_ms"))
            check_writable(found)
            if not following:
                return Plan(contract=deletion_contract(found), arguments=identity_of(found), asks=True)
            if found.target_kind != "event_occurrence":
                raise InvalidField("scope", "scope=following needs one occurrence of a series of events")
            return Plan(contract="calendars.delete_following", arguments=identity_of(found), asks=True)

        return carry_out(request, capability=self.capability, plan=plan)


class EventDetail(ItemDetail):
    """One event."""

    scopes = {"GET": "calendar.read", "PATCH": "calendar.write", "DELETE": "calendar.delete"}

    @extend_schema(operation_id="events_read", parameters=IDENTITY[:1], responses={200: dict, 404: ErrorSerializer})
    def get(self, request: Any, item_id: str) -> Response:
        """Show the event."""
        return self.shown(request, item_id)

    @extend_schema(
        operation_id="events_update", parameters=IDENTITY, request=ItemSerializer, responses={200: dict, **ASKING}
    )
    def patch(self, request: Any, item_id: str) -> Response:
        """Change the fields that are given; what takes something away waits for a person."""
        return self.changed(request, item_id)

    @extend_schema(
        operation_id="events_delete",
        parameters=[*IDENTITY, OpenApiParameter("scope", str, enum=["following"])],
        responses={200: dict, **ASKING},
    )
    def delete(self, request: Any, item_id: str) -> Response:
        """Ask a person to delete exactly this; `scope=following` means this occurrence and all later ones."""
        return self.removed(request, item_id)


class ReminderDetail(ItemDetail):
    """One reminder."""

    capability = "reminder"
    scopes = {"GET": "reminder.read", "PATCH": "reminder.write", "DELETE": "reminder.delete"}

    @extend_schema(operation_id="reminders_read", responses={200: dict, 404: ErrorSerializer})
    def get(self, request: Any, item_id: str) -> Response:
        """Show the reminder."""
        return self.shown(request, item_id)

    @extend_schema(operation_id="reminders_update", request=ItemSerializer, responses={200: dict, **ASKING})
    def patch(self, request: Any, item_id: str) -> Response:
        """Change the fields that are given; what takes something away waits for a person."""
        return self.changed(request, item_id)

    @extend_schema(operation_id="reminders_delete", parameters=IDENTITY, responses={200: dict, **ASKING})
    def delete(self, request: Any, item_id: str) -> Response:
        """Ask a person to delete exactly this reminder."""
        return self.removed(request, item_id)


class ReminderComplete(Items):
    """Completing a reminder."""

    capability = "reminder"
    scopes = {"POST": "reminder.write"}

    @extend_schema(operation_id="reminders_complete", request=ItemSerializer, responses={200: dict, **ASKING})
    def post(self, request: Any, item_id: str) -> Response:
        """Mark as done, or open again with `completed: false`."""
        body = json_body(request)

        def plan() -> Plan:
            item = normalize_item({**body, "id": item_id}, capability="reminder", action="complete", now_ms=now_ms())
            return plan_change(by=request.user, item=item, capability="reminder", action="complete", now_ms=now_ms())

        return carry_out(request, capability="reminder", plan=plan)


class EventDuplicate(Items):
    """A copy of an event."""

    scopes = {"POST": "calendar.write"}

    @extend_schema(operation_id="events_duplicate", request=None, responses={201: dict, 404: ErrorSerializer})
    @once
    def post(self, request: Any, item_id: str) -> Response:
        """Make a copy under a new id."""
        by: Caller = request.user
        if by.kind != "person":
            raise Denied("Only a person in the page may duplicate; agents create.")
        self.found(request, item_id, near_ms=whole_number(request, "start_ms"))
        call = Call(profile_id=by.profile_id, arguments={"id": item_id}, now_ms=now_ms(), by=by.ref)
        return Response(duplicate_item(call=call, object_id=split_id(item_id)[0]), status=201)


class RevisionList(Items):
    """What an item was before."""

    scopes = {"GET": "calendar.read"}

    @extend_schema(operation_id="revisions_list", responses={200: dict, 404: ErrorSerializer})
    def get(self, request: Any, item_id: str) -> Response:
        """List the revisions, the latest first."""
        found = self.found(request, split_id(item_id)[0], near_ms=None)
        return Response({"revisions": revisions_of(object_id=found.shown.object_id)})


class ReminderRevisionList(RevisionList):
    """What a reminder was before."""

    capability = "reminder"
    scopes = {"GET": "reminder.read"}

    @extend_schema(operation_id="reminder_revisions_list", responses={200: dict, 404: ErrorSerializer})
    def get(self, request: Any, item_id: str) -> Response:
        """List the revisions, the latest first."""
        return super().get(request, item_id)


class RevisionRestore(Items):
    """Restoring what an item was."""

    scopes = {"POST": "calendar.write"}

    @extend_schema(operation_id="revisions_restore", request=None, responses={200: dict, 404: ErrorSerializer})
    @once
    def post(self, request: Any, item_id: str, number: int) -> Response:
        """Make a revision the item's text again; only a person may."""
        by: Caller = request.user
        if by.kind != "person":
            raise Denied("Only a person in the page may restore a revision.")
        found = self.found(request, split_id(item_id)[0], near_ms=None)
        check_writable(found)
        call = Call(profile_id=by.profile_id, arguments={"id": item_id}, now_ms=now_ms(), by=by.ref)
        return Response(restore_revision(call=call, object_id=found.shown.object_id, number=number))


class ReminderRevisionRestore(RevisionRestore):
    """Restoring what a reminder was."""

    capability = "reminder"
    scopes = {"POST": "reminder.write"}

    @extend_schema(operation_id="reminder_revisions_restore", request=None, responses={200: dict, 404: ErrorSerializer})
    @once
    def post(self, request: Any, item_id: str, number: int) -> Response:
        """Make a revision the item's text again; only a person may."""
        return super().post(request, item_id, number)
