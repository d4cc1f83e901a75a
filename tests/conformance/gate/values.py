"""The values of the notation: placeholders, subsets, classes of statuses."""

import re
from collections.abc import Callable, Iterator
from typing import Any

PLACEHOLDER = re.compile(r"<([a-z]+:[^<>]+|[a-z]+\d+)>")
OF_ITEMS = ("event", "reminder", "series", "occurrence")


def placeholders(value: Any) -> Iterator[str]:
    """Give the names of all placeholders in a value, without their brackets."""
    if isinstance(value, str):
        yield from PLACEHOLDER.findall(value)
    elif isinstance(value, dict):
        for member in value.values():
            yield from placeholders(member)
    elif isinstance(value, list):
        for member in value:
            yield from placeholders(member)


def filled(value: Any, look_up: Callable[[str], Any]) -> Any:
    """Return the value with its placeholders replaced; one that is the whole text may stand for any JSON value."""
    if isinstance(value, str):
        whole = PLACEHOLDER.fullmatch(value)
        if whole:
            return look_up(whole[1])
        return PLACEHOLDER.sub(lambda match: str(look_up(match[1])), value)
    if isinstance(value, dict):
        return {name: filled(member, look_up) for name, member in value.items()}
    if isinstance(value, list):
        return [filled(member, look_up) for member in value]
    return value


def differences(expected: Any, got: Any, where: str = "") -> list[str]:
    """Say where a value is not what is expected: objects as subsets, lists and other values exactly."""
    if expected == "*":
        return [] if got is not None else [f"{where}: nothing there"]
    if expected == "<absent>":
        return [] if got is None else [f"{where}: {got!r} is there"]
    if isinstance(expected, dict) and isinstance(got, dict):
        return [
            line
            for name, member in expected.items()
            for line in differences(member, got.get(name), f"{where}.{name}" if where else name)
        ]
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        return [
            line
            for index, (one, other) in enumerate(zip(expected, got, strict=True))
            for line in differences(one, other, f"{where}[{index}]")
        ]
    same = type(expected) is type(got) or not (isinstance(expected, bool) or isinstance(got, bool))
    return [] if expected == got and same else [f"{where}: expected {expected!r}, got {got!r}"]


def status_fits(expected: Any, status: int) -> bool:
    """Tell whether a status is the expected one, or of the expected class."""
    if isinstance(expected, str):
        return f"{status // 100}xx" == expected
    return bool(expected == status)


def texts(value: Any) -> Iterator[str]:
    """Give every text in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from texts(member)


def find(value: Any, name: str) -> Any:
    """Return the first member of that name anywhere in a value, None without one."""
    if isinstance(value, dict):
        if value.get(name) is not None:
            return value[name]
        members: Any = value.values()
    else:
        members = value if isinstance(value, list) else ()
    return next((found for member in members if (found := find(member, name)) is not None), None)


def without(text: str, sent: list[str]) -> str:
    """Return a text with the ids that a caller sent cut out, the longest first."""
    for word in sorted(sent, key=len, reverse=True):
        text = text.replace(word, "")
    return text
