"""The world of the endpoint tests: one of everything, made once, with the clock standing still."""

import pytest
from django.conf import settings
from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.views import SpectacularAPIView

from apps.core import values
from tests.endpoints.calls import MAKERS, Things
from tests.factories.calendars import FixedClock, make_world


@pytest.fixture(scope="module")
def things(django_db_setup, django_db_blocker):
    """Make everything in a transaction that is undone; each call of a test is undone by itself."""
    before, outer = values.clock(), transaction.atomic()
    # As Django's own test case does: blocks that insist on being outermost are content.
    outer._from_testcase = True
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock(), outer:
        # A slow hash is right for people and wrong for tests.
        patch.setattr(settings, "PASSWORD_HASHERS", ["django.contrib.auth.hashers.MD5PasswordHasher"])
        # Describing the routes takes a second each time and is the same for everybody.
        patch.setattr(SpectacularAPIView, "_get_schema_response", lambda *_: HttpResponse(b"{}"))
        values.set_clock(FixedClock())
        try:
            made = Things.make(make_world())
            made.known = {name: make(made) for name, make in MAKERS.items()}
            yield made
        finally:
            values.set_clock(before)
            transaction.set_rollback(True)
