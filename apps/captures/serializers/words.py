"""Words of the card that purges a capture."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import formats
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.captures.rules import Interpretation
from apps.captures.serializers.badges import badge_of
from apps.core.contracts import Words

Facts = Mapping[str, Any]


def purge_words(facts: Facts, zone: ZoneInfo) -> Words:
    """Say what goes and what stays."""
    names = {"id": facts["source_id"], "scope": facts["scope_id"], "position": facts["position"]}
    return Words(
        question=_("Purge the capture '%(id)s'?") % names,
        consequence=_(
            "Its text and metadata go for good. Number %(position)d of '%(scope)s' stays taken: the name, the checksum"
            " and who purged it remain, and nothing can be captured under that name again."
        )
        % names,
        confirm=_("Purge '%(id)s'") % names,
        keep=_("Keep it"),
        lines=(*_place(facts, zone), *_rests(facts), *_text(facts)),
    )


def moment_text(at_ms: int, *, zone: ZoneInfo) -> str:
    """Return a day and a time as the viewer writes them."""
    moment = datetime.fromtimestamp(at_ms / 1000, zone)
    # Translators: date format of Django, as in "1 December 2026".
    return f"{formats.date_format(moment, _('j F Y'))} {moment:%H:%M} ({zone.key})"


def _place(facts: Facts, zone: ZoneInfo) -> list[tuple[str, str]]:
    said = facts["coverage"]
    badge = badge_of(Interpretation(status=said["status"], reasons=(), problem=said["problem"]))
    return [
        (_("Scope"), str(facts["scope_id"])),
        (_("Position"), str(facts["position"])),
        (_("Captured"), moment_text(facts["captured_at_ms"], zone=zone)),
        (_("Coverage"), badge.label),
    ]


def _rests(facts: Facts) -> list[tuple[str, str]]:
    """Say what hangs on it."""
    lines = []
    if facts["session"]:
        lines.append((_("Captured in the session"), str(facts["session"])))
    if count := facts["refused"]:
        goes = ngettext(
            "%(count)d other payload that was refused under its name goes too.",
            "%(count)d other payloads that were refused under its name go too.",
            count,
        )
        lines.append((_("Rests on it"), goes % {"count": count}))
    else:
        lines.append((_("Rests on it"), _("Nothing here was made from it. What an extractor made elsewhere stays.")))
    return lines


def _text(facts: Facts) -> list[tuple[str, str]]:
    text = str(facts.get("text", ""))
    if not text:
        return []
    more = int(facts["more"])
    if more > 0:
        left = ngettext("… and %(count)d more character", "… and %(count)d more characters", more) % {"count": more}
        text = f"{text}\n{left}"
    return [(_("Text"), text)]


def kept_facts(facts: Facts) -> dict[str, Any]:
    """Return what stays of a card for ever: where, when and how much, nothing of the text."""
    return {name: value for name, value in facts.items() if name != "text"}
