"""Wiring of the accounts room."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """People, profiles, memberships and tokens."""

    name = "apps.accounts"
    label = "accounts"
