"""The deliveries of a task, in pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.core import rows
from apps.schedules.models import Task
from apps.schedules.rules.errors import DeliveryCursorNotFound
from apps.schedules.rules.history import Delivery, Receipt, Retention, read_limit
from apps.schedules.rules.tasks import delivery_json
from apps.schedules.rules.values import format_instant

_SENT = (
    "select id, occurrence_ms, delivered_ms, message_id, prompt, title, missed, origin from schedules_delivery"
    " where task_id = %s and outcome = 'sent' and not hidden and id < %s order by id desc limit %s"
)
_CURSOR = "select id from schedules_delivery where task_id = %s and message_id = %s and not hidden"
_PASSED = (
    'select occurrence_ms, delivered_ms, outcome, missed, "by" from schedules_delivery'
    " where task_id = %s and outcome <> 'sent' and not hidden and id < %s and id > %s order by id desc limit 100"
)
_HIDDEN = "select count(*) from schedules_delivery where task_id = %s and hidden"
_SENT_COUNT = "select count(*) from schedules_delivery where task_id = %s and outcome = 'sent'"
_NEWEST = 2**62


def deliveries_page(task: Task, *, request: Mapping[str, Any], retention: Retention) -> dict[str, Any]:
    """Return a page of deliveries, newest first; raises InvalidRule or DeliveryCursorNotFound.

    `passed` are the occurrences of the same stretch that ended without a message.
    """
    limit = read_limit(request.get("limit"))
    end = _NEWEST
    if "before" in request:
        before = request["before"]
        found = rows.execute(_CURSOR, [task.pk, before]).fetchone() if isinstance(before, str) and before else None
        if found is None:
            raise DeliveryCursorNotFound(id=task.ref)
        end = found[0]
    page = rows.execute(_SENT, [task.pk, end, limit + 1]).fetchall()
    shown = page[:limit]
    oldest = shown[-1][0] if len(page) > limit else 0
    body: dict[str, Any] = {
        "id": task.ref,
        "records": [_record(columns) for columns in shown],
        "passed": [_passed(columns) for columns in rows.execute(_PASSED, [task.pk, end, oldest]).fetchall()],
        "earlierRecordsUnavailable": bool(task.earlier_unavailable),
        "earlierRecordsPruned": bool(task.earlier_pruned),
        "retention": {"days": retention.days, "records": retention.records},
    }
    return body | ({"nextBefore": shown[-1][3]} if oldest else {})


def _record(columns: tuple[Any, ...]) -> dict[str, Any]:
    _, occurrence, delivered, message, prompt, title, missed, origin = columns
    receipt = Receipt(scheduled_ms=occurrence, delivered_ms=delivered, message_id=message)
    facts = {"title": title, "missed": missed, "origin": origin}
    return {**delivery_json(Delivery(receipt=receipt, prompt=prompt)), **facts}


def _passed(columns: tuple[Any, ...]) -> dict[str, Any]:
    occurrence, decided, outcome, missed, by = columns
    facts = {"scheduledAt": format_instant(occurrence), "decidedAt": format_instant(decided)}
    return {**facts, "outcome": outcome, "missed": missed, "by": by}


def hidden_count(*, task_id: str) -> int:
    """Return how many delivery records lie beyond the window of answers."""
    return int(rows.execute(_HIDDEN, [task_id]).fetchone()[0])


def sent_count(*, task_id: str) -> int:
    """Return how many delivery records a task has."""
    return int(rows.execute(_SENT_COUNT, [task_id]).fetchone()[0])
