"""`hermes-turn-text.v1`: one completed pair of user and assistant text."""

from __future__ import annotations

from dataclasses import dataclass

from apps.captures.rules.coverage import CHARACTER_LIMIT, HERMES_TURN, Coverage, declare
from apps.captures.rules.messages import message_text

TURN_CHARACTERS = 50_000
KIND = "hermes-turn"


@dataclass(frozen=True, kw_only=True)
class TurnText:
    """The text of one turn and what was lost of it, from one computation."""

    text: str
    coverage: Coverage


def project_turn(*, user: object, assistant: object) -> TurnText | None:
    """Return the turn's text, cut to 50,000 characters without a mark; None when both sides are empty.

    Each side is a string or a list of content blocks. Secrets are not redacted in this profile.
    """
    asked, answered = message_text(user), message_text(assistant)
    if not asked and not answered:
        return None
    joined = f"[user]\n{asked}\n\n[assistant]\n{answered}"
    losses = {CHARACTER_LIMIT} if len(joined) > TURN_CHARACTERS else ()
    return TurnText(text=joined[:TURN_CHARACTERS], coverage=declare(projection=HERMES_TURN, losses=losses))
