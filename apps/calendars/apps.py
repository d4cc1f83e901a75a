"""Wiring of the calendars room."""

from django.apps import AppConfig


class CalendarsConfig(AppConfig):
    """The calendars room."""

    name = "apps.calendars"
    label = "calendars"
