"""Is a collection whole, and what can be saved of one that is not?"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paragloss.bm25 import Layout
from paragloss.collection import model_records
from paragloss.collection.collection import Collection
from paragloss.collection.embeddings import rows_of
from paragloss.collection.file_records import read_all_again
from paragloss.collection.models import load
from paragloss.collection.opening import check_finished
from paragloss.encoders.pretrained import Pretrained
from paragloss.encoders.pretrained.titles import title_vector_name
from paragloss.errors import InputError, ParaglossError, UnfinishedError
from paragloss.index import journal
from paragloss.index.fields import FIELDS, SUBWORD_FIELDS
from paragloss.index.terms import TERMS_VECTOR, read_term_vectors, recount
from paragloss.statistics import Statistics
from paragloss.stores import (
    AnyStore,
    collection_exists,
    create_store,
    find_changed_file,
    get_repair_path,
    model_files,
    open_store,
)
from paragloss.types import Encoder, Record

_RESTORE = "restore a copy, or `paragloss repair` keeps what can be read"


class Finding(NamedTuple):
    """Something that is not as it should be."""

    what: str
    remedy: str


def check(location: str, *, progress: Callable[[int], None] | None = None) -> list[Finding]:
    """Read everything a collection holds and hold it against what it says of itself."""
    findings: list[Finding] = []
    if changed := find_changed_file(location):
        findings.append(Finding(f"{changed} is not what it was when the collection was closed", _RESTORE))
    try:
        store = open_store(location, allow_changed_files=True)
    except ParaglossError as error:
        return [*findings, Finding(str(error), "restore a copy of the folder, or index its documents again")]
    try:
        check_finished(store, location)
        findings += _documents(store, progress)
        findings += _models(store)
    except UnfinishedError:
        findings.append(Finding("it was never finished", "run the same `paragloss copy`, `restore` or `index` again"))
    except ParaglossError as error:
        findings.append(Finding(str(error), "`paragloss repair` keeps what can be read"))
    except (ValueError, TypeError, KeyError) as error:
        findings.append(Finding(f"what the collection notes of itself is damaged ({error})", _RESTORE))
    finally:
        store.close()
    return findings


def _documents(store: AnyStore, progress: Callable[[int], None] | None) -> list[Finding]:
    findings, seen = [], 0
    if store.read_blob("statistics") is None:
        return [Finding("the term statistics are missing", "`paragloss repair` counts them again")]
    told, whole, _, entries = journal.read_statistics(store)
    counted = Statistics(told.layout)
    for records in store.scroll(vectors=True):
        seen += len(records)
        counted.count([record.document.lang for record in records], read_term_vectors(records))
        findings += [f for record in records for f in _record(record)]
        if progress:
            progress(seen)
    if told.records is not None and whole and not entries and told.records != seen:
        findings.append(Finding(f"{seen} of {told.records} documents are there", "`paragloss repair` keeps these"))
    if whole and counted.to_bytes(records=told.records) != told.to_bytes(records=told.records):
        findings.append(
            Finding("the term statistics don't agree with the documents", "`paragloss repair` counts again")
        )
    return findings


def _record(record: Record) -> list[Finding]:
    if TERMS_VECTOR not in record.sparse and (record.document.text or record.document.title).strip():
        return [Finding(f"document {record.document.id!r} has lost its terms", "index it again")]
    return []


def _models(store: AnyStore) -> list[Finding]:
    findings = []
    models = model_records.read_model_records(store)
    for name in set(store.dense) - set(models) - set(map(title_vector_name, models)):
        findings.append(
            Finding(f"there are vectors of {name!r}, which is not among the models", "give it with --model")
        )
    for name, entry in models.items():
        try:
            model = load(model_files.get_model_folder(store, name))
            if entry.ready and isinstance(model, Encoder) and name not in store.dense:
                findings.append(Finding(f"model {name!r} has lost its vectors", "give it again with --model"))
            elif entry.ready and isinstance(model, Encoder) and not isinstance(model, Pretrained):
                findings += _vectors(store, name, model)
            if (
                entry.ready
                and entry.digest
                and model_records.compute_digest(model_files.get_model_folder(store, name)) != entry.digest
            ):
                findings.append(Finding(f"model {name!r} is not as it was given", "give it again with --model"))
        except ParaglossError as error:
            findings.append(Finding(f"model {name!r}: {error}", "give it again with `paragloss index --model`"))
        if not entry.ready:
            findings.append(Finding(f"model {name!r} has not encoded every document", "give it again with --model"))
    return findings


def _vectors(store: AnyStore, name: str, model: Encoder) -> list[Finding]:
    """Encode every document again: its vector must be what is kept."""
    off = 0
    for records in store.scroll(vectors=[name]):
        rows = rows_of(model, [record.document for record in records])
        for record, row in zip(records, rows, strict=True):
            kept, wanted = record.dense.get(name), row if row is not None and row.any() else None
            alike = kept is wanted if kept is None or wanted is None else np.allclose(kept, wanted, atol=0.01)
            off += not alike
    many = f"{off} documents have other vectors than model {name!r} gives them"
    return [Finding(many, "remove the model and give it again (paragloss models)")] if off else []


class Repaired(NamedTuple):
    """How many documents were kept, how many could not be read, and where the damaged collection is now."""

    kept: int
    lost: int
    aside: Path


def repair(location: str, *, progress: Callable[[int], None] | None = None) -> Repaired:
    """Put every document that can be read, and every model that loads, into a new collection in the old one's place."""
    if "://" in location:
        raise InputError("a collection on a server is repaired there: restore a snapshot of it")
    if not collection_exists(location):
        raise InputError(f"{location} is not a collection: there is nothing to repair")
    home = Path(location)
    unfinished, complete = home.with_name(f".{home.name}.repairing"), get_repair_path(home)
    with open_store(location, allow_changed_files=True) as old:
        check_finished(old, location)
        old.claim_writing()  # nobody else repairs, so what lies there was left by a repair that was killed
        shutil.rmtree(unfinished, ignore_errors=True)
        kept, lost = _salvage(old, home, unfinished, progress)
        shutil.rmtree(complete, ignore_errors=True)
        unfinished.rename(complete)
    aside = _free(home.with_name(f"{home.name}.damaged"))
    home.rename(aside)  # a kill between this and the next: whoever opens the collection finishes
    complete.rename(home)
    with Collection.open(location):  # it opens, or says why not
        pass
    return Repaired(kept, lost, aside)


