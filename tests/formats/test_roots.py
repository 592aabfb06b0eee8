"""What files are called, whichever way they are given."""

import shutil

import pytest

from paragloss.formats.file_ids import IndexedFolders


@pytest.fixture
def place(tmp_path):
    for name in ("c/a/notes.txt", "c/b/notes.txt", "c/a/sub/x.txt", "d/b/y.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


def named(roots, root, relative):
    roots.add([root])
    return roots.make_id(root, relative)


def test_one_folder_needs_no_prefix(place):
    assert named(IndexedFolders(), place / "c", "a/notes.txt") == "a/notes.txt"
    assert named(IndexedFolders(), place / "c/a/notes.txt", "notes.txt") == "notes.txt"


def test_files_of_one_name_in_two_folders_have_two_ids(place):
    together = IndexedFolders()
    together.add([place / "c/a", place / "c/b"])
    assert [together.make_id(place / f"c/{x}", "notes.txt") for x in "ab"] == ["a/notes.txt", "b/notes.txt"]
    one_by_one = IndexedFolders()
    assert [named(one_by_one, place / f"c/{x}", "notes.txt") for x in "ab"] == ["notes.txt", "b/notes.txt"]
    assert named(one_by_one, place / "d/b", "y.txt") == "b-2/y.txt"


def test_a_file_keeps_its_id_however_it_is_given_later(place):
    roots = IndexedFolders()
    assert named(roots, place / "c/a", "sub/x.txt") == "sub/x.txt"
    assert named(roots, place / "c/a/sub/x.txt", "x.txt") == "sub/x.txt"
    assert named(roots, place / "c/a/sub", "x.txt") == "sub/x.txt"
    assert named(roots, place / "c", "a/sub/x.txt") == "sub/x.txt"
    assert IndexedFolders(roots.prefixes).make_id(place / "c/a/sub", "x.txt") == "sub/x.txt"


def test_a_prefix_is_no_folder_of_another(place):
    roots = IndexedFolders()
    assert named(roots, place / "c", "b/notes.txt") == "b/notes.txt"
    assert named(roots, place / "d/b", "y.txt") == "b-2/y.txt"


def test_a_folder_that_was_moved_keeps_its_ids(place):
    roots = IndexedFolders(is_moved=lambda old, new: (old, new) == (str(place / "c/b"), str(place / "elsewhere/b")))
    roots.add([place / "c/a", place / "c/b"])
    shutil.move(place / "c/b", place / "e")
    (place / "elsewhere").mkdir()
    shutil.move(place / "e", place / "elsewhere/b")
    assert named(roots, place / "elsewhere/b", "notes.txt") == "b/notes.txt"
