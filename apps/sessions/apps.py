"""Wiring of the sessions room; `django.contrib.sessions` owns the plain label."""

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """Agent sessions and their runs."""

    name = "apps.sessions"
    label = "agent_sessions"
    verbose_name = "Sessions"
