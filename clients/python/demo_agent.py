"""Play an agent over plain HTTP: list the week, ask to delete one event, wait, say what the person decided.

    python clients/python/demo_agent.py [--title "Dentist"] [--wait 300]

Address and token come from SAYSO_URL and SAYSO_TOKEN, else from the file that the first run left for it
(`demo-agent.json` in SAYSO_DATA_DIR, default ./data). Needs nothing but Python's standard library.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

DATA_DIR = Path(os.environ.get("SAYSO_DATA_DIR") or Path(__file__).resolve().parents[2] / "data")


class Agent:
    """An agent host that knows an address, a token and a session."""

    def __init__(self, *, url: str, token: str, session: str) -> None:
        self.url, self.token, self.session = url.rstrip("/"), token, session

    def request(self, action: str, *, purpose: str, **members: Any) -> dict[str, Any]:
        """Send one calendar request and return the answer; it blocks until a person decided or the time is up."""
        body = {"session_id": self.session, "capability": "calendar", "action": action, "purpose": purpose, **members}
        request = urllib.request.Request(
            f"{self.url}/api/studio/mobile-calendar/request",
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=330) as response:
                return dict(json.load(response))
        except urllib.error.HTTPError as error:
            return {"status": "error", "http": error.code, **json.loads(error.read() or b"{}")}


def settings() -> dict[str, str]:
    """Return address, token and session."""
    known = {"url": os.environ.get("SAYSO_URL", ""), "token": os.environ.get("SAYSO_TOKEN", ""), "session": "demo"}
    if known["url"] and known["token"]:
        return known
    file = DATA_DIR / "demo-agent.json"
    if not file.is_file():
        sys.exit(f"Start the server with `make run` first (there is no {file}), or set SAYSO_URL and SAYSO_TOKEN.")
    return dict(json.loads(file.read_text()))


def told(answer: dict[str, Any]) -> str:
    """Say in a sentence what came of it."""
    if answer.get("status") == "success":
        return f"The person agreed: it is deleted (receipt {answer.get('receipt_id', 'none')})."
    if answer.get("code") == "denied_recently":
        return f"{answer['message']} Ask for another one with --title, or press “Allow asking again” in the inbox."
    if answer.get("status") == "denied":
        reason = answer.get("reason")
        return f"The person said no{f': {reason}' if reason else ''}. Nothing was deleted."
    if answer.get("message"):
        return str(answer["message"])
    error = answer.get("error")
    code = error.get("reason") or error.get("code") if isinstance(error, dict) else error
    return f"Nothing was deleted: {code or answer.get('detail') or answer}."


def main() -> None:
    """List, ask, wait, tell."""
    parser = argparse.ArgumentParser(description="Play an agent against a running Sayso.")
    parser.add_argument("--title", default="", help="which event to ask for (default: the next that does not repeat)")
    parser.add_argument("--wait", type=int, default=300, help="seconds to wait for the person")
    options = parser.parse_args()
    agent = Agent(**settings())
    try:
        listed = agent.request("list", purpose="See what the coming days hold", limit=100)
    except urllib.error.URLError as error:
        sys.exit(f"{agent.url} does not answer ({error.reason}). Is the server running?")
    items = (listed.get("result") or {}).get("items")
    if not items:
        sys.exit(f"There is nothing to ask for: {listed}")
    print("The coming days:")
    for item in items:
        moment = f"{item['start'][:10]} all day" if item.get("all_day") else item["start"][:16].replace("T", " ")
        print(f"  {moment:16}  {item['title']}  ({item['calendar']})")
    wanted = [item for item in items if item["title"] == options.title] if options.title else items
    if not wanted:
        sys.exit(f"None of them is called {options.title!r}.")
    item = next((item for item in wanted if not item.get("recurring")), wanted[0])
    print(f"\nAsking to delete “{item['title']}”. Decide at {agent.url}/inbox/ …", flush=True)
    answer = agent.request(
        "delete",
        purpose="Trying out what happens when I ask",
        item={"id": item["id"], "title": item["title"], "start_ms": item["start_ms"]},
        timeout_ms=options.wait * 1000,
    )
    print(told(answer))


if __name__ == "__main__":
    main()
