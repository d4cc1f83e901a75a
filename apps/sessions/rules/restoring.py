"""What only a person may do when sessions come in."""

from __future__ import annotations

from apps.core.errors import Denied


class OnlyAPerson(Denied):
    """Only a person can bring a deleted session back or have a log mended."""

    code = "only_a_person"


def check_person(*, kind: str) -> None:
    """Raise for any caller that is not a person."""
    if kind != "person":
        raise OnlyAPerson
