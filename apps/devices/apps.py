"""Wiring of the devices room."""

from django.apps import AppConfig


class DevicesConfig(AppConfig):
    """The devices room."""

    name = "apps.devices"
    label = "devices"
