"""Sockets of phones."""

from django.urls import path

from apps.devices.consumers.socket import DeviceConsumer

websocket_urlpatterns = [path("ws/device/", DeviceConsumer.as_asgi())]
