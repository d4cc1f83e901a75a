"""What every writing endpoint shares: doing a thing once for each idempotency key."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import orjson
from django.db import IntegrityError, transaction

from apps.core.responses import Response
from apps.core.values import digest_of, now_ms
from apps.ledger import actions
from apps.ledger.queries import remembered

Handler = Callable[..., Response]


def once(handler: Handler) -> Handler:
    """Let a view's handler run once for each `Idempotency-Key` of a requester; a repeat gets the kept answer.

    A failure leaves the key free, so that a corrected call may use it. Another payload with the same key is
    `idempotency_conflict`. For plain writes; what waits for a person keeps its keys in the gate.
    """

    @wraps(handler)
    def keyed(view: Any, request: Any, *args: Any, **kwargs: Any) -> Response:
        key = str(request.META.get("HTTP_IDEMPOTENCY_KEY", ""))
        if not key:
            return handler(view, request, *args, **kwargs)
        payload_hash = digest_of([request.method, request.path, request.data])
        try:
            return _kept(request, key, payload_hash) or _done(
                request, key, payload_hash, lambda: handler(view, request, *args, **kwargs)
            )
        except IntegrityError:
            # The same key was used at the same moment; ours was undone, the other's answer counts.
            found = _kept(request, key, payload_hash)
            if found is None:
                raise
            return found

    return keyed


def _kept(request: Any, key: str, payload_hash: str) -> Response | None:
    row = remembered(by=request.user, key=actions.check_key(key), payload_hash=payload_hash)
    if row is None or not row.answer:
        return None
    kept = orjson.loads(row.answer)
    return Response(kept["data"], status=kept["status"])


def _done(request: Any, key: str, payload_hash: str, work: Callable[[], Response]) -> Response:
    with transaction.atomic():
        response = work()
        kept = orjson.dumps({"status": response.status_code, "data": response.data}, default=str).decode()
        actions.remember(by=request.user, key=key, payload_hash=payload_hash, answer=kept, now_ms=now_ms())
    return response
