"""Taking a deleted session off the lists and out of the cache, part by part: one that fails undoes only itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import DatabaseError

from apps.core import rows
from apps.sessions.models import ArchivedSession, CachedListing, PinnedSession, WorkspaceEntry
from apps.sessions.rules.ids import spellings

Report = dict[str, Any]
_PARTS = (
    ("detach", "detached", WorkspaceEntry),
    ("unarchive", "unarchived", ArchivedSession),
    ("unpin", "unpinned", PinnedSession),
)


def leave_lists(*, profile_id: str, names: Sequence[str]) -> Report:
    """Take sessions off the lists of workspaces, the archive and the pinned ones; the flags are about the first."""
    report: Report = {"available": True, "failures": [], "warnings": [], **{flag: False for _, flag, _ in _PARTS}}
    if not _available(WorkspaceEntry):
        report |= {"available": False, "warnings": [_note("registry_unavailable", "The lists cannot be read.")]}
        return report
    for position, name in enumerate(names):
        for part, flag, model in _PARTS:
            with _reported(report["failures"], part=part, name=name):
                gone = _remove(model, profile_id=profile_id, name=name)
                if position == 0:
                    report[flag] = bool(gone)
    failed = any(failure["part"] == "detach" for failure in report["failures"])
    if not report["detached"] and not failed:
        report["warnings"].append(_note("not_in_accounting", "No workspace listed the session."))
    return report


def leave_cache(*, profile_id: str, names: Sequence[str]) -> Report:
    """Take sessions out of the cache of listings."""
    report: Report = {"available": True, "removed": [], "failures": [], "warnings": []}
    if not _available(CachedListing):
        report |= {"available": False, "warnings": [_note("cache_unavailable", "The cache cannot be read.")]}
        return report
    for name in names:
        with _reported(report["failures"], part="cache", name=name):
            report["removed"] += _remove(CachedListing, profile_id=profile_id, name=name)
    return report


def _available(model: Any) -> bool:
    try:
        with rows.undoable():
            model.objects.order_by().values_list("pk", flat=True).first()
    except DatabaseError:
        return False
    return True


@contextmanager
def _reported(failures: list[Report], *, part: str, name: str) -> Iterator[None]:
    try:
        with rows.undoable():
            yield
    except DatabaseError as error:
        failures.append({"part": part, "sessionId": name, "message": str(error)})


def _remove(model: Any, *, profile_id: str, name: str) -> list[str]:
    found = model.objects.filter(profile_id=profile_id, spelling__in=spellings(name))
    held = list(found.order_by("pk").values_list("spelling", flat=True))
    if held:
        found.delete()
    return held


def _note(code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": message}
