"""Schedules: a frame whose content our scripts read over the REST API."""

from __future__ import annotations

import zoneinfo
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from apps.schedules.rules.zone_names import canonical_zone
from apps.web.serializers.schedules import schedule_words
from apps.web.views.person import signed_in


@signed_in
def schedules_page(request: Any) -> HttpResponse:
    """Show the schedules of the profile's sessions."""
    context = {
        "section": "schedules",
        "may_write": request.caller.role in ("owner", "decider"),
        "zones": zones(),
        "words": schedule_words(),
    }
    return render(request, "schedules.html", context)


def zones() -> list[str]:
    """Return the names of zones that a schedule may be given, each under the name that is stored."""
    names = (name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith(("posix", "right")))
    return ["UTC", *sorted({canonical_zone(name) for name in names} - {"UTC"})]
