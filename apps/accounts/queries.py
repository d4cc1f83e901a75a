"""Who is calling, and what people and profiles there are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.db.models import QuerySet
from django.utils.crypto import constant_time_compare

from apps.accounts.models import AccessToken, Membership, Profile, User, Workspace
from apps.accounts.rules import Caller, ProfileUnavailable, secret_hash
from apps.core import rows
from apps.core.errors import Denied, NotFound
from apps.core.text import storable

_TOKEN_SQL = """
select t.id, t.kind, t.user_id, t.profile_id, p.name, m.role, t.label, t.scopes, t.session, t.expires_at_ms,
       t.last_used_ms, u.is_active, u.language, u.time_zone, p.time_zone
from accounts_accesstoken t
join accounts_user u on u.id = t.user_id
join accounts_profile p on p.id = t.profile_id
left join accounts_membership m on m.user_id = t.user_id and m.profile_id = t.profile_id
where t.secret_hash = %s and t.revoked_at_ms is null
"""


class DisabledUser(Denied):
    """This user is disabled."""

    code = "user_disabled"


def caller_of_token(*, secret: str, now_ms: int, profile_name: str = "") -> tuple[Caller, int | None] | None:
    """Return the caller behind a token and when it was last used; None for an unknown, revoked or expired one.

    `profile_name` asks for another profile than the token's own: a person's own token and a person's phone may use
    every profile of that person, any other token only its own. Raises `DisabledUser` and `ProfileUnavailable`.
    """
    row = rows.execute(_TOKEN_SQL, [secret_hash(secret)]).fetchone()
    if row is None or (row[9] is not None and row[9] <= now_ms):
        return None
    token_id, kind, user_id, profile_id, own_name, role, label, scopes, session = row[:9]
    if not row[11]:
        raise DisabledUser
    if profile_name and profile_name != own_name:
        other = _other_profile(kind=kind, user_id=user_id, profile_name=profile_name)
        if other is None:
            raise ProfileUnavailable(f'Profile "{profile_name}" is not available for this user')
        profile_id, own_name, role = other
    if role is None:
        return None
    caller = Caller(
        kind="person_token" if kind == "person" else kind,
        user_id=user_id,
        profile_id=profile_id,
        profile_name=own_name,
        role=role,
        token_id=token_id,
        label=label,
        scopes=frozenset(_scopes(scopes)),
        session=session,
        language=row[12] or "en",
        time_zone=row[13] or row[14],
    )
    return caller, row[10]


def _scopes(stored: Any) -> list[str]:
    if isinstance(stored, str):
        return list(orjson.loads(stored))
    return list(stored)


def _other_profile(*, kind: str, user_id: int, profile_name: str) -> tuple[str, str, Any] | None:
    if kind == "agent":
        return None
    found = Membership.objects.filter(user_id=user_id, profile__name=profile_name)
    return found.values_list("profile_id", "profile__name", "role").first()


def caller_of_session(*, session_key: str, profile_name: str = "") -> Caller | None:
    """Return the person signed in with this session cookie, for the named or the first profile; None if nobody is.

    Re-reads session, user and membership each time: a logout, a disabled user or a lost membership counts at once.
    """
    found = signed_in(session_key=session_key)
    if found is None:
        return None
    person, places = found
    chosen = next((place for place in places if not profile_name or place.profile_name == profile_name), None)
    return None if chosen is None else caller_at(person=person, place=chosen)


def caller_for(*, user: User, membership: Membership) -> Caller:
    """Return the caller that a signed-in person is in one of their profiles, from rows that were read already."""
    profile = membership.profile
    return caller_at(
        person=SignedIn(
            user_id=user.pk, username=user.get_username(), language=user.language, time_zone=user.time_zone
        ),
        place=Place(
            profile_id=profile.pk, profile_name=profile.name, profile_zone=profile.time_zone, role=membership.role
        ),
    )


def caller_at(*, person: SignedIn, place: Place) -> Caller:
    """Return the caller that a person is in one of their profiles."""
    return Caller(
        kind="person",
        user_id=person.user_id,
        profile_id=place.profile_id,
        profile_name=place.profile_name,
        role=place.role,  # type: ignore[arg-type]
        label=person.username,
        language=person.language or "en",
        time_zone=person.time_zone or place.profile_zone,
    )


_SESSION_SQL = """
select s.session_data, u.id, u.username, u.password, u.session_epoch, u.language, u.time_zone,
       m.profile_id, p.name, p.time_zone, m.role
