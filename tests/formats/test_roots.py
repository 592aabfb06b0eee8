"""What files are called, whichever way they are given."""

import shutil

import pytest

from paragloss.formats.file_ids import IndexedFolders


@pytest.fixture
def folder(write, tmp_path):
    for name in ("c/a/notes.txt", "c/b/notes.txt", "c/a/sub/x.txt", "c/ab/z.txt", "d/b/y.txt"):
        write(name, "x")
    return tmp_path


def make_id(roots, root, relative):
    roots.add_folders([root])
    return roots.make_id(root, relative)


def test_one_folder_needs_no_prefix(folder):
    assert make_id(IndexedFolders(), folder / "c", "a/notes.txt") == "a/notes.txt"
    assert make_id(IndexedFolders(), folder / "c/a/notes.txt", "notes.txt") == "notes.txt"


def test_files_of_one_name_in_two_folders_have_two_ids(folder):
    folders = IndexedFolders()
    folders.add_folders([folder / "c/a", folder / "c/b"])
    assert [folders.make_id(folder / f"c/{x}", "notes.txt") for x in "ab"] == ["a/notes.txt", "b/notes.txt"]
    one_by_one = IndexedFolders()
    assert [make_id(one_by_one, folder / f"c/{x}", "notes.txt") for x in "ab"] == ["notes.txt", "b/notes.txt"]
    assert make_id(one_by_one, folder / "d/b", "y.txt") == "b-2/y.txt"


def test_a_file_keeps_its_id_however_it_is_given_later(folder):
    roots = IndexedFolders()
    assert make_id(roots, folder / "c/a", "sub/x.txt") == "sub/x.txt"
    assert make_id(roots, folder / "c/a/sub/x.txt", "x.txt") == "sub/x.txt"
    assert make_id(roots, folder / "c/a/sub", "x.txt") == "sub/x.txt"
    assert make_id(roots, folder / "c", "a/sub/x.txt") == "sub/x.txt"
    assert make_id(roots, folder / "c/ab", "z.txt") == "c/ab/z.txt"  # its folder begins like another
    assert IndexedFolders(roots.prefixes).make_id(folder / "c/a/sub", "x.txt") == "sub/x.txt"


def test_a_prefix_is_no_folder_of_another(folder):
    roots = IndexedFolders()
    assert make_id(roots, folder / "c", "b/notes.txt") == "b/notes.txt"
    assert make_id(roots, folder / "d/b", "y.txt") == "b-2/y.txt"


def test_a_folder_that_was_moved_keeps_its_ids(folder):
    roots = IndexedFolders(is_moved=lambda old, new: (old, new) == (str(folder / "c/b"), str(folder / "elsewhere/b")))
    roots.add_folders([folder / "c/a", folder / "c/b"])
    shutil.move(folder / "c/b", folder / "e")
    (folder / "elsewhere").mkdir()
    shutil.move(folder / "e", folder / "elsewhere/b")
    assert make_id(roots, folder / "elsewhere/b", "notes.txt") == "b/notes.txt"
