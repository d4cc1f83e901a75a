"""The forms of the pages, filled in well; a route that takes a form and is not here fails the test of pages."""

from apps.accounts.models import AccessToken
from tests.factories import PASSWORD

FORMS: dict[str, dict[str, str]] = {
    "login/": {"username": "alice", "password": PASSWORD, "next": "/inbox/"},
    "logout/": {},
    "inbox/<str:confirmation_id>/ask-again": {"next": "/inbox/"},
    "tokens/": {"label": "l", "kind": "agent", "scope": "calendar.read", "days": "9", "session": "s1"},
    "tokens/<str:token_id>/end": {"next": "/tokens/"},
    "settings/person": {"time_zone": "Europe/Berlin", "language": "en", "week_start": "0", "next": "/settings/"},
    "settings/zone": {"time_zone": "Europe/Berlin", "next": "/inbox/"},
    "settings/profile": {
        **{f"policy_{name}": "ask" for name in ("list", "create", "update", "complete")},
        "time_zone": "Europe/Berlin",
        "calendars": "sayso",
        "next": "/settings/",
    },
    "settings/members": {"username": "bob", "role": "viewer", "next": "/settings/"},
    "settings/members/<int:user_id>/remove": {"next": "/settings/"},
    "settings/password": {"old": PASSWORD, "new": "another long one", "again": "another long one", "next": "/"},
    "settings/sign-out-everywhere": {"next": "/"},
    "language/": {"language": "en", "next": "/inbox/"},
    "profile/": {"profile": "default", "next": "/inbox/"},
}
"""By route: the fields with a good value each."""
SOURCE = {"scope": "main", "id": "s:1", "whole": "1"}
QUERIES: dict[str, dict[str, str]] = {
    "inbox/": {"before": ""},
    "login/": {"next": ""},
    "captures/": {"scope": "main", "before": "9"},
    "captures/source": SOURCE,
    "captures/conflicts": {**SOURCE, "refused": "1"},
}
"""What pages read of their address, with a good value each."""
NAMED = {"scope", "id"}
"""Members that name a thing: one that is not there is a 404."""


def token(things):
    row = AccessToken.objects.exclude(kind="device").first()
    assert row is not None
    return row.pk


MAKERS = {"token": token}
