"""What goes with a session, what stays, and what stands in the way of its deletion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from apps.accounts.models import Workspace
from apps.accounts.queries import labels_of
from apps.accounts.rules import Caller
from apps.core.contracts import Call, Preview
from apps.core.dependents import dependents_of
from apps.core.errors import Denied
from apps.sessions.models import ImportedFile, InboxMessage, Run, Session
from apps.sessions.queries.leases import live_leases
from apps.sessions.queries.log import load_state
from apps.sessions.rules.ids import bare, id_hash, spellings
from apps.sessions.rules.refusals import AgentBusy, SessionLive, TargetNotFound

SUBAGENT = "subagent"
CHUNK = 400
NAMES_SHOWN = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Doomed:
    """A session with everything that goes along: `rows` are all stored copies, the target's own first."""

    name: str
    descendants: tuple[str, ...]
    rows: tuple[Session, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the target and its descendants, each as it is spelled where it is stored."""
        return (self.name, *self.descendants)

    @property
    def own(self) -> tuple[Session, ...]:
        """Return the copies of the target itself."""
        return tuple(row for row in self.rows if bare(row.ref) == bare(self.name))


def path_of(row: Session) -> str:
    """Return how reports name a stored copy."""
    return f"{row.workspace.slug}/{row.ref}"


def find_doomed(*, profile_id: str, ref: str, lock: bool = False) -> Doomed:
    """Return a session under both spellings and its subagents, recursively; forks are none of them."""
    found = _found(profile_id, ref)
    if lock:
        keys = sorted(row.pk for row in found.rows)
        for start in range(0, len(keys), CHUNK):
            held = Session.objects.select_for_update().filter(pk__in=keys[start : start + CHUNK])
            list(held.order_by("pk").values_list("pk", flat=True))
        # Somebody may have been faster while we waited for the locks.
        found = _found(profile_id, ref)
    return found


def _found(profile_id: str, ref: str) -> Doomed:
    rows = _copies(profile_id, [ref])
    if not rows:
        raise TargetNotFound
    name, descendants = rows[0].ref, list[str]()
    seen, parents = {bare(ref)}, [bare(ref)]
    while parents:
        fresh: dict[str, str] = {}
        for child in _children(profile_id, parents):
            if bare(child.ref) not in seen:
                fresh.setdefault(bare(child.ref), child.ref)
        seen.update(fresh)
        descendants += fresh.values()
        rows += _copies(profile_id, list(fresh.values()))
        parents = list(fresh)
    return Doomed(name=name, descendants=tuple(descendants), rows=tuple(rows))


def _copies(profile_id: str, names: Sequence[str]) -> list[Session]:
    known = [spelling for name in names for spelling in spellings(name)]
    found: list[Session] = []
    for start in range(0, len(known), CHUNK):
        chunk = known[start : start + CHUNK]
        here = Session.objects.filter(profile_id=profile_id, ref__in=chunk).select_related("workspace")
        found += here.order_by("workspace__slug", "ref")
    return sorted(found, key=lambda row: known.index(row.ref)) if len(names) == 1 else found


def _children(profile_id: str, parents: Sequence[str]) -> Iterable[Session]:
    for start in range(0, len(parents), CHUNK):
        chunk = parents[start : start + CHUNK]
        here = Session.objects.filter(profile_id=profile_id, parent__in=chunk, origin=SUBAGENT)
        # Those of the first parent first, as a walk from the outside in finds them.
        yield from sorted(here.order_by("created_at_ms", "pk"), key=lambda row: chunk.index(row.parent))


def check_visible(*, by: Caller, ref: str) -> None:
    """Raise for what lies in a restricted workspace of others: the session as if it were not there."""
    doomed = find_doomed(profile_id=by.profile_id, ref=ref)
    places = {row.workspace_id for row in doomed.rows}
    closed = Workspace.objects.filter(pk__in=places, restricted=True).exclude(members=by.user_id)
    hidden = set(closed.values_list("pk", flat=True))
    if any(row.workspace_id in hidden for row in doomed.own):
        raise TargetNotFound
    if hidden:
        raise Denied("A subagent of this session lies in a workspace that you may not use.")


def session_deletion(*, call: Call, lock: bool = False) -> Preview:
    """Return what deleting a session does.

    Leases, open turns, running agents and the length of the log are no part of what the digest covers: an agent that
    goes on working does not make the card stale.
    """
    doomed = find_doomed(profile_id=call.profile_id, ref=call.arguments["session"], lock=lock)
    title = next((row.title for row in doomed.own if row.title), "")
    hanging = _hanging(doomed.rows)
    return Preview(
        target_kind="session",
        target_id=id_hash(profile_id=call.profile_id, ref=doomed.name),
        facts={
            "session": doomed.name,
            "title": title,
            "goes": len(doomed.names),
            "descendants": list(doomed.descendants[:NAMES_SHOWN]),
            **_counts(doomed),
            "hanging": {name: count for name, (count, _) in hanging.items() if count},
        },
        state={
            "title": title,
            "copies": sorted([row.workspace.slug, row.ref, row.pk] for row in doomed.rows),
            "hanging": {name: part for name, (_, part) in hanging.items()},
        },
        effect="delete",
        source=doomed,
    )


def _hanging(rows: Sequence[Session]) -> dict[str, tuple[int, Any]]:
    """Return what other rooms keep for sessions: how much, and what of it the digest covers."""
    return {
        one.name: (
            sum(one.count(owner_id=row.pk) for row in rows),
            [part for row in rows if (part := one.digest_part(owner_id=row.pk)) is not None],
        )
        for one in dependents_of("session")
    }


def _counts(doomed: Doomed) -> dict[str, Any]:
    profile_id, keys = doomed.rows[0].profile_id, [row.pk for row in doomed.rows]
    first = doomed.own[0]
    state = load_state(first) if first.header else None
    forks = _forks(profile_id, doomed)
    return {
        "copies": [path_of(row) for row in doomed.own],
        "stored": len(doomed.rows),
        "events": sum(row.next_seq for row in doomed.rows),
        "turns": 0 if state is None else state.next_turn - 1 + (state.turn is not None),
        "inbox": _count(InboxMessage, keys, acknowledged_ms=None),
        "files": _count(ImportedFile, keys),
        "running": _count(Run, keys, state="running"),
        "forks": forks[:NAMES_SHOWN],
        "forks_stay": len(forks),
    }


def _count(model: Any, keys: Sequence[str], **facts: Any) -> int:
    chunks = (keys[start : start + CHUNK] for start in range(0, len(keys), CHUNK))
    return sum(model.objects.filter(session_id__in=chunk, **facts).count() for chunk in chunks)


def _forks(profile_id: str, doomed: Doomed) -> list[str]:
    gone = {bare(name) for name in doomed.names}
    parents = sorted(gone)
    found: dict[str, str] = {}
    for start in range(0, len(parents), CHUNK):
        here = Session.objects.filter(profile_id=profile_id, parent__in=parents[start : start + CHUNK])
        for ref in here.exclude(origin=SUBAGENT).order_by("created_at_ms", "pk").values_list("ref", flat=True):
            if bare(ref) not in gone:
                found.setdefault(bare(ref), ref)
    return list(found.values())


def unreadable_count(*, profile_id: str) -> int:
    """Return how many stored copies have a header that nobody could read, so that a subagent may be missed."""
    return Session.objects.filter(Q(profile_id=profile_id) & Q(header="")).count()


def check_not_live(*, call: Call, preview: Preview) -> None:
    """Raise while a host holds the session or a subagent of it, or something that hangs on it must stay for now."""
    doomed: Doomed = preview.source
    for name in doomed.names:
        held = live_leases(profile_id=call.profile_id, ref=name, now_ms=call.now_ms)
        if held:
            label = labels_of(refs=[held[0].holder]).get(held[0].holder, held[0].holder)
            left_s = (held[0].expires_ms - call.now_ms + 999) // 1000
            descendant: dict[str, Any] = {} if name == doomed.name else {"liveDescendant": name}
            what = "this session" if name == doomed.name else f"its subagent {name}"
            raise SessionLive(
                f"{label} holds {what}. Close it there first; otherwise it is free once its lease has run out.",
                retry_after_s=left_s,
                heldBy=label,
                **descendant,
            )
    for one in dependents_of("session"):
        if reason := next(filter(None, (one.refusal(owner_id=row.pk) for row in doomed.rows)), ""):
            raise AgentBusy(reason)


def running_rows(rows: Iterable[Session]) -> list[Session]:
    """Return the stored copies in which an agent is at work."""
    kept = list(rows)
    keys = [row.pk for row in kept]
    busy: set[str] = set()
    for start in range(0, len(keys), CHUNK):
        runs = Run.objects.filter(session_id__in=keys[start : start + CHUNK], state="running")
        busy.update(runs.values_list("session_id", flat=True))
    return [row for row in kept if row.pk in busy]


def is_running(*, call: Call, preview: Preview) -> bool:
    """Tell whether an agent has to be stopped before the session may go."""
    return bool(running_rows(preview.source.rows))
