"""The shape of a log's events, pages and answers."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import Any

import orjson
from rest_framework import serializers

from apps.core.errors import InvalidField, SaysoError
from apps.core.strict_json import MalformedJson
from apps.sessions.rules.plain_json import Event, ascii_json, is_count, parse_json

EVENTS_AT_ONCE = 1000


def whole_json(value: Any) -> orjson.Fragment:
    """Return a value of a log for an answer: its texts may be none that any encoding keeps."""
    return orjson.Fragment(ascii_json(value))


def log_body(body: bytes) -> dict[str, Any]:
    """Return a request's JSON object, whatever its texts hold; an empty body counts as `{}`."""
    try:
        value = parse_json(body) if body.strip() else {}
    except ValueError as error:
        _check_numbers(body)
        shown = str(error)[:200].encode("ascii", "backslashreplace").decode()
        raise MalformedJson(f"The body is not valid JSON: {shown}.") from None
    if not isinstance(value, dict):
        raise InvalidField("body", "must be a JSON object")
    return value


def _check_numbers(body: bytes) -> None:
    """Raise `InvalidField` naming the member whose number has no value, if that is what is wrong with a text."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        for name, value in pairs:
            for number in value if isinstance(value, list) else [value]:
                if isinstance(number, float) and not math.isfinite(number):
                    shown = name[:60].encode("ascii", "backslashreplace").decode()
                    raise InvalidField(shown, "must be a finite number")
        return dict(pairs)

    with suppress(ValueError, RecursionError):
        json.loads(body, object_pairs_hook=members, parse_int=float)


def appended_events(body: dict[str, Any]) -> tuple[int, list[Event]]:
    """Return the number that the first event is to have, and the events."""
    name = "expected_seq" if "expected_seq" in body else "expectedSeq"
    expected, events = body.get(name), body.get("events")
    if not is_count(expected):
        raise InvalidField(name, f"{name} must be the number that the first event is to have")
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        raise InvalidField("events", "events must be a list of events")
    if len(events) > EVENTS_AT_ONCE:
        raise InvalidField("events", f"events must be at most {EVENTS_AT_ONCE} at once")
    return expected, events


def refusal_facts(error: SaysoError) -> dict[str, Any]:
    """Return the members of an error's answer; events among them keep texts that no encoding keeps."""
    facts = dict(error.extra)
    if "events" in facts:
        facts["events"] = [whole_json(event) for event in facts["events"]]
    return facts


class EventSerializer(serializers.Serializer[Any]):
    """One event of a log."""

    type = serializers.CharField()
    seq = serializers.IntegerField(min_value=0)
    time = serializers.IntegerField(help_text="Unix milliseconds")
    # A base class attribute of that name is a property.
    data = serializers.JSONField()  # type: ignore[assignment]
    ignorable = serializers.BooleanField(required=False)
    surfaceOp = serializers.JSONField(required=False)  # noqa: N815 (the format's name)
    sourceEventSeqs = serializers.ListField(child=serializers.IntegerField(), required=False)  # noqa: N815


class EventsSerializer(serializers.Serializer[Any]):
    """A page of a log."""

    events = EventSerializer(many=True)
    next_seq = serializers.IntegerField(help_text="the number of the next event of the log")
    more = serializers.BooleanField(help_text="whether the log goes on after this page")


class AppendSerializer(serializers.Serializer[Any]):
    """Events to append, all or none."""

    expectedSeq = serializers.IntegerField(min_value=0, help_text="also `expected_seq`")  # noqa: N815
    events = EventSerializer(many=True)


class AppendedSerializer(serializers.Serializer[Any]):
    """What an append wrote; `repeated` says that it was written before."""

    first = serializers.IntegerField()
    next_seq = serializers.IntegerField()
    repeated = serializers.BooleanField()


class StaleSerializer(serializers.Serializer[Any]):
    """A stale append, with events that it missed."""

    code = serializers.CharField()
    detail = serializers.CharField()
    next_seq = serializers.IntegerField()
    events = EventSerializer(many=True)


class SurfaceSerializer(serializers.Serializer[Any]):
    """What the model sees."""

    nodes = serializers.ListField(child=serializers.IntegerField())
    messages = serializers.ListField(child=serializers.DictField())
    next_seq = serializers.IntegerField()
    replaces = serializers.IntegerField(help_text="how often a part of the surface was replaced")
    more = serializers.BooleanField(help_text="whether the surface goes on; `after` its last node")
