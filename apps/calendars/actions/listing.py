"""Listing through the gate: a profile may want to be asked before an agent reads."""

from __future__ import annotations

from typing import Any

from apps.calendars.queries.answers import listed_items
from apps.calendars.rules.targets import Unavailable
from apps.core.contracts import Call, Preview


def list_items(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Return the items of a window."""
    return listed_items(profile_id=call.profile_id, request=call.arguments, now_ms=call.now_ms)


def answered_by_device(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Refuse: only the phone itself ends a request to it."""
    raise Unavailable
