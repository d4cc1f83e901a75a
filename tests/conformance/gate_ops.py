"""The stories of the gate: real HTTP and WebSockets against a real server (`/docs/contracts` has the notation)."""

from typing import Any

from tests.conformance.gate.doors import doors_of, exists
from tests.conformance.gate.outcome import faults
from tests.conformance.gate.story import Story
from tests.conformance.process import ServerProcess


async def story(server: ServerProcess, vector: dict[str, Any]) -> None:
    """Run one story and fail with all that was not as it should be."""
    told = Story(server, vector)
    try:
        await told.run()
        found = await faults(told, vector["expect"])
    finally:
        await told.leave()
    complaints = server.complaints()
    if complaints:
        found.append(f"the server wrote:\n{complaints}")
    assert not found, "\n  ".join(["", *found])


def runnable(vector: dict[str, Any]) -> bool:
    """Tell whether the project has every door that the story needs."""
    return all(exists(door) for door in doors_of(vector["input"]["steps"]))
