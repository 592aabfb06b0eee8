"""A server that is described by a file."""

from __future__ import annotations

import pytest
from serving_process import wait_for

from paragloss.collection import Collection
from paragloss.errors import InputError
from paragloss.server.configuration import WatchedSource, read_configuration
from paragloss.server.library import Library, UnknownCollectionError

EXAMPLE = """
collections = ["library", "http://qdrant:6333/archive"]
host = "0.0.0.0"
port = 9000
keys = "keys.txt"
origins = ["https://intranet.example"]
workers = 2
allowed_hosts = ["api.example.org"]

[[watch]]
collection = "library"
paths = ["documents", "/srv/mail"]
interval = 5
"""


def test_a_file_says_all_that_options_say_and_what_to_watch(tmp_path):
    (tmp_path / "server.toml").write_text(EXAMPLE)
    configuration = read_configuration(tmp_path / "server.toml")
    assert configuration.collections == (str(tmp_path / "library"), "http://qdrant:6333/archive")
    assert (configuration.host, configuration.port, configuration.workers) == ("0.0.0.0", 9000, 2)
    assert configuration.keys == str(tmp_path / "keys.txt")
    (source,) = configuration.watch
    assert source == WatchedSource(collection="library", paths=(str(tmp_path / "documents"), "/srv/mail"), interval=5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("collections = []", "collections"),
        ("collection = ['a']", "collection"),
        ("collections = ['a']\nport = 'x'", "port"),
        ("collections = ['a']\n[[watch]]\ncollection = 'a'\npaths = []", r"watch\.0\.paths"),
        ("collections = [", "can't be read"),
    ],
)
def test_a_wrong_setting_is_named_in_one_line(tmp_path, text, message):
    (tmp_path / "server.toml").write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_configuration(tmp_path / "server.toml")
    assert "\n" not in str(error.value)


def test_watched_files_are_indexed_while_the_server_runs(tmp_path):
    location, folder = str(tmp_path / "library"), tmp_path / "documents"
    folder.mkdir()
    (folder / "first.en.txt").write_text("a lantern in the dark")
    Collection.create(location).close()
    library = Library.open([location])
    try:
        library.watch_sources([WatchedSource(collection="library", paths=(str(folder),), interval=1)])
        wait_for(lambda: library[None].search("lantern", lang="en").results)
        (folder / "second.en.txt").write_text("a kite above the harbour")
        wait_for(lambda: library[None].search("kite", lang="en").results)
        with pytest.raises(UnknownCollectionError):
            library.watch_sources([WatchedSource(collection="archive", paths=(str(folder),))])
    finally:
        library.close()
