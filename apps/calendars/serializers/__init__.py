"""Words of this room's cards in the viewer's language, and the shapes of the REST endpoints."""

from apps.calendars.serializers.changes import change_lines
from apps.calendars.serializers.days import Facts, clock, day_texts_in, days_of, when
from apps.calendars.serializers.deletions import (
    event_words,
    following_words,
    occurrence_words,
    reminder_words,
    series_words,
)
from apps.calendars.serializers.edits import completion_words, creation_words, move_words, reduction_words, update_words
from apps.calendars.serializers.lines import lines_of
from apps.calendars.serializers.shapes import (
    CalendarSerializer,
    CompletionSerializer,
    ImportSerializer,
    ItemSerializer,
    MobileRequestSerializer,
    UploadSerializer,
    WrittenItemSerializer,
)
from apps.calendars.serializers.wholes import calendar_words, device_words, import_words, listing_words

__all__ = [
    "CalendarSerializer",
    "CompletionSerializer",
    "Facts",
    "ImportSerializer",
    "ItemSerializer",
    "MobileRequestSerializer",
    "UploadSerializer",
    "WrittenItemSerializer",
    "calendar_words",
    "change_lines",
    "clock",
    "completion_words",
    "creation_words",
    "day_texts_in",
    "days_of",
    "device_words",
    "event_words",
    "following_words",
    "import_words",
    "lines_of",
    "listing_words",
    "move_words",
    "occurrence_words",
    "reduction_words",
    "reminder_words",
    "series_words",
    "update_words",
    "when",
]
