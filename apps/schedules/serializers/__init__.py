"""Shapes and words of the schedules room."""
