"""Print the signed end of every chain, to be kept elsewhere."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from apps.core.values import canonical_json, now_ms
from apps.ledger.queries import heads
from apps.ledger.rules import signed_head


class Command(BaseCommand):
    """`manage.py export_ledger_head`."""

    help = "Print one signed line for each profile; verify_ledger --heads FILE finds a tail that was cut since."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the heads."""
        key = settings.SAYSO_KEYS.key("ledger_hmac")
        for head in heads():
            line = signed_head(profile_id=head.profile_id, seq=head.seq, own_hash=head.hash, at_ms=now_ms(), key=key)
            self.stdout.write(canonical_json(line))
