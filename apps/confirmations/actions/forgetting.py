"""Taking out of the gate's rows what they say of things that were erased; receipts and the ledger stay as they are."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection, transaction

from apps.confirmations.actions.ending import NOTHING, bare_row, locked_all, move
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import State
from apps.core import rows
from apps.core.contracts import contract_named
from apps.core.values import canonical_json, name_hash
from apps.ledger import actions as ledger

NAMES_AT_ONCE = 50
TARGETS_AT_ONCE = 500
_TEXTS = ("ids", "arguments", "facts", "outcome")


@transaction.atomic
def forget(*, profile_id: str, names: Sequence[str], targets: Sequence[str], but: str, by: str, now_ms: int) -> int:
    """Let no confirmation or kept answer of a profile name any of `names` any more; returns how many there were.

    `targets` are the target ids under which the things themselves were asked about: what is still open of those ends
    as changed, what was asked in their name is withdrawn. `but` is the confirmation that is being carried out.
    """
    found = 0
    for row in _about(profile_id, targets, but):
        found += 1
        bare = bare_row(row)
        if row.state == "pending":
            move(row, to="changed", actor=by, now_ms=now_ms, decided_at_ms=now_ms, code="target_gone", **bare)
        row.outcome = NOTHING
        rows.update(row, ("outcome", *bare))
    for start in range(0, len(names), NAMES_AT_ONCE):
        chunk = names[start : start + NAMES_AT_ONCE]
        needles = [canonical_json(name) for name in chunk]
        ledger.forget_answers(profile_id=profile_id, texts=needles)
        for row in locked_all(_naming(profile_id, needles, but)):
            found += 1
            if row.state == "pending":
                in_its_name = json.loads(row.ids).get("session") in chunk
                to: State = "withdrawn" if in_its_name else "changed"
                move(row, to=to, actor="server", now_ms=now_ms, decided_at_ms=now_ms, code="session_deleted")
            _rename(row, names=chunk, needles=needles)
    return found


@transaction.atomic
def lay_bare(*, profile_id: str, targets: Sequence[str], but: str) -> int:
    """Let the cards about these targets keep no more of them than a receipt would; returns how many there were.

    One that is still open goes on: it is found to be stale when it is decided. `but` is the one being carried out.
    """
    found = 0
    for start in range(0, len(targets), TARGETS_AT_ONCE):
        here = Confirmation.objects.select_for_update(skip_locked=True).filter(profile_id=profile_id)
        about = here.filter(target_id__in=targets[start : start + TARGETS_AT_ONCE]).exclude(pk=but)
        for row in about.exclude(state="executing").order_by("pk"):
            arguments = row.arguments
            bare = bare_row(row)
            if row.state == "pending":
                row.arguments = arguments
            rows.update(row, tuple(bare))
            found += 1
    return found


def _naming(profile_id: str, needles: Sequence[str], but: str) -> list[str]:
    """Return the ids of the rows in which one of the texts occurs."""
    find = "strpos" if connection.vendor == "postgresql" else "instr"
    hits = " or ".join(f"{find}({column}, %s) > 0" for column in _TEXTS for _ in needles)
    sql = f"""select id from confirmations_confirmation
      where profile_id = %s and id <> %s and state <> 'executing' and ({hits})"""  # noqa: S608
    return [row[0] for row in rows.execute(sql, [profile_id, but, *(list(needles) * len(_TEXTS))]).fetchall()]


def _about(profile_id: str, targets: Sequence[str], but: str) -> list[Confirmation]:
    """Return the rows about one of the targets or a part of it.

    One that is being decided or carried out right now is left alone: who does that waits for what this transaction
    erases, finds it missing and keeps nothing either.
    """
    found: list[Confirmation] = []
    for target in targets:
        here = Confirmation.objects.select_for_update(skip_locked=True).filter(profile_id=profile_id)
        about = here.filter(target_id__startswith=target).exclude(pk=but).exclude(state="executing")
        found += about.order_by("pk")
    return found


def _rename(row: Confirmation, *, names: Collection[str], needles: Sequence[str]) -> None:
    """Let hashes stand for the names; a card that may spell them in other ways keeps only what a receipt would."""
    changed = {"purpose": ""}
    told = "".join((row.arguments, row.facts, row.outcome))
    if contract_named(row.contract).keeps is not None and any(needle in told for needle in needles):
        changed |= {**bare_row(row), "outcome": NOTHING}
        row.outcome = NOTHING
    for column in _TEXTS:
        value = json.loads(getattr(row, column))
        if column == "ids":
            value = {name: one for name, one in value.items() if one not in names}
        changed[column] = canonical_json(_without(value, names=names, profile_id=row.profile_id))
    for column, text in changed.items():
        setattr(row, column, text)
    rows.update(row, tuple(changed))


def _without(value: Any, *, names: Collection[str], profile_id: str) -> Any:
    """Return a JSON value in which hashes stand for the names."""
    if isinstance(value, str):
        return name_hash(profile_id=profile_id, name=value) if value in names else value
    if isinstance(value, list):
        return [_without(one, names=names, profile_id=profile_id) for one in value]
    if isinstance(value, dict):
        return {name: _without(one, names=names, profile_id=profile_id) for name, one in value.items()}
    return value
