"""What may be wrong with a schedule; the codes are part of the contract."""

from __future__ import annotations

from apps.core.errors import Conflict, NotFound, SaysoError


class ScheduleInputError(SaysoError):
    """The schedule cannot be made like this."""


class InvalidPrompt(ScheduleInputError):
    """A schedule needs a title of at most 120 characters and a prompt."""

    code = "invalid_prompt"


class InvalidSelector(ScheduleInputError):
    """Say exactly one of after_seconds, at, every_seconds, daily, weekly and cron."""

    code = "invalid_selector"


class InvalidRule(ScheduleInputError):
    """The timing of the schedule cannot be used."""

    code = "invalid_rule"


class InvalidTimeZone(ScheduleInputError):
    """The time zone must be UTC or a name such as Europe/Berlin."""

    code = "invalid_time_zone"


class NotFuture(ScheduleInputError):
    """The time lies not in the future."""

    code = "not_future"


class TimeOutOfRange(ScheduleInputError):
    """The schedule has no occurrence between the years 1 and 9999."""

    code = "time_out_of_range"


class FrequencyTooHigh(ScheduleInputError):
    """A schedule may repeat every 60 seconds at most."""

    code = "frequency_too_high"


class ScheduleNotFound(NotFound):
    """This session has no such schedule."""

    code = "schedule_not_found"


class ScheduleEnded(Conflict):
    """The schedule has ended."""

    code = "schedule_ended"


class ScheduleConflict(Conflict):
    """The schedule changed meanwhile; look again."""

    code = "schedule_conflict"


class DeliveryCursorNotFound(NotFound):
    """The page of deliveries does not exist any more; read the newest again."""

    code = "delivery_cursor_not_found"


class CorruptScheduleLog(SaysoError):
    """A stored schedule cannot be read."""

    code = "corrupt_schedule_log"
    status = 500


class CorruptStore(SaysoError):
    """A stored schedule task cannot be read."""

    code = "corrupt_store"
    status = 500
