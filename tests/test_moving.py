"""Copies and backups of a collection: everything comes along, damage is noticed, what was begun is finished."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import tarfile
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from collection_copies import read_records

from paragloss import demo
from paragloss.collection import Collection, integrity, train, transfer
from paragloss.collection.archive_file import backup, restore
from paragloss.collection.integrity import check_collection
from paragloss.collection.transfer import compute_record_digest, copy
from paragloss.errors import InputError, ParaglossError, StoreError, UnfinishedError
from paragloss.lab.methods import cr5
from paragloss.stores import Placement, collection_exists, create_store, messages, open_store
from paragloss.stores.embedded import EmbeddedStore
from paragloss.translation.glossary import Pair
from paragloss.types import Document, Query

QUERIES = [Query("", text, "en") for text in ("lava and ash", "bees make honey", "snow in winter")]


def stop(*arguments):
    raise KeyboardInterrupt


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    home = tmp_path_factory.mktemp("source")
    train(cr5.fit, demo.concepts(), dim=20).save(home / "cr5")
    location = str(home / "library")
    with Collection.create(location, models=[str(home / "cr5")]) as engine:
        engine.index(d._replace(meta={"n": i, "open": True}) for i, d in enumerate(demo.documents()))
        engine.write_glossary([Pair("en", "lava", "de", "Lava")])
        engine.delete(["volcano.fr"])
    return location


@pytest.fixture
def target(tmp_path):
    return str(tmp_path / "copy")


def read_everything(location):
    with Collection.open(location) as engine:
        records = {record.document.id: compute_record_digest(record) for record in read_records(engine)}
        # The engine adds a document's terms up in the order it keeps them: the last bit may differ.
        rankings = [
            [(hit.id, round(hit.score, 5)) for hit in ranking]
            for p in (None, "cr5", "bm25")
            for ranking in engine.rank(QUERIES, k=30, pipeline=p)
        ]
        return records, rankings, engine.glossary, engine.state.index.statistics.to_bytes()


def test_a_copy_is_the_same_and_whole(source, target):
    assert copy(source, target) == 719
    assert read_everything(target) == read_everything(source)
    assert check_collection(target) == []


def test_a_copy_that_is_finished_is_checked_and_left_alone(source, target, monkeypatch):
    """Killed after its last write it looks so, too: the same command says how many there are."""
    with monkeypatch.context() as patch:
        patch.setattr(EmbeddedStore, "mark_statistics_current", stop)
        with pytest.raises(KeyboardInterrupt):
            copy(source, target)
    before = read_everything(target)
    monkeypatch.setattr(EmbeddedStore, "add", lambda self, records: pytest.fail("nothing is written again"))
    assert copy(source, target) == 719
    assert before == read_everything(target) == read_everything(source)


def test_another_collection_is_not_written_over(source, target):
    copy(source, target)
    with Collection.open(target) as engine:
        engine.index([Document("one more", "snow", "en")])
    for old, new in ((source, target), (target, source)):
        with pytest.raises(StoreError, match="already holds a collection, and another than this"):
            copy(old, new)
    with Collection.open(target) as engine:
        assert engine.count() == 720


@pytest.mark.parametrize("name", ["library.tar", "library.tar.gz"])
def test_a_backup_is_restored_the_same(source, target, tmp_path, name):
    assert backup(source, str(tmp_path / name)) == 719
    assert restore(str(tmp_path / name), target) == 719
    assert read_everything(target) == read_everything(source)


def test_a_stopped_copy_can_not_be_opened_and_goes_on(source, target, monkeypatch):
    scroll, add = EmbeddedStore.scroll, EmbeddedStore.add
    monkeypatch.setattr(EmbeddedStore, "scroll", lambda self, *a, **o: scroll(self, *a, **{**o, "batch_size": 100}))
    with pytest.raises(KeyboardInterrupt):
        copy(source, target, progress=stop)
    for open_unfinished in (Collection.open, Collection.open_or_create):
        with pytest.raises(UnfinishedError, match="unfinished copy: run the same"):
            open_unfinished(target)
    added = []
    monkeypatch.setattr(EmbeddedStore, "add", lambda self, records: added.append(len(records)) or add(self, records))
    assert copy(source, target) == 719
    assert sum(added) == 619  # the hundred that were there are not written again
    assert read_everything(target) == read_everything(source)


def test_a_copy_that_differs_is_not_finished(source, target, monkeypatch):
    digests = []

    def compute_other_digest(record):
        digests.append(record)
        return compute_record_digest(record) + (len(digests) == 900)

    monkeypatch.setattr(transfer, "compute_record_digest", compute_other_digest)
    with pytest.raises(StoreError, match="copy again"):
        copy(source, target)
    with pytest.raises(StoreError):
        Collection.open(target)


def test_records_differ_by_one_bit(source):
    with Collection.open(source) as engine:
        record = read_records(engine)[0]
    name = next(iter(record.dense))
    turned = record.dense[name].copy()
    turned[0] = np.nextafter(turned[0], np.float32(9))
    other_document = record.document._replace(meta={"n": 1})
    assert compute_record_digest(record) != compute_record_digest(record._replace(dense={name: turned}))
    assert compute_record_digest(record) != compute_record_digest(record._replace(document=other_document))


def test_a_copy_with_another_model_is_searched_with_it(source, target, tmp_path):
    train(cr5.fit, demo.concepts(), dim=9).save(tmp_path / "cr5")
    assert copy(source, target, models=[str(tmp_path / "cr5")]) == 719
    with (
        Collection.create(str(tmp_path / "plain"), models=[str(tmp_path / "cr5")]) as engine,
        Collection.open(target) as copied,
    ):
        engine.index(d for d in demo.documents() if d.id != "volcano.fr")
        assert copied.rank(QUERIES, k=20, pipeline="cr5") == engine.rank(QUERIES, k=20, pipeline="cr5")
    assert check_collection(target) == []


def test_a_document_without_its_vector_is_noticed_by_a_check(source, target):
    copy(source, target)
    with Collection.open(target) as engine:
        engine.state.index.add([Document("new", "bees make honey", "en")], {})
    faults = [finding.fault for finding in check_collection(target)]
    assert faults == ["1 documents have other vectors than model 'cr5' gives them"]


def test_shards_are_for_servers(source, target):
    with pytest.raises(StoreError, match="for a server's collections"):
        copy(source, target, placement=Placement(shards=2))


@pytest.mark.parametrize("blobs", [{"copying": b"unfinished"}, {}], ids=["marked", "killed before it was marked"])
def test_reading_an_interrupted_copy_does_not_finish_it(source, target, blobs):
    with open_store(source) as store:
        schema = {key: store.schema[key] for key in ("dense", "sparse", "precision")}
        multivectors = store.schema["several"]
    with create_store(target, **schema, multivectors=multivectors) as store:
        for name, data in blobs.items():
            store.write_blob(name, data)
    with pytest.raises(UnfinishedError, match="run the same `paragloss copy`"):
        Collection.open(target)
    assert [finding.fault for finding in check_collection(target)] == ["it was never finished"]
    assert copy(source, target) == 719
    assert check_collection(target) == []


# Backups that are damaged or forged


def read_parts(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return [(entry, archive.extractfile(entry).read()) for entry in archive]


def rewrite_parts(change, data):
    """Return an archive after `change(entry, data)` of each part, which returns the new data."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for entry, part in read_parts(data):
            new_part = change(entry, part)
            entry.size = len(new_part)
            archive.addfile(entry, io.BytesIO(new_part))
    return stream.getvalue()


