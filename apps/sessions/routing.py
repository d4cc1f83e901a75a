"""Sockets of agent hosts."""

from django.urls import path

from apps.sessions.consumers.socket import AgentConsumer

websocket_urlpatterns = [path("ws/agent/", AgentConsumer.as_asgi())]
