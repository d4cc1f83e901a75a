"""What a server does for the session vectors: it stocks their world, lets things fail, and tells what is stored."""

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

from django.db import connection

from apps.accounts.actions import ensure_workspace
from apps.accounts.models import Workspace
from apps.accounts.queries import caller_of_token
from apps.accounts.rules import Caller
from apps.sessions.actions.leases import take_lease
from apps.sessions.actions.runs import end_run, start_run
from apps.sessions.actions.storing import store_log
from apps.sessions.models import (
    ArchivedSession,
    CachedListing,
    PinnedSession,
    Run,
    Session,
    SessionEvent,
    WorkspaceEntry,
)
from apps.sessions.queries import removals
from apps.sessions.queries.exporting import removed_turns
from apps.sessions.queries.log import surface_nodes
from apps.sessions.rules.ids import bare, spellings
from apps.sessions.rules.price import shadowed_price
from apps.sessions.rules.refusals import LogRefused
from apps.sessions.rules.validator import Validator
from tests.conformance import world as whole
from tests.conformance.world_session_stories import numbered

HEADER = {"version": 4, "createdAt": 0, "isSeeded": False, "delegationDepth": 0}
ELSEWHERE = "--elsewhere--"
"""Where sessions are stored that a world names as live without storing them: ours are live only if they are stored."""
SHELVES = {"archived": ArchivedSession, "pinned": PinnedSession, "cache": CachedListing}

_undo: list[Callable[[], Any]] = []


def stock(*, world: dict[str, Any], events: list[dict[str, Any]], secret: str) -> str:
    """Store what a vector's world holds; returns why its log would not open, if so."""
    found = caller_of_token(secret=secret, now_ms=whole.now_ms())
    assert found is not None
    host = found[0]
    sessions = list(world.get("sessions", ()))
    if events and not sessions:
        sessions.append({"slug": "--srv-desk--", "dir": (world.get("live") or ["session-t"])[0], "header": {}})
    try:
        for number, one in enumerate(sessions):
            store(host, one, events=events if number == 0 else [], number=number)
    except LogRefused as refused:
        return refused.reason
    for name in world.get("live", ()):
        if not Session.objects.filter(ref=name).exists():
            store(host, {"slug": ELSEWHERE, "dir": name, "header": {}}, events=[], number=len(sessions))
        take_lease(by=host, ref=name, now_ms=whole.now_ms())
    for name, doing in world.get("agents", {}).items():
        row = Session.objects.filter(ref__in=spellings(name)).first()
        if doing != "idle" and row is not None:
            start_run(by=host, ref=row.ref, now_ms=whole.now_ms())
    account(host, world)
    break_things(world)
    return ""


def store(host: Caller, one: dict[str, Any], *, events: list[dict[str, Any]], number: int) -> None:
    workspace = ensure_workspace(profile_id=host.profile_id, slug=one["slug"])
    if one["header"] is None:
        Session.objects.create(profile_id=host.profile_id, workspace=workspace, ref=one["dir"], created_at_ms=number)
        return
    header = {**HEADER, "id": one["dir"], **one["header"]}
    store_log(by=host, workspace=workspace, header=header, ref=one["dir"], events=numbered(events), now_ms=number)


def account(host: Caller, world: dict[str, Any]) -> None:
    """Fill the lists: workspaces with their names, the archive, what is pinned, the cache."""
    for number, one in enumerate(world.get("workspaces", ())):
        facts = {"title": one.get("title", ""), "path": one.get("path", ""), "created_at_ms": number}
        place = Workspace.objects.create(profile_id=host.profile_id, slug=one["id"], **facts)
        for order, name in enumerate(one["sessionIds"]):
            WorkspaceEntry.objects.create(
                profile_id=host.profile_id, workspace=place, spelling=name, created_at_ms=order
            )
    for shelf, model in SHELVES.items():
        for name in world.get(shelf, ()):
            model.objects.create(profile_id=host.profile_id, spelling=name)


