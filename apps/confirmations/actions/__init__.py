"""The gate's writes: asking, deciding, ending."""

from apps.confirmations.actions.decide import allow_again, decide, run_claimed, settle_by_device
from apps.confirmations.actions.ending import expire_due, hang_up, settle_after_crash, withdraw, withdraw_of_token
from apps.confirmations.actions.submit import recall, submit

__all__ = [
    "allow_again",
    "decide",
    "expire_due",
    "hang_up",
    "recall",
    "run_claimed",
    "settle_after_crash",
    "settle_by_device",
    "submit",
    "withdraw",
    "withdraw_of_token",
]
