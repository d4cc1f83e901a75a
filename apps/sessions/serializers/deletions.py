"""Words of the cards that delete a session or remove one of its turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.core.contracts import Offer, Words

Facts = Mapping[str, Any]
Line = tuple[str, str]
COUNTED = (
    "goes",
    "stored",
    "events",
    "turns",
    "inbox",
    "files",
    "running",
    "forks_stay",
    "hanging",
    "turn",
    "tokens",
    "stays",
)


def kept_facts(facts: Facts) -> dict[str, Any]:
    """Return what stays of a card for ever: how much, never what."""
    return {name: facts[name] for name in COUNTED if name in facts}


def session_words(facts: Facts, zone: Any) -> Words:
    """Say what the deletion of a session does, and what would be milder."""
    name = facts.get("title") or facts.get("session")
    question, confirm = _("Delete a session for good?"), _("Delete the session")
    if name:
        question = _("Delete the session '%(name)s' for good?") % {"name": name}
        confirm = _("Delete the session '%(name)s'") % {"name": name}
    return Words(
        question=question,
        consequence=" ".join(_consequences(facts)),
        confirm=confirm,
        keep=_("Keep it"),
        undo=_("There is no trash and no backup: this cannot be undone."),
        tick=_("I have read what goes, and want this session deleted for good"),
        lines=_session_lines(facts),
        offers=_milder(facts["session"]) if facts.get("session") else (),
    )


def _consequences(facts: Facts) -> list[str]:
    events, turns = facts.get("events", 0), facts.get("turns", 0)
    log = ngettext("its log with %(count)d event", "its log with %(count)d events", events) % {"count": events}
    in_turns = ngettext("%(count)d turn", "%(count)d turns", turns) % {"count": turns}
    parts = {"log": log, "turns": in_turns}
    said = [_("This deletes %(log)s (%(turns)s), what is cached of it and its places in every list.") % parts]
    more = facts.get("goes", 1) - 1
    if more:
        with_it = ngettext("%(count)d subagent session goes too.", "%(count)d subagent sessions go too.", more)
        said.append(with_it % {"count": more})
    if facts.get("running"):
        said.append(_("An agent is at work in it: it is asked to stop first, and nothing is deleted if it does not."))
    forks = facts.get("forks_stay", 0)
    if forks:
        said.append(ngettext("%(count)d fork of it stays.", "%(count)d forks of it stay.", forks) % {"count": forks})
    if facts.get("files"):
        said.append(_("The files that it was imported from lie outside this server and stay there."))
    said.append(_("Attachments may be shared and stay, and so does what other sessions say about it."))
    return said


def _session_lines(facts: Facts) -> tuple[Line, ...]:
    lines = [
        (_("Session"), facts.get("session", "")),
        (_("Title"), facts.get("title", "")),
        (_("Stored as"), "\n".join(facts.get("copies", ()))),
        (_("Subagents that go too"), _named(facts.get("descendants", ()), facts.get("goes", 1) - 1)),
        (_("Messages waiting for it"), _number(facts.get("inbox"))),
        *_hanging(facts),
        (_("Forks that stay"), _named(facts.get("forks", ()), facts.get("forks_stay", 0))),
    ]
    return tuple((label, value) for label, value in lines if value)


def _hanging(facts: Facts) -> list[Line]:
    known: dict[str, Callable[[], str]] = {
        "schedules": lambda: _("Schedules that go"),
        "captures": lambda: _("Memory captures that go"),
        "pages": lambda: _("Pages that go"),
        "asks": lambda: _("Open requests that are taken back"),
    }
    return [
        (known[name]() if name in known else name, _number(count)) for name, count in facts.get("hanging", {}).items()
    ]


def _named(names: Any, count: int) -> str:
    """Return names line by line, with how many more there are."""
    shown = list(names)
    if count > len(shown) > 0:
        shown.append(_("and %(count)d more") % {"count": count - len(shown)})
    return "\n".join(shown) or _number(count)


def _number(count: int | None) -> str:
    return str(count) if count else ""


def _milder(ref: str) -> tuple[Offer, ...]:
    path = f"/api/sessions/{quote(ref, safe='')}"
    return (
        Offer(label=_("Archive it instead"), href=f"{path}/archive", instead=True),
        Offer(label=_("Save the log (JSONL)"), href=f"{path}/export?format=jsonl"),
        Offer(label=_("Save the transcript (Markdown)"), href=f"{path}/export?format=markdown"),
    )


def turn_words(facts: Facts, zone: Any) -> Words:
    """Say what the removal of a turn does, and what it does not do."""
    names = {"turn": facts.get("turn", ""), "name": facts.get("title") or facts.get("session") or _("a session")}
    goes = facts.get("goes", 0)
    leaves = ngettext("%(count)d message leaves", "%(count)d messages leave", goes) % {"count": goes}
    return Words(
        question=_("Remove turn %(turn)s of '%(name)s' from what the model sees?") % names,
        consequence=_(
            "Only the model's view changes: %(leaves)s it, and a note of one line stands in their place. The rest of "
            "the session and the whole log stay; the content still exists in the log and its attachments. This is not "
            "a secure erase."
        )
        % {"leaves": leaves},
        confirm=_("Remove turn %(turn)s") % names,
        keep=_("Keep it"),
        undo=_("A removed turn cannot be put back into the model's view."),
        tick=_("I have read that the content stays in the log, and want this turn removed from the model's view"),
        lines=_turn_lines(facts),
    )


def _turn_lines(facts: Facts) -> tuple[Line, ...]:
    lines = [
        (_("Session"), facts.get("session", "")),
        (_("Title"), facts.get("title", "")),
        (_("Reply"), facts.get("message", "")),
        (_("What was asked"), facts.get("question", "")),
        (_("What was answered"), facts.get("reply", "")),
        (_("Tokens that leave the view, about"), _number(facts.get("tokens"))),
        (_("What stays in force"), "\n".join(_staying(facts.get("stays", {})))),
    ]
    return tuple((label, value) for label, value in lines if value)


def _staying(stays: Mapping[str, int]) -> list[str]:
    known: dict[str, Callable[[int], str]] = {
        "reminders": lambda n: ngettext("%(count)d reminder made in it", "%(count)d reminders made in it", n),
        "todos": lambda n: ngettext("%(count)d list of things to do", "%(count)d lists of things to do", n),
        "plans": lambda n: ngettext("%(count)d change of the plan mode", "%(count)d changes of the plan mode", n),
        "goals": lambda n: ngettext("%(count)d change of the goal", "%(count)d changes of the goal", n),
        "titles": lambda n: ngettext("%(count)d title", "%(count)d titles", n),
        "subagents": lambda n: ngettext("%(count)d subagent started in it", "%(count)d subagents started in it", n),
        "attachments": lambda n: ngettext("%(count)d attachment", "%(count)d attachments", n),
        "captures": lambda n: ngettext("%(count)d memory capture", "%(count)d memory captures", n),
    }
    return [
        known[name](count) % {"count": count} if name in known else f"{name}: {count}" for name, count in stays.items()
    ]
