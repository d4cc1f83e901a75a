"""Reading homes on disk."""

import os
import socket

import pytest

from apps.sessions.queries import homes
from apps.sessions.queries.homes import FoundLog, NoHome, Skipped, logs_in, read_file, read_found, sessions_root
from apps.sessions.rules.log_reader import write_log
from apps.sessions.rules.refusals import LogTooLarge
from tests.sessions import logs

V4 = "session.v4.jsonl.zstd"


def put(root, *parts, data=b"x"):
    path = root.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def found(root):
    return [(one.project, one.folder, one.log, one.older) for one in logs_in(root) if isinstance(one, FoundLog)]


def skipped(root):
    return [(one.path, one.code) for one in logs_in(root) if isinstance(one, Skipped)]


def test_each_session_is_found_with_its_newest_log(tmp_path):
    put(tmp_path, "--srv-a--", "s-1", V4)
    put(tmp_path, "--srv-a--", "s-1", "session.jsonl.zstd")
    put(tmp_path, "--srv-a--", "s-1", "session.v3.jsonl")
    put(tmp_path, "--srv-a--", "session-s-1", "session.v4.jsonl")
    put(tmp_path, "a foreign name", "s-2", "session.jsonl")
    assert found(tmp_path) == [
        ("--srv-a--", "s-1", V4, ("session.jsonl.zstd", "session.v3.jsonl")),
        ("--srv-a--", "session-s-1", "session.v4.jsonl", ()),
        ("a foreign name", "s-2", "session.jsonl", ()),
    ]


def test_what_is_no_log_is_passed_over(tmp_path):
    for name in ("session.v4.jsonl.zstd.tmp", "notes.txt", "session.v04.jsonl", "Session.v4.jsonl"):
        put(tmp_path, "p", "s", name)
    put(tmp_path, "p", V4)
    put(tmp_path, V4)
    put(tmp_path, "p", "s", "deeper", V4)
    assert (found(tmp_path), skipped(tmp_path)) == ([], [])


def test_a_home_and_its_folder_of_sessions_mean_the_same(tmp_path):
    put(tmp_path, "sessions", "p", "s", V4)
    assert sessions_root(tmp_path) == sessions_root(tmp_path / "sessions") == tmp_path / "sessions"
    assert sessions_root(tmp_path / "sessions" / "p") == tmp_path / "sessions" / "p"
    with pytest.raises(NoHome):
        sessions_root(tmp_path / "nowhere")


def test_no_symbolic_link_is_followed(tmp_path):
    outside = put(tmp_path, "outside", "p", "s", V4).parent
    root = tmp_path / "root"
    put(root, "p", "s", V4)
    (root / "linked").symlink_to(outside.parent)
    (root / "p" / "linked").symlink_to(outside)
    (root / "p" / "t").mkdir()
    (root / "p" / "t" / V4).symlink_to(outside / V4)
    assert found(root) == [("p", "s", V4, ())]
    assert sorted(skipped(root)) == [("linked", "symlink"), ("p/linked", "symlink"), (f"p/t/{V4}", "not_a_file")]
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "sessions").symlink_to(root)
    assert found(sessions_root(tmp_path / "home")) == []


def test_a_link_put_there_between_finding_and_reading_is_not_followed(tmp_path):
    secret = put(tmp_path, "secret", data=b"secret")
    path = put(tmp_path, "root", "p", "s", V4)
    (one,) = logs_in(tmp_path / "root")
    path.unlink()
    path.symlink_to(secret)
    with pytest.raises(OSError, match="symbolic"):
        read_found(one)


def test_a_pipe_and_a_socket_are_not_read(tmp_path):
    path = put(tmp_path, "p", "s", V4).parent
    os.mkfifo(path / "session.v5.jsonl")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path / "session.v6.jsonl"))
        assert found(tmp_path) == [("p", "s", V4, ())]
        assert [code for _, code in skipped(tmp_path)] == ["not_a_file", "not_a_file"]
    with pytest.raises(OSError, match="regular"):
        read_file(path / "session.v5.jsonl")


def test_a_large_file_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(homes, "FILE_BYTES", 10)
    with pytest.raises(LogTooLarge):
        read_file(put(tmp_path, "big", data=b"x" * 11))


def test_the_first_bytes_of_a_lone_file_say_whether_it_is_compressed(tmp_path):
    for compressed in (True, False):
        data = write_log(header=logs.HEADER, batches=[], compressed=compressed)
        assert read_file(put(tmp_path, "log", data=data)).compressed == compressed


def test_names_that_are_no_text_are_found(tmp_path):
    put(tmp_path, os.fsdecode(b"p\xff"), "s", V4)
    (one,) = logs_in(tmp_path)
    assert read_found(one).data == b"x"


def test_reading_leaves_no_trace_in_the_times(tmp_path):
    path = put(tmp_path, "p", "s", V4)
    os.utime(path, ns=(1, 2))
    (one,) = logs_in(tmp_path)
    read_found(one)
    assert (path.stat().st_atime_ns, path.stat().st_mtime_ns) == (1, 2)
