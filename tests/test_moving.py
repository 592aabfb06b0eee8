"""Copies and backups of a collection: everything comes along, damage is noticed, what was begun is finished."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import tarfile
from pathlib import Path

import numpy as np
import pytest

from paragloss import demo
from paragloss.collection import Collection, integrity, train, transfer
from paragloss.collection.archive_file import backup, restore
from paragloss.collection.integrity import check_collection
from paragloss.collection.transfer import compute_record_digest, copy
from paragloss.errors import InputError, ParaglossError, StoreError, UnfinishedError
from paragloss.lab.methods import cr5
from paragloss.stores import Placement, collection_exists, create_store, messages, open_store
from paragloss.translation.glossary import Pair
from paragloss.types import Document, Query

QUERIES = [Query("", text, "en") for text in ("lava and ash", "bees make honey", "snow in winter")]


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


def read_everything(location):
    with Collection.open(location) as engine:
        records = {r.document.id: compute_record_digest(r) for r in engine.maintenance.sample_records(10_000)}
        # The engine adds a document's terms up in the order it keeps them: the last bit may differ.
        rankings = [
            [(hit.id, round(hit.score, 5)) for hit in ranking]
            for p in (None, "cr5", "bm25")
            for ranking in engine.rank(QUERIES, k=30, pipeline=p)
        ]
        return records, rankings, engine.glossary, engine.state.index.statistics.to_bytes()


def test_a_copy_is_the_same_and_whole(source, tmp_path):
    location = str(tmp_path / "copy")
    assert copy(source, location) == 719
    assert read_everything(location) == read_everything(source)
    assert check_collection(location) == []


def test_a_copy_that_is_finished_is_checked_and_left_alone(source, tmp_path, monkeypatch):
    """Killed after its last write it looks so, too: the same command says how many there are."""
    from paragloss.stores.embedded import EmbeddedStore

    location = str(tmp_path / "copy")
    monkeypatch.setattr(EmbeddedStore, "mark_statistics_current", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        copy(source, location)
    monkeypatch.undo()
    before = read_everything(location)
    monkeypatch.setattr(EmbeddedStore, "add", lambda self, records: pytest.fail("nothing is written again"))
    assert copy(source, location) == 719
    assert before == read_everything(location) == read_everything(source)


def test_another_collection_is_not_written_over(source, tmp_path):
    location = str(tmp_path / "copy")
    copy(source, location)
    with Collection.open(location) as engine:
        engine.index([Document("one more", "snow", "en")])
    with pytest.raises(StoreError, match="already holds a collection, and another than this"):
        copy(source, location)
    with pytest.raises(StoreError, match="already holds a collection, and another than this"):
        copy(location, source)
    with Collection.open(location) as engine:
        assert engine.count() == 720


@pytest.mark.parametrize("name", ["library.tar", "library.tar.gz"])
def test_a_backup_is_restored_the_same(source, tmp_path, name):
    file, location = str(tmp_path / name), str(tmp_path / "restored")
    assert backup(source, file) == 719
    assert restore(file, location) == 719
    assert read_everything(location) == read_everything(source)


def test_a_stopped_copy_can_not_be_searched_and_goes_on(source, tmp_path, monkeypatch):
    location = str(tmp_path / "copy")
    written = []

    def stopping(documents_done):
        written.append(documents_done)
        raise KeyboardInterrupt

    from paragloss.stores.embedded import EmbeddedStore

    scroll = EmbeddedStore.scroll
    monkeypatch.setattr(EmbeddedStore, "scroll", lambda self, *a, **o: scroll(self, *a, **{**o, "batch": 100}))
    with pytest.raises(KeyboardInterrupt):
        copy(source, location, progress=stopping)
    assert written == [100]
    with pytest.raises(StoreError, match="unfinished copy: run the same"):
        Collection.open(location)
    added = []
    add = EmbeddedStore.add
    monkeypatch.setattr(EmbeddedStore, "add", lambda self, records: added.append(len(records)) or add(self, records))
    assert copy(source, location) == 719
    assert sum(added) == 619  # what was there is not written again
    assert read_everything(location) == read_everything(source)


def test_a_copy_that_differs_is_not_finished(source, tmp_path, monkeypatch):
    location = str(tmp_path / "copy")
    digests = []
    monkeypatch.setattr(
        transfer,
        "compute_record_digest",
        lambda record: digests.append(1) or compute_record_digest(record) + (len(digests) == 900),
    )
    with pytest.raises(StoreError, match="copy again"):
        copy(source, location)
    with pytest.raises(StoreError):
        Collection.open(location)


def test_records_differ_by_one_bit(source):
    with Collection.open(source) as engine:
        (record,) = engine.maintenance.sample_records(1)
    name = next(iter(record.dense))
    turned = record.dense[name].copy()
    turned[0] = np.nextafter(turned[0], np.float32(9))
    assert compute_record_digest(record) != compute_record_digest(record._replace(dense={name: turned}))
    assert compute_record_digest(record) != compute_record_digest(
        record._replace(document=record.document._replace(meta={"n": 1}))
    )


def rewrite_archive(file, change):
    """The archive with one of its parts changed."""
    out = io.BytesIO()
    options = {"name": file} if isinstance(file, Path) else {"fileobj": file}
    with tarfile.open(**options) as old, tarfile.open(fileobj=out, mode="w") as new:
        for entry in old:
            data = old.extractfile(entry).read()
            entry, data = change(entry, data)
            entry.size = len(data)
            new.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def turned_bit(entry, data):
    return entry, data[:-1] + bytes([data[-1] ^ 1]) if entry.name.startswith("records/") else data


def climbing(entry, data):
    if entry.name.startswith("blobs/"):
        entry.name = "models/a/../../../climbed"
    return entry, data


def linking(entry, data):
    if entry.name.startswith("blobs/"):
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        data = b""
    return entry, data


def without_number(entry, data):
    if entry.name.endswith("cr5/meta.json"):
        data = data.replace(b'"meta": {', b'"meta": {"k1": NaN, ', 1)
        assert b"NaN" in data
    return entry, data


def complex_array(entry, data):
    if entry.name.startswith("models/") and entry.name.endswith(".npy"):
        file = io.BytesIO()
        np.save(file, np.zeros(3, np.complex64))
        data = file.getvalue()
    return entry, data


def without_k1(entry, data):
    if entry.name == "manifest.json":
        data = json.dumps({**json.loads(data), "k1": float("nan")}).encode()
    return entry, data


def correct_digests(data):
    """Let the manifest of an archive say what its parts are, as a forger would."""
    parts = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for entry in archive:
            parts[entry.name] = hashlib.blake2b(archive.extractfile(entry).read(), digest_size=16).hexdigest()

    def correct(entry, data):
        if entry.name == "manifest.json":
            manifest = json.loads(data)
            manifest["parts"] = {name: parts[name] for name in manifest["parts"]}
            data = json.dumps(manifest).encode()
        return entry, data

    return rewrite_archive(io.BytesIO(data), correct)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_number, "NaN is no number"),
        (complex_array, "complex64: expected real numbers"),
        (without_k1, "got k1=nan"),
    ],
)
def test_a_backup_whose_model_has_numbers_that_are_none_is_refused(source, tmp_path, change, message):
    backup(source, str(tmp_path / "b.tar"))
    forged = correct_digests(rewrite_archive(tmp_path / "b.tar", change))
    (tmp_path / "b.tar").write_bytes(forged)
    with pytest.raises(ParaglossError, match=message):
        restore(str(tmp_path / "b.tar"), str(tmp_path / "restored"))
    assert not (tmp_path / "restored").exists()


@pytest.mark.parametrize(
    ("change", "message"), [(turned_bit, "is damaged"), (climbing, "don't trust it"), (linking, "don't trust it")]
)
def test_a_backup_that_was_tampered_with_is_refused(source, tmp_path, change, message):
    file = tmp_path / "b.tar"
    backup(source, str(file))
    file.write_bytes(rewrite_archive(file, change))
    with pytest.raises(InputError, match=message):
        restore(str(file), str(tmp_path / "restored"))
    assert not (tmp_path / "restored").exists()


def test_a_cut_off_backup_and_one_that_is_none(source, tmp_path):
    file = tmp_path / "b.tar"
    backup(source, str(file))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(InputError, match=r"no whole backup|can.t be read"):
        restore(str(file), str(tmp_path / "restored"))
    file.write_text("rain")
    with pytest.raises(InputError, match="can't be read as a backup"):
        restore(str(file), str(tmp_path / "restored"))


def test_a_copy_with_another_model_is_searched_with_it(source, tmp_path):
    train(cr5.fit, demo.concepts(), dim=9).save(tmp_path / "cr5")
    location, plain = str(tmp_path / "copy"), str(tmp_path / "plain")
    assert copy(source, location, models=[str(tmp_path / "cr5")]) == 719
    with Collection.create(plain, models=[str(tmp_path / "cr5")]) as engine, Collection.open(location) as copied:
        engine.index(d for d in demo.documents() if d.id != "volcano.fr")
        assert copied.rank(QUERIES, k=20, pipeline="cr5") == engine.rank(QUERIES, k=20, pipeline="cr5")
    assert check_collection(location) == []


def test_shards_are_for_servers(source, tmp_path):
    with pytest.raises(StoreError, match="for a server's collections"):
        copy(source, str(tmp_path / "copy"), placement=Placement(shards=2))


def test_a_copy_killed_before_it_noted_anything_goes_on(source, tmp_path):
    with open_store(source) as store:
        schema = {key: store.schema[key] for key in ("dense", "sparse", "precision")}
        multivectors = store.schema["several"]
        count = store.count()
    create_store(tmp_path / "new", **schema, multivectors=multivectors).close()
    assert copy(source, str(tmp_path / "new")) == count
    assert check_collection(str(tmp_path / "new")) == []


def test_reading_an_interrupted_copy_does_not_finish_it(source, tmp_path):
    """Neither when it had noted that it is a copy, nor when it was killed before."""
    with open_store(source) as store:
        schema = {key: store.schema[key] for key in ("dense", "sparse", "precision")}
        multivectors = store.schema["several"]
    for name, blobs in (("begun", {"copying": b"unfinished"}), ("bare", {})):
        target = str(tmp_path / name)
        with create_store(target, **schema, multivectors=multivectors) as store:
            for blob, data in blobs.items():
                store.write_blob(blob, data)
        with pytest.raises(UnfinishedError, match="run the same `paragloss copy`"):
            Collection.open(target)
        assert [finding.fault for finding in check_collection(target)] == ["it was never finished"]
        assert copy(source, target) == 719
        assert check_collection(target) == []


def test_nothing_is_indexed_into_an_interrupted_copy(source, tmp_path):
    target = str(tmp_path / "copy")

    def stop(documents_done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy(source, target, progress=stop)
    with pytest.raises(UnfinishedError, match="unfinished copy"):
        Collection.open_or_create(target)


def make_forged_backup(source, path, data):
    """Write a backup whose first page of documents is other bytes, with the digest of those."""
    backup(source, str(path))
    entries = []
    with tarfile.open(path) as archive:
        for entry in archive:
            entries.append((entry.name, archive.extractfile(entry).read()))
    entries = [(name, data if name == "records/00000000" else old) for name, old in entries]
    manifest = json.loads(entries[-1][1])
    manifest["parts"]["records/00000000"] = hashlib.blake2b(data, digest_size=16).hexdigest()
    with tarfile.open(path, "w") as archive:
        for name, content in [*entries[:-1], ("manifest.json", json.dumps(manifest).encode())]:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


@pytest.mark.parametrize(
    "data",
    [b"", b"rain", bytes(16), messages.encode_message([1, 2]), messages.encode_message([Document("a", "b", "en")])],
)
def test_a_forged_backup_is_refused_in_one_line_and_leaves_nothing(source, tmp_path, data):
    make_forged_backup(source, tmp_path / "b.tar", data)
    with pytest.raises(InputError, match="is damaged: its part 'records/00000000' can't be read"):
        restore(str(tmp_path / "b.tar"), str(tmp_path / "restored"))
    assert not (tmp_path / "restored").exists()


def test_a_compressed_backup_with_a_damaged_middle_is_refused(source, tmp_path):
    file = tmp_path / "b.tar.gz"
    backup(source, str(file))
    data = bytearray(file.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 64] = bytes(64)
    file.write_bytes(data)
    with pytest.raises(InputError, match=r"can't be read as a backup|is damaged"):
        restore(str(file), str(tmp_path / "restored"))
    assert not (tmp_path / "restored").exists()


def test_a_backup_replaces_files_only(source, tmp_path):
    (tmp_path / "secret.txt").write_text("unharmed")
    (tmp_path / "link.tar").symlink_to(tmp_path / "secret.txt")
    os.mkfifo(tmp_path / "pipe.tar")
    for name in ("link.tar", "pipe.tar"):
        with pytest.raises(InputError, match="is a link, a device or a folder"):
            backup(source, str(tmp_path / name))
    assert (tmp_path / "link.tar").is_symlink()
    assert stat.S_ISFIFO((tmp_path / "pipe.tar").stat().st_mode)
    assert (tmp_path / "secret.txt").read_text() == "unharmed"
    (tmp_path / "old.tar").write_text("an old backup")
    assert backup(source, str(tmp_path / "old.tar")) == 719


def test_a_backup_does_not_replace_a_device(source, tmp_path):
    try:
        os.mknod(tmp_path / "null.tar", stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except OSError:
        pytest.skip("making a device needs root")
    with pytest.raises(InputError, match="is a link, a device or a folder"):
        backup(source, str(tmp_path / "null.tar"))
    assert stat.S_ISCHR((tmp_path / "null.tar").stat().st_mode)


def test_a_repair_that_was_stopped_never_takes_the_place_of_a_collection(tmp_path, monkeypatch):
    home = tmp_path / "collection"
    with Collection.create(str(home), default=False) as collection:
        collection.index([Document("a", "text", "en")])

    def stop(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(integrity, "recount", stop)
        with pytest.raises(KeyboardInterrupt):
            integrity.repair_collection(str(home))
    home.rename(tmp_path / "moved")
    assert not collection_exists(home)
    assert check_collection(str(tmp_path / "moved")) == []
