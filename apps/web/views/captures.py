"""Captures: the scopes, the journal of one, a source, and what was refused under its name."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from apps.accounts.rules import check_scope
from apps.captures.models import Scope, Source
from apps.captures.queries.browsing import coverage_counts, newest_sources, refused_counts
from apps.captures.queries.sources import refused_of, scope_named, scopes_of, source_of
from apps.captures.rules import SourceNotFound, check_id
from apps.core.errors import SaysoError
from apps.core.text import visible
from apps.sessions.queries import session_of
from apps.web.serializers import captures as shapes
from apps.web.views.person import signed_in

PAGE = 25
_DIGITS = 16


@signed_in
def captures_page(request: Any) -> HttpResponse:
    """Show the scopes of the profile, or the journal of the one that is named."""
    if "scope" in request.GET:
        return _journal(request, _scope(request))
    check_scope(by=request.caller, scope="capture.read")
    scopes = [shapes.shown_scope(scope) for scope in scopes_of(profile_id=request.caller.profile_id)]
    return render(request, "captures.html", {"section": "captures", "scopes": scopes})


@signed_in
def source_page(request: Any) -> HttpResponse:
    """Show a source, or the tombstone of one as what is gone; hidden and missing look alike."""
    scope, row = _source(request)
    refused = refused_counts(sources=[row]).get(row.pk, 0)
    context = {
        **_frame(scope),
        "source": shapes.shown_source(row, scope=scope.name, whole="whole" in request.GET, refused=refused),
        "session": _session(request, row.session),
        "may_purge": request.caller.role in ("owner", "decider"),
        "whole": shapes.page_of("source", scope=scope.name, id=row.source_id, whole=1),
    }
    return render(request, "captures/source.html", context, status=410 if row.payload is None else 200)


@signed_in
def conflicts_page(request: Any) -> HttpResponse:
    """Show a source beside one of the payloads that were refused under its name."""
    scope, row = _source(request)
    found = refused_of(row)
    if row.payload is None or not found:
        raise SourceNotFound
    stored = json.loads(bytes(row.payload))
    chosen = min(_number(request, "refused") or 1, len(found))
    whole = "whole" in request.GET
    names = {"scope": scope.name, "id": row.source_id}
    context = {
        **_frame(scope),
        "source": shapes.shown_source(row, scope=scope.name, whole=whole, refused=len(found)),
        "refused": shapes.shown_refused(found[chosen - 1], stored=stored, whole=whole),
        "others": [
            {"number": number, "page": shapes.page_of("conflicts", **names, refused=number)}
            for number in range(1, len(found) + 1)
        ],
        "chosen": chosen,
        "whole": shapes.page_of("conflicts", **names, refused=chosen, whole=1),
    }
    return render(request, "captures/conflicts.html", context)


def _journal(request: Any, scope: Scope) -> HttpResponse:
    found = newest_sources(scope=scope, before=_number(request, "before"), limit=PAGE + 1)
    rows, counts = found[:PAGE], coverage_counts(scope=scope)
    refused = refused_counts(sources=rows)
    older = rows[-1].position if len(found) > PAGE else None
    context = {
        **_frame(scope),
        "rows": [shapes.shown_row(row, scope=scope.name, refused=refused.get(row.pk, 0)) for row in rows],
        "counts": shapes.shown_counts(counts),
        "counted": counts.positions if counts.positions < scope.head else None,
        "head": scope.head,
        "older": shapes.page_of(scope=scope.name, before=older) if older else "",
        "is_newest": "before" not in request.GET,
    }
    return render(request, "captures/journal.html", context)


def _frame(scope: Scope) -> dict[str, Any]:
    return {
        "section": "captures",
        "scope_id": scope.name,
        "scope": visible(scope.name),
        "scope_page": shapes.page_of(scope=scope.name),
    }


def _scope(request: Any) -> Scope:
    check_scope(by=request.caller, scope="capture.read")
    name = check_id("scope_id", value=request.GET.get("scope", ""))
    scope = scope_named(profile_id=request.caller.profile_id, name=name)
    if scope is None:
        raise SourceNotFound
    return scope


def _source(request: Any) -> tuple[Scope, Source]:
    scope = _scope(request)
    source_id = check_id("source_id", value=request.GET.get("id", ""))
    return scope, source_of(profile_id=request.caller.profile_id, scope_id=scope.name, source_id=source_id)


def _session(request: Any, ref: str) -> dict[str, str] | None:
    """Return the session in which something was captured, for somebody who may read it."""
    if not ref:
        return None
    try:
        row = session_of(by=request.caller, ref=ref)
    except SaysoError:
        return None
    return {"ref": row.ref, "label": visible(row.title or row.ref)}


def _number(request: Any, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS and int(text) else None
