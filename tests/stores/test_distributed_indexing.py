"""Files indexed by two Dask workers into a real server's collection, one of them killed on the way."""

from __future__ import annotations

import json
import os
import signal

import fsspec
import pytest

from paragloss.collection import Collection
from paragloss.collection.distributed import index_distributed, list_files_to_index
from paragloss.collection.integrity import check_collection
from paragloss.errors import InputError
from paragloss.formats.file_ids import IndexedFolders

distributed = pytest.importorskip("distributed")


@pytest.fixture
def files(tmp_path):
    """Six files of ten rows, three of which have no id of their own, and one that can't be read."""
    for number in range(6):
        rows = [{"id": f"{number}-{i}", "text": f"rain falls w{i}", "lang": "en"} for i in range(7)]
        rows += [{"text": f"snow lies w{i}", "lang": "en"} for i in range(3)]
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "in"


def test_parts_are_the_files_of_a_path_or_a_url(files):
    by_path, by_url = (list_files_to_index([home], IndexedFolders()) for home in (str(files), f"file://{files}"))
    assert by_path == by_url
    assert [file.name for file in by_path] == [f"{number}.jsonl" for number in range(6)]
    (files / "0.jsonl").write_text('{"text": "changed", "lang": "en"}\n')
    after = list_files_to_index([str(files)], IndexedFolders())
    assert [a.name for a, b in zip(by_path, after, strict=True) if a.record != b.record] == ["0.jsonl"]
    with pytest.raises(InputError, match="does not exist"):
        list_files_to_index([str(files / "gone")], IndexedFolders())


@pytest.mark.parametrize("scheme", ["", "memory:/"])
def test_files_of_one_name_in_two_folders_have_two_ids(tmp_path, scheme):
    home = f"{scheme}{tmp_path}"
    storage = fsspec.filesystem("memory" if scheme else "file")
    for folder in "xyz":
        storage.makedirs(f"{tmp_path}/{folder}")
        storage.pipe(f"{tmp_path}/{folder}/report.txt", folder.encode())

    def list_names(folders, *paths):
        return [file.name for file in list_files_to_index([f"{home}/{path}" for path in paths], folders)]

    folders = IndexedFolders()
    assert list_names(folders, "x", "y/report.txt") == ["x/report.txt", "y/report.txt"]
    # Another day: what is known is called as it was, and the third is no other's.
    assert list_names(IndexedFolders(folders.prefixes), "z", "y") == ["z/report.txt", "y/report.txt"]


def test_workers_need_a_collection_on_a_server(files, tmp_path):
    with pytest.raises(InputError, match="need a server's"):
        index_distributed(str(tmp_path / "k"), [str(files)], scheduler="tcp://127.0.0.1:1")


@pytest.mark.slow
def test_every_document_is_indexed_once_although_a_worker_is_killed(remote, files):
    Collection.create(remote, default=False).close()
    (files / "bad.jsonl").write_text("{no JSON\n")
    for folder in "xy":
        (files / folder).mkdir()
        (files / folder / "report.en.txt").write_text(f"The report of {folder}.")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))

        def kill_one(documents_done):
            if not killed and documents_done:
                killed.append(victim)
                os.kill(victim, signal.SIGKILL)

        killed = []
        report = index_distributed(remote, [str(files)], scheduler=cluster.scheduler_address, progress=kill_one)
        assert killed
        assert ["bad.jsonl" in message for message in report.failed] == [True]
        second_report = index_distributed(remote, [str(files)], scheduler=cluster.scheduler_address)
        assert (second_report.read, second_report.unchanged) == (0, 8)
        with Collection.open(remote, default=False) as collection:
            collection.correct_language("x/report.en.txt", "nl")
        (files / "x" / "report.en.txt").write_text("The later report of x.")
        index_distributed(remote, [str(files)], scheduler=cluster.scheduler_address)
    with Collection.open(remote, default=False) as collection:
        ids = sorted(document.id for document in collection.documents())
        assert len(ids) == 62
        assert {"x/report.en.txt", "y/report.en.txt"} < set(ids)
        corrected = collection.get(["x/report.en.txt"])[0]
        assert (corrected.lang, corrected.text) == ("nl", "The later report of x.")
        assert corrected.meta["path"] == f"file://{files}/x/report.en.txt"
        assert sum(id.startswith("3.jsonl") for id in ids) == 3  # rows without an id are called after their file
    assert check_collection(remote) == []
