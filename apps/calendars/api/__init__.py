"""The HTTP edges of the calendars room."""
