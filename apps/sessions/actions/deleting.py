"""Deleting a session for good, with its subagents: reached through the gate only."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

from django.db import DatabaseError, transaction

from apps.accounts.actions import untie_tokens
from apps.confirmations.actions import forget
from apps.core import rows
from apps.core.announce import announce
from apps.core.contracts import Call, Preview
from apps.core.dependents import dependents_of
from apps.core.errors import SaysoError
from apps.core.failpoints import reach
from apps.core.values import new_id
from apps.sessions.actions.accounting import leave_cache, leave_lists
from apps.sessions.actions.erasing import erase_log
from apps.sessions.actions.hosts import stop_agent
from apps.sessions.actions.sweeping import sweep_journal
from apps.sessions.models import DeletedSession, Session
from apps.sessions.queries.deletions import Doomed, path_of, running_rows, unreadable_count
from apps.sessions.rules.ids import id_hash, spellings
from apps.sessions.rules.refusals import AgentBusy, DeleteFailed

log = logging.getLogger("sayso.sessions")


def stop_agents(*, call: Call, preview: Preview) -> list[str]:
    """Ask the agents at work in a session and its subagents to stop, one after the other, and wait for each.

    Returns where one stopped. Runs outside any transaction; an agent that was stopped stays stopped.
    """
    stopped = []
    for row in running_rows(preview.source.rows):
        outcome = stop_agent(session_id=row.pk)
        if outcome == "busy":
            raise AgentBusy(
                "The agent did not stop in time, so nothing was deleted. Stop it where it runs, then ask again.",
                why="agent",
                sessionId=row.ref,
            )
        if outcome == "stopped":
            stopped.append(row.ref)
    return stopped


def delete_session(*, call: Call, preview: Preview) -> dict[str, Any]:
    """Erase a session and its subagents without residue, all or nothing; lists and caches report by themselves."""
    doomed: Doomed = preview.source
    if busy := running_rows(doomed.rows):
        raise AgentBusy(why="agent", sessionId=busy[0].ref)
    try:
        return _deleted(doomed, call=call)
    except SaysoError:
        raise
    except Exception as error:
        log.exception("a deletion failed")
        raise DeleteFailed(f"It could not be deleted; nothing was changed. ({error})", stage="unknown") from error


def _deleted(doomed: Doomed, *, call: Call) -> dict[str, Any]:
    profile_id = call.profile_id
    hashes = [id_hash(profile_id=profile_id, ref=name) for name in doomed.names]
    known = list(dict.fromkeys(spelling for name in doomed.names for spelling in spellings(name)))
    # Before the rows: confirmations are locked first everywhere.
    forget(profile_id=profile_id, names=known, targets=hashes, but=call.confirmation_id, by=call.by, now_ms=call.now_ms)
    untie_tokens(profile_id=profile_id, sessions=known)
    # Counted while the target is still there, which may be one of them.
    unreadable = unreadable_count(profile_id=profile_id)
    paths = sorted(path_of(row) for row in doomed.rows)
    _release_dependents(doomed, call=call)
    reach("delete_session.dependents")
    counts = _erase(doomed)
    reach("delete_session.erased")
    lists = leave_lists(profile_id=profile_id, names=doomed.names)
    cache = leave_cache(profile_id=profile_id, names=doomed.names)
    _remember(hashes, call=call)
    reach("delete_session.remembered")
    for row in doomed.rows:
        announce(
            "session.deleted",
            keys=(f"sessions:{profile_id}",),
            profile=profile_id,
            session=row.pk,
            deadline=call.now_ms,
        )
    transaction.on_commit(partial(sweep_journal, now_ms=call.now_ms), robust=True)
    return {
        "sessionId": call.arguments["session"],
        "dirs": paths,
        "removed": paths,
        "descendants": list(doomed.descendants),
        "stopped": list(call.waited or ()),
        "workspace": lists,
        "detached": lists["detached"],
        "projectionCache": cache,
        "warnings": _warnings(unreadable),
        "rows": counts,
    }


def _warnings(unreadable: int) -> list[dict[str, Any]]:
    if not unreadable:
        return []
    message = "Stored sessions have a header that nobody can read; a subagent may be among them."
    return [{"code": "unreadable_headers", "count": unreadable, "message": message}]


def _release_dependents(doomed: Doomed, *, call: Call) -> None:
    for dependent in dependents_of("session"):
        try:
            for row in doomed.rows:
                dependent.remove(owner_id=row.pk, now_ms=call.now_ms, by=call.by)
        except DatabaseError as error:
            raise DeleteFailed(_words(error), stage=dependent.name) from error


def _erase(doomed: Doomed) -> dict[str, int]:
    """Delete every stored copy; what will not go is named, and then all of it stays."""
    counts: dict[str, int] = {}
    leftover, why = [], ""
    for row in doomed.rows:
        try:
            with rows.undoable():
                gone = erase_log(session=row)
        except DatabaseError as error:
            leftover.append(path_of(row))
            why = str(error)
            continue
        for table, count in gone.items():
            name = table.rpartition("_")[2]
            counts[name] = counts.get(name, 0) + count
    keys = [row.pk for row in doomed.rows]
    still = Session.objects.filter(pk__in=keys).select_related("workspace") if not leftover else ()
    leftover += [path_of(row) for row in still]
    if leftover:
        raise DeleteFailed(_words(why), leftover=sorted(leftover), stage="rows")
    return counts


def _words(why: object) -> str:
    return f"It could not be deleted; nothing was changed. ({why or 'rows were still there afterwards'})"


def _remember(hashes: list[str], *, call: Call) -> None:
    DeletedSession.objects.bulk_create(
        [
            DeletedSession(
                id=new_id(),
                profile_id=call.profile_id,
                created_at_ms=call.now_ms,
                id_hash=each,
                confirmation_id=call.confirmation_id,
            )
            for each in hashes
        ],
        ignore_conflicts=True,
    )
