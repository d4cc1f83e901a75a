"""Workspaces in a story's world: the targets of the contracts of the tests."""

from typing import Any

from apps.accounts.models import Profile, Workspace

KINDS = ("workspace", "workspaces")


def make(world: dict[str, Any]) -> None:
    for one in world.get("workspaces", ()):
        Workspace.objects.create(profile=Profile.objects.get(name=one["profile"]), slug=one["id"])


def change(kind: str, name: str, fields: dict[str, Any]) -> None:
    """Change a workspace in a way that its digest covers."""
    Workspace.objects.filter(slug=name).update(restricted=True)


def rows(kind: str, wanted: dict[str, Any], world: dict[str, Any]) -> dict[str, Any]:
    return {name: "here" if Workspace.objects.filter(slug=name).exists() else "gone" for name in wanted}
