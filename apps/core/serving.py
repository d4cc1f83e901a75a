"""Serving: Daphne around Django in one lane, with limits, a deep backlog and an orderly stop."""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import re
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from autobahn.exception import Disconnected
from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.server import Server
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.urls import Resolver404, set_script_prefix
from twisted.internet.tcp import Connection as TcpConnection

from apps.core.responses import API_PATHS, page_answer
from apps.core.sockets import CLOSE_COME_AGAIN, SEND_NOW
from apps.core.threads import lane
from apps.core.waiting import ON_GONE, Answer, hub

log = logging.getLogger("sayso.serving")

# Requests of these (method, path) pairs may share one commit with their neighbours; see `threads`. A path may be as a
# whole what a pattern among `grouped_patterns` says.
grouped_requests: set[tuple[str, str]] = set()
grouped_patterns: list[tuple[str, re.Pattern[str]]] = []

STOP_PATIENCE_S = 10.0
RESOLVED_KEPT = 256


def is_grouped(method: str, path: str) -> bool:
    """Tell whether a request may share one commit with its neighbours."""
    return (method, path) in grouped_requests or any(
        method == one and pattern.fullmatch(path) for one, pattern in grouped_patterns
    )


class LaneHandler(BaseHandler):
    """Django's request handling, run whole in the lane: one hop per request."""

    def __init__(self) -> None:
        """Load the middleware once, all of it synchronous."""
        super().__init__()
        self.resolved: dict[str, Any] = {}
        self.load_middleware(is_async=False)

    def resolve_request(self, request: Any) -> Any:
        """Resolve the path; one without parameters is remembered: trying every room costs more than the view."""
        found = self.resolved.get(request.path_info)
        if found is None:
            found = super().resolve_request(request)
            if not found.kwargs and not found.args and len(self.resolved) < RESOLVED_KEPT:
                self.resolved[request.path_info] = found
        request.resolver_match = found
        return found

    async def respond(self, scope: dict[str, Any], body: bytes) -> Answer:
        """Answer one request; the result may name what to wait for."""
        grouped = is_grouped(scope["method"], scope["path"])
        return await lane.run(partial(self.answer, scope, body), grouped=grouped)  # type: ignore[no-any-return]

    def answer(self, scope: dict[str, Any], body: bytes) -> Answer:
        """Run middleware and view in this thread; a view of the API is called at once."""
        if scope.get("root_path"):
            # Otherwise it is what it always was.
            set_script_prefix(get_script_prefix(scope))
        request = ASGIRequest(scope, io.BytesIO(body))
        match = self.api_match(request)
        if match is not None:
            return match.func.view_class.answered(request, match)  # type: ignore[no-any-return]
        response = self.get_response(request)
        try:
            return page_answer(response)
        finally:
            # Not response.close(): its `request_finished` would close the connection in the middle of a group.
            for close in response._resource_closers:  # type: ignore[attr-defined]
                close()

    def api_match(self, request: Any) -> Any:
        """Return where an address of the API leads, if a view of ours is there; pages need their middleware."""
        path = request.path_info
        if not path.startswith(API_PATHS) or "\x00" in path or b"%00" in request.scope["query_string"]:
            return None
        try:
            found = self.resolve_request(request)
        except Resolver404:
            return None
        return found if hasattr(getattr(found.func, "view_class", None), "answered") else None


