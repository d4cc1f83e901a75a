"""The gate's writes: asking, deciding, ending."""

from apps.confirmations.actions.claims import run_claimed
from apps.confirmations.actions.decide import allow_again, decide, settle_by_device
from apps.confirmations.actions.ending import expire_due, hang_up, settle_after_crash, withdraw, withdraw_of_token
from apps.confirmations.actions.forgetting import forget, lay_bare
from apps.confirmations.actions.submit import recall, submit

__all__ = [
    "allow_again",
    "decide",
    "expire_due",
    "forget",
    "hang_up",
    "lay_bare",
    "recall",
    "run_claimed",
    "settle_after_crash",
    "settle_by_device",
    "submit",
    "withdraw",
    "withdraw_of_token",
]
