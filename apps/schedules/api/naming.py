"""How the endpoints of this room name what was wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from apps.core.api import body_of
from apps.core.responses import Response
from apps.schedules.rules.errors import ScheduleInputError
from apps.schedules.rules.timing import SELECTORS

Handler = Callable[..., Response]


def naming(handler: Handler) -> Handler:
    """Let a handler's input errors name the member that they are about."""

    @wraps(handler)
    def named(view: Any, request: Any, *args: Any, **kwargs: Any) -> Response:
        try:
            return handler(view, request, *args, **kwargs)
        except ScheduleInputError as error:
            if "field" not in error.extra:
                error.extra["field"] = _field(error, body_of(request))
            raise

    return named


def _field(error: ScheduleInputError, body: Mapping[str, Any]) -> str:
    if error.own_code == "invalid_prompt":
        return "title" if "title" in error.message else "prompt"
    given = [name for name in (*SELECTORS, "change") if name in body]
    return given[0] if given else "body"
