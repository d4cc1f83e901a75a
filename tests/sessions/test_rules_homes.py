import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.errors import SaysoError
from apps.core.text import storable
from apps.sessions.rules.homes import FolderMismatch, place_of, spelling_of, workspace_slug
from apps.sessions.rules.ids import NotASegment, segment


@pytest.mark.parametrize(
    ("folder", "owner"),
    [("s-1", "s-1"), ("session-s-1", "s-1"), ("s-1", "session-s-1"), ("a~003Ab", "a:b")],
)
def test_a_folder_is_a_spelling_of_its_logs_id(folder, owner):
    assert spelling_of(folder, header={"id": owner}) == folder.replace("~003A", ":")


@pytest.mark.parametrize(
    ("folder", "owner", "error"),
    [
        ("other", "s-1", FolderMismatch),
        ("s-1-", "s-1", FolderMismatch),
        ("a~003ab", "a:b", NotASegment),
        ("a b", "a b", NotASegment),
        ("a~0020b", "a b", SaysoError),
        ("~002E~002E", "..", SaysoError),
        ("x..y", "x..y", SaysoError),
        ("~0020a", " a", FolderMismatch),
        ("a" * 201, "a" * 201, SaysoError),
    ],
)
def test_a_folder_is_refused(folder, owner, error):
    with pytest.raises(error):
        spelling_of(folder, header={"id": owner})


def test_a_log_outside_a_home_is_placed_by_its_header():
    assert place_of({"id": "s-1", "cwd": "/srv/a b"}) == ("--srv-a~0020b--", "s-1")
    assert place_of({"id": "s-1"}) == ("_no-cwd", "s-1")


@given(st.binary(min_size=1, max_size=255))
def test_any_folder_name_makes_a_workspace(name):
    folder = os.fsdecode(name.replace(b"/", b"_"))
    slug = workspace_slug(folder)
    assert storable(slug)
    assert 0 < len(slug) <= 255
    assert (slug == folder) == (storable(folder) and len(folder) <= 255)


def test_two_odd_folder_names_make_two_workspaces():
    names = [os.fsdecode(b"x" * 200 + bytes([0xFF, end])) for end in (0x80, 0x81)]
    assert workspace_slug(names[0]) != workspace_slug(names[1])
    assert segment("x" * 200) in workspace_slug(names[0])
