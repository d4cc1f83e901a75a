"""Whatever stands in a field of an endpoint, the answer takes it or names it; the server never breaks.

The endpoints and their fields come from the served schema; an endpoint without a call in `calls/` fails here.
"""

import json
import re
from urllib.parse import unquote_to_bytes

import pytest
from django.db import transaction

from tests.endpoints.calls import CALLS
from tests.endpoints.reads import Reads
from tests.endpoints.schema import operations
from tests.endpoints.values import JSON_VALUES, TEXT_VALUES

REFUSED = {400, 422}
"""How a value is refused; captures have the second."""
EVERYWHERE = {"profile"}
"""What the authentication reads of any request."""
NOWHERE = {400, 404, 405}
"""What a path that leads nowhere may answer."""


@pytest.fixture
def api(things, db):
    return Api(things)


class Api:
    """Sends calls, each in a transaction of its own that is undone."""

    def __init__(self, things):
        self.things = things

    def send(self, operation, call, *, path=(), query="", body=None, form=None):
        """Send a call; `body` is JSON text, `query` and the members of `path` are escaped already."""
        address = operation.path
        for name, value in {**call.path(self.things), **dict(path)}.items():
            address = address.replace(f"{{{name}}}", str(value))
        client = self.things.clients[call.by]
        with transaction.atomic():
            if form is not None:
                answer = client.generic("POST", f"{address}?{query}", *multipart(form), headers={"prefer": "wait=0"})
            else:
                kind = "application/json" if body is not None else ""
                answer = client.generic(
                    operation.method, f"{address}?{query}", body or "", kind, headers={"prefer": "wait=0"}
                )
            transaction.set_rollback(True)
        return answer

    def plainly(self, operation, call, **query):
        members = {**call.query(self.things), **query}
        address = "&".join(f"{name}={value}" for name, value in members.items())
        if call.form is not None:
            return self.send(operation, call, query=address, form=call.form(self.things))
        return self.send(operation, call, query=address, body=self.json_of(operation, call))

    def json_of(self, operation, call, field="", value=""):
        """Return the JSON text of a call's body in which a field, which may be nested, has a value."""
        members = call.body(self.things)
        if not members and not field and not operation.body:
            return None
        if field:
            members = json.loads(json.dumps(members))
            *outer, last = field.split(".")
            place = members
            for name in outer:
                place = place.setdefault(name, {})
            place[last] = "@@"
        return json.dumps(members).replace('"@@"', value)


def multipart(form):
    """Return a form as it is sent, octet by octet, and its media type."""
    parts = []
    for name, value in form.items():
        about = '; filename="a.ics"' if name == "file" else ""
        head = f'--edge\r\nContent-Disposition: form-data; name="{name}"{about}\r\n\r\n'
        parts.append(head.encode() + (value if isinstance(value, bytes) else value.encode()) + b"\r\n")
    return b"".join([*parts, b"--edge--\r\n"]), "multipart/form-data; boundary=edge"


def snake(name):
    """Return the spelling with underscores of a name that is accepted in both."""
    return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", name)


def each_call():
    for name, operation in operations().items():
        for call in CALLS.get(name, ()):
            yield operation, call


def complaint(operation, call, field, answer):
    """Say what is wrong with an answer to a value of a field, or return None."""
    name = field.rpartition(".")[2]
    allowed = {status for missed, statuses in call.missing.items() if missed == name for status in statuses}
    if answer.status_code < 300 or answer.status_code in allowed:
        return None
    text = answer.content.decode(errors="replace")[:300]
    if answer.status_code in REFUSED and (name in text or any(each in text for each in call.sentences)):
        return None
    return f"{operation.name} {field}: {answer.status_code} {text}"


def test_every_endpoint_has_a_call():
    assert set(operations()) - set(CALLS) == set()
    assert set(CALLS) - set(operations()) == set()


def test_every_body_says_its_fields():
    assert [each.name for each in operations().values() if each.shapeless] == []


def test_every_call_is_good(api):
    wrong = []
    for operation, call in each_call():
        answer = api.plainly(operation, call)
        if answer.status_code != call.status:
            wrong.append((operation.name, answer.status_code, answer.content[:200]))
    assert wrong == []


def test_no_view_reads_what_the_schema_does_not_name(api, monkeypatch):
    reads = Reads(monkeypatch)
    unknown = []
    for operation, call in each_call():
        reads.clear()
        api.plainly(operation, call)
        known = {snake(field.partition(".")[0]) for field in (*operation.body, *operation.form)}
        if operation.method in ("POST", "PUT", "PATCH"):
            told = {snake(name) for name in reads.body} - known - EVERYWHERE
            unknown += [(operation.name, "body", name) for name in sorted(told)]
        names = reads.query - set(operation.query) - EVERYWHERE - (known if operation.form else set())
        unknown += [(operation.name, "query", name) for name in sorted(names)]
    assert sorted(set(unknown)) == []


@pytest.mark.parametrize("value", JSON_VALUES)
def test_a_member_of_a_body_may_hold(api, value):
    wrong = []
    for operation, call in each_call():
        for field in operation.body if call.form is None else ():
            body = api.json_of(operation, call, field, JSON_VALUES[value])
            wrong.append(complaint(operation, call, field, api.send(operation, call, body=body)))
    assert [each for each in wrong if each] == []


@pytest.mark.parametrize("value", TEXT_VALUES)
def test_a_parameter_of_a_query_may_hold(api, value):
    wrong = []
    for operation, call in each_call():
        for field in operation.query:
            answer = api.plainly(operation, call, **{field: TEXT_VALUES[value]})
            wrong.append(complaint(operation, call, field, answer))
    assert [each for each in wrong if each] == []


@pytest.mark.parametrize("value", TEXT_VALUES)
def test_a_member_of_a_form_may_hold(api, value):
    wrong = []
    for operation, call in each_call():
        for field in operation.form if call.form is not None else ():
            form = call.form(api.things) | {field: unquote_to_bytes(TEXT_VALUES[value])}
            wrong.append(complaint(operation, call, field, api.send(operation, call, form=form)))
    assert [each for each in wrong if each] == []


@pytest.mark.parametrize("value", TEXT_VALUES)
def test_an_id_in_a_path_may_be(api, value):
    wrong = []
    for operation, call in each_call():
        for name in operation.params:
            path = {name: TEXT_VALUES[value] or "%20"}
            answer = api.send(operation, call, path=path.items(), body=api.json_of(operation, call))
            if answer.status_code not in NOWHERE:
                wrong.append(complaint(operation, call, name, answer))
    assert [each for each in wrong if each] == []


@pytest.mark.parametrize("body", ["null", "true", "[]", '""', "1e309", "NaN", '"\\ud800"', "[" * 50_000, "{", "\xff"])
def test_a_whole_body_may_be(api, body):
    wrong = []
    for operation, call in each_call():
        if operation.body:
            answer = api.send(operation, call, body=body)
            if answer.status_code not in {200, 201, 202, *REFUSED}:
                wrong.append((operation.name, answer.status_code, answer.content[:200]))
    assert wrong == []
