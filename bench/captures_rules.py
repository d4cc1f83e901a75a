"""Time to project a 64 KiB gateway turn, a Hermes turn and a window; the floor is writing the turn as JSON."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from apps.captures.rules import entries_of, fingerprints_of, plan_checkpoint, project_gateway_turn, project_turn


def turn(size: int, output: int, letter: str = "z") -> dict[str, object]:
    """Return an exchange whose tool results together have about `size` bytes, `output` characters each."""
    messages: list[dict[str, object]] = [{"role": "user", "content": "question"}]
    for number in range(size // (output * len(letter.encode()) + 110)):
        call = {"id": str(number), "function": {"name": "cat", "arguments": '{"path":"a/b.txt"}'}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": str(number), "content": letter * output})
    messages.append({"role": "assistant", "content": "answer"})
    return {"protocol": "chat", "messages": messages, "finish_reason": "stop"}


def milliseconds(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return the median and the best of many runs, in time on the processor: others may share it."""
    taken = []
    for _ in range(rounds):
        begun = time.thread_time_ns()
        work()
        taken.append((time.thread_time_ns() - begun) / 1e6)
    return statistics.median(taken), min(taken)


def main() -> None:
    """Measure each projector on turns that just fit and on turns that do not."""
    rounds = 200 if "--quick" in sys.argv else 1_000
    turns = {
        "64 KiB turn, large results": turn(65_000, 8_000),
        "64 KiB turn, 100-character results": turn(64_000, 100),
        "64 KiB turn, Chinese": turn(64_000, 2_500, "中"),
        "96 KiB turn, every result cut": turn(98_304, 9_000),
        "1 MiB turn, most steps omitted": turn(1_048_576, 2_000),
    }
    for name, exchange in turns.items():
        found = project_gateway_turn(exchange)
        assert found is not None
        facts = f"{found.steps} steps, {len(found.text.encode())} bytes, {found.omitted} omitted"
        median, best = milliseconds(lambda exchange=exchange: project_gateway_turn(exchange), rounds)  # type: ignore[misc]
        floor, _ = milliseconds(lambda exchange=exchange: json.dumps(exchange), rounds)  # type: ignore[misc]
        print(f"{name} ({facts}): {median:.2f} ms, best {best:.2f} ms; json.dumps {floor:.2f} ms")
    median, best = milliseconds(lambda: project_turn(user="a" * 30_000, assistant="b" * 30_000), rounds)
    print(f"Hermes turn of 60,000 characters: {median:.3f} ms, best {best:.3f} ms")
    words = "the quick brown fox keeps no secret token of yours "
    window = [{"role": "user", "content": f"{number} {words * 4}"} for number in range(400)]
    snapshot = fingerprints_of(entries_of(window[:300]))
    median, best = milliseconds(lambda: plan_checkpoint(window, mode="optional", snapshot=snapshot), rounds // 4)
    print(f"window of 400 entries, 100 new: {median:.2f} ms, best {best:.2f} ms")


if __name__ == "__main__":
    main()
