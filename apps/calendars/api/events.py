"""Events over REST (family R)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema

from apps.accounts.rules import Caller
from apps.calendars.actions.revising import duplicate_item
from apps.calendars.api.carrying import ASKING, owner_now, whole_number
from apps.calendars.api.items import EXPIRES, SCOPE, STATED, ItemDetail, Items
from apps.calendars.api.reckoning import reckoned, unused
from apps.calendars.api.windows import WINDOW, list_answer, window_of
from apps.calendars.queries.listing import read_window
from apps.calendars.rules.searching import Search
from apps.calendars.rules.targets import split_id
from apps.calendars.serializers import WrittenItemSerializer
from apps.confirmations.serializers import ErrorSerializer
from apps.core.api import rendering_of
from apps.core.contracts import Call
from apps.core.errors import Denied
from apps.core.jobs import run_job
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.ledger.api import once


class EventList(Items):
    """The events of a window, and new ones."""

    scopes = {"GET": "calendar.read", "POST": "calendar.write"}

    @extend_schema(operation_id="events_list", parameters=WINDOW, responses={200: dict})
    def get(self, request: Any) -> Response:
        """List the occurrences that touch a window, by start."""
        if rendering_of(request) is not None:
            return run_job(request, work=unused, render=Response)
        owner = owner_now(request.user)
        window = window_of(request, default_start_ms=now_ms())

        def read() -> dict[str, Any]:
            found, more = read_window(
                profile_id=owner.profile_id,
                kind="VEVENT",
                start_ms=window.start_ms,
                end_ms=window.end_ms,
                limit=window.limit,
                calendar_id=window.calendar_id,
                search=Search(text=window.text),
            )
            return list_answer(found, more=more, zone=owner.zone, by=request.user)

        return reckoned(request, read=read, render=Response)

    @extend_schema(
        operation_id="events_create",
        parameters=[EXPIRES],
        request=WrittenItemSerializer,
        responses={201: dict, **ASKING},
    )
    def post(self, request: Any) -> Response:
        """Make an event, once or repeating."""
        return self.created(request)


class EventDetail(ItemDetail):
    """One event."""

    scopes = {"GET": "calendar.read", "PATCH": "calendar.write", "DELETE": "calendar.delete"}

    @extend_schema(operation_id="events_read", parameters=[STATED], responses={200: dict, 404: ErrorSerializer})
    def get(self, request: Any, item_id: str) -> Response:
        """Show the event."""
        return self.shown(request, item_id)

    @extend_schema(
        operation_id="events_update",
        parameters=[STATED, EXPIRES],
        request=WrittenItemSerializer,
        responses={200: dict, **ASKING},
    )
    def patch(self, request: Any, item_id: str) -> Response:
        """Change the fields that are given; what takes something away waits for a person."""
        return self.changed(request, item_id)

    @extend_schema(
        operation_id="events_delete",
        parameters=[STATED, EXPIRES, SCOPE],
        responses={200: dict, **ASKING},
    )
    def delete(self, request: Any, item_id: str) -> Response:
        """Ask a person to delete exactly this; `scope=following` means this occurrence and all later ones."""
        return self.removed(request, item_id)


class EventDuplicate(Items):
    """A copy of an event."""

    scopes = {"POST": "calendar.write"}

    @extend_schema(
        operation_id="events_duplicate", parameters=[STATED], request=None, responses={201: dict, 404: ErrorSerializer}
    )
    @once
    def post(self, request: Any, item_id: str) -> Response:
        """Make a copy under a new id."""
        by: Caller = request.user
        if by.kind != "person":
            raise Denied("Only a person in the page may duplicate; agents create.")
        self.found(request, item_id, near_ms=whole_number(request, "start_ms"))
        call = Call(profile_id=by.profile_id, arguments={"id": item_id}, now_ms=now_ms(), by=by.ref)
        return Response(duplicate_item(call=call, object_id=split_id(item_id)[0]), status=201)
