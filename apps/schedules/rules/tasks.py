"""Tasks as stored JSON: a record bound to a session, with its status and deliveries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apps.schedules.rules.errors import CorruptScheduleLog, CorruptStore
from apps.schedules.rules.history import Delivery, History, Receipt
from apps.schedules.rules.kinds import ACTIVE, INACTIVE, Record
from apps.schedules.rules.records import read_record
from apps.schedules.rules.values import format_instant, is_trimmed, parse_instant

_RECEIPT = frozenset({"scheduledAt", "deliveredAt", "messageId"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """A record of a session; without a history it is older than histories are."""

    session_id: str
    record: Record
    status: str = ACTIVE
    last_delivery: Receipt | None = None
    history: History | None = None


def read_task(value: object, *, key: str | None = None) -> Task:
    """Return the task of stored JSON, whose row may have a key; raises CorruptStore."""
    given = _object(value, {"sessionId", "record"}, {"status", "lastDelivery", "deliveryHistory"})
    session_id, status = given["sessionId"], given.get("status", ACTIVE)
    if not isinstance(session_id, str) or session_id == "":
        raise _corrupt("sessionId")
    if not isinstance(status, str) or status not in {ACTIVE, INACTIVE}:
        raise _corrupt("status")
    try:
        record = read_record(given["record"])
    except CorruptScheduleLog as error:
        raise CorruptStore(error.message, **error.extra) from error
    if key is not None and key != record.id:
        raise _corrupt("key")
    last = _receipt(given["lastDelivery"]) if "lastDelivery" in given else None
    history = _history(given["deliveryHistory"]) if "deliveryHistory" in given else None
    if history is not None:
        newest = history.deliveries[-1].receipt if history.deliveries else None
        if newest != last:
            raise _corrupt("lastDelivery")
    return Task(session_id=session_id, record=record, status=status, last_delivery=last, history=history)


def receipt_json(receipt: Receipt) -> dict[str, object]:
    """Return the receipt with the members of the contract."""
    return {
        "scheduledAt": format_instant(receipt.scheduled_ms),
        "deliveredAt": format_instant(receipt.delivered_ms),
        "messageId": receipt.message_id,
    }


def delivery_json(delivery: Delivery) -> dict[str, object]:
    """Return the delivery record with the members of the contract."""
    return receipt_json(delivery.receipt) | ({} if delivery.prompt is None else {"prompt": delivery.prompt})


def _history(value: object) -> History:
    given = _object(value, {"records", "earlierRecordsUnavailable"}, {"earlierRecordsPruned"})
    rows, unavailable, pruned = (
        given["records"],
        given["earlierRecordsUnavailable"],
        given.get("earlierRecordsPruned", False),
    )
    if not isinstance(unavailable, bool) or not isinstance(pruned, bool) or not isinstance(rows, list | tuple):
        raise _corrupt("deliveryHistory")
    deliveries = tuple(_delivery(row) for row in rows)
    if len({one.receipt.message_id for one in deliveries}) < len(deliveries):
        raise _corrupt("deliveryHistory")
    return History(deliveries=deliveries, earlier_unavailable=unavailable, earlier_pruned=pruned)


def _delivery(value: object) -> Delivery:
    given = _object(value, _RECEIPT, {"prompt"})
    prompt = given.get("prompt")
    if "prompt" in given and not isinstance(prompt, str):
        raise _corrupt("deliveryHistory")
    receipt = _receipt({name: given[name] for name in _RECEIPT})
    return Delivery(receipt=receipt, prompt=prompt if isinstance(prompt, str) else None)


def _receipt(value: object) -> Receipt:
    given = _object(value, _RECEIPT, frozenset())
    scheduled, delivered = parse_instant(given["scheduledAt"]), parse_instant(given["deliveredAt"])
    message_id = given["messageId"]
    if scheduled is None or delivered is None or not isinstance(message_id, str) or not is_trimmed(message_id):
        raise _corrupt("receipt")
    return Receipt(scheduled_ms=scheduled, delivered_ms=delivered, message_id=message_id)


def _object(
    value: object, needed: set[str] | frozenset[str], optional: set[str] | frozenset[str]
) -> Mapping[str, object]:
    if not isinstance(value, Mapping) or not needed <= value.keys() <= needed | optional:
        raise CorruptStore
    return value


def _corrupt(name: str) -> CorruptStore:
    return CorruptStore(f"A stored schedule task has a {name} that cannot be used", field=name)
