"""Answers before and after they are bytes."""

from __future__ import annotations

from collections.abc import ItemsView
from typing import Any

import orjson
from django.http import HttpResponse
from django.http.response import HttpResponseBase

from apps.core.waiting import Answer, Deferral, Stream

JSON_TYPE = "application/json"
API_PATHS = ("/api/", "/v1/")
"""How the addresses of the API begin; all others are pages or their own matter."""
ALWAYS = {
    "Content-Type": JSON_TYPE,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
"""The headers of every answer of the API that says nothing else."""


class Response:
    """What a view of the API returns: data and a status, without the machinery of templates; else as DRF's own."""

    def __init__(self, data: Any = None, status: int = 200, content_type: str = "") -> None:
        """Take JSON-able data (None is an empty body) and a status."""
        self.data = data
        self.status_code = status
        self.content_type = content_type
        self.headers: dict[str, str] = {}
        self.deferral: Deferral | None = None
        self.stream: Stream | None = None

    def __getitem__(self, name: str) -> str:
        return self.headers[name]

    def __setitem__(self, name: str, value: str) -> None:
        self.headers[name] = value

    def items(self) -> ItemsView[str, str]:
        """Return names and values of the headers."""
        return self.headers.items()


def api_answer(response: Any) -> Answer:
    """Return what a view of the API answered as bytes, with the headers of every answer and what it waits for."""
    if isinstance(response, HttpResponseBase) and not hasattr(response, "data"):
        plain = page_answer(response)
        said = {name.lower() for name, _ in plain.headers}
        plain.headers += [header for header in _encoded(ALWAYS) if header[0].lower() not in said]
        return plain
    headers = dict(ALWAYS)
    if response.content_type:
        headers["Content-Type"] = response.content_type
    headers.update(response.items())
    return Answer(
        status=response.status_code,
        headers=_encoded(headers),
        body=b"" if response.data is None else orjson.dumps(response.data, default=str),
        deferral=getattr(response, "deferral", None),
        stream=getattr(response, "stream", None),
    )


def page_answer(response: HttpResponseBase) -> Answer:
    """Return Django's response as bytes."""
    if response.streaming:
        content = b"".join(response.streaming_content)  # type: ignore[attr-defined]
    else:
        assert isinstance(response, HttpResponse)
        content = response.content
    headers = _encoded(dict(response.items()))
    headers.extend((b"Set-Cookie", morsel.OutputString().encode("ascii")) for morsel in response.cookies.values())
    return Answer(
        status=response.status_code,
        headers=headers,
        body=content,
        deferral=getattr(response, "deferral", None),
        stream=getattr(response, "stream", None),
    )


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("latin1")) for name, value in headers.items()]
