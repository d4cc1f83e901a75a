"""What events and reminders were before, and restoring it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema

from apps.accounts.rules import Caller
from apps.calendars.actions.revising import restore_revision
from apps.calendars.api.items import Items
from apps.calendars.queries.previews import check_writable
from apps.calendars.queries.revisions import revisions_of
from apps.calendars.rules.targets import split_id
from apps.confirmations.serializers import ErrorSerializer
from apps.core.contracts import Call
from apps.core.errors import Denied
from apps.core.responses import Response
from apps.core.values import now_ms
from apps.ledger.api import once


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
