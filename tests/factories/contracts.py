"""Contracts for tests of the gate: erasing a workspace, inside the database and outside of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from apps.accounts.models import Workspace
from apps.core.contracts import Call, Contract, Preview, Words, register
from apps.core.errors import NotFound, SaysoError


class Locked(SaysoError):
    """The workspace is locked."""

    code = "workspace_locked"
    status = 409


def preview(*, call: Call, lock: bool = False) -> Preview:
    """Find the workspace of that slug."""
    rows = Workspace.objects.select_for_update() if lock else Workspace.objects
    row = rows.filter(profile_id=call.profile_id, slug=call.arguments["slug"]).first()
    if row is None:
        raise NotFound("There is no such workspace.")
    facts = {"title": row.slug, "goes": 1}
    return Preview(
        target_kind="workspace", target_id=row.pk, facts=facts, state=[row.slug, row.restricted], effect="erase"
    )


def recheck(*, call: Call, preview: Preview) -> None:
    """Refuse a workspace whose name begins with `locked`, as a rule outside the digest."""
    if Path(settings.SAYSO_DATA_DIR, f"lock-{call.arguments['slug']}").exists():
        raise Locked


def erase(*, call: Call, preview: Preview) -> Mapping[str, Any]:
    """Delete the workspace; one called `broken…` fails after it was deleted."""
    Workspace.objects.filter(pk=preview.target_id).delete()
    if call.arguments["slug"].startswith("broken"):
        raise Locked("It broke half way.")
    return {"slug": call.arguments["slug"], "deleted": True}


def call_out(*, call: Call, preview: Preview) -> Mapping[str, Any]:
    """Write a line in a file: an effect that no transaction takes back."""
    slug = call.arguments["slug"]
    if slug.startswith("broken"):
        raise Locked("The other side said no.")
    if slug.startswith("silent"):
        raise TimeoutError
    with outside().open("a") as file:
        file.write(f"{slug}\n")
    return {"slug": slug, "sent": True}


def outside() -> Path:
    """Return the file that `call_out` writes."""
    return Path(settings.SAYSO_DATA_DIR, "outside")


def words(facts: Mapping[str, Any], zone: Any) -> Words:
    """Say what goes."""
    return Words(
        question=f"Erase the workspace “{facts['title']}”?",
        consequence="It is erased.",
        confirm=f"Erase “{facts['title']}”",
        keep="Keep it",
        lines=(("Workspace", facts["title"]),),
    )


ERASE = Contract(
    name="accounts.erase_workspace",
    scope="page.delete",
    preview=preview,
    act=erase,
    words=words,
    example={"slug": "old"},
    recheck=recheck,
)
BY_POLICY = Contract(
    name="accounts.erase_by_policy",
    scope="page.delete",
    preview=preview,
    act=erase,
    words=words,
    example={"slug": "old"},
    policy="update",
)
OUTSIDE = Contract(
    name="accounts.send_workspace",
    scope="page.delete",
    preview=preview,
    act=erase,
    words=words,
    example={"slug": "old"},
    external=True,
    call_out=call_out,
)
ALL = (ERASE, BY_POLICY, OUTSIDE)


def register_for_good() -> None:
    """Register them in a server process of the tests; test functions use the fixture `contracts`."""
    register(*ALL)
