"""The fields of every endpoint, as the served schema names them."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import spectacular_settings

METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One method of one path; `body` and `form` are field names, nested ones with a dot."""

    name: str
    method: str
    path: str
    params: tuple[str, ...]
    query: tuple[str, ...]
    body: tuple[str, ...]
    form: tuple[str, ...]
    shapeless: bool
    """A JSON body without a field that the schema names."""


@cache
def operations() -> dict[str, Operation]:
    """Return every operation of the schema by name."""
    spectacular_settings.apply_patches({"DISABLE_ERRORS_AND_WARNINGS": True})
    try:
        schema = SchemaGenerator().get_schema(request=None, public=True)
    finally:
        spectacular_settings.clear_patches()
    parts = schema["components"]["schemas"]
    found = (
        _operation(method, path, operation, parts)
        for path, item in schema["paths"].items()
        for method, operation in item.items()
        if method in METHODS
    )
    return {each.name: each for each in found}


def _operation(method: str, path: str, operation: dict[str, Any], parts: dict[str, Any]) -> Operation:
    places: dict[str, list[str]] = {"path": [], "query": [], "header": [], "cookie": []}
    for each in operation.get("parameters", ()):
        places[each["in"]].append(each["name"])
    content = operation.get("requestBody", {}).get("content", {})
    fields = {kind: tuple(_fields(content.get(kind, {}).get("schema", {}), parts)) for kind in content}
    json_kind = "application/json"
    return Operation(
        name=operation["operationId"],
        method=method.upper(),
        path=path,
        params=tuple(places["path"]),
        query=tuple(places["query"]),
        body=fields.get(json_kind, ()),
        form=fields.get("multipart/form-data", ()),
        shapeless=json_kind in content and not fields[json_kind],
    )


def _fields(shape: dict[str, Any], parts: dict[str, Any], prefix: str = "") -> list[str]:
    shape = _resolved(shape, parts)
    found = []
    for name, member in shape.get("properties", {}).items():
        if member.get("readOnly"):
            continue
        found.append(prefix + name)
        if prefix.count(".") < 3:
            found += _fields(member, parts, f"{prefix}{name}.")
    return found


def _resolved(shape: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in shape or "allOf" in shape:
        shape = parts[shape["$ref"].rpartition("/")[2]] if "$ref" in shape else shape["allOf"][0]
    return shape
