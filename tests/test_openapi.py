"""The schema names every endpoint, and says what each may answer."""

import os
import re

import pytest
from django.core.management import call_command
from django.urls import get_resolver
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.settings import spectacular_settings

METHODS = {"get", "post", "put", "patch", "delete"}
OWN = {"/api/schema/", "/api/docs/"}


def routes(patterns, prefix=""):
    """Yield every route of the project with the view behind it."""
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from routes(pattern.url_patterns, path)
        else:
            yield "/" + path, pattern.callback


@pytest.fixture(scope="module")
def schema():
    spectacular_settings.apply_patches({"DISABLE_ERRORS_AND_WARNINGS": True})
    try:
        return SchemaGenerator().get_schema(request=None, public=True)
    finally:
        spectacular_settings.clear_patches()


def test_every_endpoint_is_in_the_schema(schema):
    known = {path.replace("{", "<").replace("}", ">") for path in schema["paths"]}
    missing = []
    for path, view in routes(get_resolver().url_patterns):
        if path.startswith("/api/") and path not in OWN:
            plain = re.sub(r"<\w+:", "<", path)
            methods = {name for name in METHODS if hasattr(view.view_class, name)}
            operations = set(schema["paths"].get(plain.replace("<", "{").replace(">", "}"), {}))
            if plain not in known or not methods <= operations:
                missing.append((path, sorted(methods - operations)))
    assert missing == []


def test_the_schema_is_made_without_a_warning():
    # Two shapes of one name, or a view without one, would go out as something else than what is answered.
    call_command("spectacular", file=os.devnull, fail_on_warn=True)


def test_every_operation_has_its_own_name(schema):
    names = [
        operation["operationId"]
        for item in schema["paths"].values()
        for method, operation in item.items()
        if method in METHODS
    ]
    assert len(names) == len(set(names))


def test_every_operation_says_what_it_answers(schema):
    silent = [
        (path, method)
        for path, item in schema["paths"].items()
        for method, operation in item.items()
        if method in METHODS and not operation["responses"]
    ]
    assert silent == []
