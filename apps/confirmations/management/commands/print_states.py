"""Print the gate's state diagram from its transition table."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from apps.confirmations.rules import STATES, TRANSITIONS


def diagram() -> str:
    """Return the page `docs/states.md`, drawn from the one transition table."""
    lines = [
        "# The states of a confirmation",
        "",
        "Printed by `manage.py print_states` from `apps/confirmations/rules.py`; a test compares them.",
        "",
        "```mermaid",
        "stateDiagram-v2",
        "    [*] --> pending",
    ]
    lines += [f"    {old} --> {new}" for old, following in TRANSITIONS.items() for new in following]
    lines += [f"    {state} --> [*]" for state in STATES if state not in TRANSITIONS]
    return "\n".join([*lines, "```", ""])


class Command(BaseCommand):
    """`manage.py print_states > docs/states.md`."""

    help = "Print the gate's state diagram."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print it."""
        self.stdout.write(diagram(), ending="")
