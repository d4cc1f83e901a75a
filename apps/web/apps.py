"""Wiring of the web room."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """The web room."""

    name = "apps.web"
    label = "web"
