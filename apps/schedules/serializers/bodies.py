"""What previews and webhooks answer."""

from __future__ import annotations

from typing import Any

from apps.schedules.models import Webhook
from apps.schedules.rules.preview import Coming, Preview
from apps.schedules.rules.records import rule_json
from apps.schedules.rules.values import format_instant


def preview_body(preview: Preview) -> dict[str, Any]:
    """Return a rule in its canonical form with its next occurrences."""
    return {
        "rule": {"kind": preview.rule.kind, **rule_json(preview.rule)},
        "timeZone": preview.time_zone,
        "occurrences": [_coming(one) for one in preview.coming],
    }


def _coming(one: Coming) -> dict[str, Any]:
    body: dict[str, Any] = {
        "at": format_instant(one.at_ms),
        "local": one.local,
        "offset": offset_text(one.offset_s),
        "notes": [{"kind": note.kind, "local": note.local} for note in one.notes],
    }
    return body | ({"more_notes": one.more_notes} if one.more_notes else {})


def offset_text(offset_s: int) -> str:
    """Return `+HH:MM`, with seconds where a place once had them."""
    minutes, seconds = divmod(abs(offset_s), 60)
    text = f"{'-' if offset_s < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    return f"{text}:{seconds:02d}" if seconds else text


def webhook_body(webhook: Webhook) -> dict[str, Any]:
    """Return a webhook as its owners see it, without the secret."""
    return {
        "url": webhook.url,
        "enabled": bool(webhook.enabled),
        "failures": webhook.failures,
        "problem": webhook.problem or None,
        "last_ok_ms": webhook.last_ok_ms,
    }
