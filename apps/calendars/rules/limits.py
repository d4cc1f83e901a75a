"""Bounds on what an import may cost, and the errors this folder raises."""

from dataclasses import dataclass

from apps.core.errors import Conflict, NotFound, SaysoError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of one import; sizes in octets, the rest are counts."""

    file_octets: int = 10 * 1024 * 1024
    components: int = 20_000
    by_product: int = 100_000
    attachment_octets: int = 64 * 1024
    depth: int = 8
    # How many recurrence periods all checks of one file may look at together.
    search_periods: int = 1_000_000


DEFAULT = Limits()

# Not codes of the import table: they refuse the whole file beside `truncated`.
TOO_LARGE = "too_large"
TOO_MANY_COMPONENTS = "too_many_components"


class CalendarRuleError(SaysoError):
    """The calendar data does not allow this."""

    code = "calendar_rule"


class NoSuchOccurrence(CalendarRuleError, NotFound):
    """The series has no occurrence at this start."""

    code = "no_such_occurrence"


class NotASeries(CalendarRuleError):
    """This item does not repeat, so it has no single occurrence to remove."""

    code = "not_a_series"


class InvalidRecurrence(CalendarRuleError):
    """The recurrence rule cannot be read."""

    code = "rrule_invalid"


class RuleTooFrequent(InvalidRecurrence):
    """The rule (rrule) repeats every second or minute, which no calendar here keeps."""

    code = "rrule_too_frequent"


class RuleTooDense(InvalidRecurrence):
    """The lists of the rule (rrule) make more times than a calendar here keeps."""

    code = "rrule_too_dense"


class InvalidTime(CalendarRuleError):
    """The date or time cannot be read."""

    code = "time_invalid"


class RemovalNotExact(CalendarRuleError, Conflict):
    """Removing this occurrence would have changed others, so nothing was removed."""

    code = "removal_not_exact"
