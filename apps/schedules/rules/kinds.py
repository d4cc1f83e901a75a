"""The six kinds of rules, and the record that holds one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias


@dataclass(frozen=True, kw_only=True, slots=True)
class After:
    """Once, some seconds after it was asked for."""

    kind: ClassVar[str] = "after"
    after_seconds: int


@dataclass(frozen=True, kw_only=True, slots=True)
class At:
    """Once, at an instant; the instant is the record's target."""

    kind: ClassVar[str] = "at"


@dataclass(frozen=True, kw_only=True, slots=True)
class Every:
    """Again and again, in steps of elapsed time."""

    kind: ClassVar[str] = "every"
    every_seconds: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Daily:
    """At a time of the wall clock, each day."""

    kind: ClassVar[str] = "daily"
    time_ms: int
    time_zone: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Weekly:
    """At a time of the wall clock on some weekdays, Monday 1 to Sunday 7."""

    kind: ClassVar[str] = "weekly"
    time_ms: int
    time_zone: str
    weekdays: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Cron:
    """By a cron expression in its canonical form."""

    kind: ClassVar[str] = "cron"
    expression: str
    time_zone: str


WallRule: TypeAlias = Daily | Weekly | Cron
"""Rules that follow the wall clock of a zone."""
OneShot: TypeAlias = After | At
Rule: TypeAlias = OneShot | Every | WallRule

ACTIVE = "active"
INACTIVE = "inactive"
TITLE_LENGTH = 120
"""In UTF-16 code units."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """A rule with its text and its committed target: the next occurrence, or the last one when it has ended."""

    id: str
    title: str
    prompt: str
    rule: Rule
    scheduled_ms: int

    @property
    def kind(self) -> str:
        """The kind of the rule."""
        return self.rule.kind

    @property
    def recurs(self) -> bool:
        """Whether more than one occurrence is meant."""
        return not isinstance(self.rule, After | At)

    def moved(self, *, scheduled_ms: int) -> Record:
        """Return the record with another target."""
        return replace(self, scheduled_ms=scheduled_ms)
