"""What the test server does besides serving: it makes a story's world, makes ordinary changes and tells what exists.

Everything is made by the rooms' own actions. No command decides a confirmation or ends one.
"""

import dataclasses
import importlib
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command
from django.db import connection, transaction

from apps.accounts import actions as accounts
from apps.accounts.models import AccessToken, Membership, Profile, User
from apps.accounts.queries import caller_of_token
from apps.accounts.rules import SCOPES, Caller
from apps.confirmations import actions as confirmations
from apps.confirmations.models import Confirmation
from apps.core import contracts
from apps.core.threads import lane
from apps.core.values import now_ms
from apps.ledger.models import LedgerEntry, LedgerHead, Receipt
from apps.ledger.queries import entries_of
from apps.ledger.rules import first_fault
from tests.factories.contracts import outside

ROOMS = ("accounts", "calendars", "schedules", "captures", "pages", "sessions", "devices")
ENDS = tuple(
    f"confirmation.{s}" for s in ("executed", "denied", "expired", "withdrawn", "changed", "failed", "uncertain")
)

DEFAULTS = {"max_open": 10, "denied_recently_s": 600}
"""The contract's, for a world that does not set them; the server may have told another story before."""

ran = 0


def prepare() -> None:
    """Make the tables and count the actions of contracts from here on."""
    call_command("migrate", verbosity=0, interactive=False)
    room_worlds()  # they bring commands along
    for name, contract in contracts._contracts.items():
        outside = contract.call_out and counted(contract.call_out)
        contracts._contracts[name] = dataclasses.replace(contract, act=counted(contract.act), call_out=outside)


def counted(call: Callable[..., Any]) -> Callable[..., Any]:
    def counting(**arguments: Any) -> Any:
        global ran
        result = call(**arguments)
        # What needs no person runs through the same action, without a confirmation.
        ran += bool(arguments["call"].confirmation_id)
        return result

    return counting


def command(name: str) -> Callable[..., Awaitable[Any]]:
    """Return what answers a command; its work runs in the lane."""

    async def run(**members: Any) -> Any:
        return await lane.run(partial(COMMANDS[name], **members))

    return run


def empty() -> None:
    """Empty every table but the list of migrations."""
    global ran
    ran = 0
    names = [name for name in connection.introspection.table_names() if name != "django_migrations"]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"truncate {', '.join(names)} restart identity cascade")
            return
        with connection.constraint_checks_disabled(), transaction.atomic():
            for name in [*names, "sqlite_sequence"]:
                cursor.execute(f'delete from "{name}"')


def make_world(*, world: dict[str, Any]) -> dict[str, Any]:
    """Make profiles, people and tokens; what other rooms keep is made by their part of the world."""
    for name, value in {**DEFAULTS, **world.get("settings", {})}.items():
        setattr(settings, f"SAYSO_{name.upper()}", value)
    secrets: dict[str, str] = {}
    with transaction.atomic():
        for name, profile in world.get("profiles", {}).items():
            accounts.create_profile(name=name, time_zone=profile["zone"], calendars=profile.get("calendars", "sayso"))
        for name, roles in world.get("people", {}).items():
            user = User.objects.create_user(name, password=f"{name} says so")
            for profile, role in roles.items():
                Membership.objects.create(user=user, profile=Profile.objects.get(name=profile), role=role)
        for name, token in world.get("tokens", {}).items():
            scopes = token["scopes"]
            _, secrets[name] = accounts.create_token(
                user=User.objects.get(username=token["person"]),
                profile=Profile.objects.get(name=token["profile"]),
                label=name,
                scopes=[scope for scope in SCOPES if scope != "device"] if scopes == "all" else scopes,
                kind=token.get("kind", "agent"),
                session=token.get("session", ""),
                expires_at_ms=token.get("expires_at_ms"),
            )
        for profile, policies in world.get("policies", {}).items():
            accounts.set_policies(by=owner_of(profile), policies=policies)
        for session in world.get("sessions", ()):
            room_world("session").create(session)
        for room in room_worlds():
            room.make(world)
    return {"secrets": secrets}


def room_worlds() -> list[Any]:
    """Return what the rooms above add to the world, `tests.conformance.world_<room>`, those that are there."""
    rooms = [room for room in ROOMS if find_spec(f"apps.{room}") and find_spec(f"apps.{room}.models")]
    rooms = [room for room in rooms if find_spec(f"tests.conformance.world_{room}")]
    return [importlib.import_module(f"tests.conformance.world_{room}") for room in rooms]