from django_session s
join accounts_user u on u.id = %s and u.is_active
left join accounts_membership m on m.user_id = u.id
left join accounts_profile p on p.id = m.profile_id
where s.session_key = %s and s.expire_date > current_timestamp
order by m.id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A person who is signed in at this moment."""

    user_id: int
    username: str
    language: str
    time_zone: str


def signed_in(*, session_key: str) -> tuple[SignedIn, list[Place]] | None:
    """Return the active person of a session cookie with their places, the oldest membership first; all read afresh.

    The same checks as Django's own middleware: the row exists and is not expired, its data is signed by this server,
    its backend is one of ours and its hash fits the person's password and epoch. Only the unsigning of unchanged data
    and the hash of an unchanged password are remembered, never the answer.
    """
    if not session_key or not storable(session_key):
        return None
    # Whose session it is stands in its data, and whoever it was before it most likely still is.
    user_id = _people.get(session_key)
    found = rows.execute(_SESSION_SQL, [user_id, session_key]).fetchall() if user_id is not None else []
    if not found or _unsigned(found[0][0])[0] != user_id:
        user_id = _person_of(session_key)
        found = rows.execute(_SESSION_SQL, [user_id, session_key]).fetchall() if user_id is not None else []
    if not found:
        return None
    row = found[0]
    claimed, session_hash, backend = _unsigned(row[0])
    if claimed != row[1] or backend not in settings.AUTHENTICATION_BACKENDS:
        return None
    if not constant_time_compare(session_hash, _auth_hash(row[3], row[4])):
        return None
    places = [
        Place(profile_id=each[7], profile_name=each[8], profile_zone=each[9], role=each[10])
        for each in found
        if each[7] is not None
    ]
    return SignedIn(user_id=row[1], username=row[2], language=row[5], time_zone=row[6]), places


_people: dict[str, int] = {}
PEOPLE_KEPT = 4096


def _person_of(session_key: str) -> int | None:
    found = rows.execute("select session_data from django_session where session_key = %s", [session_key]).fetchone()
    user_id = None if found is None else _unsigned(found[0])[0]
    if user_id is not None:
        if len(_people) >= PEOPLE_KEPT:
            _people.clear()
        _people[session_key] = user_id
    return user_id


@lru_cache(maxsize=2048)
def _unsigned(session_data: str) -> tuple[int | None, str, str]:
    data = SessionStore().decode(session_data)
    found = str(data.get(SESSION_KEY, ""))
    return (
        int(found) if found.isdecimal() else None,
        str(data.get(HASH_SESSION_KEY, "")),
        str(data.get(BACKEND_SESSION_KEY, "")),
    )


@lru_cache(maxsize=2048)
def _auth_hash(password: str, epoch: int) -> str:
    return User(password=password, session_epoch=epoch).get_session_auth_hash()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A person's place in one profile."""

    profile_id: str
    profile_name: str
    profile_zone: str
    role: str


_MEMBERS_SQL = """
select m.profile_id, p.name, p.time_zone, m.role
from accounts_membership m join accounts_profile p on p.id = m.profile_id
where m.user_id = %s order by m.id
"""


def places_of(*, user_id: int) -> list[Place]:
    """Return a person's profiles and roles, the oldest membership first."""
    found = rows.execute(_MEMBERS_SQL, [user_id]).fetchall()
    return [Place(profile_id=row[0], profile_name=row[1], profile_zone=row[2], role=row[3]) for row in found]


def deciding_places(places: Iterable[Place]) -> dict[str, Place]:
    """Return the places, by the profile's id, in which a person sees and decides cards."""
    return {place.profile_id: place for place in places if place.role in ("owner", "decider")}


def role_of(*, user_id: int, profile_id: str) -> str | None:
    """Return a person's role in a profile, or None."""
    row = rows.execute(
        "select role from accounts_membership where user_id = %s and profile_id = %s", [user_id, profile_id]
    ).fetchone()
    return None if row is None else str(row[0])


def memberships_of(*, user_id: int) -> QuerySet[Membership]:
    """Return a person's memberships with their profiles, the oldest first."""
    return Membership.objects.filter(user_id=user_id).select_related("profile").order_by("id")


def labels_of(*, refs: Iterable[str]) -> dict[str, str]:
    """Return the name of each person and the label of each token behind references such as `user:1`."""
    ids: dict[str, list[str]] = {}
    for ref in refs:
        kind, _, key = ref.partition(":")
        ids.setdefault(kind, []).append(key)
    people = [key for key in ids.get("user", []) if key.isdecimal()]
    names = User.objects.filter(pk__in=people).values_list("pk", "username") if people else []
    tokens = [*ids.get("token", []), *ids.get("device", [])]
    labels = AccessToken.objects.filter(pk__in=tokens).values_list("pk", "kind", "label") if tokens else []
    found = {f"user:{pk}": name for pk, name in names}
    return found | {f"{'device' if kind == 'device' else 'token'}:{pk}": label for pk, kind, label in labels}


def profile_named(*, name: str) -> Profile | None:
    """Return a profile by its name."""
    return Profile.objects.filter(name=name).first()


def tokens_of(*, profile_id: str) -> QuerySet[AccessToken]:
    """Return a profile's tokens that are not revoked, newest first."""
    return AccessToken.objects.filter(profile_id=profile_id, revoked_at_ms=None).select_related("user")


def members_of(*, profile_id: str) -> QuerySet[Membership]:
    """Return the members of a profile."""
    return Membership.objects.filter(profile_id=profile_id).select_related("user").order_by("id")


def workspace_of(*, profile_id: str, slug: str = "default") -> Workspace:
    """Return a workspace of the profile; raise when there is none."""
    workspace = Workspace.objects.filter(profile_id=profile_id, slug=slug).first()
    if workspace is None:
        raise NotFound("There is no such workspace.")
    return workspace


def owner_of(*, profile_name: str) -> Caller:
    """Return the first owner of a profile as a caller: in whose name commands work there."""
    found = Membership.objects.filter(profile__name=profile_name, role="owner").select_related("profile", "user")
    row = found.order_by("id").first()
    if row is None:
        raise NotFound(f"There is no profile {profile_name} with an owner.")
    return caller_for(user=row.user, membership=row)
