"""Lists of a window: what a request asks for, and how the items are answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import OpenApiParameter

from apps.accounts.rules import Caller
from apps.calendars.api.carrying import whole_number
from apps.calendars.queries.bodies import item_body
from apps.calendars.queries.items import calendar_names, find_calendar
from apps.calendars.queries.values import Shown
from apps.calendars.rules.mobile_values import DAY_MS
from apps.core.errors import InvalidField

LIMIT_DEFAULT, LIMIT_MAX = 500, 5_000
WINDOW_MAX_MS = 400 * DAY_MS
WINDOW = [
    OpenApiParameter("start_ms", int),
    OpenApiParameter("end_ms", int),
    OpenApiParameter("calendar", str, description="id or name"),
    OpenApiParameter("q", str, description="a text in title, notes or location"),
    OpenApiParameter("limit", int),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What a list request asks for."""

    start_ms: int
    end_ms: int
    limit: int
    calendar_id: str
    text: str


def window_of(request: Any, *, default_start_ms: int) -> Window:
    """Return the window of a list request; raise `InvalidField` for one that is none."""
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
    return Window(
        start_ms=start,
        end_ms=end,
        limit=max(1, min(limit, LIMIT_MAX)),
        calendar_id=find_calendar(profile_id=request.user.profile_id, name=calendar).pk if calendar else "",
        text=request.query_params.get("q", "").strip().lower(),
    )


def list_answer(found: list[Shown], *, more: bool, zone: str, by: Caller) -> dict[str, Any]:
    """Return a list answer."""
    names = calendar_names(profile_id=by.profile_id)
    items = [item_body(shown, zone=zone, calendar=names.get(shown.calendar_id, "")) for shown in found]
    for item, shown in zip(items, found, strict=True):
        item["calendar_id"] = shown.calendar_id
    return {"items": items, "truncated": more, "time_zone": zone}
