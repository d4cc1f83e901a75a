"""Wiring of the schedules room."""

from __future__ import annotations

import secrets
from typing import Any

from django.apps import AppConfig


class SchedulesConfig(AppConfig):
    """Durable reminders, delivered once into a session's inbox."""

    name = "apps.schedules"
    label = "schedules"

    def ready(self) -> None:
        """Publish the contracts, dispatch what is due, and let sessions know what hangs on them."""
        from apps.core import announce, contracts, timers
        from apps.schedules import consumers
        from apps.schedules.actions import working
        from apps.schedules.contracts import ALL
        from apps.schedules.queries import due

        contracts.register(*ALL)
        announce.listen(consumers.hear)
        timers.register(
            timers.Timer(
                name="schedules.dispatch",
                next_due_ms=due.next_wake_ms,
                run_due=dispatch,
                event="schedule.changed",
                dispatches=True,
            )
        )
        timers.register(
            timers.Timer(
                name="schedules.webhooks",
                next_due_ms=working.next_call_ms,
                run_due=working.start_calls,
                event="webhook.queued",
                dispatches=True,
            )
        )
        hang_on_sessions()


def dispatch(*, now_ms: int) -> str | None:
    """Deliver what is due, by the clock in force."""
    from apps.core.values import clock
    from apps.schedules.actions.delivering import deliver_due

    return deliver_due(scan_ms=now_ms, read_ms=clock().now_ms, jitter=jitter)


def jitter() -> float:
    """Return by which share a back-off is lengthened, so that what failed together does not return together."""
    return secrets.randbelow(1_000) / 10_000


def hang_on_sessions() -> None:
    """Let sessions count, refuse and remove what this room keeps of them."""
    from apps.core import dependents
    from apps.schedules.actions.removing import remove_of_session
    from apps.schedules.queries import previews

    shared: dict[str, Any] = {"name": "schedules", "remove": remove_of_session}
    dependents.register(
        dependents.Dependent(
            owner="session",
            count=previews.session_count,
            digest_part=previews.session_digest,
            refusal=lambda **_: "",
            **shared,
        )
    )
    dependents.register(
        dependents.Dependent(
            owner="archive",
            count=previews.active_count,
            digest_part=previews.active_of_session,
            refusal=previews.archive_refusal,
            **shared,
        )
    )
