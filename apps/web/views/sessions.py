"""Sessions: the list, and the conversation of one; frames whose content our scripts read over the REST API."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from apps.core.text import visible
from apps.sessions.queries import session_of
from apps.web.queries import visible_workspaces
from apps.web.serializers.sessions import list_words, session_words
from apps.web.views.person import signed_in


@signed_in
def sessions_page(request: Any) -> HttpResponse:
    """Show the sessions of the profile by workspace."""
    workspaces = visible_workspaces(by=request.caller)
    context = {
        "section": "sessions",
        "workspaces": [{"slug": slug, "name": visible(slug)} for slug in workspaces],
        "words": list_words(),
    }
    return render(request, "sessions.html", context)


@signed_in
def session_page(request: Any, session_ref: str) -> HttpResponse:
    """Show one session; hidden and missing look alike."""
    row = session_of(by=request.caller, ref=session_ref)
    context = {
        "section": "sessions",
        "session": row,
        "label": visible(row.title or row.ref),
        "name": visible(row.ref),
        "workspace": visible(row.workspace.slug),
        "may_write": request.caller.role in ("owner", "decider"),
        "words": session_words(),
    }
    return render(request, "session.html", context)
