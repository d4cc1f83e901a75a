"""Which sessions belong to one: its subagents, and the rows that a list makes of the two spellings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.sessions.rules.ids import bare, spellings


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """One stored copy of a session: its workspace's slug, its spelling there, and its header, None if unreadable."""

    slug: str
    name: str
    header: Mapping[str, Any] | None

    @property
    def path(self) -> str:
        """Return how reports name the copy."""
        return f"{self.slug}/{self.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """A workspace's own list of sessions."""

    title: str | None
    path: str | None
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One session of the list, however many spellings, copies and workspaces it has."""

    name: str
    title: str | None = None
    cwd: str | None = None
    live: bool = False
    running: bool = False
    orphan: bool = False


def copies_of(name: str, *, stored: Iterable[Stored]) -> list[Stored]:
    """Return the stored copies of a session under both spellings."""
    known = set(spellings(name))
    return sorted((copy for copy in stored if copy.name in known), key=lambda copy: copy.path)


def spelled(name: str, *, among: Collection[str]) -> str | None:
    """Return the spelling of a session that a list holds, None when it holds neither."""
    return next((spelling for spelling in spellings(name) if spelling in among), None)


def descendants_of(name: str, *, stored: Sequence[Stored]) -> list[str]:
    """Return the subagents of a session and theirs, breadth first, each once; forks are none."""
    children: dict[str, list[str]] = {}
    for copy in stored:
        header = copy.header or {}
        parent = header.get("parentSession")
        if header.get("origin") == "subagent" and isinstance(parent, str):
            children.setdefault(bare(parent), []).append(copy.name)
    found: list[str] = []
    seen, waiting = {bare(name)}, [bare(name)]
    for parent in waiting:
        for child in children.get(parent, ()):
            if bare(child) not in seen:
                seen.add(bare(child))
                found.append(child)
                waiting.append(bare(child))
    return found


def unreadable_in(stored: Iterable[Stored]) -> int:
    """Return how many copies have a header that cannot be read."""
    return sum(copy.header is None for copy in stored)


def session_rows(
    *, accounts: Iterable[Account], stored: Iterable[Stored], live: Collection[str], running: Collection[str] = ()
) -> list[Row]:
    """Return a row for each session: those of the workspaces as they spell them, then those that are only stored."""
    rows: dict[str, Row] = {}

    def add(name: str, *, title: str | None, cwd: str | None, orphan: bool) -> None:
        state = {"live": spelled(name, among=live) is not None, "running": spelled(name, among=running) is not None}
        rows.setdefault(bare(name), Row(name=name, title=title, cwd=cwd, orphan=orphan, **state))

    for account in accounts:
        for name in account.names:
            add(name, title=account.title, cwd=account.path, orphan=False)
    for copy in stored:
        add(bare(copy.name), title=None, cwd=None, orphan=True)
    return list(rows.values())
