"""JSON from outside: only what both databases can keep."""

from __future__ import annotations

import json
import math
from typing import Any

from apps.core.errors import InvalidField, SaysoError
from apps.core.text import storable


class MalformedJson(SaysoError):
    """The body is not valid JSON."""

    code = "invalid"


def strict_json(body: bytes) -> Any:
    """Return the value of a JSON body, `{}` for an empty one.

    Raises `MalformedJson`, and `InvalidField` naming the innermost named member whose text or number cannot be kept:
    no NaN or infinity, no lone surrogate, no NUL.
    """
    if not body:
        return {}
    try:
        value = _loaded(body.decode("utf-8"))
    except RecursionError:
        raise MalformedJson("The body is nested too deeply.") from None
    except ValueError as error:
        raise MalformedJson(f"The body is not valid JSON: {str(error)[:200]}.") from None
    check_storable(value, name="body")
    return value


# Made once: json.loads with options of its own makes a decoder for every call.
_decoder = json.JSONDecoder(parse_constant=float)


def _loaded(text: str) -> Any:
    """Return the value of a text; what has no value as a number is infinite, to be refused under its member's name."""
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        # More digits than Python makes a whole number of.
        return json.loads(text, parse_constant=float, parse_int=float)


def check_storable(value: Any, *, name: str) -> None:
    """Raise `InvalidField` naming the innermost named member whose text or number cannot be kept."""
    stack: list[tuple[str, Any]] = [(name, value)]
    while stack:
        where, found = stack.pop()
        if isinstance(found, str):
            if not storable(found):
                raise InvalidField(where, "holds a character that cannot be stored")
        elif isinstance(found, bool) or found is None:
            continue
        elif isinstance(found, int | float):
            if not is_finite(found):
                raise InvalidField(where, "must be a finite number")
        elif isinstance(found, dict):
            for key, member in found.items():
                if not storable(key):
                    raise InvalidField(where, "holds a name that cannot be stored")
                stack.append((key[:60], member))
        elif isinstance(found, list):
            stack.extend((where, member) for member in found)


def is_finite(number: float) -> bool:
    """Tell whether a number has a value; whole digits beyond the largest one are infinite, as 1e999 is."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False
