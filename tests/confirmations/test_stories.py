"""The stories of the gate about pages, told of the tests' own contract: the gate by itself, without any room."""

import json

import pytest

from tests.conformance import gate_ops
from tests.conformance.gate.doors import doors_of
from tests.conftest import VECTORS


def told_of_workspaces(value):
    """Replace the door, the world's pages and what is expected of them."""
    if isinstance(value, list):
        return [told_of_workspaces(one) for one in value]
    if not isinstance(value, dict):
        return "test.erase" if value == "pages.delete" else value
    told = {("workspaces" if name == "pages" else name): told_of_workspaces(member) for name, member in value.items()}
    return {**told, "kind": "workspace"} if told.get("do") == "change_target" else told


def stories():
    path = VECTORS / "gate.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return [one for one in found if doors_of(one["input"]["steps"]) == {"pages.delete"}]


@pytest.mark.parametrize("story", [pytest.param(story, id=story["id"]) for story in stories()])
async def test_of_a_workspace(story, server):
    await gate_ops.story(server, told_of_workspaces(story))
