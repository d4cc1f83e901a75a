"""Stock DRF on Daphne: TokenAuthentication, a ModelSerializer, Django's seven middleware, over Sayso's own rows."""

from __future__ import annotations

import os
from typing import Any

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="bench",
    DEBUG=False,
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=[
        "django.contrib.auth",
        "django.contrib.contenttypes",
        "django.contrib.sessions",
        "rest_framework",
        "rest_framework.authtoken",
    ],
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    DATABASES={
        "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["BENCH_PEER_DB"], "CONN_MAX_AGE": None},
        "rows": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["BENCH_ROWS_DB"], "CONN_MAX_AGE": None},
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    REST_FRAMEWORK={
        "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.TokenAuthentication"],
        "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    },
)
django.setup()

from django.contrib.auth import get_user_model  # noqa: E402
from django.core.asgi import get_asgi_application  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import models  # noqa: E402
from django.urls import path  # noqa: E402
from rest_framework import generics, serializers  # noqa: E402
from rest_framework.authtoken.models import Token  # noqa: E402


class Row(models.Model):
    """Sayso's own session rows, read as they are."""

    id = models.CharField(primary_key=True, max_length=32)
    ref = models.CharField(max_length=512)
    source = models.CharField(max_length=64)
    title = models.CharField(max_length=200)
    created_at_ms = models.BigIntegerField()

    class Meta:
        app_label = "peer"
        managed = False
        db_table = "agent_sessions_session"

    def __str__(self) -> str:
        return self.ref


class RowSerializer(serializers.ModelSerializer[Any]):
    """The same four fields."""

    id = serializers.CharField(source="ref")

    class Meta:
        model = Row
        fields = ["id", "source", "title", "created_at_ms"]


class RowList(generics.ListAPIView[Any]):
    """The list of fifty."""

    queryset = Row.objects.using("rows").order_by("-created_at_ms")[:100]
    serializer_class = RowSerializer


class RowDetail(generics.RetrieveAPIView[Any]):
    """One row."""

    queryset = Row.objects.using("rows")
    serializer_class = RowSerializer
    lookup_field = "ref"


urlpatterns = [path("api/sessions", RowList.as_view()), path("api/sessions/<str:ref>", RowDetail.as_view())]
call_command("migrate", verbosity=0)
_user, _ = get_user_model().objects.get_or_create(username="bench")
Token.objects.get_or_create(user=_user, defaults={"key": "benchbenchbenchbenchbenchbenchbenchbench"})
application = get_asgi_application()