def room_world(kind: str) -> Any:
    """Return the part of the world that knows a kind of thing."""
    return next(room for room in room_worlds() if kind in room.KINDS)


def owner_of(profile: str) -> Caller:
    """Return the first owner of a profile, as in a browser."""
    rows = Membership.objects.select_related("profile", "user").order_by("id")
    row = rows.filter(profile__name=profile, role="owner").first()
    assert row is not None, f"nobody owns {profile}"
    return Caller(
        kind="person",
        user_id=row.user_id,
        profile_id=row.profile_id,
        profile_name=row.profile.name,
        role="owner",
        label=row.user.username,
        time_zone=row.profile.time_zone,
    )


def sign_in(*, person: str) -> str:
    """Sign a person in as the login page does, and return the cookie."""
    user = User.objects.get(username=person)
    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.create()
    return str(store.session_key)


def sign_out(*, person: str, cookie: str) -> None:
    """Sign a person out as the page does."""
    SessionStore(cookie).flush()
    accounts.announce_logout(user_id=User.objects.get(username=person).pk)


def change(*, kind: str, id: str, set: dict[str, Any]) -> None:  # noqa: A002 (the stories' own words)
    """Change something as its owner would, without a card."""
    if kind == "policy":
        accounts.set_policies(by=owner_of(id), policies=set)
    elif kind == "token":
        token = AccessToken.objects.select_related("profile").get(label=id)
        accounts.revoke_token(token_id=token.pk, by=owner_of(token.profile.name), now_ms=now_ms())
    elif kind == "member":
        user = User.objects.get(username=id)
        accounts.remove_member(by=owner_of(set["profile"]), user_id=user.pk, now_ms=now_ms())
    else:
        room_world(kind).change(kind, id, set)


def ask(*, secret: str, contract: str, arguments: dict[str, Any], expires_ms: int = 300_000, key: str = "") -> str:
    """Ask for a contract of the tests, which has no route; return the confirmation's id."""
    found = caller_of_token(secret=secret, now_ms=now_ms())
    assert found is not None
    return confirmations.submit(
        by=found[0],
        contract=contracts.contract_named(contract),
        arguments=arguments,
        expires_ms=expires_ms,
        key=key,
        now_ms=now_ms(),
    ).confirmation_id


def ids(*, names: list[str]) -> dict[str, str]:
    """Return the ids that Sayso gave to what the placeholders name, such as `event:dentist`."""
    return {name: room_world(name.partition(":")[0]).id_of(*name.split(":", 1)) for name in names}


def rows(*, wanted: dict[str, Any], world: dict[str, Any]) -> dict[str, Any]:
    """Return what exists, for the names that a story asks about."""
    return {kind: room_world(kind).rows(kind, names, world) for kind, names in wanted.items()}


def states(*, ids: list[str]) -> dict[str, dict[str, Any]]:
    """Return where confirmations stand."""
    names = ("id", "state", "decider", "decider_kind", "acknowledged", "code", "receipt_id", "version")
    return {row["id"]: row for row in Confirmation.objects.filter(pk__in=ids).values(*names)}


def book() -> dict[str, Any]:
    """Return the ends of confirmations as the ledger has them, how many actions ran, and whether the chains hold."""
    found = LedgerEntry.objects.filter(action__in=ENDS).order_by("at_ms", "profile_id", "seq")
    ends = [(entry.ids, entry.action.partition(".")[2]) for entry in found]
    faults = []
    for head in LedgerHead.objects.all():
        key = settings.SAYSO_KEYS.key("ledger_hmac")
        pid = head.profile_id
        fault = first_fault(entries_of(profile_id=pid), key=key, profile_id=pid, head_seq=head.seq, head_hash=head.hash)
        faults += [str(fault)] if fault else []
    by_devices = Confirmation.objects.filter(state="executed", decider_kind="device").count()
    return {"ends": ends, "ran": ran + by_devices, "faults": faults}


def holdings() -> dict[str, Any]:
    """Return what the gate keeps: every confirmation with its state, how many receipts, what was sent outside."""
    sent = outside().read_text().split() if outside().exists() else []
    states = dict(Confirmation.objects.order_by("created_at_ms", "id").values_list("id", "state"))
    return {"states": states, "receipts": Receipt.objects.count(), "sent": sent}


COMMANDS: dict[str, Callable[..., Any]] = {
    "world": make_world,
    "sign_in": sign_in,
    "sign_out": sign_out,
    "change": change,
    "ask": ask,
    "ids": ids,
    "rows": rows,
    "states": states,
    "book": book,
    "holdings": holdings,
}
