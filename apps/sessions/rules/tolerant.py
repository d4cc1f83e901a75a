"""Reading a log to its end whether or not it would open: what breaks a rule is noted once and passed over."""

from __future__ import annotations

from collections.abc import Iterable

from apps.sessions.rules.envelope import check_envelope
from apps.sessions.rules.event_types import is_append, message_of
from apps.sessions.rules.ground import Change, Mark, MemoryGround, mark_key
from apps.sessions.rules.plain_json import Event, is_count, is_text, members
from apps.sessions.rules.recognition import cited_by
from apps.sessions.rules.refusals import LogRefused
from apps.sessions.rules.state import State
from apps.sessions.rules.surface import NO_MOVE, move_of
from apps.sessions.rules.validator import Survey, Validator, opened


class Tolerant:
    """A log in memory, as far as it has the outside of one; `refused` is the first rule that a load would name."""

    def __init__(self, *, header: dict[str, object], survey: Survey) -> None:
        """Begin before the first event."""
        self.events: list[Event] = []
        self.ground = MemoryGround()
        self.gone: dict[int, int] = {}
        """Which event left the surface for which."""
        self.turns: list[int | None] = []
        """The turn that was open at each event."""
        self.refused: LogRefused | None = None
        self.dropped = 0
        self._turn: int | None = None
        state = State()
        try:
            state = opened(header=header, survey=survey)
        except LogRefused as refused:
            self.refused = refused
        self._validator = Validator(state=state, ground=self.ground, orphans=survey.orphans)

    def read(self, events: Iterable[Event]) -> None:
        """Take events until one has not even the outside of an event; those after it are counted."""
        for event in events:
            try:
                if self.dropped == 0:
                    check_envelope(event, seq=len(self.events))
            except LogRefused as refused:
                self.refused = self.refused or refused
                self.dropped = 1
                continue
            if self.dropped:
                self.dropped += 1
            else:
                self._take(event)

    @property
    def state(self) -> State:
        """Return where the checks stand; only of a log that would open does it mean something."""
        return self._validator.state

    def _take(self, event: Event) -> None:
        change = self._checked(event) if self.refused is None else None
        if change is None:
            change = self._loose(event)
            self.ground.take(event=event, change=change)
        self.events.append(event)
        for left in change.removed:
            self.gone[left] = event["seq"]
        if event["type"] == "turn/start":
            turn = members(event["data"]).get("turn")
            self._turn = turn if is_count(turn) else None
        self.turns.append(self._turn)
        if event["type"] == "turn/end":
            self._turn = None

    def _checked(self, event: Event) -> Change | None:
        try:
            return self._validator.accept(event)
        except LogRefused as refused:
            self.refused = refused
            return None

    def _loose(self, event: Event) -> Change:
        try:
            move = move_of(event, ground=self.ground)
        except LogRefused:
            move = NO_MOVE
        cites = tuple(dict.fromkeys(cited_by(event)))
        return Change(place=move.place, removed=move.removed, cites=cites, marks=_marks_of(event))


def _marks_of(event: Event) -> tuple[Mark, ...]:
    seq, turn = event["seq"], members(event["data"]).get("turn")
    if event["type"] in {"turn/start", "turn/end"}:
        return (Mark("turn" if event["type"] == "turn/start" else "turn-end", str(turn), seq),)
    if event["type"] == "assistant/message" and is_append(event) and is_text(message_of(event).get("id")):
        return (Mark("reply", mark_key(message_of(event)["id"]), seq),)
    return ()