def forge(change, data):
    """Return an archive with changed parts, whose manifest says what they are, as a forger would let it."""
    changed = rewrite_parts(change, data)
    digests = {entry.name: hashlib.blake2b(part, digest_size=16).hexdigest() for entry, part in read_parts(changed)}

    def correct_digests(entry, part):
        if entry.name != "manifest.json":
            return part
        manifest = json.loads(part)
        return json.dumps({**manifest, "parts": {name: digests[name] for name in manifest["parts"]}}).encode()

    return rewrite_parts(correct_digests, changed)


def turn_bit(entry, part):
    return part[:-1] + bytes([part[-1] ^ 1]) if entry.name.startswith("records/") else part


def climb(entry, part):
    if entry.name.startswith("blobs/"):
        entry.name = "models/a/../../../climbed"
    return part


def link(entry, part):
    if entry.name.startswith("blobs/"):
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        return b""
    return part


def write_not_a_number(entry, part):
    return part.replace(b'"meta": {', b'"meta": {"k1": NaN, ', 1) if entry.name.endswith("cr5/meta.json") else part


def write_complex_array(entry, part):
    if not (entry.name.startswith("models/") and entry.name.endswith(".npy")):
        return part
    stream = io.BytesIO()
    np.save(stream, np.zeros(3, np.complex64))
    return stream.getvalue()


