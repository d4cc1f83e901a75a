"""The gate over HTTP."""

from apps.confirmations.api.allowing import AllowAgain
from apps.confirmations.api.asking import ask_and_answer, idempotency_key, outcome_now, requested_wait, shape_r
from apps.confirmations.api.deciding import Decision, decider_of, fresh_nonce
from apps.confirmations.api.events import ConfirmationEvents, event_facts
from apps.confirmations.api.holding import answered, hold, hung_up
from apps.confirmations.api.inbox import PAGE_SIZE, Inbox, InboxCard
from apps.confirmations.api.receipts import ReceiptDetail
from apps.confirmations.api.requests import ConfirmationDetail, ConfirmationList

__all__ = [
    "PAGE_SIZE",
    "AllowAgain",
    "ConfirmationDetail",
    "ConfirmationEvents",
    "ConfirmationList",
    "Decision",
    "Inbox",
    "InboxCard",
    "ReceiptDetail",
    "answered",
    "ask_and_answer",
    "decider_of",
    "event_facts",
    "fresh_nonce",
    "hold",
    "hung_up",
    "idempotency_key",
    "outcome_now",
    "requested_wait",
    "shape_r",
]
