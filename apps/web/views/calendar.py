"""The calendar and the reminders: frames whose content our scripts read over the REST API."""

from __future__ import annotations

import zoneinfo
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from apps.accounts.models import Profile
from apps.web.serializers.calendar import calendar_words, reminder_words
from apps.web.views.person import signed_in


@signed_in
def calendar_page(request: Any) -> HttpResponse:
    """Show month, week and agenda."""
    context = {**frame_of(request), "section": "calendar", "words": calendar_words()}
    return render(request, "calendar.html", context)


@signed_in
def reminders_page(request: Any) -> HttpResponse:
    """Show the reminders."""
    context = {**frame_of(request), "section": "reminders", "words": reminder_words()}
    return render(request, "reminders.html", context)


def frame_of(request: Any) -> dict[str, Any]:
    """Return what both pages need."""
    return {
        "profile": Profile.objects.get(pk=request.caller.profile_id),
        "may_write": request.caller.role in ("owner", "decider"),
        "zones": sorted(zoneinfo.available_timezones() - {"localtime", "Factory"}),
    }
