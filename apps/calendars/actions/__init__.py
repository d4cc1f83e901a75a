"""Writes of the calendars room."""