def remove_k1(entry, part):
    return json.dumps({**json.loads(part), "k1": float("nan")}).encode() if entry.name == "manifest.json" else part


def replace_page(page, entry, part):
    return page if entry.name == "records/00000000" else part


def add_part(data):
    """Append a part that the manifest does not list."""
    stream = io.BytesIO(data)
    with tarfile.open(fileobj=stream, mode="a") as archive:
        archive.addfile(tarfile.TarInfo("blobs/added"), io.BytesIO())
    return stream.getvalue()


def zero_middle(data):
    middle = len(data) // 2
    return data[:middle] + bytes(64) + data[middle + 64 :]


NO_PAGES = (
    b"",
    b"rain",
    bytes(16),
    messages.encode_message([1, 2]),
    messages.encode_message([Document("a", "b", "en")]),
)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("b.tar", partial(rewrite_parts, turn_bit), "is damaged"),
        ("b.tar", partial(rewrite_parts, climb), "don't trust it"),
        ("b.tar", partial(rewrite_parts, link), "don't trust it"),
        ("b.tar", add_part, "its part 'blobs/added' is not what was written"),
        ("b.tar", partial(forge, write_not_a_number), "NaN is no number"),
        ("b.tar", partial(forge, write_complex_array), "complex64: expected real numbers"),
        ("b.tar", partial(forge, remove_k1), "got k1=nan"),
        ("b.tar", lambda data: data[: len(data) // 2], r"no whole backup|can.t be read"),
        ("b.tar", lambda _: b"rain", "can't be read as a backup"),
        ("b.tar.gz", zero_middle, r"can't be read as a backup|is damaged"),
        *(
            ("b.tar", partial(forge, partial(replace_page, page)), "its part 'records/00000000' can't be read")
            for page in NO_PAGES
        ),
    ],
)
def test_a_backup_that_is_damaged_or_forged_is_refused_in_one_line_and_leaves_nothing(
    source, tmp_path, name, change, message
):
    file = tmp_path / name
    backup(source, str(file))
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(ParaglossError, match=message):
        restore(str(file), str(tmp_path / "restored"))
    assert not (tmp_path / "restored").exists()


def test_a_backup_replaces_files_only(source, tmp_path):
    (tmp_path / "secret.txt").write_text("unharmed")
    (tmp_path / "link.tar").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(tmp_path / "pipe.tar")
    with suppress(OSError):  # making a device needs root
        os.mknod(tmp_path / "null.tar", stat.S_IFCHR | 0o600, os.makedev(1, 3))
    special_files = {path: path.lstat().st_mode for path in tmp_path.glob("*.tar")}
    for path in special_files:
        with pytest.raises(InputError, match="is a link, a device or a folder"):
            backup(source, str(path))
    assert {path: path.lstat().st_mode for path in tmp_path.glob("*.tar")} == special_files
    assert (tmp_path / "secret.txt").read_text() == "unharmed"
    (tmp_path / "old.tar").write_text("an old backup")
    assert backup(source, str(tmp_path / "old.tar")) == 719


def test_a_repair_that_was_stopped_never_takes_the_place_of_a_collection(tmp_path, monkeypatch):
    home = tmp_path / "collection"
    with Collection.create(str(home), default=False) as collection:
        collection.index([Document("a", "text", "en")])
    with monkeypatch.context() as patch:
        patch.setattr(integrity, "recount", stop)
        with pytest.raises(KeyboardInterrupt):
            integrity.repair_collection(str(home))
    home.rename(tmp_path / "moved")
    assert not collection_exists(home)
    assert check_collection(str(tmp_path / "moved")) == []