def break_things(world: dict[str, Any]) -> None:
    """Let what the world says fails fail for real: in the database where the failure is one of the database."""
    for path in world.get("undeletable", ()):
        slug, _, name = path.partition("/")
        key = Session.objects.get(workspace__slug=slug, ref=name).pk
        trigger("stuck", table="agent_sessions_session", on="delete", when=f"old.id = '{key}'", act="abort")
    for one in world.get("workspaces", ()):
        if one.get("detach") == "throws":
            key = Workspace.objects.get(slug=one["id"]).pk
            table = "agent_sessions_workspaceentry"
            trigger("kept", table=table, on="delete", when=f"old.workspace_id = '{key}'", act="abort")
    if world.get("registry") is False:
        hide("agent_sessions_workspaceentry")
    inject = world.get("inject", {})
    if "flush" in inject:
        act = {"false": "ignore", "raises": "abort"}[inject["flush"]]
        trigger("flush", table="agent_sessions_sessionevent", on="insert", when="new.seq >= 0", act=act)
    if "reject" in inject:
        reject(inject["reject"])
    if "estimate" in inject:
        patch(removals, "shadowed_price", partial(shadowed_price, estimate=inject["estimate"]))


def trigger(name: str, *, table: str, on: str, when: str, act: str) -> None:
    """Let the database refuse a change (`abort`), or say yes and not make it (`ignore`)."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            deed = "raise(ignore)" if act == "ignore" else f"raise(abort, 'the vector says {name}')"
            cursor.execute(f"create trigger vector_{name} before {on} on {table} when {when} begin select {deed}; end")
            _undo.append(partial(run, f"drop trigger vector_{name}"))
            return
        deed = "return null" if act == "ignore" else f"raise exception 'the vector says {name}'"
        cursor.execute(f"create function vector_{name}() returns trigger as $$ begin {deed}; end $$ language plpgsql")
        cursor.execute(
            f"create trigger vector_{name} before {on} on {table}"
            f" for each row when ({when}) execute function vector_{name}()"
        )
        _undo.append(partial(run, f"drop function vector_{name}() cascade"))


def hide(table: str) -> None:
    run(f"alter table {table} rename to {table}_away")
    _undo.append(partial(run, f"alter table {table}_away rename to {table}"))


def run(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def reject(kind: str) -> None:
    """Let the store refuse the next events of a type."""
    accept = Validator.accept

    def refusing(self: Validator, event: Any) -> Any:
        if event["type"] == kind:
            raise LogRefused("vector", seq=event["seq"])
        return accept(self, event)

    patch(Validator, "accept", refusing)


def patch(owner: Any, name: str, value: Any) -> None:
    patching = mock.patch.object(owner, name, value)
    patching.start()
    _undo.append(patching.stop)


def mend() -> None:
    """Let everything work again."""
    while _undo:
        _undo.pop()()


def begin_turn(*, session: str) -> None:
    """Let the agent begin its next turn, so that no maintenance lease is to be had."""
    from apps.sessions.actions.appending import append_events
    from apps.sessions.queries.log import load_state

    row = Session.objects.select_related("profile").get(ref__in=spellings(session))
    event = {"type": "turn/start", "data": {"turn": load_state(row).next_turn}}
    events = numbered([event], first=row.next_seq)
    by = whole.owner_of(row.profile.name)
    append_events(by=by, session=row, expected_seq=row.next_seq, events=events, now_ms=whole.now_ms())


def work(*, session: str) -> None:
    """Let an agent be at work in a session, of a host that nobody hears of."""
    row = Session.objects.select_related("profile").get(ref=session)
    start_run(by=whole.owner_of(row.profile.name), ref=row.ref, now_ms=whole.now_ms())


def rested(*, session: str) -> None:
    """Let the agents of a session have stopped."""
    for run in Run.objects.filter(session__ref=session, state="running").select_related("profile"):
        end_run(by=whole.owner_of(run.profile.name), ref=session, run_id=run.pk, now_ms=whole.now_ms())


def stored() -> dict[str, Any]:
    """Return which copies are stored and what the lists and the cache hold."""
    copies = Session.objects.exclude(workspace__slug=ELSEWHERE).select_related("workspace")
    return {
        "dirs": sorted(f"{row.workspace.slug}/{row.ref}" for row in copies),
        "entries": entries(),
        **{shelf: list(model.objects.values_list("spelling", flat=True)) for shelf, model in SHELVES.items()},
    }


def entries() -> list[str]:
    if "agent_sessions_workspaceentry" not in connection.introspection.table_names():
        return []
    return list(WorkspaceEntry.objects.values_list("spelling", flat=True))


def log_of(*, session: str) -> dict[str, Any]:
    """Return a stored log, what the model sees of it and which turns a person removed."""
    row = Session.objects.get(ref__in=spellings(session))
    events = SessionEvent.objects.filter(session=row).order_by("seq").values_list("body", flat=True)
    return {"events": list(events), "nodes": surface_nodes(row), "removed": removed_turns(row), "bare": bare(row.ref)}


COMMANDS = {call.__name__: call for call in (stock, mend, begin_turn, work, rested, stored, log_of)}
