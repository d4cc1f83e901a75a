"""How each endpoint is called so that it answers well; a room that comes adds a module of its name here."""

import importlib
import pkgutil
from collections.abc import Callable

from tests.endpoints.calls.base import Call, Things

CALLS: dict[str, list[Call]] = {}
"""By the operation's name in the schema; several calls where one does not reach every field."""

MAKERS: dict[str, Callable[[Things], str]] = {}
"""Makers of what a room's calls are about, by the name in `Things.known`."""

for _module in pkgutil.iter_modules(__path__):
    _found = importlib.import_module(f"{__name__}.{_module.name}")
    CALLS |= getattr(_found, "CALLS", {})
    MAKERS |= getattr(_found, "MAKERS", {})

__all__ = ["CALLS", "MAKERS", "Call", "Things"]
