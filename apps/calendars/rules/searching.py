"""What a list keeps of what lies in its window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Texts(Protocol):
    """What an item and a component of a series both say."""

    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def notes(self) -> str: ...  # noqa: D102
    @property
    def location(self) -> str: ...  # noqa: D102
    @property
    def completed(self) -> bool: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A text that must occur, in lower case, and whether what is done counts too."""

    text: str = ""
    completed: bool = True

    @property
    def keeps_all(self) -> bool:
        """Tell whether it searches for nothing."""
        return not self.text and self.completed

    def keeps(self, said: Texts) -> bool:
        """Tell whether an item is wanted."""
        if said.completed and not self.completed:
            return False
        return not self.text or self.text in f"{said.title}\n{said.notes}\n{said.location}".lower()


EVERYTHING = Search()
