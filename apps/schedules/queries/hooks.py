"""Finding webhooks."""

from __future__ import annotations

from apps.accounts.rules import Caller
from apps.schedules.models import Webhook
from apps.schedules.rules.hooks import NoWebhook
from apps.sessions.queries import session_of


def webhook_of(*, by: Caller, session_ref: str) -> Webhook:
    """Return the webhook of a session that the caller may see; raises SessionNotFound or NoWebhook."""
    session = session_of(by=by, ref=session_ref)
    found = Webhook.objects.filter(session=session).first()
    if found is None:
        raise NoWebhook
    return found
