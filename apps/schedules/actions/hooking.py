"""Webhooks of sessions: setting one, and letting it know of new messages."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.accounts.rules import Caller
from apps.core import rows
from apps.core.announce import announce
from apps.core.errors import InvalidField
from apps.core.values import digest_of, new_id
from apps.ledger import actions as ledger
from apps.schedules.actions.calling import call_webhook
from apps.schedules.actions.posting import permitted_places
from apps.schedules.models import Webhook, WebhookCall
from apps.schedules.rules.hooks import NoWebhook, check_spelling, hook_secret, target_of
from apps.sessions.models import InboxMessage
from apps.sessions.queries import session_of

_HOOKS = "select session_id, id from schedules_webhook where enabled and session_id in ({marks})"


def secret_of(webhook: Webhook) -> str:
    """Return the secret by which a host knows our calls."""
    return hook_secret(key=settings.SAYSO_KEYS.key("webhook_hmac"), webhook_id=webhook.pk, salt=webhook.salt)


@transaction.atomic
def set_webhook(*, by: Caller, session_ref: str, request: Mapping[str, Any], now_ms: int) -> Webhook:
    """Name the address that hears of a session's reminders, or switch it on and off; a new address has a new secret."""
    session = session_of(by=by, ref=session_ref)
    enabled = request.get("enabled", True)
    if not isinstance(enabled, bool):
        raise InvalidField("enabled", "enabled must be true or false")
    webhook = Webhook.objects.select_for_update().filter(session=session).first()
    if webhook is None and "url" not in request:
        raise NoWebhook
    if "url" in request:
        url = request["url"]
        check_spelling(target_of(url), permitted=permitted_places())
        if webhook is None:
            webhook = Webhook(id=new_id(), profile_id=session.profile_id, session=session, created_at_ms=now_ms)
        webhook.url, webhook.salt = url, secrets.token_hex(16)
    assert webhook is not None
    webhook.enabled, webhook.by, webhook.failures, webhook.problem = enabled, by.ref, 0, ""
    webhook.version += 1
    webhook.save()
    ledger.append(
        profile_id=session.profile_id,
        actor=by.ref,
        action="schedules.webhook_set",
        target=f"webhook:{webhook.pk}",
        effect=digest_of({"url": webhook.url, "enabled": webhook.enabled}),
        ids={"session": session.pk},
        now_ms=now_ms,
    )
    return webhook


def call_webhooks(*, messages: Sequence[InboxMessage], now_ms: int) -> None:
    """Queue a call for each new message of a session that has a webhook, inside the transaction of the messages."""
    session_ids = list(dict.fromkeys(message.session_id for message in messages))
    if not session_ids:
        return
    marks = ", ".join(["%s"] * len(session_ids))
    hooks = dict(rows.execute(_HOOKS.format(marks=marks), session_ids).fetchall())
    for message in messages:
        webhook_id = hooks.get(message.session_id)
        if webhook_id is not None:
            call = WebhookCall.objects.create(
                webhook_id=webhook_id, message_id=message.pk, created_ms=now_ms, next_ms=now_ms
            )
            call_webhook.enqueue(call_id=call.pk)
    if hooks:
        announce("webhook.queued", deadline=now_ms)
