"""A host that is called learns of each message, or is called again until it does."""

import hashlib
import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django_tasks_db.models import DBTaskResult

from apps.schedules.actions import posting
from apps.schedules.actions.working import next_call_ms, run_calls, start_calls
from apps.schedules.models import Webhook, WebhookCall
from apps.schedules.rules.hooks import MOST_TRIES
from apps.sessions.actions.inbox import acknowledge
from apps.sessions.models import InboxMessage
from tests.schedules.house import HOUR_MS, NOW_MS, house


class Receiver(BaseHTTPRequestHandler):
    """Keeps what it is sent and answers as it is told."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, dict(self.headers), body))
        status = self.server.answers.pop(0) if self.server.answers else 204
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.server.heard.set()

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def receiver():
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    server.got, server.answers, server.heard = [], [], threading.Event()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def hooked(house, receiver, settings):
    """The house with a webhook at the receiver."""
    place = f"127.0.0.1:{receiver.server_port}"
    settings.SAYSO_WEBHOOK_PLACES = [place]
    house.hook = house.call("PUT", "/api/sessions/s1/webhook", {"url": f"http://{place}/hook?a=1"})
    return house


def due(house):
    """Deliver one message; the webhook has it to hear of."""
    house.add()
    house.at(NOW_MS + HOUR_MS)


def test_a_call_carries_the_message_and_proves_where_it_is_from(hooked, receiver):
    due(hooked)
    assert next_call_ms() == 0
    assert run_calls(now_ms=hooked.clock.ms) == 1
    ((path, headers, body),) = receiver.got
    assert path == "/hook?a=1"
    told = json.loads(body)
    (row,) = InboxMessage.objects.all()
    assert (told["event"], told["session_id"]) == ("inbox.message", "s1")
    assert told["message"]["id"] == row.pk
    assert told["message"]["payload"] == json.loads(row.payload)
    proof = f"{headers['Sayso-Timestamp']}.{headers['Sayso-Nonce']}.".encode() + body
    expected = hmac.new(hooked.hook["secret"].encode(), proof, hashlib.sha256).hexdigest()
    assert headers["Sayso-Signature"] == f"v1={expected}"
    assert int(headers["Sayso-Timestamp"]) == hooked.clock.ms // 1000
    assert WebhookCall.objects.get().state == "sent"
    assert next_call_ms() is None


def test_what_fails_is_called_again_with_back_off_and_another_nonce(hooked, receiver):
    receiver.answers[:] = [500, 302, 503]
    due(hooked)
    waits = []
    while WebhookCall.objects.get().state == "pending":
        run_calls(now_ms=hooked.clock.ms)
        following = next_call_ms()
        if following:
            waits.append((following - hooked.clock.ms) // 1000)
            assert run_calls(now_ms=following - 1) == 0
            hooked.clock.ms = following
    assert waits == [5, 10, 20] or [wait // 5 for wait in waits] == [1, 2, 4]
    assert len(receiver.got) == 4
    assert len({headers["Sayso-Nonce"] for _, headers, _ in receiver.got}) == 4
    assert len({body for _, _, body in receiver.got}) == 1
    shown = hooked.call("GET", "/api/sessions/s1/webhook")
    assert (shown["failures"], shown["problem"], shown["last_ok_ms"]) == (0, None, hooked.clock.ms)
    assert "secret" not in shown


def test_a_host_that_never_takes_it_is_given_up_and_shown(hooked, receiver):
    receiver.answers[:] = [500] * 100
    due(hooked)
    WebhookCall.objects.update(tries=MOST_TRIES - 1)
    run_calls(now_ms=hooked.clock.ms)
    call = WebhookCall.objects.get()
    assert (call.state, call.problem) == ("failed", "The host answered 500.")
    assert next_call_ms() is None
    assert hooked.call("GET", "/api/sessions/s1/webhook")["failures"] == 1


def test_what_the_host_has_taken_in_by_itself_is_not_sent(hooked, receiver):
    due(hooked)
    acknowledge(by=hooked.world.agent, ref="s1", key="1", now_ms=1)
    run_calls(now_ms=hooked.clock.ms)
    assert receiver.got == []
    assert WebhookCall.objects.get().state == "dropped"


def test_a_name_that_came_to_stand_for_a_private_address_is_not_called(hooked, receiver, settings, monkeypatch):
    hooked.call("PUT", "/api/sessions/s1/webhook", {"url": "https://agent.example.org/"})
    monkeypatch.setattr(posting, "addresses_of", lambda target: ["127.0.0.1"])
    due(hooked)
    run_calls(now_ms=hooked.clock.ms)
    assert receiver.got == []
    assert "ForbiddenTarget" in WebhookCall.objects.get().problem


def test_switched_off_it_is_silent_and_a_new_address_has_a_new_secret(hooked, receiver):
    hooked.call("PUT", "/api/sessions/s1/webhook", {"enabled": False})
    due(hooked)
    assert run_calls(now_ms=hooked.clock.ms) == 0
    assert WebhookCall.objects.count() == 0
    again = hooked.call("PUT", "/api/sessions/s1/webhook", {"url": hooked.hook["url"]})
    assert again["enabled"]
    assert again["secret"] != hooked.hook["secret"]
    assert Webhook.objects.count() == 1


def test_a_private_address_is_refused_at_once(house):
    for url in ("http://127.0.0.1:1/", "https://10.0.0.1/", "https://localhost/x", "http://agent.example.org/"):
        answer = house.call("PUT", "/api/sessions/s1/webhook", {"url": url}, status=400)
        assert answer["code"] == "forbidden_target"
    assert house.call("GET", "/api/sessions/s1/webhook", status=404)["code"] == "webhook_not_found"


def test_a_call_that_died_with_its_process_is_made_again(hooked, receiver):
    due(hooked)
    DBTaskResult.objects.update(status="RUNNING", started_at="2026-11-30T09:00:00Z")
    assert run_calls(now_ms=hooked.clock.ms) == 0
    lost = next_call_ms()
    assert lost == NOW_MS + HOUR_MS + 60_000


@pytest.mark.django_db(transaction=True)
def test_calls_are_made_in_threads_of_their_own(clock, receiver, settings):
    place = f"127.0.0.1:{receiver.server_port}"
    settings.SAYSO_WEBHOOK_PLACES = [place]
    here = house(clock)
    here.call("PUT", "/api/sessions/s1/webhook", {"url": f"http://{place}/hook"})
    due(here)
    start_calls(now_ms=here.clock.ms)
    assert receiver.heard.wait(30)
    for thread in threading.enumerate():
        if thread.name == "sayso-webhook":
            thread.join(30)
    assert WebhookCall.objects.get().state == "sent"
    assert next_call_ms() is None
