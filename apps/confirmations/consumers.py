"""The dialog's socket: cards to the people who may decide, decisions back."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from functools import partial
from typing import Any, ClassVar

import orjson
from django.conf import settings
from django.http import parse_cookie

from apps.accounts.queries import Place, deciding_places, signed_in
from apps.confirmations import queries
from apps.confirmations.actions import decide, run_claimed
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import Decider, new_nonce
from apps.confirmations.serializers import card, ended_frame, frame_of, refusal, taken
from apps.core import rows
from apps.core.announce import listen
from apps.core.errors import SaysoError, ServerFault, Unauthorized
from apps.core.sockets import CLOSE_COME_AGAIN, Socket, header_of, keep, origin_allowed, sockets_of
from apps.core.text import storable
from apps.core.threads import lane
from apps.core.values import now_ms, sha256_hex

log = logging.getLogger("sayso.sockets")
KIND = "confirmations"
CLOSE_SIGNED_OUT = 4401
CLOSE_FORBIDDEN = 4403
DECISIONS_AT_ONCE = 64
"""How many decisions one page may have under way; the next frame waits."""


class ConfirmationConsumer(Socket):
    """One open page of one person."""

    kind: ClassVar[str] = KIND

    session_key = ""
    session_ref = ""
    user_id = 0
    username = ""
    language = "en"
    time_zone = ""
    places: dict[str, Place]
    roles: dict[str, str]
    open_decisions = 0
    profile_ids: frozenset[str] = frozenset()
    readable_ids: frozenset[str] = frozenset()
    """The profiles whose pages this person may read, those of a viewer among them."""

    async def connect(self) -> None:
        """Accept a handshake of our own page by a signed-in person, then show what waits for them."""
        if not origin_allowed(self.scope, settings.SAYSO_ORIGINS) or header_of(self.scope, b"authorization"):
            await self.close(code=CLOSE_FORBIDDEN)
            return
        self.session_key = cookie_of(self.scope, settings.SESSION_COOKIE_NAME)
        if not self.session_key or not await self.in_lane(self.look_up):
            await self.close(code=CLOSE_SIGNED_OUT)
            return
        self.connection_id = secrets.token_hex(6)
        self.session_ref = sha256_hex(self.session_key)
        await self.accept()
        # Registered before the first read: what is announced meanwhile is sent twice rather than not at all.
        self.register()
        for text in await self.in_lane(self.first_frames, self.scope["query_string"].decode("latin1")):
            await self.send_json(text)

    def look_up(self) -> bool:
        """Re-read session, user and memberships; tells whether the person is still signed in."""
        found = signed_in(session_key=self.session_key)
        if found is None:
            return False
        person, places = found
        self.user_id, self.username = person.user_id, person.username
        chosen = cookie_of(self.scope, settings.LANGUAGE_COOKIE_NAME)
        self.language = chosen if chosen in dict(settings.LANGUAGES) else person.language or "en"
        self.time_zone = person.time_zone
        self.places = deciding_places(places)
        self.profile_ids = frozenset(self.places)
        self.readable_ids = frozenset(place.profile_id for place in places)
        self.roles = {place.profile_id: place.role for place in places}
        return True

    def first_frames(self, query: str) -> list[str]:
        """Return the greeting, everything that is open, and what ended since the numbers last seen."""
        seen = parse_seen(query)
        numbers = {pid: queries.last_change(profile_id=pid) for pid in sorted(self.profile_ids)}
        hello = {"type": "hello", "now_ms": now_ms(), "seen": numbers, "user": self.username}
        frames = [json.dumps(hello)]
        for profile_id, number in seen.items():
            if profile_id in self.profile_ids:
                changed = queries.changes_since(profile_id=profile_id, change_seq=number)
                frames.extend(
                    json.dumps(ended_frame(row)) for row in changed if row.state not in ("pending", "executing")
                )
        rows = queries.open_cards(profile_ids=sorted(self.profile_ids))
        frames.extend(self.shown_frame(self.encode(row), row) for row in rows)
        frames.append(json.dumps({"type": "cards.sent", "count": len(rows)}))
        return frames

    def encode(self, row: Confirmation) -> str:
        """Return a card as JSON text in this person's language and zone."""
        shown = card(row, place=self.places[row.profile_id], language=self.language, time_zone=self.time_zone)
        return orjson.dumps(shown).decode()

    def shown_frame(self, card_text: str, row: Any) -> str:
        """Return the frame that shows a card to this very connection."""
        return f'{{"type":"card.shown","seq":{row.change_seq},"nonce":"{self.nonce(row.pk)}","card":{card_text}}}'

    def nonce(self, confirmation_id: str) -> str:
        """Return a fresh nonce for a card on this connection."""
        return new_nonce(
            key=settings.SAYSO_KEYS.key("django_secret"),
            card=confirmation_id,
            user_id=self.user_id,
            session=self.session_ref,
            connection=self.connection_id,
        )

    async def on_frame(self, frame: dict[str, Any]) -> None:
        """Answer `decide`; anything else is unknown."""
        if any(isinstance(value, str) and not storable(value) for value in frame.values()):
            detail = "A frame must hold no character that cannot be stored."
            await self.send_json({"type": "error", "code": "bad_frame", "detail": detail})
            return
        if frame.get("type") != "decide" or not isinstance(frame.get("id"), str):
            await self.send_json({"type": "error", "code": "unknown_frame", "detail": "This frame is not known here."})
            return
        # Not awaited here: decisions about different cards share a commit instead of queueing behind each other.
        self.open_decisions += 1
        work = lane.run(partial(self.decide, frame), grouped=True)
        work.add_done_callback(partial(self.answer_decision, frame["id"]))
        if self.open_decisions >= DECISIONS_AT_ONCE:
            await asyncio.wait([work])

    def answer_decision(self, confirmation_id: str, work: asyncio.Future[dict[str, Any]]) -> None:
        """Tell this page how its decision went."""
        self.open_decisions -= 1
        if work.cancelled():
            return
        error = work.exception()
        if error is not None:
            log.error("a decision failed", exc_info=error)
            answer = refusal(confirmation_id[:64], ServerFault(), self.nonce(confirmation_id[:64]))
        else:
            answer = work.result()
        self.push(answer)
        if answer.get("code") == "unauthorized":
            keep(asyncio.ensure_future(self.close(code=CLOSE_SIGNED_OUT)))
        elif answer.get("state") == "executing":
            keep(asyncio.ensure_future(asyncio.to_thread(run_claimed, confirmation_id=confirmation_id, tell_ms=now_ms)))

    def decide(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Decide as the person who is signed in at this moment; looks and decides in one transaction."""
        with rows.joined():
            return self.decide_now(frame)

    def decide_now(self, frame: dict[str, Any]) -> dict[str, Any]:
        """Decide within the transaction around."""
        confirmation_id = frame["id"][:64]
        if not self.look_up():
            return refusal(confirmation_id, Unauthorized())
        who = Decider(
            user_id=self.user_id, label=self.username, session=self.session_ref, connection=self.connection_id
        )
        try:
            result = decide(
                by=who, confirmation_id=confirmation_id, frame=frame_of(frame), now_ms=now_ms(), roles=self.roles
            )
        except SaysoError as error:
            return refusal(confirmation_id, error)
        if result.error is not None:
            nonce = self.nonce(confirmation_id) if result.row.state == "pending" else ""
            return refusal(confirmation_id, result.error, nonce)
        return taken(result.row)

    async def disconnect(self, code: int) -> None:
        """Forget the page."""
        self.unregister()

    async def check_person(self) -> None:
        """Close within the moment when the person is signed out, disabled or without any profile here."""
        before = self.profile_ids
        if not await self.in_lane(self.look_up) or not self.profile_ids:
            await self.close(code=CLOSE_SIGNED_OUT)
        elif before != self.profile_ids:
            # Reconnecting shows exactly what the person may see now.
            await self.close(code=CLOSE_COME_AGAIN)


def parse_seen(query: str) -> dict[str, int]:
    """Return the numbers last seen, from `seen=<profile>:<number>,…` in the handshake's query."""
    found: dict[str, int] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name == "seen":
            for pair in value.replace("%3A", ":").replace("%2C", ",").split(","):
                profile_id, _, number = pair.partition(":")
                if number.isdecimal() and len(number) < 18:
                    found[profile_id] = int(number)
    return found


def cookie_of(scope: dict[str, Any], name: str) -> str:
    """Return a cookie of the handshake, or an empty text."""
    return parse_cookie(header_of(scope, b"cookie")).get(name, "")


def hear(message: dict[str, Any]) -> None:
    """Show, take away or close, as announced; runs on the serving loop."""
    event = message["event"]
    if event in ("confirmation.asked", "confirmation.claimed"):
        if not message["device"] and any(message["profile"] in socket.profile_ids for socket in sockets_of(KIND)):
            if message["local"] is not None:
                show(message["local"])
            else:
                keep(asyncio.ensure_future(load_and_show(message["profile"], message["confirmation"])))
    elif event == "confirmation.ended":
        frame = json.dumps(
            {
                "type": "card.ended",
                "seq": message["seq"],
                "profile": message["profile"],
                "id": message["confirmation"],
                "state": message["state"],
                "by": message["decider"],
                "at": message["at"],
            },
            ensure_ascii=False,
        )
        if not message["device"]:
            # In the next turn of the loop: whoever waits for the outcome is answered first.
            asyncio.get_running_loop().call_soon(tell, message["profile"], frame)
    elif event in ("session.ended", "member.removed", "member.changed"):
        for socket in sockets_of(KIND):
            if socket.user_id == message["user"]:
                keep(asyncio.ensure_future(socket.check_person()))


def tell(profile_id: str, frame: str) -> None:
    """Send a frame to every open page of a profile's people."""
    for socket in sockets_of(KIND):
        if profile_id in socket.profile_ids:
            socket.push(frame)


def show(row: Confirmation) -> None:
    """Send a new card to every open page that may see it; each language and zone is encoded once."""
    texts: dict[tuple[str, str], str] = {}
    for socket in sockets_of(KIND):
        if row.profile_id in socket.profile_ids:
            key = (socket.language, socket.time_zone)
            if key not in texts:
                texts[key] = socket.encode(row)
            socket.push(socket.shown_frame(texts[key], row))


async def load_and_show(profile_id: str, confirmation_id: str) -> None:
    """Show a card that another process announced, unless it ended meanwhile."""
    row = await lane.run(lambda: queries.card_for(profile_ids=[profile_id], confirmation_id=confirmation_id))
    if row is not None and row.state in ("pending", "executing"):
        show(row)


listen(hear)
