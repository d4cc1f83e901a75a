"""Wiring of the gate."""

from django.apps import AppConfig


class ConfirmationsConfig(AppConfig):
    """The gate: nothing is destroyed until a person ticks a box."""

    name = "apps.confirmations"
    label = "confirmations"

    def ready(self) -> None:
        """Let deadlines expire by themselves and revoked tokens take their requests along."""
        from apps.confirmations import actions, queries
        from apps.core import dependents, timers

        timers.register(
            timers.Timer(
                name="confirmations.expire",
                next_due_ms=queries.next_deadline_ms,
                run_due=actions.expire_due,
                event="confirmation.asked",
            )
        )
        dependents.register(
            dependents.Dependent(
                owner="token",
                name="confirmations",
                count=queries.open_count_of_token,
                digest_part=queries.open_count_of_token,
                refusal=lambda **_: "",
                remove=actions.withdraw_of_token,
            )
        )
