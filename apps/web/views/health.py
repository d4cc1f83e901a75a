"""Whether the server lives and whether it is ready; for machines, without a sign-in."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse


def healthz(request: HttpRequest) -> HttpResponse:
    """Say that the process answers."""
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


def readyz(request: HttpRequest) -> HttpResponse:
    """Say whether the database answers too."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("select 1")
    except DatabaseError:
        return HttpResponse("the database does not answer\n", status=503, content_type="text/plain; charset=utf-8")
    return HttpResponse("ready\n", content_type="text/plain; charset=utf-8")
