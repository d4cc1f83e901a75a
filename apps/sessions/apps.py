"""Wiring of the sessions room; `django.contrib.sessions` owns the plain label."""

import re

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """Agent sessions and their runs."""

    name = "apps.sessions"
    label = "agent_sessions"
    verbose_name = "Sessions"

    def ready(self) -> None:
        """Publish the contracts, let the hosts' socket know its events and hear of changes, and keep no old pages.

        A revoked token lets go of what it holds.
        """
        from apps.core import announce, dependents, frames, timers
        from apps.core.contracts import register
        from apps.core.serving import grouped_patterns
        from apps.sessions import contracts
        from apps.sessions.actions.leases import end_leases_of_token
        from apps.sessions.actions.sweeping import next_sweep_ms, sweep_journal
        from apps.sessions.consumers import telling
        from apps.sessions.consumers.frames import EVENTS
        from apps.sessions.consumers.socket import KIND
        from apps.sessions.queries.leases import lease_count_of_token

        register(*contracts.ALL)
        timers.register(
            timers.Timer(
                name="sessions.journal", next_due_ms=next_sweep_ms, run_due=sweep_journal, event="session.deleted"
            )
        )
        for event, call in EVENTS.items():
            frames.register(KIND, event, call)
        announce.listen(telling.hear)
        grouped_patterns.append(("POST", re.compile(r"/api/sessions/[^/]+/events")))
        dependents.register(
            dependents.Dependent(
                owner="token",
                name="leases",
                count=lease_count_of_token,
                digest_part=lambda **_: None,
                refusal=lambda **_: "",
                remove=end_leases_of_token,
            )
        )
