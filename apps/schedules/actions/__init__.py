"""Writes of the schedules room."""
