"""Read the collections that recipes are measured on, and split them by concept before anything is fitted.

They are read from the folder PARAGLOSS_DATA (default ~/.cache/paragloss): mdn (MDN web docs), ddtp (Debian package
descriptions), lohelp (LibreOffice help), as gzipped JSON Lines per language with concept, lang, title and text; tatoeba
(sentence pairs); muse (word pairs). None of their text is part of this repository.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from paragloss.formats.jsonl import read_concepts, read_jsonl_concept_texts
from paragloss.formats.rows import group_by_concept
from paragloss.index.terms import TERMS_VECTOR, TermIndex
from paragloss.ranking import rank_scores
from paragloss.statistics import Statistics
from paragloss.stores import create_store
from paragloss.types import Concept, Document, Encoder, Qrels, Query, Run, Store

if TYPE_CHECKING:
    from paragloss.lab.descent.loop import EpochProgress


class Identified(Protocol):
    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=Identified)
#: The measures of one row of a table: column -> a value, or one value per query.
Columns: TypeAlias = dict[str, float | list[float]]
#: The rows that a recipe measures of one part with one seed: row name -> columns.
Rows: TypeAlias = dict[str, Columns]
#: The device that networks are trained on (`python -m papers run --device`), also in the processes of a run.
DEVICE_VARIABLE = "PARAGLOSS_PAPERS_DEVICE"


def training_budget(meta: Mapping[str, Any]) -> Columns:
    """Return the columns on a row's training: the epoch whose parameters were kept, and how many were run."""
    return {"best epoch": float(meta["best"]), "epochs": float(meta["epochs"])}


def fit_with_budget(fit: Callable[..., Encoder], train: Sequence[Concept], **settings: Any) -> tuple[Encoder, Columns]:
    """Fit a method that is trained by epochs; return it with the columns "best epoch" and "epochs".

    Of several networks they are those of the one whose best epoch was nearest to its last. Trainings that are not
    validated, such as BAE's pretraining, keep the parameters of their last epoch by design: they count only if nothing
    else is trained.
    """
    epochs_by_network: list[list[EpochProgress]] = []

    def record(progress: EpochProgress) -> None:
        if progress.epoch == 1:
            epochs_by_network.append([])
        epochs_by_network[-1].append(progress)

    model = fit(train, progress=record, **settings)
    validated = [network for network in epochs_by_network if network[0].measure is not None]
    budgets = [_find_best_epoch(network) for network in validated or epochs_by_network]
    best_epoch, epochs = max(budgets, key=lambda budget: budget[0] / budget[1], default=(0.0, 0.0))
    return model, {"best epoch": best_epoch, "epochs": epochs}


def _find_best_epoch(network: Sequence[EpochProgress]) -> tuple[float, float]:
    """Return the number of the epoch with the best measure, the last one where none was measured, and of all epochs."""
    measures = [epoch.measure for epoch in network if epoch.measure is not None]
    best_epoch = int(np.argmax(measures)) + 1 if measures else len(network)
    return float(best_epoch), float(len(network))


class Split(NamedTuple):
    train: list[Concept]
    test: list[Concept]


def data_folder() -> Path:
    """Return the folder of the corpora."""
    return Path(os.environ.get("PARAGLOSS_DATA", Path.home() / ".cache" / "paragloss"))


def split_collection(name: str, langs: Sequence[str], *, test_tenths: int = 2, lines: int | None = None) -> Split:
    """Split a collection into training and test concepts by a hash, so that the split is the same for all languages.

    :param name: the collection's folder
    :param test_tenths: how many tenths of the concepts are held out
    :param lines: read only this many lines of each file
    """
    concepts = read_collection(name, langs, lines=lines)
    return _split_by_keys(concepts, [duplicate_group(name, concept.id) for concept in concepts], test_tenths)


def _split_by_keys(concepts: Sequence[Concept], keys: Sequence[str], test_tenths: int) -> Split:
    split = Split([], [])
    for concept, key in zip(concepts, keys, strict=True):
        is_test = hash_text(key) % 10 < test_tenths
        (split.test if is_test else split.train).append(concept)
    return split


def read_collection(name: str, langs: Sequence[str], *, lines: int | None = None) -> list[Concept]:
    """Read all concepts of a collection in some languages."""
    return _read_concepts(data_folder() / name, tuple(langs), lines)


@lru_cache(maxsize=2)
def _read_concepts(folder: Path, langs: tuple[str, ...], lines: int | None) -> list[Concept]:
    paths = [folder / f"{lang}.jsonl.gz" for lang in langs]
    if lines is None:
        return read_concepts(paths)
    return group_by_concept(part for path in paths for part in islice(read_jsonl_concept_texts(path), lines))


def select_multilingual(concepts: Sequence[Concept], langs: Sequence[str]) -> list[Concept]:
    """Select the concepts that have a text in each of these languages."""
    return [c for c in concepts if all(c.texts.get(lang) for lang in langs)]


