"""Normalizing a device's answer (contracts/calendars.md section 7, ruling 7); None ends the request as invalid."""

from __future__ import annotations

from typing import Any

from apps.calendars.rules.mobile_values import as_number, as_text, clean_text, trim, truthy

KNOWN_CODES = frozenset(
    {
        "calendar_permission_denied",
        "calendar_unavailable",
        "calendar_item_not_found",
        "calendar_invalid_request",
        "calendar_failed",
    }
)
ITEMS_MAX = 100
_TEXTS = (("id", 1000), ("title", 1000), ("notes", 4000), ("location", 1000))
_NUMBERS = ("startMs", "endMs", "dueMs", "priority", "reminderMinutes")
_BOOLEANS = ("allDay", "completed")


def normalize_response(answer: Any, *, request: dict[str, Any]) -> dict[str, Any] | None:
    """Return the clean outcome of a device's answer to a normalized request, or None."""
    if not isinstance(answer, dict):
        return None
    status = trim(as_text(answer.get("status")))
    if status == "denied":
        return {"status": "denied"}
    if status == "error":
        return {"status": "error", "error": {"code": known_code(answer.get("error"))}}
    result = answer.get("result")
    if status != "success" or not isinstance(result, dict):
        return None
    for name in ("capability", "action"):
        given = result.get(name)
        if truthy(given) and given != request[name]:
            return None
    clean = _deleted(result, request) if request["action"] == "delete" else _result(result, request)
    return None if clean is None else {"status": "success", "result": clean}


def known_code(error: Any) -> str:
    """Return a device's error code if it is known, else the general one."""
    code = as_text(error.get("code")) if isinstance(error, dict) else ""
    return code if code in KNOWN_CODES else "calendar_failed"


def _deleted(result: dict[str, Any], request: dict[str, Any]) -> dict[str, Any] | None:
    item, asked = result.get("item"), request["item"]["id"]
    if not isinstance(item, dict) or item.get("id") != asked or item.get("deleted") is not True:
        return None
    return {"capability": request["capability"], "action": "delete", "item": {"id": asked, "deleted": True}}


def _result(result: dict[str, Any], request: dict[str, Any]) -> dict[str, Any] | None:
    clean: dict[str, Any] = {"capability": request["capability"], "action": request["action"]}
    items, item = result.get("items"), result.get("item")
    if isinstance(items, list):
        clean["items"] = [allowed(entry) for entry in items[:ITEMS_MAX] if isinstance(entry, dict)]
    if isinstance(item, dict):
        clean["item"] = allowed(item)
    if request["action"] in ("update", "complete") and clean.get("item", {}).get("id") != request["item"]["id"]:
        return None
    return clean


def allowed(item: dict[str, Any]) -> dict[str, Any]:
    """Return what of an item may pass, in camelCase; one list for both capabilities."""
    clean: dict[str, Any] = {}
    for name, units in _TEXTS:
        text = clean_text(item.get(name), units=units)
        if text:
            clean[name] = text
    for name in _NUMBERS:
        number = as_number(item[name]) if item.get(name) is not None else None
        if number is not None:
            clean[name] = number
    for name in _BOOLEANS:
        if isinstance(item.get(name), bool):
            clean[name] = item[name]
    return clean
