"""Recompute every chain and name the first bad row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.ledger.queries import entries_of, heads
from apps.ledger.rules import GENESIS, first_fault, head_fits


class Command(BaseCommand):
    """`manage.py verify_ledger [--heads FILE]`."""

    help = "Check the hash chain of every profile; with --heads also against heads exported earlier."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the file of exported heads."""
        parser.add_argument("--heads", default="", help="a file that export_ledger_head printed")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, and fail with the first bad row."""
        key, older = settings.SAYSO_KEYS.key("ledger_hmac"), settings.SAYSO_KEYS.older("ledger_hmac")
        stored = {head.profile_id: (head.seq, head.hash) for head in heads()}
        exported = read_heads(options["heads"], [key, *older]) if options["heads"] else {}
        for profile_id in sorted(stored | exported):
            seq, own_hash = stored.get(profile_id, (0, GENESIS))
            fault = first_fault(
                entries_of(profile_id=profile_id),
                key=key,
                older=older,
                profile_id=profile_id,
                head_seq=seq,
                head_hash=own_hash,
            )
            if fault is None and profile_id in exported:
                seq, own_hash = exported[profile_id]
                fault = first_fault(
                    (entry for entry in entries_of(profile_id=profile_id) if entry.seq <= seq),
                    key=key,
                    older=older,
                    profile_id=profile_id,
                    head_seq=seq,
                    head_hash=own_hash,
                )
            if fault is not None:
                raise CommandError(f"profile {profile_id}: entry {fault.seq} is {fault.kind}")
            self.stdout.write(f"profile {profile_id}: {stored.get(profile_id, (0, ''))[0]} entries, the chain holds")


def read_heads(name: str, keys: list[bytes]) -> dict[str, tuple[int, str]]:
    """Return the heads in an exported file; refuse one whose signature does not fit."""
    found: dict[str, tuple[int, str]] = {}
    for line in Path(name).read_text().splitlines():
        head = json.loads(line)
        if not any(head_fits(head, key=key) for key in keys):
            raise CommandError(f"{name}: the signature of a head does not fit")
        found[head["profile"]] = (head["seq"], head["hash"])
    return found
