"""Reading a session's inbox."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection
from django.db.models import QuerySet

from apps.core import rows
from apps.core.text import storable
from apps.sessions.models import InboxMessage, Session
from apps.sessions.rules.hosts import NUMBER_MAX, MessageNotFound

CHUNK = 500


def last_numbers(*, session_ids: Sequence[str], lock: bool = False) -> dict[str, int]:
    """Return the last number of each inbox, 0 for an empty one.

    With `lock` nobody else puts a message in until the transaction ends; the ids must then come in order.
    """
    suffix = " for update" if connection.vendor == "postgresql" else ""
    found = dict.fromkeys(session_ids, 0)
    for start in range(0, len(session_ids), CHUNK):
        chunk = list(session_ids[start : start + CHUNK])
        marks = ", ".join(["%s"] * len(chunk))
        if lock and suffix:
            rows.execute(
                f"select id from agent_sessions_session where id in ({marks}) order by id{suffix}",  # noqa: S608
                chunk,
            )
        sql = f"select session_id, max(number) from agent_sessions_inboxmessage where session_id in ({marks}) group by session_id"  # noqa: S608,E501
        found.update(rows.execute(sql, chunk).fetchall())
    return found


def messages_of(*, session_id: str, after: int, limit: int, acknowledged: bool = False) -> list[InboxMessage]:
    """Return the messages after a number in order, by the session's key; those taken in already only if asked."""
    found: QuerySet[InboxMessage] = InboxMessage.objects.filter(session_id=session_id, number__gt=after)
    if not acknowledged:
        found = found.filter(acknowledged_ms=None)
    return list(found.order_by("number")[:limit])


def message_of(*, session: Session, key: str) -> InboxMessage:
    """Return a message of a session's inbox by its number or id."""
    found = InboxMessage.objects.filter(session=session)
    if key.isascii() and key.isdecimal() and len(key) < len(str(NUMBER_MAX)):
        row = found.filter(number=int(key)).first()
    else:
        row = found.filter(pk=key).first() if storable(key) else None
    if row is None:
        raise MessageNotFound
    return row
