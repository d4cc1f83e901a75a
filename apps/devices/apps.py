"""Wiring of the devices room."""

from django.apps import AppConfig


class DevicesConfig(AppConfig):
    """The devices room."""

    name = "apps.devices"
    label = "devices"

    def ready(self) -> None:
        """Let the socket know its events, and let an aborted run or a deleted session take its requests along."""
        from apps.core import dependents, frames
        from apps.devices import actions, queries
        from apps.devices.consumers.events import EVENTS
        from apps.devices.consumers.socket import KIND

        for event, call in EVENTS.items():
            frames.register(KIND, event, call)
        for owner in ("run", "session"):
            dependents.register(
                dependents.Dependent(
                    owner=owner,
                    name="asks",
                    count=queries.open_count,
                    digest_part=lambda **_: None,
                    refusal=lambda **_: "",
                    remove=actions.withdraw_asks,
                )
            )
