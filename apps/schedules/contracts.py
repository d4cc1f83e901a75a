"""The contracts of the schedules room."""

from __future__ import annotations

from apps.core.contracts import Contract
from apps.schedules.actions import removing
from apps.schedules.queries import previews
from apps.schedules.serializers import words

_EXAMPLE = {"session": "s1", "id": "schedule-9c5b94b1-35ad-49bb-b118-8e8fc24abf80"}

DELETE = Contract(
    name="schedules.delete",
    scope="schedule.delete",
    preview=previews.deletion,
    act=removing.delete_schedule,
    words=words.deletion_words,
    example=_EXAMPLE,
)
PURGE_DELIVERIES = Contract(
    name="schedules.purge_deliveries",
    scope="schedule.delete",
    preview=previews.purge,
    act=removing.purge_deliveries,
    words=words.purge_words,
    example=_EXAMPLE,
)

ALL = (DELETE, PURGE_DELIVERIES)
