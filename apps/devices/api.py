"""Phones over REST: a code to pair with, the app's login, the list and the end of a phone."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema

from apps.accounts.api import Anybody, HumanOnly, address_of
from apps.core.api import body_of
from apps.core.dispatch import ApiView
from apps.core.responses import Response
from apps.core.values import now_ms, sha256_hex
from apps.devices import actions, queries
from apps.devices.rules import check_login
from apps.devices.serializers import LoginSerializer, device_body, login_body, pairing_body


class PairingCodeMaking(ApiView):
    """The code that pairs a phone with the person who shows it."""

    permission_classes = [HumanOnly]

    @extend_schema(operation_id="devices_pairing_code", request=None, responses={201: dict})
    def post(self, request: Any) -> Response:
        """Make a code, good once and for five minutes, with a QR code for the app."""
        row, code = actions.create_pairing_code(by=request.user, now_ms=now_ms())
        server_url = settings.SAYSO_ORIGIN or request.build_absolute_uri("/").rstrip("/")
        body = pairing_body(server_url=server_url, machine_id=machine_id(), code=code, expires_at_ms=row.expires_at_ms)
        return Response(body, status=201)


def machine_id() -> str:
    """Return the id of this installation, which says nothing about its keys."""
    return sha256_hex(f"machine:{settings.SAYSO_KEYS.text('device_jwt')}")[:32]


class AppLogin(ApiView):
    """The door of the app: by the code that a person shows it, or by their name and password."""

    authentication_classes: list[Any] = []
    permission_classes = [Anybody]

    @extend_schema(operation_id="devices_login", request=LoginSerializer, responses={200: dict})
    def post(self, request: Any) -> Response:
        """Give the app a token of its own; the device's earlier token dies."""
        login = check_login(body_of(request))
        device, secret = actions.log_in_app(login=login, address=address_of(request), now_ms=now_ms())
        return Response(login_body(device, secret))


class DeviceList(ApiView):
    """The person's phones."""

    permission_classes = [HumanOnly]

    @extend_schema(operation_id="devices_list", responses={200: dict})
    def get(self, request: Any) -> Response:
        """List the phones that are paired, the latest first, and which of them is there."""
        caller = request.user
        rows = queries.devices_of(user_id=caller.user_id)
        online = {row.pk: queries.is_online(device_id=row.device_id, profile_id=caller.profile_id) for row in rows}
        return Response({"devices": [{**device_body(row), "online": online[row.pk]} for row in rows]})


class DeviceDetail(ApiView):
    """One of the person's phones."""

    permission_classes = [HumanOnly]

    @extend_schema(operation_id="devices_revoke", responses={200: dict})
    def delete(self, request: Any, device_id: str) -> Response:
        """End the phone's access at once."""
        row = actions.revoke_device(by=request.user, device_id=device_id, now_ms=now_ms())
        return Response({"id": row.pk, "revoked_at_ms": row.token.revoked_at_ms})
