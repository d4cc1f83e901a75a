"""Sockets of the gate."""

from django.urls import path

from apps.confirmations.consumers import ConfirmationConsumer

websocket_urlpatterns = [path("ws/confirmations/", ConfirmationConsumer.as_asgi())]
