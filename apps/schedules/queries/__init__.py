"""Reads of the schedules room."""
