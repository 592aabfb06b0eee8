"""A folder that several processes use at once: one has it open, the others ask that one."""

import os
import socket
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from paragloss.collection import Collection
from paragloss.errors import StoreError
from paragloss.stores import create_store, messages, open_store, shared
from paragloss.stores._owner_server import connect_to_owner, read_socket_address
from paragloss.stores.shared import SharedStore
from paragloss.types import Document, Hit, Range, Record, SparseVector

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders are shared through Unix sockets")


def make_documents(start, stop):
    return [
        Document(f"d{i}", f"word{i} common text", "en", meta={"even": i % 2 == 0, "number": i})
        for i in range(start, stop)
    ]


def test_messages_arrive_as_they_were_sent():
    sender, receiver = socket.socketpair()
    vector = SparseVector(np.array([1, 7], np.uint32), np.array([0.5, 2.0], np.float32))
    record = Record(
        Document("a", "t\ud800", "en", fields={}, meta={"n": [1, None, 2.5]}),
        {"m": np.ones(3, np.float32)},
        {"t": vector},
    )
    long = record._replace(
        document=Document("b", "\ud800 ü" * 500, "de", fields={}, meta={}), packed_tokens=b"\x01" * 9
    )
    request = ["get", [["a"]], {"vectors": True}]
    for message in (request, {"answer": [record, long, None]}, [[Hit("a", 1.5)]], b"\x00\xff"):
        messages.send_message(sender, message)
        received = messages.receive_message(receiver)
        assert repr(received) == repr(message)
        assert repr(messages.decode_message(messages.encode_message(message))) == repr(message)
    sender.close()
    with pytest.raises(EOFError):
        messages.receive_message(receiver)


def test_a_second_opening_reads_through_the_first(tmp_path):
    with Collection.create(str(tmp_path / "c")) as first:
        first.index(make_documents(0, 5))
        with Collection.open(str(tmp_path / "c")) as second:
            assert second.count() == 5
            assert second.count({"meta.even": [True]}) == 3
            assert second.count({"meta.number": [Range(2, None, low_open=True)]}) == 2
            assert [r.id for r in second.search("word3", lang="en").results] == ["d3"]
            assert [d.id for d in second.get(["d1"])] == ["d1"]
            with pytest.raises(StoreError, match="keeps no vector 'nope'"):
                second.state.store.get(["d1"], vectors=["nope"])


def test_the_owner_listens_in_a_folder_that_no_other_user_can_guess_or_enter(tmp_path):
    addresses = []
    for _ in range(2):
        with Collection.open_or_create(str(tmp_path / "c")), Collection.open(str(tmp_path / "c")):
            address = read_socket_address(tmp_path / "c")
            assert stat.S_ISSOCK(address.stat().st_mode)
            folder = address.parent.stat()
            assert (stat.S_IMODE(folder.st_mode), folder.st_uid) == (0o700, os.geteuid())
        addresses.append(address)
    assert addresses[0].parent != addresses[1].parent
    assert not any(address.parent.exists() for address in addresses)


def test_a_reader_finds_what_is_added_after_it_opened(tmp_path, monkeypatch):
    with Collection.create(str(tmp_path / "c")) as writer, Collection.open(str(tmp_path / "c")) as reader:
        assert reader.search("word7", lang="en").results == []
        writer.index(make_documents(5, 10))
        reader.maintenance.catch_up()
        assert [r.id for r in reader.search("word7", lang="en").results] == ["d7"]


def test_a_reader_becomes_the_owner_when_the_first_closes(tmp_path):
    first = Collection.create(str(tmp_path / "c"))
    first.index(make_documents(0, 3))
    with Collection.open(str(tmp_path / "c")) as second:
        first.close()
        assert [r.id for r in second.search("word2", lang="en").results] == ["d2"]
        second.index(make_documents(3, 6))  # it may write now
    with Collection.open(str(tmp_path / "c")) as third:
        assert third.count() == 6
        assert [r.id for r in third.search("word5", lang="en").results] == ["d5"]


def test_a_second_writer_is_refused_and_harms_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(shared, "WRITER_TIMEOUT", 0.1)
    with Collection.create(str(tmp_path / "c")) as first:
        first.index(make_documents(0, 3))
        with Collection.open(str(tmp_path / "c")) as second:
            with pytest.raises(StoreError, match=r"is in use by another process .* alone may write"):
                second.index(make_documents(3, 6))
            assert second.count() == 3
        first.index(make_documents(3, 4))
    with Collection.open(str(tmp_path / "c")) as third:
        assert third.count() == 4


def test_a_writer_that_waited_starts_from_the_statistics_of_the_first(tmp_path):
    """Two writers in turn: statistics of the second start from those of the first."""
    first = Collection.create(str(tmp_path / "c"))
    second = Collection.open(str(tmp_path / "c"))
    first.index(make_documents(0, 3))
    first.close()
    second.index(make_documents(3, 5))
    assert second.state.index.statistics.documents("text", "en") == 5
    second.close()


def test_a_reader_survives_the_kill_of_the_owner(tmp_path):
    code = (
        "import sys, time\nfrom paragloss.collection import Collection\nfrom paragloss.types import Document\n"
        "engine = Collection.create(sys.argv[1])\nengine.index([Document('a', 'alpha', 'en')])\n"
        "print('ready', flush=True)\ntime.sleep(60)\n"
    )
    host = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "c")], stdout=subprocess.PIPE, text=True)
    assert host.stdout.readline() == "ready\n"
    with Collection.open(str(tmp_path / "c")) as reader:
        assert isinstance(reader.state.store, SharedStore)
        assert reader.count() == 1
        host.kill()
        host.wait()
        assert [r.id for r in reader.search("alpha", lang="en").results] == ["a"]


def test_threads_can_search_while_another_process_writes(tmp_path):
    wrong = []
    with Collection.create(str(tmp_path / "c")) as writer:
        writer.index(make_documents(0, 20))

        def read():
            with Collection.open(str(tmp_path / "c")) as reader:
                for _ in range(20):
                    results = reader.search("word3", lang="en", k=1).results
                    if [r.id for r in results] != ["d3"]:
                        wrong.append(results)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for start in range(20, 200, 20):
            writer.index(make_documents(start, start + 20))
        for thread in threads:
            thread.join()
    assert not wrong


def test_the_owner_refuses_requests_that_write(tmp_path):
    with create_store(tmp_path / "c", dense={}, sparse=["terms"]), open_store(tmp_path / "c") as shared:
        assert isinstance(shared, SharedStore)
        link = connect_to_owner(tmp_path / "c")
        messages.send_message(link, ["delete", [["d1"]], {}])
        with pytest.raises(EOFError):
            messages.receive_message(link)
