"""What a caller may ask for: creating a schedule, checked in the contract's order."""

from __future__ import annotations

from collections.abc import Mapping

from apps.schedules.rules.errors import InvalidPrompt, InvalidSelector
from apps.schedules.rules.kinds import TITLE_LENGTH, Record
from apps.schedules.rules.timing import SELECTORS, read_timing
from apps.schedules.rules.values import trim, utf16_length


def new_record(request: Mapping[str, object], *, record_id: str, now_ms: int) -> Record:
    """Return the record that a request of title, prompt and one selector asks for.

    `now_ms` is the time of the request; other members of the request are not looked at.
    """
    selectors = [name for name in SELECTORS if name in request]
    if len(selectors) > 1:
        raise InvalidSelector
    title = read_title(request.get("title"))
    if not selectors:
        raise InvalidSelector
    prompt = read_prompt(request.get("prompt"))
    timing = read_timing(selectors[0], value=request[selectors[0]])
    target = timing.first_target(now_ms=now_ms)
    return Record(id=record_id, title=title, prompt=prompt, rule=timing.rule, scheduled_ms=target)


def read_title(value: object) -> str:
    """Return a title without white space around; raises InvalidPrompt."""
    title = trim(value) if isinstance(value, str) else ""
    if not title or utf16_length(title) > TITLE_LENGTH:
        raise InvalidPrompt(f"A schedule needs a title of at most {TITLE_LENGTH} characters")
    return title


def read_prompt(value: object) -> str:
    """Return a prompt without white space around; raises InvalidPrompt."""
    prompt = trim(value) if isinstance(value, str) else ""
    if not prompt:
        raise InvalidPrompt("A schedule needs a prompt")
    return prompt
