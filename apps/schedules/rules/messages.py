"""What a delivery says: the messages of a group of due tasks, and what each tells about its tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.schedules.rules.framing import BATCH, SINGLE, Reminder, batch_message, single_message
from apps.schedules.rules.kinds import Record
from apps.schedules.rules.outcomes import Outcome
from apps.schedules.rules.values import format_instant

SENT, SKIPPED, DROPPED, REPEATED = "sent", "skipped", "dropped", "repeated"
"""How an occurrence ended: in the inbox, passed over by somebody, too old to be sent, or delivered before."""
OUTCOMES = (SENT, SKIPPED, DROPPED, REPEATED)
SCHEDULED, MANUAL = "scheduled", "manual"
"""By its rule, or by somebody who pressed 'run now'; each has occurrences of its own."""
ORIGINS = (SCHEDULED, MANUAL)
SOURCE = "schedule"


@dataclass(frozen=True, kw_only=True, slots=True)
class Decided:
    """A due record and what becomes of it."""

    record: Record
    outcome: Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One task in a message: the occurrence, and how many before it were missed."""

    record: Record
    occurrence_ms: int
    missed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One message for an inbox."""

    form: str
    entries: tuple[Entry, ...]

    def payload(self, *, delivered_ms: int, origin: str = SCHEDULED) -> dict[str, object]:
        """Return what the inbox keeps: the text for the model, and the facts beside it."""
        reminders = [
            Reminder(schedule_id=one.record.id, occurrence_ms=one.occurrence_ms, prompt=one.record.prompt)
            for one in self.entries
        ]
        return {
            "form": self.form,
            "text": single_message(reminders[0]) if self.form == SINGLE else batch_message(reminders),
            "origin": origin,
            "delivered_at": format_instant(delivered_ms),
            "reminders": [
                {
                    "schedule_id": one.record.id,
                    "title": one.record.title,
                    "occurrence_at": format_instant(one.occurrence_ms),
                    "missed": one.missed,
                }
                for one in self.entries
            ],
        }


def messages_of(group: Sequence[Decided]) -> list[Message]:
    """Return the messages of a group in order: the older occurrences one by one, then the newest of all together."""
    older: list[Entry] = []
    newest: list[Entry] = []
    for decided in group:
        missed = decided.outcome.missed
        for occurrence in decided.outcome.sent_ms[:-1]:
            older.append(Entry(record=decided.record, occurrence_ms=occurrence, missed=missed))
            missed = 0
        if decided.outcome.sent_ms:
            last = decided.outcome.sent_ms[-1]
            newest.append(Entry(record=decided.record, occurrence_ms=last, missed=missed))
    older.sort(key=lambda entry: entry.occurrence_ms)
    messages = [Message(form=form_of(entry.record), entries=(entry,)) for entry in older]
    return [*messages, Message(form=form_of(newest[0].record), entries=tuple(newest))] if newest else messages


def form_of(record: Record) -> str:
    """Return the form of the messages about a record."""
    return BATCH if record.recurs else SINGLE


def without_repeats(outcome: Outcome, *, known: frozenset[int]) -> tuple[Outcome, tuple[int, ...]]:
    """Return the outcome without the occurrences that were delivered before, and those; a clock was set back."""
    repeated = tuple(at for at in outcome.sent_ms if at in known)
    if not repeated:
        return outcome, ()
    fresh = tuple(at for at in outcome.sent_ms if at not in known)
    return replace(outcome, sent_ms=fresh), repeated
