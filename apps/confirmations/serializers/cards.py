"""Cards for people."""

from __future__ import annotations

import json
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import translation
from django.utils.translation import gettext as _

from apps.accounts.queries import Place
from apps.confirmations.models import Confirmation
from apps.core.contracts import contract_named
from apps.core.text import visible


def safe(value: Any) -> Any:
    """Return the value with every text in it made safe to show."""
    if isinstance(value, str):
        return visible(value, keep_newlines=True)
    if isinstance(value, dict):
        return {key: safe(member) for key, member in value.items()}
    if isinstance(value, list):
        return [safe(member) for member in value]
    return value


def card(row: Confirmation, *, place: Place, language: str, time_zone: str) -> dict[str, Any]:
    """Return a card in the viewer's language and zone: the server's own words about real rows, all plain text."""
    facts = safe(json.loads(row.facts))
    ids = json.loads(row.ids)
    contract = contract_named(row.contract)
    with translation.override(language or "en"):
        words = contract.words(facts, ZoneInfo(time_zone or place.profile_zone))
        kind = row.requester.partition(":")[0]
        return {
            "id": row.pk,
            "contract": row.contract,
            "profile": {"id": place.profile_id, "name": place.profile_name},
            "question": words.question,
            "consequence": words.consequence,
            "confirm_label": words.confirm,
            "keep_label": words.keep,
            "tick_label": words.tick,
            "undo": words.undo or _("This cannot be undone."),
            "lines": [list(line) for line in words.lines],
            "offers": [{"label": one.label, "href": one.href, "instead": one.instead} for one in words.offers],
            "facts": facts,
            "purpose": visible(row.purpose),
            "requester": {
                "kind": {"user": "person", "token": "agent"}.get(kind, kind),
                "label": visible(row.requester_label),
                "session": visible(ids.get("session", "")),
                "run": visible(ids.get("run", "")),
            },
            "asked_at_ms": row.created_at_ms,
            "deadline_ms": row.deadline_ms,
            "digest": row.digest,
            "louder": contract.louder,
            "state": row.state,
            "page": f"/inbox/{row.pk}",
            "seq": row.change_seq,
        }


def past_card(row: Confirmation, *, place: Place, language: str, time_zone: str) -> dict[str, Any]:
    """Return a card with how it ended."""
    return {
        **card(row, place=place, language=language, time_zone=time_zone),
        "decided_by": visible(row.decider_label),
        "decided_at_ms": row.decided_at_ms,
        "reason": visible(row.reason),
        "code": row.code,
        "detail": failure_words(row),
        "receipt_id": row.receipt_id,
        "allowed_again": row.allowed_again,
    }


def failure_words(row: Confirmation) -> str:
    """Return what the error said that a decision failed with, safe to show."""
    told = json.loads(row.outcome) if row.state == "failed" and row.outcome else {}
    message = told.get("message") if isinstance(told, dict) else None
    return visible(message) if isinstance(message, str) else ""
