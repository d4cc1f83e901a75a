"""What was sent lately, for the pages of people."""

from __future__ import annotations

from typing import Any

from apps.accounts.rules import Caller
from apps.core import rows
from apps.core.text import visible
from apps.schedules.rules.values import format_instant

PAGE = 20
_LAST = "select max(id) from schedules_delivery"
_FIRED = """select d.id, t.ref, s.ref, d.title, d.occurrence_ms, d.delivered_ms, d.missed from schedules_delivery d
 join schedules_task t on t.id = d.task_id
 join agent_sessions_session s on s.id = t.session_id
 join accounts_workspace w on w.id = s.workspace_id
 where d.id > %s and d.outcome = 'sent' and t.profile_id = %s and (not w.restricted or exists (
   select 1 from accounts_workspace_members m where m.workspace_id = w.id and m.user_id = %s))
 order by d.id desc limit %s"""


def last_fired() -> int:
    """Return where `fired_after` begins for somebody who has seen everything so far."""
    return int(rows.execute(_LAST).fetchone()[0] or 0)


def fired_after(*, by: Caller, after: int) -> dict[str, Any]:
    """Return the latest reminders that were sent after a number, the newest first, and the number to go on from."""
    last = last_fired()
    found = rows.execute(_FIRED, [after, by.profile_id, by.user_id, PAGE]).fetchall() if last > after else []
    names = ("id", "sessionId", "title", "scheduledAt", "deliveredAt", "missed")
    sent = [
        dict(
            zip(
                names,
                (row[1], row[2], visible(row[3]), format_instant(row[4]), format_instant(row[5]), row[6]),
                strict=True,
            )
        )
        for row in found
    ]
    return {"fired": sent, "next": max(last, after)}
