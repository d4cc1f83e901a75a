"""The `capture` vectors on a real server: each begins on an empty database, with one agent's token."""

import asyncio

import httpx

from tests.conformance.captures_ops import OPS
from tests.conformance.captures_steps import Steps

NOW_MS = 1_796_025_600_000
WORLD = {
    "profiles": {"default": {"zone": "Europe/Berlin"}},
    "people": {"alice": {"default": "owner"}},
    "tokens": {"agent": {"person": "alice", "profile": "default", "scopes": ["capture.read", "capture.write"]}},
}


async def capture(server, given, expect):
    """Run the steps in a thread, for their client waits; a restart is a kill of the process."""
    await server.reset(NOW_MS)
    made = await server.call("world", world=WORLD)
    loop = asyncio.get_running_loop()

    async def killed_and_started():
        await server.end("kill")
        server.start(now_ms=server.now_ms)

    def restart():
        asyncio.run_coroutine_threadsafe(killed_and_started(), loop).result()
        return httpx.HTTPTransport()

    def run():
        headers = {"Authorization": f"Bearer {made['secrets']['agent']}"}
        with Steps(transport=httpx.HTTPTransport(), restart=restart, base_url=server.origin, headers=headers) as steps:
            steps.run(given, expect)

    await asyncio.to_thread(run)
    assert server.complaints() == ""


__all__ = ["OPS", "SERVER_OPS"]
SERVER_OPS = {"capture": capture}
