"""Importing what was made to hurt: in a process of its own, with little memory and little time."""

import json
import os
import resource
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
import zstandard

from apps.core.errors import SaysoError
from apps.sessions.rules.log_frames import MAGIC
from apps.sessions.rules.log_reader import LogReader, header_of
from apps.sessions.rules.log_rows import encode_row
from apps.sessions.rules.plain_json import compact
from tests.sessions import disk, logs

ROOT = Path(__file__).parent.parent.parent
MEMORY_BYTES = 1536 * 1024 * 1024
TIME_S = 60
PROGRAM = """
import json, sys, time
import django
django.setup()
from django.core.management import call_command
from apps.accounts.actions import create_person, create_profile
call_command("migrate", verbosity=0)
create_profile(name="default", owner=create_person(username="alice", password="correct horse battery"))
began = time.process_time()
call_command("import_sessions", sys.argv[1], json=True)
print(json.dumps({"seconds": time.process_time() - began}), file=sys.stderr)
"""


def row(seq, text):
    """Give a line whose data is a JSON text."""
    return b'{"type":"todo/write","seq":%d,"time":0,"data":%s}\n' % (seq, text)


def head(name):
    return compact({"type": "session", **disk.header(name)}).encode() + b"\n"


def packed(*batches):
    compressor = zstandard.ZstdCompressor(write_checksum=True, level=1)
    return b"".join(compressor.compress(batch) for batch in batches)


def rle_bomb(byte, blocks):
    """Give a frame of a few bytes a block that unfolds to 128 KiB each."""
    block = (2 | (128 * 1024) << 3).to_bytes(3, "little") + byte
    return MAGIC + b"\x00\x58" + block * blocks + (3 | (1 << 3)).to_bytes(3, "little") + b"\n"


def sources(count):
    """Give events each of which cites all before it, as a pair of numbers."""
    rows = [encode_row({**logs.user("u", "x"), "seq": 0, "time": 0})]
    for seq in range(1, count):
        cites = list(range(seq)) if seq < 4 else [0]
        line = encode_row({**logs.user("u", "x"), "seq": seq, "time": 0, "sourceEventSeqs": cites})
        rows.append(line.replace('"sourceEventSeqs":[0]', f'"sourceEventSeqs":[[0,{seq - 1}]]'))
    return "".join(rows).encode()


def hostile():
    """Give each hostile log with the code that it must be refused with (empty: it comes in)."""
    name = "s-1"
    return {
        "bomb of blanks": (packed(head(name)) + rle_bomb(b" ", 100_000), "log_too_large"),
        "bomb of line ends": (packed(head(name)) + rle_bomb(b"\n", 100_000), "log_too_large"),
        "bomb in the header": (rle_bomb(b" ", 100_000), "log_too_large"),
        "frame with a huge window": (packed(head(name)) + MAGIC + b"\x00\xf8\x09\x00\x00x", "log_corrupt"),
        "frame of a huge content size": (
            packed(head(name)) + MAGIC + b"\xe0" + b"\xff" * 8 + b"\x01\x00\x00",
            "log_corrupt",
        ),
        "one giant line": (packed(head(name), row(0, b'"' + b"x" * 60_000_000 + b'"')), "log_too_large"),
        "a giant header": (packed(b'{"x":"' + b"x" * 60_000_000 + b'"}\n'), "log_too_large"),
        "deep arrays": (packed(head(name), row(0, b"[" * 200_000 + b"]" * 200_000)), ""),
        "deep objects": (packed(head(name), row(0, b'{"a":' * 300 + b"1" + b"}" * 300)), "envelope.not_json"),
        "a wide line": (packed(head(name), row(0, b"[" + b"[]," * 2_500_000 + b"1]")), "log_too_large"),
        "wide lines within bounds": (
            packed(head(name), *(row(seq, b"[" + b"[]," * 450_000 + b"1]") for seq in range(2))),
            "",
        ),
        "a number of many digits": (packed(head(name), row(0, b"9" * 4_000_000)), ""),
        "many frames": (packed(head(name), *(row(seq, b"1") for seq in range(20_000))), ""),
        "sources that unfold": (packed(head(name), sources(6_000)), "log_too_large"),
        "many names of one member": (packed(head(name), row(0, b"{" + b'"a":1,' * 500_000 + b'"a":1}')), ""),
        "uncompressed under a compressed name": (head(name) + row(0, b"1"), "log_corrupt"),
    }


def test_each_is_refused_or_comes_in_within_little_memory_and_time(tmp_path):
    home = tmp_path / "home"
    expected = {}
    for number, (what, (data, code)) in enumerate(hostile().items()):
        disk.put(home, "s-1", project=f"{number:02} {what}", data=data)
        expected[f"{number:02} {what}"] = code
    env = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(home)],
        cwd=ROOT,
        env=env | {"SAYSO_DATA_DIR": str(tmp_path / "data"), "DJANGO_SETTINGS_MODULE": "project.settings"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
        capture_output=True,
        timeout=TIME_S * 4,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout)
    assert {one["slug"]: one["code"] for one in report["sessions"]} == expected
    assert {one["outcome"] for one in report["sessions"]} == {"imported", "refused"}
    assert json.loads(done.stderr.splitlines()[-1])["seconds"] < TIME_S


@pytest.mark.parametrize("what", ["bomb of blanks", "bomb in the header", "one giant line", "a giant header"])
def test_what_is_too_large_is_refused_in_a_few_megabytes(what):
    data, code = hostile()[what]
    tracemalloc.start()
    with pytest.raises(SaysoError) as caught:
        list(LogReader(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.own_code == code
    assert peak < 64 * 1024 * 1024


@pytest.mark.parametrize("line", [b"[" * 100_000, b'{"a":' * 100_000, b"{" + b"9" * 10_000 + b"}", b'"' + b"\\" * 99])
def test_a_header_line_of_any_kind_is_a_clear_error(line):
    with pytest.raises(SaysoError):
        header_of(line)
