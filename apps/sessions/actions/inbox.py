"""The inbox of a session: messages are put in by the server and acknowledged by the host that took them in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from apps.accounts.rules import Caller
from apps.core import rows
from apps.core.announce import announce
from apps.core.values import canonical_json, new_id
from apps.sessions.models import InboxMessage, Session
from apps.sessions.queries import session_of
from apps.sessions.queries.inbox import last_numbers, message_of
from apps.sessions.rules.hosts import taken_in_by

TOLD_AT_ONCE = 50
"""How many messages one announcement names; what travels between processes is small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A message that is to be put into a session's inbox."""

    session_id: str
    """The session's key, not the id that clients know."""
    profile_id: str
    source: str
    payload: Mapping[str, Any]


def put_message(*, session: Session, source: str, payload: Mapping[str, Any], now_ms: int) -> InboxMessage:
    """Put a message into a session's inbox, inside the caller's transaction; hosts hear of it after the commit."""
    draft = Draft(session_id=session.pk, profile_id=session.profile_id, source=source, payload=payload)
    return put_messages(drafts=[draft], now_ms=now_ms)[0]


def put_messages(*, drafts: Sequence[Draft], now_ms: int) -> list[InboxMessage]:
    """Put many messages into inboxes at once, in this order, inside the caller's transaction."""
    numbers = last_numbers(session_ids=sorted({draft.session_id for draft in drafts}), lock=True)
    messages = []
    for draft in drafts:
        numbers[draft.session_id] += 1
        message = rows.fresh(
            InboxMessage,
            id=new_id(),
            profile_id=draft.profile_id,
            created_at_ms=now_ms,
            session_id=draft.session_id,
            number=numbers[draft.session_id],
            source=draft.source,
            payload=canonical_json(draft.payload),
        )
        messages.append(message)
    rows.insert_all(InboxMessage, messages)
    for start in range(0, len(messages), TOLD_AT_ONCE):
        _tell(messages[start : start + TOLD_AT_ONCE])
    return messages


def _tell(messages: Sequence[InboxMessage]) -> None:
    """Announce messages: to those that wait for this very number, and to whoever follows the inbox."""
    awaited = [f"message:{message.session_id}:{message.number}" for message in messages]
    followed = dict.fromkeys(f"inbox:{message.session_id}" for message in messages)
    announce("inbox.put", keys=(*awaited, *followed))


@transaction.atomic
def acknowledge(*, by: Caller, ref: str, key: str, now_ms: int) -> InboxMessage:
    """Note that a host took a message in, by its number or id; once noted it stays as it is."""
    session = session_of(by=by, ref=ref)
    found = message_of(session=session, key=key)
    if found.acknowledged_ms is None:
        _note(session, {found.pk: None}, now_ms=now_ms)
        found.acknowledged_ms = now_ms
    return found


def acknowledge_in(*, session: Session, events: Iterable[dict[str, Any]], now_ms: int) -> int:
    """Acknowledge what appended events take in, inside the append's transaction; returns how many messages."""
    taken: dict[str, int | None] = {}
    for event in events:
        if message_id := taken_in_by(event):
            taken.setdefault(message_id, event["seq"])
    return _note(session, taken, now_ms=now_ms) if taken else 0


def _note(session: Session, taken: Mapping[str, int | None], *, now_ms: int) -> int:
    count = 0
    for message_id, seq in taken.items():
        open_one = InboxMessage.objects.filter(pk=message_id, session=session, acknowledged_ms=None)
        count += open_one.update(acknowledged_ms=now_ms, acknowledged_seq=seq)
    if count:
        announce("inbox.acknowledged", profile=session.profile_id, session=session.pk)
    return count
