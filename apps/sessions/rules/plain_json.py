"""JSON as a log may hold it: lossless, measured in UTF-16 units, compared exactly."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any, TypeAlias, TypeGuard

Event: TypeAlias = dict[str, Any]

SAFE_INTEGER = 2**53 - 1
DEPTH = 256
"""How deep arrays and objects may lie in each other."""

_TEXT = frozenset({str})
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def is_safe_integer(value: object) -> TypeGuard[int]:
    """Tell whether a value is an integer that every JSON reader keeps."""
    return type(value) is int and -SAFE_INTEGER <= value <= SAFE_INTEGER


def is_count(value: object) -> TypeGuard[int]:
    """Tell whether a value is a safe integer of at least 0, and no boolean."""
    return type(value) is int and 0 <= value <= SAFE_INTEGER


def is_text(value: object) -> TypeGuard[str]:
    """Tell whether a value is a text that is not empty."""
    return isinstance(value, str) and value != ""


def members(value: object) -> dict[str, Any]:
    """Return an object's members; anything else has none."""
    return value if isinstance(value, dict) else {}


def loss_in(value: Any) -> str:
    """Return what keeps a value from being JSON without loss, or an empty text.

    Cycles show as too much depth; a whole number counts when a double holds it exactly.
    """
    level: list[Iterable[Any]] = [(value,)]
    for _ in range(DEPTH):
        deeper: list[Iterable[Any]] = []
        for values in level:
            for one in values:
                kind = type(one)
                if kind is str:
                    continue
                if kind is dict:
                    if not _TEXT.issuperset(map(type, one)):
                        return "a key that is no text"
                    deeper.append(one.values())
                elif kind is list:
                    deeper.append(one)
                elif kind is not bool and one is not None and (problem := _number_loss(one)):
                    return problem
        if not deeper:
            return ""
        level = deeper
    return "too much depth, or a cycle"


def _number_loss(value: Any) -> str:
    if type(value) is int:
        return "" if -SAFE_INTEGER <= value <= SAFE_INTEGER or _fits_double(value) else "a number too large to keep"
    if type(value) is not float:
        return f"a value of the kind {type(value).__name__}"
    if not math.isfinite(value):
        return "a number that is not finite"
    return "negative zero" if value == 0 and math.copysign(1, value) < 0 else ""


def _fits_double(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def compact(value: Any) -> str:
    """Return JSON without blanks, characters beyond ASCII left as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


# Made once: json.dumps with options of its own makes an encoder for every call.
_ascii = json.JSONEncoder(separators=(",", ":"), allow_nan=False)


def ascii_json(value: Any) -> str:
    """Return JSON without blanks in ASCII alone: any database keeps it, whatever the texts hold."""
    return _ascii.encode(value)


def utf16_length(text: str) -> int:
    """Return how many UTF-16 units a text has."""
    return len(text) + sum(character > "\uffff" for character in text) if not text.isascii() else len(text)


def json_length(value: Any) -> int:
    """Return the UTF-16 length of a value's compact JSON; a lone surrogate is written as an escape of six."""
    text = compact(value)
    return utf16_length(text) + (0 if text.isascii() else 5 * len(_LONE_SURROGATE.findall(text)))


def same_json(one: Any, *, other: Any) -> bool:
    """Tell whether two values are the same JSON, `true` and `1` being two things."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def parse_json(text: str | bytes) -> Any:
    """Return the value of a JSON text that any reader keeps without loss; raises ValueError for everything else."""
    try:
        value = json.loads(text, parse_constant=_no_constant)
        return json.loads(text, parse_int=_whole, parse_constant=_no_constant) if _may_lose(text) else value
    except RecursionError:
        raise ValueError("too much depth") from None


def _may_lose(text: str | bytes) -> bool:
    """Minus zero would be read as plain zero."""
    return b"-0" in text if isinstance(text, bytes) else "-0" in text


def _whole(digits: str) -> int | float:
    return -0.0 if digits == "-0" else int(digits)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
