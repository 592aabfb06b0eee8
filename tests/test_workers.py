"""Documents prepared by several processes: the same collection comes out, and nothing hangs or is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from collection_copies import read_records

from paragloss import demo
from paragloss.collection import Collection, preparation, train
from paragloss.collection import writer as writing
from paragloss.collection.transfer import compute_record_digest
from paragloss.errors import InputError
from paragloss.lab.methods import cr5
from paragloss.types import Document, Query


@pytest.fixture
def small(monkeypatch):
    """Batches so small that a few documents keep several processes busy."""
    monkeypatch.setattr(writing, "BATCH_SIZE", 30)
    monkeypatch.setattr(preparation, "_LOCAL_BATCHES", 1)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "cr5"
    train(cr5.fit, demo.concepts(), dim=20).save(path)
    return str(path)


def documents():
    """Some don't say their language, two have one id in one batch, one has no text."""
    documents_of_demo = list(demo.documents())[:360]
    documents_of_demo = [d._replace(lang="") if i % 7 == 0 else d for i, d in enumerate(documents_of_demo)]
    return [
        *documents_of_demo,
        documents_of_demo[3]._replace(text="another text entirely"),
        Document("empty", "", "en"),
    ]


def test_the_collection_is_the_one_that_one_process_makes(tmp_path, small, model):
    by_workers = []
    for workers in (1, 2):
        with Collection.create(str(tmp_path / str(workers)), models=[model]) as engine:
            engine.index(documents(), workers=workers)
            digests = {record.document.id: compute_record_digest(record) for record in read_records(engine)}
            queries = [Query("", text, "en") for text in ("lava and ash", "bees make honey", "snow")]
            by_workers.append((digests, engine.state.index.statistics.to_bytes(), engine.rank(queries, k=50)))
    (*contents, rankings), (*other_contents, other_rankings) = by_workers
    assert contents == other_contents
    for ranking, other_ranking in zip(rankings, other_rankings, strict=True):
        assert [hit.id for hit in ranking] == [hit.id for hit in other_ranking]
        # Equal but for the last bit: sums in another order.
        assert [hit.score for hit in ranking] == pytest.approx([hit.score for hit in other_ranking], rel=1e-6)


def test_an_interrupted_reading_keeps_what_was_read(tmp_path, small, model):
    def interrupted():
        yield from documents()[:200]
        raise KeyboardInterrupt

    with Collection.create(str(tmp_path / "k"), models=[model]) as engine:
        with pytest.raises(InputError, match="0 workers"):
            engine.index(documents(), workers=0)
        with pytest.raises(KeyboardInterrupt):
            engine.index(interrupted(), workers=2)
        assert engine.count() == 200


ENDLESS = """
import itertools, signal, sys
from paragloss.collection import Collection, preparation, writer
from paragloss.types import Document

def told(done):
    print(done, flush=True)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background has it ignored
    writer.BATCH_SIZE, preparation._LOCAL_BATCHES = 20, 1
    documents = (Document(str(i), f"rain falls on hill {i}", "en") for i in itertools.count())
    with Collection.create(sys.argv[1], default=False) as engine:
        engine.index(documents, workers=2, progress=told)
"""


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks for processes in /proc")
@pytest.mark.parametrize("signal_sent", [signal.SIGKILL, signal.SIGINT])
def test_workers_go_with_the_one_who_writes(tmp_path, signal_sent):
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    home = str(tmp_path / "k")
    with subprocess.Popen(
        [sys.executable, script, home], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as writer:
        documents_done = 0
        while documents_done < 200:
            documents_done = int(writer.stdout.readline())
        workers = children(writer.pid)
        assert len(workers) >= 2
        writer.send_signal(signal_sent)
        documents_done = int(([str(documents_done), *writer.stdout.read().split()])[-1])
    end = time.monotonic() + 30
    while any(os.path.isdir(f"/proc/{pid}") for pid in workers) and time.monotonic() < end:
        time.sleep(0.1)
    assert not [pid for pid in workers if os.path.isdir(f"/proc/{pid}")]
    with Collection.open(home) as engine:
        assert engine.count() >= documents_done


def children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def test_long_documents_of_a_batch_are_written_in_parts_with_the_languages_that_they_have_alone(tmp_path, monkeypatch):
    danish = "Pakken indeholder programmer, der bruges til at læse og skrive lydfiler på din computer nummer"
    danish_documents = [Document(str(number), f"{danish} {number}.", "") for number in range(30)]
    short = Document("short", "Det er en fin dag i dag", "")  # Norwegian, however many Danish documents are beside it
    outcomes = []
    for limit in (writing.MAX_BATCH_CHARACTERS, 60):
        monkeypatch.setattr(writing, "MAX_BATCH_CHARACTERS", limit)
        safe: list[int] = []
        with Collection.create(str(tmp_path / str(limit)), meaning=False) as engine:
            engine.index([*danish_documents, short], progress=safe.append)
            records = {record.document.id: record.document for record in read_records(engine)}
            outcomes.append((records, engine.state.index.statistics.to_bytes(), safe))
    (records_at_once, counted, reports_at_once), (parts, counted_too, reports_of_parts) = outcomes
    assert records_at_once == parts
    assert counted == counted_too
    assert parts["short"].lang == "no"
    assert reports_at_once == [31]
    assert reports_of_parts[-1] == 31 > reports_of_parts[0]
