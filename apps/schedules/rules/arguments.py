"""The arguments of the agents' tools: their schemas, and the checks that answer with a code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.schedules.rules.errors import InvalidRule, InvalidSelector
from apps.schedules.rules.requests import read_prompt, read_title
from apps.schedules.rules.timing import SELECTORS, read_timing
from apps.schedules.rules.updates import CHANGES
from apps.schedules.rules.values import is_trimmed

Schema = Mapping[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}


def _closed(**properties: Schema) -> Schema:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_WHEN: dict[str, Schema] = {
    "after_seconds": _NUMBER,
    "every_seconds": _NUMBER,
    "at": {"anyOf": [_TEXT, _closed(date=_TEXT, time=_TEXT, time_zone=_TEXT)]},
    "daily": _closed(time=_TEXT, time_zone=_TEXT),
    "weekly": _closed(time=_TEXT, time_zone=_TEXT, weekdays={"type": "array", "items": {"type": "integer"}}),
    "cron": _closed(expression=_TEXT, time_zone=_TEXT),
}
_CHANGEABLE = {name: schema for name, schema in _WHEN.items() if name != "after_seconds"}
_KIND_OF = {selector: kind for kind, selector in CHANGES.items()}

SCHEMAS: dict[str, Schema] = {
    "schedule_create": {
        "type": "object",
        "properties": {"prompt": _TEXT, "title": _TEXT, **_WHEN},
        "required": ["prompt", "title"],
    },
    "schedule_list": {"type": "object", "properties": {}},
    "schedule_update": {
        "type": "object",
        "properties": {"id": _TEXT, "title": _TEXT, "prompt": _TEXT, **_CHANGEABLE},
        "required": ["id"],
    },
    "schedule_delete": {"type": "object", "properties": {"id": _TEXT}, "required": ["id"]},
}
"""By tool. Unknown members of the whole are let through, because they are answered with a code."""


def fits_schema(value: object, *, schema: Schema) -> bool:
    """Tell whether a JSON value has the shape of one of the schemas above."""
    if "anyOf" in schema:
        return any(fits_schema(value, schema=choice) for choice in schema["anyOf"])
    kind = schema["type"]
    if kind == "string":
        return isinstance(value, str)
    if kind in {"number", "integer"}:
        whole = kind == "number" or isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        return isinstance(value, int | float) and not isinstance(value, bool) and whole
    if kind == "array":
        return isinstance(value, list | tuple) and all(fits_schema(item, schema=schema["items"]) for item in value)
    properties: Mapping[str, Schema] = schema["properties"]
    return (
        isinstance(value, Mapping)
        and value.keys() >= set(schema.get("required", ()))
        and (schema.get("additionalProperties", True) or value.keys() <= properties.keys())
        and all(fits_schema(value[name], schema=inner) for name, inner in properties.items() if name in value)
    )


def check_create(arguments: Mapping[str, object]) -> None:
    """Check the arguments of schedule_create that fit its schema; raises the error of the first fault."""
    _check_known("schedule_create", arguments)
    if len([name for name in SELECTORS if name in arguments]) != 1:
        raise InvalidSelector
    read_prompt(arguments["prompt"])
    read_title(arguments["title"])
    for name in ("after_seconds", "every_seconds"):
        if name in arguments:
            read_timing(name, value=arguments[name])


def check_update(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return the edit that the arguments of schedule_update ask for, still without `expected`."""
    _check_known("schedule_update", arguments)
    selectors = [name for name in SELECTORS if name in arguments]
    if len(selectors) > 1:
        raise InvalidSelector("Change one timing at a time")
    read_id(arguments)
    request = {name: arguments[name] for name in ("title", "prompt") if name in arguments}
    if not selectors and not request:
        raise InvalidSelector("There is nothing to change")
    if "title" in request:
        read_title(request["title"])
    if "prompt" in request:
        read_prompt(request["prompt"])
    if "every_seconds" in arguments:
        read_timing("every_seconds", value=arguments["every_seconds"])
    for name in selectors:
        request["change"] = {"kind": _KIND_OF[name], name: arguments[name]}
    return request


def check_delete(arguments: Mapping[str, object]) -> str:
    """Return the id that schedule_delete names."""
    _check_known("schedule_delete", arguments)
    return read_id(arguments)


def read_id(arguments: Mapping[str, object]) -> str:
    """Return the id of a schedule; raises InvalidRule when it is blank or has white space around."""
    record_id = arguments.get("id")
    if not isinstance(record_id, str) or not is_trimmed(record_id):
        raise InvalidRule("id must be the id of a schedule", field="id")
    return record_id


def _check_known(tool: str, arguments: Mapping[str, object]) -> None:
    unknown = sorted(arguments.keys() - SCHEMAS[tool]["properties"].keys())
    if unknown:
        raise InvalidSelector(f"There is no argument {unknown[0]}", field=unknown[0])
