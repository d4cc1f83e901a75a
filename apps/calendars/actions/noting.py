"""What every write of this room ends with: the ledger's row and the announcement."""

from __future__ import annotations

from typing import Any

from apps.calendars.models import CalendarObject
from apps.calendars.rules.targets import MINUTE_MS, NAME_OF_KIND
from apps.core import rows
from apps.core.announce import announce
from apps.core.contracts import Call
from apps.core.values import digest_of
from apps.ledger import actions as ledger

_FORGET_WRITES = "delete from calendars_recentwrite where requester = %s and at_ms <= %s"
_COUNT_WRITE = "insert into calendars_recentwrite (profile_id, requester, at_ms) values (%s, %s, %s)"


def note(call: Call, *, action: str, row: CalendarObject, slot: str = "", effect: Any = None) -> None:
    """Append the ledger row of an effect on an object and tell the open pages; the last step of a transaction.

    What a person confirmed is recorded by the gate's own row, in the same transaction: one effect, one row.
    """
    tell(profile_id=row.profile_id, calendar_id=row.calendar_id)
    if call.confirmation_id:
        return
    name = NAME_OF_KIND[row.kind]
    target = f"{name}:{row.pk}.{slot}" if slot else f"{name}:{row.pk}"
    ledger.append(
        profile_id=row.profile_id,
        actor=call.by,
        action=f"calendars.{name}_{action}",
        target=target,
        effect=digest_of(effect) if effect is not None else "",
        digest=row.digest,
        ids={"calendar": row.calendar_id},
        now_ms=call.now_ms,
    )


def tell(*, profile_id: str, calendar_id: str) -> None:
    """Announce that a calendar changed."""
    announce("calendar.changed", keys=(f"calendars:{profile_id}",), profile=profile_id, calendar=calendar_id)


def count_write(*, profile_id: str, requester: str, now_ms: int) -> None:
    """Remember for a minute that a requester wrote."""
    rows.execute(_FORGET_WRITES, [requester, now_ms - MINUTE_MS])
    rows.execute(_COUNT_WRITE, [profile_id, requester, now_ms])
