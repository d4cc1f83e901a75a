"""Shapes of phones: what apps, pages and sockets are sent."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import segno
from rest_framework import serializers

from apps.accounts.queries import memberships_of
from apps.confirmations.models import Confirmation
from apps.devices.models import Device
from apps.devices.rules import id_field

STATUS_OF_STATE = {"executed": "success", "denied": "denied"}
FAILED_CODE = "calendar_failed"


def device_body(row: Device) -> dict[str, Any]:
    """Return a phone as its person sees it."""
    return {
        "id": row.pk,
        "device_id": row.device_id,
        "name": row.name,
        "brand": row.brand,
        "model": row.model,
        "connection_type": row.connection_type,
        "paired_at_ms": row.paired_at_ms,
        "token_expires_at_ms": row.token.expires_at_ms,
        "last_used_ms": row.token.last_used_ms,
    }


def login_body(row: Device, secret: str) -> dict[str, Any]:
    """Return what an app gets at its login; the token is told here and nowhere else."""
    return {
        "token": secret,
        "userId": str(row.user_id),
        "profiles": [member.profile.name for member in memberships_of(user_id=row.user_id)],
        "theme": "system",
        "appConnection": {
            "id": row.pk,
            "device_code": row.device_code,
            "device_name": row.name,
            "device_brand": row.brand,
            "device_model": row.model,
            "connection_type": row.connection_type,
            "token_expires_at": row.token.expires_at_ms,
        },
    }


def pairing_body(*, server_url: str, machine_id: str, code: str, expires_at_ms: int) -> dict[str, Any]:
    """Return a pairing code with the QR code that an app scans."""
    facts = {
        "server_url": server_url,
        "machine_id": machine_id,
        "authorization_code": code,
        "expires_at_ms": expires_at_ms,
    }
    return {**facts, "qr_svg": qr_svg(json.dumps(facts, separators=(",", ":")))}


def qr_svg(text: str) -> str:
    """Return a QR code as an SVG element for a page: black on white, in any theme, with its quiet zone."""
    file = io.BytesIO()
    code = segno.make_qr(text, error="m")
    code.save(file, kind="svg", xmldecl=False, svgns=True, omitsize=True, light="#fff", svgclass="qr", lineclass=None)
    return file.getvalue().decode()


def requested_frame(row: Confirmation, *, device_code: str, user_id: int) -> dict[str, Any]:
    """Return `calendar.requested` or `reminder.requested` for an open request."""
    request: dict[str, Any] = json.loads(row.arguments)["request"]
    capability = request["capability"]
    return {
        "event": f"{capability}.requested",
        id_field(capability): row.pk,
        **request,
        **target_members(row, device_code=device_code, user_id=user_id),
        "timeout_ms": row.deadline_ms - row.created_at_ms,
        "expires_at_ms": row.deadline_ms,
        "session_id": json.loads(row.ids)["session"],
    }


def resolved_frame(row: Confirmation, *, device_code: str, user_id: int) -> dict[str, Any]:
    """Return `*.resolved` for a request that ended; the data itself is not repeated."""
    capability = json.loads(row.arguments)["request"]["capability"]
    status = STATUS_OF_STATE.get(row.state, "error")
    frame = {
        "event": f"{capability}.resolved",
        id_field(capability): row.pk,
        "session_id": json.loads(row.ids)["session"],
        **target_members(row, device_code=device_code, user_id=user_id),
        "status": status,
        "resolved": True,
    }
    if status == "error":
        frame["error"] = {"code": row.code if row.state == "failed" and row.code else FAILED_CODE}
    return frame


def target_members(row: Confirmation, *, device_code: str, user_id: int) -> dict[str, Any]:
    """Return the members by which a phone knows that it is meant."""
    return {"target_device_id": device_code, "target_user_id": str(user_id), "target_profile": row.profile.name}


def refused_frame(payload: Mapping[str, Any], *, capability: str, error: str, stale: bool = False) -> dict[str, Any]:
    """Return `*.resolved` for an answer that does not count; the request itself is not touched."""
    name = id_field(capability)
    frame = {
        "event": f"{capability}.resolved",
        "session_id": payload.get("session_id"),
        name: payload.get(name),
        "resolved": False,
        "error": error,
    }
    return {**frame, "stale": True} if stale else frame


class LoginSerializer(serializers.Serializer[Any]):
    """What an app sends to become a device; camelCase spellings are accepted."""

    authorization_code = serializers.CharField(required=False)
    username = serializers.CharField(required=False)
    password = serializers.CharField(required=False)
    device_code = serializers.CharField(max_length=255)
    device_name = serializers.CharField(max_length=80)
    device_brand = serializers.CharField(required=False, max_length=80)
    device_model = serializers.CharField(required=False, max_length=120)