class LimitedRequest(WebRequest):
    """A request whose body is refused beyond the limit before it is stored."""

    refused = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        """Leave the body alone: Django reads it; Twisted would parse forms and uploads once more before it."""
        super().__init__(*arguments, **{**options, "parsePOSTFormSubmission": False})

    def gotLength(self, length: int | None) -> None:  # noqa: N802 (Twisted's name)
        """Refuse by the announced length, before the first byte of the body."""
        self.counted = 0
        super().gotLength(length)
        if length is not None and length > settings.SAYSO_MAX_BODY_BYTES:
            self.refuse()

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 (Twisted's name)
        """Refuse a body that announced no length as soon as it passes the limit."""
        self.counted += len(data)
        if self.counted > settings.SAYSO_MAX_BODY_BYTES:
            self.refuse()
        if not self.refused:
            super().handleContentChunk(data)

    def refuse(self) -> None:
        """Answer 413 once and close the connection."""
        if self.refused or self.channel is None:
            return
        self.refused = True
        body = b'{"code":"too_large","detail":"The request body is larger than this server accepts."}'
        self.channel.transport.write(
            b"HTTP/1.1 413 Content Too Large\r\nContent-Type: application/json\r\nConnection: close\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        self.channel.loseConnection()

    def finish(self) -> None:
        """End the answer, and let it go at once: a person's pages are told in this same turn of the loop, after it."""
        transport = getattr(self.channel, "transport", None)
        super().finish()
        # A connection that is being closed is left to the reactor, which has to see how that ends.
        if isinstance(transport, TcpConnection) and not transport.disconnecting and not transport.TLS:
            transport.doWrite()  # type: ignore[no-untyped-call]

    def process(self) -> Any:
        """Hand a complete request to the application, unless it was refused."""
        return None if self.refused else super().process()


class Factory(HTTPFactory):
    """Builds connections whose requests are limited."""

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802 (Twisted's name)
        """Return a protocol for one connection."""
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = LimitedRequest
        return protocol


class SaysoServer(Server):
    """Daphne's server without work that grows with the number of idle connections, and with an orderly stop."""

    def application_checker(self) -> None:
        """Do nothing: finished applications are reaped when they finish."""

    def timeout_checker(self) -> None:
        """Check socket pings only; held HTTP requests have their own deadlines."""
        from twisted.internet import reactor

        for protocol in self.socket_protocols():
            protocol.check_timeouts()
        reactor.callLater(5, self.timeout_checker)  # type: ignore[attr-defined, arg-type, unused-ignore]

    def socket_protocols(self) -> list[Any]:
        """Return the open WebSocket connections."""
        return list(self.sockets)

    def run(self) -> None:
        """Serve until a signal."""
        self.sockets: set[Any] = set()
        super().run()

    def protocol_connected(self, protocol: Any) -> None:
        """Keep account of a connection."""
        super().protocol_connected(protocol)
        if not isinstance(protocol, WebRequest):
            self.sockets.add(protocol)

    def protocol_disconnected(self, protocol: Any) -> None:
        """Forget a connection as soon as its application ended too."""
        self.sockets.discard(protocol)
        details = self.connections.get(protocol)
        if details is None:
            return
        details.setdefault("disconnected", time.time())
        gone = details.pop("gone", None)
        if gone is not None:
            gone()
        task = details.get("application_instance")
        if task is None or task.done():
            del self.connections[protocol]
        else:
            loop = asyncio.get_event_loop()
            details["reaper"] = loop.call_later(self.application_close_timeout, self.cut, protocol)

    def cut(self, protocol: Any) -> None:
        """End an application that outlives its connection by too long."""
        task = self.connections.get(protocol, {}).get("application_instance")
        if task is not None and not task.done():
            task.cancel()

    def send_now(self, protocol: Any, text: str) -> None:
        """Send a text over an open socket; one that is closed, or about to be, takes nothing."""
        details = self.connections.get(protocol)
        if details is not None and "disconnected" not in details:
            with contextlib.suppress(Disconnected):
                protocol.serverSend(text)

    def on_gone(self, protocol: Any, call: Callable[[], object] | None) -> None:
        """Call this once the connection is gone, at once if it is already; None: nothing any more."""
        details = self.connections.get(protocol)
        if details is not None and "disconnected" not in details:
            details["gone"] = call
        elif call is not None:
            call()

    def create_application(self, protocol: Any, scope: dict[str, Any]) -> Any:
        """Start an application and reap it when it ends."""
        if scope["type"] == "websocket":
            scope[SEND_NOW] = partial(self.send_now, protocol)
        else:
            scope[ON_GONE] = partial(self.on_gone, protocol)
        queue = super().create_application(protocol, scope)
        details = self.connections.get(protocol)
        if queue is not None and details is not None:
            details["application_instance"].add_done_callback(partial(self.reap, protocol))
        return queue

    def reap(self, protocol: Any, task: asyncio.Task[Any]) -> None:
        """Log how an application ended and forget its connection when that is gone too."""
        details = self.connections.get(protocol)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("an application failed", exc_info=error)
            if details is not None and "disconnected" not in details:
                protocol.handle_exception(error)
        if details is None:
            return
        if "reaper" in details:
            details["reaper"].cancel()
        if "disconnected" in details:
            self.connections.pop(protocol, None)

    def kill_all_applications(self) -> Any:
        """Answer everybody who waits, then end what is left."""
        from twisted.internet import defer

        return defer.Deferred.fromFuture(asyncio.ensure_future(self.stop_in_order()))

    async def stop_in_order(self) -> None:
        """Answer waiters 503, close sockets, let running requests end, then cancel the rest."""
        for port in [listener.result for listener in self.listeners if hasattr(listener, "result")]:
            if hasattr(port, "stopListening"):
                port.stopListening()
        hub.stop()
        for protocol in list(self.sockets):
            protocol.handle_reply({"type": "websocket.close", "code": CLOSE_COME_AGAIN})
        running = [d["application_instance"] for d in self.connections.values() if "application_instance" in d]
        if running:
            _, late = await asyncio.wait(running, timeout=STOP_PATIENCE_S)
            for task in late:
                task.cancel()
        # One turn of the loop, so that the last bytes leave the buffers before the reactor stops.
        await asyncio.sleep(0.05)


def build_server(*, application: Any, host: str, port: int, ready: Callable[[], None]) -> SaysoServer:
    """Return a server for one address; `ready` runs on the loop just before the reactor does."""
    interface = host.strip("[]").replace(":", r"\:")
    behind_proxy = settings.SAYSO_TRUSTED_PROXY
    server = SaysoServer(
        application,
        endpoints=[f"tcp:port={port}:interface={interface}:backlog=4096"],
        signal_handlers=True,
        http_timeout=None,
        request_buffer_size=settings.SAYSO_MAX_BODY_BYTES + 1,
        proxy_forwarded_address_header="X-Forwarded-For" if behind_proxy else None,
        proxy_forwarded_port_header="X-Forwarded-Port" if behind_proxy else None,
        proxy_forwarded_proto_header="X-Forwarded-Proto" if behind_proxy else None,
        server_name="",
        ready_callable=ready,
        verbosity=1,
    )
    return server


def _uncoloured(value: Any, *_: Any, **__: Any) -> Any:
    return value


def use_factory() -> None:
    """Make Daphne build its connections with our factory, and Twisted know the statuses that it has no words for."""
    import autobahn.twisted.websocket
    import autobahn.websocket.protocol
    import daphne.server
    from twisted.web.http import RESPONSES

    daphne.server.HTTPFactory = Factory
    # For every frame it colours words of a debug line that nobody sees.
    for module in (autobahn.twisted.websocket, autobahn.websocket.protocol):
        vars(module).update(hltype=_uncoloured, hlval=_uncoloured)
    for status in HTTPStatus:
        RESPONSES.setdefault(int(status), status.phrase.encode())