def _salvage(old: AnyStore, home: Path, target: Path, progress: Callable[[int], None] | None) -> tuple[int, int]:
    """Write what can be read of a folder into a new one; how many documents were kept, and how many lost."""
    shape = old.schema
    layout = {"multivectors": shape["several"], "precision": shape["precision"]}
    kept, lost = 0, 0
    with create_store(target, dense=shape["dense"], sparse=[TERMS_VECTOR], **layout) as new:
        for records, damaged_count in old.salvage_records():
            new.add(records)
            kept, lost = kept + len(records), lost + damaged_count
            if progress:
                progress(kept)
        for name in sorted(path.name for path in (home / "blobs").glob("[!.]*")):
            data = old.read_blob(name) if name != "statistics" else None
            if data is not None:
                new.write_blob(name, data)
        read_all_again(new)  # what is lost may still be in its file
        statistics = Statistics(_layout(old))
        recount(new, statistics)
        new.write_blob("statistics", statistics.to_bytes(records=kept))
    if (home / "models").is_dir():
        shutil.copytree(home / "models", target / "models", dirs_exist_ok=True)
    return kept, lost


def _layout(store: AnyStore) -> Layout:
    """How terms were laid out; as by default where the collection no longer tells."""
    try:
        return Statistics.from_bytes(store.read_blob("statistics") or b"")[0].layout
    except (ParaglossError, ValueError, KeyError):
        return Layout([*FIELDS, *SUBWORD_FIELDS])


def _free(path: Path) -> Path:
    """A name that nothing has: the path, or the path and a number."""
    names = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(name for name in chain([path], names) if not name.exists())
