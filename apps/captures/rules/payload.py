"""What a capture request must look like, and the bytes that make two payloads equal."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.captures.rules.errors import InvalidRequest
from apps.core.values import canonical_json, canonical_texts

SOURCE_TYPE = "content"
MATERIALIZATION = "captured"
ID_CHARACTERS = 256
CONTENT_CHARACTERS = 200_000
METADATA_BYTES = 16_384
METADATA_DEPTH = 200
_REQUIRED = ("scope_id", "source_id", "content")
_FIELDS = frozenset({*_REQUIRED, "metadata"})


@dataclass(frozen=True, kw_only=True)
class CaptureRequest:
    """One request that may be stored; content and metadata are exactly what was sent."""

    scope_id: str
    source_id: str
    content: str
    metadata: Mapping[str, Any]
    metadata_json: str
    """The canonical JSON of the metadata."""


@dataclass(frozen=True, kw_only=True)
class Payload:
    """The canonical bytes of everything stored about a source but its position, and their SHA-256."""

    data: bytes
    sha256: str


def check_request(body: object) -> CaptureRequest:
    """Return the request if it may be stored; raises InvalidRequest naming the field."""
    if not isinstance(body, Mapping):
        raise InvalidRequest("The body must be a JSON object.")
    for name in body:
        if name not in _FIELDS:
            raise InvalidRequest("The request has a field that is not known here.", field=str(name)[:ID_CHARACTERS])
    for name in _REQUIRED:
        if not isinstance(body.get(name), str):
            raise InvalidRequest(f"{name} must be text.", field=name)
    metadata, metadata_json = _metadata(body.get("metadata"))
    return CaptureRequest(
        scope_id=check_id("scope_id", value=body["scope_id"]),
        source_id=check_id("source_id", value=body["source_id"]),
        content=_content(body["content"]),
        metadata=metadata,
        metadata_json=metadata_json,
    )


def check_id(field: str, *, value: str) -> str:
    """Return a scope or source id as it is: 1 to 256 characters without whitespace around them and without a NUL.

    An id stands in addresses, where a NUL cannot be.
    """
    if not value.strip() or value != value.strip():
        raise InvalidRequest(f"{field} must not be blank or have blanks around it.", field=field)
    if len(value) > ID_CHARACTERS:
        raise InvalidRequest(f"{field} may have at most {ID_CHARACTERS} characters.", field=field)
    if "\0" in value:
        raise InvalidRequest(f"{field} must not have a NUL character.", field=field)
    _utf8(field, value)
    return value


def _content(value: str) -> str:
    if not value.strip():
        raise InvalidRequest("content must not be blank.", field="content")
    if len(value) > CONTENT_CHARACTERS:
        raise InvalidRequest(f"content may have at most {CONTENT_CHARACTERS} characters.", field="content")
    _utf8("content", value)
    return value


def _metadata(value: object) -> tuple[Mapping[str, Any], str]:
    if value is None:
        return {}, "{}"
    if not isinstance(value, dict):
        raise InvalidRequest("metadata must be an object.", field="metadata")
    try:
        text = canonical_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest("metadata must be plain JSON.", field="metadata") from error
    if len(_utf8("metadata", text)) > METADATA_BYTES:
        raise InvalidRequest(f"metadata may have at most {METADATA_BYTES} bytes.", field="metadata")
    if not _shallow(value, text):
        raise InvalidRequest(f"metadata may nest at most {METADATA_DEPTH} levels.", field="metadata")
    return value, text


def _shallow(value: object, text: str) -> bool:
    """Tell whether a value nests no deeper than any reader can follow; `text` is its JSON, which most often tells."""
    if text.count("[") + text.count("{") <= METADATA_DEPTH:
        return True
    level: list[Any] = [value]
    for _ in range(METADATA_DEPTH):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [member for members in inner for member in members if isinstance(member, dict | list)]
        if not level:
            return True
    return False


def _utf8(field: str, text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidRequest(f"{field} has text that is not Unicode.", field=field) from error


def payload_of(request: CaptureRequest) -> Payload:
    """Return the canonical payload; two captures of one identity are equal if and only if these bytes are."""
    # Put together by hand from what is canonical already: the encoder of Python would take most of a capture's time.
    content, source_id = canonical_texts(request.content), canonical_texts(request.source_id)
    text = (
        f'{{"content":{content},"materialization":"{MATERIALIZATION}","metadata":{request.metadata_json},'
        f'"source_id":{source_id},"source_type":"{SOURCE_TYPE}"}}'
    )
    data = text.encode("utf-8")
    return Payload(data=data, sha256=hashlib.sha256(data).hexdigest())
