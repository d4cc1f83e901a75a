"""Schedules over REST."""