def restrict_languages(concept: Concept, langs: Sequence[str]) -> Concept:
    """Return the concept with the texts of these languages only, without titles."""
    return concept._replace(texts={lang: concept.texts[lang] for lang in langs}, titles={})


def sample_by_hash(items: Sequence[T], size: int, seed: int) -> list[T]:
    """Sample at most `size` items in their order, by a hash of seed and id: independent of which other items exist."""
    if len(items) <= size:
        return list(items)
    hashes = [hash_text(f"{seed}:{item.id}") for item in items]
    largest = sorted(hashes)[size - 1] if size else -1
    return [item for item, value in zip(items, hashes, strict=True) if value <= largest]


def split_sentences(lang: str) -> Split:
    """Split Tatoeba's sentence pairs of English and a language; a tenth is held out."""
    return split_sentence_pairs(read_sentence_pairs(lang), lang)


def read_sentence_pairs(lang: str) -> Iterator[tuple[str, str]]:
    """Read Tatoeba's sentence pairs of English and a language."""
    with gzip.open(data_folder() / "tatoeba" / f"en-{lang}.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            english, translation = line.rstrip("\n").split("\t")[:2]
            yield english, translation


def drop_repeated_sentences(pairs: Iterable[Sequence[str]]) -> Iterator[tuple[int, str, str]]:
    """Yield the number of each pair and its sentences, of which neither was in a pair before."""
    sentences_so_far: set[str] = set()
    for number, (english, translation) in enumerate(pairs):
        if english not in sentences_so_far and translation not in sentences_so_far:
            sentences_so_far |= {english, translation}
            yield number, english, translation


def split_titled_concepts(collection: str, lang: str, *, lines: int | None = None) -> Split:
    """Split a collection, or Tatoeba's sentences ("tatoeba"), of which those held out are their own English titles."""
    if collection != "tatoeba":
        return split_collection(collection, ["en", lang], lines=lines)
    split = split_sentences(lang)
    return Split(split.train, [c._replace(titles={"en": c.texts["en"]}) for c in split.test])


def split_sentence_pairs(pairs: Iterable[Sequence[str]], lang: str) -> Split:
    """Make each pair (English, other language) a concept, drop repeated sentences, and hold out a tenth by a hash."""
    concepts = [
        Concept(f"t{number}", {"en": english, lang: translation})
        for number, english, translation in drop_repeated_sentences(pairs)
    ]
    return _split_by_keys(concepts, [concept.texts["en"] for concept in concepts], 1)


def make_known_item_task(
    concepts: list[Concept], source: str, targets: list[str]
) -> tuple[list[Query], list[Document], Qrels]:
    """Make titles in one language queries for the texts of the same concepts in other languages.

    All texts in the target languages are documents, also those of concepts without a query.
    """
    documents = [
        Document(f"{c.id}.{lang}", c.texts[lang], lang, c.titles.get(lang, ""))
        for c in concepts
        for lang in targets
        if lang in c.texts
    ]
    queries: list[Query] = []
    qrels: Qrels = {}
    for concept in concepts:
        relevant = {f"{concept.id}.{lang}": 1 for lang in targets if lang in concept.texts}
        if concept.titles.get(source) and relevant:
            queries.append(Query(f"{concept.id}.{source}", concept.titles[source], source))
            qrels[f"{concept.id}.{source}"] = relevant
    return queries, documents, qrels


@contextmanager
def open_term_index(documents: Sequence[Document], fields: Sequence[str]) -> Iterator[tuple[Store, Statistics]]:
    """Index the terms of documents for the duration of a block."""
    with tempfile.TemporaryDirectory() as folder:
        store = create_store(str(Path(folder) / "terms"), dense={}, sparse=[TERMS_VECTOR])
        index = TermIndex.build(store, fields=tuple(fields))
        for start in range(0, len(documents), 1000):
            index.add(documents[start : start + 1000])
        index.refresh()
        yield store, index.statistics
        store.close()


def rank_randomly(candidates: Mapping[str, Sequence[str]], seed: int, depth: int | None = None) -> Run:
    """Rank the candidates of each query, by id, in a random order."""
    rng = np.random.default_rng(seed)
    return {
        query_id: rank_scores(rng.random(len(doc_ids)).astype(np.float32), doc_ids, depth or len(doc_ids))
        for query_id, doc_ids in candidates.items()
    }


def duplicate_group(collection: str, concept: str) -> str:
    """Name the group of near-duplicates that must be on one side of a split: Debian's packages of one source."""
    if collection == "ddtp":
        package = concept.split(":")[0]
        return package.split("-")[0]  # 0ad, 0ad-data, 0ad-data-common
    return concept


def assign_partition(key: str, twentieths: int) -> str:
    """Assign a key to "test", "valid" or "train"; the default model's held-out build is made with the same function."""
    bucket = hash_text(key) % 20
    return "test" if bucket < twentieths else "valid" if bucket < 2 * twentieths else "train"


def hash_text(text: str) -> int:
    """Hash a text to a number below 2 ** 32, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "little")
