"""Capturing: one text under its identity, at the next position of its scope's journal."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import partial

import orjson
from django.db import IntegrityError, connection

from apps.accounts.rules import Caller, check_scope
from apps.captures.models import Refused, Source
from apps.captures.rules import (
    SOURCE_TYPE,
    CaptureRequest,
    Held,
    Outcome,
    Payload,
    SourceConflict,
    SourcePurged,
    outcome_of,
    payload_of,
)
from apps.core import rows
from apps.core.announce import announce
from apps.core.values import digest_of, new_id
from apps.ledger import actions as ledger
from apps.ledger.queries import remembered
from apps.sessions.rules.ids import bare

# Made once: json.dumps with options of its own makes an encoder for every call.
_as_sent = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
REFUSED_KEPT = 20
"""How many payloads are kept for comparing that were refused under one identity."""

_IDENTITY = ("scope_id", "source_type", "source_id")
_SCOPE = "select id, head from captures_scope where profile_id = %s and name = %s"
_FIRST_SCOPE = (
    "insert into captures_scope (id, profile_id, created_at_ms, version, name, head) values (%s, %s, %s, 1, %s, 0)"
    " on conflict do nothing"
)
_MOVE_HEAD = "update captures_scope set head = %s where id = %s"
_HELD = (
    "select id, position, payload_sha256, payload from captures_source"
    " where scope_id = %s and source_type = %s and source_id = %s"
)
_REFUSED_AGAIN = (
    "update captures_refused set times = times + 1, last_at_ms = %s where source_id = %s and payload_sha256 = %s"
)
_REFUSED_COUNT = "select count(*) from captures_refused where source_id = %s"


@dataclass(slots=True, kw_only=True)
class Journal:
    """A scope whose head is locked."""

    scope_id: str
    head: int
    profile_id: str
    changed: bool = False

    def write(self) -> None:
        """Move the head to where it is now, and tell that there is more."""
        if self.changed:
            rows.execute(_MOVE_HEAD, [self.head, self.scope_id])
            announce("captures.changed", profile=self.profile_id)


def capture(*, by: Caller, request: CaptureRequest, now_ms: int, key: str = "") -> Outcome:
    """Store a capture or find it stored; equal payloads replay, with an idempotency key the first answer is repeated.

    Raises SourceConflict for another payload under the same identity, SourcePurged for a purged one; the former keeps
    the refused payload for people who may read the scope.
    """
    check_scope(by=by, scope="capture.write")
    payload = payload_of(request)
    try:
        outcome = _attempt(by, request, payload, key, now_ms)
    except IntegrityError:
        # Another process was faster with the same identity or key: what it stored decides.
        outcome = _attempt(by, request, payload, key, now_ms)
    if isinstance(outcome, Outcome):
        return outcome
    raise outcome


def _attempt(
    by: Caller, request: CaptureRequest, payload: Payload, key: str, now_ms: int
) -> Outcome | SourceConflict | SourcePurged:
    """Return how it ended; a refusal is raised only after what is kept of it was committed."""
    with rows.undoable():
        lock = partial(_locked, by.profile_id, request.scope_id, now_ms)
        together = rows.behind(("captures", by.profile_id, request.scope_id), lock)
        journal = together or lock()
        wanted = digest_of([request.scope_id, payload.sha256]) if key else ""
        if key:
            known = remembered(by=by, key=ledger.check_key(key), payload_hash=wanted)
            if known is not None and known.answer:
                return Outcome(**orjson.loads(known.answer))
        try:
            outcome = _stored(by, request, payload, journal, now_ms)
        except (SourceConflict, SourcePurged) as refusal:
            return refusal
        if together is None:
            journal.write()
        if key:
            answer = orjson.dumps(asdict(outcome)).decode()
            ledger.remember(by=by, key=key, payload_hash=wanted, answer=answer, now_ms=now_ms)
        return outcome


def _locked(profile_id: str, name: str, now_ms: int) -> Journal:
    """Return the scope with its head locked, made at 0 if it is missing: the first lock of every change in it."""
    lock = " for update" if connection.vendor == "postgresql" else ""
    found = rows.execute(_SCOPE + lock, [profile_id, name]).fetchone()
    if found is None:
        rows.execute(_FIRST_SCOPE, [new_id(), profile_id, now_ms, name])
        rows.added()
        found = rows.execute(_SCOPE + lock, [profile_id, name]).fetchone()
    return Journal(scope_id=found[0], head=found[1], profile_id=profile_id)


def _held(scope_id: str, source_id: str) -> tuple[str, Held]:
    pk, position, sha256, data = rows.execute(_HELD, [scope_id, SOURCE_TYPE, source_id]).fetchone()
    return pk, Held(position=position, payload_sha256=sha256, payload=None if data is None else bytes(data))


def _stored(by: Caller, request: CaptureRequest, payload: Payload, journal: Journal, now_ms: int) -> Outcome:
    """Store a payload at the next position, or find what its identity stands for already."""
    # Most identities are new: trying costs less than looking first.
    outcome = outcome_of(payload, held=None, head=journal.head)
    if _store(by, request, payload, journal, outcome.position, now_ms):
        return outcome
    source_pk, held = _held(journal.scope_id, request.source_id)
    try:
        return outcome_of(payload, held=held, head=journal.head)
    except SourceConflict:
        _keep_refused(by, source_pk, payload, now_ms)
        announce("captures.changed", profile=by.profile_id)
        raise


def _store(by: Caller, request: CaptureRequest, payload: Payload, journal: Journal, position: int, now_ms: int) -> bool:
    row = rows.fresh(
        Source,
        id=new_id(),
        profile_id=by.profile_id,
        created_at_ms=now_ms,
        scope_id=journal.scope_id,
        source_id=request.source_id,
        position=position,
        payload=payload.data,
        payload_sha256=payload.sha256,
        metadata=_as_sent.encode(request.metadata),
        session=bare(by.session),
        captured_by=by.ref,
    )
    if not rows.insert_new(row, unique=_IDENTITY):
        return False
    journal.head, journal.changed = position, True
    rows.added()
    ledger.append(
        profile_id=by.profile_id,
        actor=by.ref,
        action="captures.source_captured",
        target=f"source:{row.pk}",
        digest=payload.sha256,
        ids={"position": position, "scope": journal.scope_id},
        now_ms=now_ms,
    )
    return True


def _keep_refused(by: Caller, source_pk: str, payload: Payload, now_ms: int) -> None:
    if rows.execute(_REFUSED_AGAIN, [now_ms, source_pk, payload.sha256]).rowcount:
        return
    if rows.execute(_REFUSED_COUNT, [source_pk]).fetchone()[0] >= REFUSED_KEPT:
        return
    rows.insert(
        rows.fresh(
            Refused,
            id=new_id(),
            profile_id=by.profile_id,
            created_at_ms=now_ms,
            source_id=source_pk,
            payload=payload.data,
            payload_sha256=payload.sha256,
            sent_by=by.ref,
            last_at_ms=now_ms,
        )
    )
