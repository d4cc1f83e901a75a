"""Reads of the calendars room."""
