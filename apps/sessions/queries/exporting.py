"""A stored log as a file: the whole of it as JSON lines, its conversation or its surface as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from apps.sessions.models import Session, SessionMark
from apps.sessions.queries.log import all_events, header_of, surface_events
from apps.sessions.rules.log_rows import encode_row
from apps.sessions.rules.plain_json import compact
from apps.sessions.rules.transcript import Words, head, surface_text, transcript


def removed_turns(session: Session) -> list[int]:
    """Return the turns that a person removed, in the order of removal."""
    marks = SessionMark.objects.filter(session=session, kind="removed").order_by("seq")
    return [int(key) for key in marks.values_list("key", flat=True)]


def jsonl_parts(session: Session) -> Iterator[str]:
    """Give the log line by line as a host writes it, the header first."""
    yield compact({"type": "session", **(header_of(session) or {})}).encode("utf-8", "backslashreplace").decode() + "\n"
    for event in all_events(session):
        yield encode_row(event)


def markdown_parts(session: Session, *, view: str, reveal: bool, words: Words) -> Iterator[str]:
    """Give the conversation (`log`) or what the model sees (`surface`) message by message.

    What a person removed is left out of the conversation unless `reveal` asks for it.
    """
    yield head(
        name=session.ref,
        title=session.title,
        workspace=session.workspace.slug,
        view=words.whole if view == "log" else words.seen,
        words=words,
    )
    if view == "surface":
        yield from surface_text(surface_events(session), words=words)
        return
    removed = frozenset(removed_turns(session))
    yield from transcript(all_events(session), removed=removed, reveal=reveal, words=words)
