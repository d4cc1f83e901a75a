"""All routes."""

from __future__ import annotations

from importlib.util import find_spec

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_replace
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

ROOMS = ("confirmations", "sessions", "devices", "calendars", "captures", "schedules", "web")

# Swagger UI brings its own scripts and one inline style; nothing that somebody wrote is shown on its page.
swagger = csp_replace({"script-src": [SELF], "style-src": [SELF, UNSAFE_INLINE]})(
    SpectacularSwaggerSplitView.as_view(url_name="schema")
)
urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", swagger, name="docs"),
    *(path("", include(f"apps.{room}.urls")) for room in ROOMS if find_spec(f"apps.{room}.urls")),
]
