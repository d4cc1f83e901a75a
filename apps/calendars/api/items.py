"""What the views of events and of reminders share: reading an item from a body, finding, showing, changing it."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Any, cast

from drf_spectacular.utils import OpenApiParameter

from apps.accounts.rules import Caller
from apps.calendars.actions.planning import Plan, deletion_contract, plan_change, plan_creation
from apps.calendars.api.carrying import carry_out, json_body, owner_now, whole_number, zone_member
from apps.calendars.queries.bodies import item_body, zone_named
from apps.calendars.queries.items import find_item
from apps.calendars.queries.previews import check_writable, identity_of
from apps.calendars.queries.values import Found
from apps.calendars.rules.mobile_request import normalize_item
from apps.calendars.rules.mobile_values import InvalidRequest, bool_field, int_field, pick, text_field
from apps.calendars.rules.targets import KIND_OF_CAPABILITY, ItemNotFound
from apps.core.dispatch import ApiView
from apps.core.errors import InvalidField
from apps.core.responses import Response
from apps.core.values import now_ms

STATED = OpenApiParameter("start_ms", int, description="the listed time; another one is calendar_item_not_found")
EXPIRES = OpenApiParameter("expires_in_s", int, description="how long a person may take, 3 to 604,800")
SCOPE = OpenApiParameter("scope", str, enum=["following"], description="this occurrence and all later ones")


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
        try:
            clean = normalize_item(item, capability=self.capability, action=action, now_ms=now_ms(), recurrence=True)
        except InvalidRequest:
            # The mobile door has one sentence for every cause; here the field is named.
            name = "title" if action == "create" else next((each for each in body if each != "purpose"), "body")
            raise InvalidField(name, f"{name} holds nothing to {action} the item with") from None
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

    def created(self, request: Any) -> Response:
        """Make an item from the body."""
        body = json_body(request)

        def plan() -> Plan:
            item = self.write_item(body, action="create")
            return plan_creation(by=request.user, item=item, capability=self.capability, now_ms=now_ms())

        return carry_out(request, capability=self.capability, plan=plan, status=201)

    def found(self, request: Any, item_id: str, *, near_ms: int | None) -> Found:
        """Return an item, checked against the time that the caller states."""
        by: Caller = request.user
        found = find_item(
            profile_id=by.profile_id, item_id=item_id, near_ms=near_ms, kind=KIND_OF_CAPABILITY[self.capability]
        )
        if near_ms is not None and found.shown.at_ms != near_ms:
            raise ItemNotFound
        return found


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
