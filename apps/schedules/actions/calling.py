"""The work of the webhook queue: one call, tried again with back-off until it is taken or given up."""

from __future__ import annotations

import http.client
import json
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django_tasks import TaskContext, task

from apps.core.announce import announce
from apps.core.errors import SaysoError
from apps.core.values import canonical_json
from apps.schedules.actions.posting import Signed, post
from apps.schedules.models import WebhookCall
from apps.schedules.rules.hooks import DROPPED, FAILED, MOST_TRIES, PENDING, SENT, hook_secret
from apps.schedules.rules.passes import retry_delay_ms
from apps.sessions.models import InboxMessage

QUEUE = "webhooks"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@task(queue_name=QUEUE, takes_context=True)
def call_webhook(context: TaskContext, *, call_id: int) -> str:
    """Make one call and return how it went; the queue says when this try began."""
    started = context.task_result.started_at
    assert started is not None
    now_ms = (started - EPOCH) // timedelta(milliseconds=1)
    call = WebhookCall.objects.select_related("webhook", "webhook__session").filter(pk=call_id, state=PENDING).first()
    if call is None:
        return "gone"
    message = InboxMessage.objects.filter(pk=call.message_id).first()
    if message is None or message.acknowledged_ms is not None:
        return _end(call, state=DROPPED, problem="")
    if not call.webhook.enabled:
        return _end(call, state=FAILED, problem="The webhook is switched off.")
    problem = _try(call, message=message, now_ms=now_ms)
    if not problem:
        return _end(call, state=SENT, problem="", ok_ms=now_ms)
    return _end(call, state=FAILED, problem=problem) if call.tries + 1 >= MOST_TRIES else _later(call, problem, now_ms)


def body_of(message: InboxMessage, *, session_ref: str) -> bytes:
    """Return what a webhook is sent of a message."""
    facts: dict[str, Any] = {
        "event": "inbox.message",
        "session_id": session_ref,
        "message": {
            "id": message.pk,
            "number": message.number,
            "source": message.source,
            "payload": json.loads(message.payload),
            "created_at_ms": message.created_at_ms,
        },
    }
    return canonical_json(facts).encode("utf-8", "replace")


def _try(call: WebhookCall, *, message: InboxMessage, now_ms: int) -> str:
    """Return what went wrong, an empty text when the host took it."""
    hook = call.webhook
    secret = hook_secret(key=settings.SAYSO_KEYS.key("webhook_hmac"), webhook_id=hook.pk, salt=hook.salt)
    signed = Signed(
        body=body_of(message, session_ref=hook.session.ref),
        timestamp=now_ms // 1000,
        nonce=secrets.token_hex(16),
        secret=secret,
    )
    try:
        status = post(hook.url, signed=signed)
    except (OSError, http.client.HTTPException, SaysoError) as error:
        return f"{type(error).__name__}: {error}"[:300]
    return "" if 200 <= status < 300 else f"The host answered {status}."


@transaction.atomic
def _end(call: WebhookCall, *, state: str, problem: str, ok_ms: int | None = None) -> str:
    call.state, call.problem, call.next_ms = state, problem, None
    call.tries += state in (SENT, FAILED)
    call.save()
    hook = call.webhook
    if ok_ms is not None:
        hook.failures, hook.problem, hook.last_ok_ms = 0, "", ok_ms
    elif state == FAILED:
        hook.failures, hook.problem = hook.failures + 1, problem
    hook.save(update_fields=["failures", "problem", "last_ok_ms"])
    return state


@transaction.atomic
def _later(call: WebhookCall, problem: str, now_ms: int) -> str:
    """Queue the next try."""
    call.tries += 1
    call.next_ms = now_ms + retry_delay_ms(failures=call.tries, jitter=secrets.randbelow(1_000) / 10_000)
    call.problem = problem
    call.save()
    hook = call.webhook
    hook.failures, hook.problem = hook.failures + 1, problem
    hook.save(update_fields=["failures", "problem"])
    call_webhook.using(run_after=EPOCH + timedelta(milliseconds=call.next_ms)).enqueue(call_id=call.pk)
    announce("webhook.queued", deadline=call.next_ms)
    return "later"
