"""K-NRM: rerank documents by soft matches between the words of a query and of a document, in one language or two.

Xiong, Dai, Callan, Liu and Power, SIGIR 2017; across languages: Qing Liu, "A Neural Approach to Cross-Lingual
Information Retrieval", CMU 2018. What we do otherwise is in docs/papers/knrm.md. Training takes torch, scoring numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss import judgments
from paragloss.errors import InputError, ModelError
from paragloss.learning import pairs, sampling
from paragloss.learning.settings import (
    Batch,
    Checkpoint,
    Device,
    Dim,
    Epochs,
    MaxTerms,
    MinDf,
    Rate,
    Seed,
    Setting,
    WordVectors,
    checked,
)
from paragloss.serving import kernels
from paragloss.serving.bag import BagEncoder
from paragloss.serving.knrm import Knrm
from paragloss.types import Aligned, Judged
from paragloss.vocabulary import Vocabulary, weigh

if TYPE_CHECKING:
    from paragloss.descent.kernels import Ranker
    from paragloss.descent.loop import Progress

NEGATIVES = ("random", "hard")


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    query: Annotated[str, Setting("What a concept asks with.", words=judgments.QUERIES)] = "title",
    negatives: Annotated[
        str, Setting("Which documents the right one is set against: any, or those most like it.", words=NEGATIVES)
    ] = "random",
    epochs: Epochs = 20,
    batch: Batch = 64,
    learning_rate: Rate = 1e-3,
    start: Annotated[str, Setting("A saved encoder, or word vectors, whose word vectors to start from.")] = "",
    device: Device = "cpu",
    progress: Callable[[Progress], None] | None = None,
) -> Knrm:
    """Learn to rerank from aligned documents: English (or the language that most concepts have) asks with titles,
    first sentences or whole texts, and the concept's text in each other language should come first.

    `start` names a saved bag encoder whose word vectors to start from; `dim` is then that encoder's. Without one, word
    vectors start at random, which takes far more documents to become good.
    """
    asking, answering = pairs.pivot(aligned)
    asked = query if query != "title" or any(concept.titles.get(asking) for concept in aligned) else "first-sentence"
    judged = [judgments.from_aligned(aligned, source=asking, target=lang, query=asked) for lang in answering]
    vectors = {}
    if start:
        known = BagEncoder.load(start)
        dim = known.dim
        vectors = {
            lang: dict(zip(known.towers[lang].vocabulary.terms, known.words(lang), strict=True))
            for lang in (asking, *answering)
            if lang in known.langs
        }
    return fit_judged(
        *judged,
        dim=dim,
        seed=seed,
        negatives=negatives,
        epochs=epochs,
        batch=batch,
        learning_rate=learning_rate,
        vectors=vectors,
        device=device,
        progress=progress,
    )


@checked
def fit_judged(
    *judged: Judged,
    dim: Dim = 300,
    seed: Seed = 0,
    negatives: Annotated[
        str, Setting("Which documents the right one is set against: any, or those most like it.", words=NEGATIVES)
    ] = "random",
    per_positive: Annotated[
        int, Setting("How many others each relevant document meets in an epoch.", least=1, most=100_000)
    ] = 4,
    off: Annotated[
        Sequence[int], Setting("Kernels to switch off by number; 0 is the exact match.", least=0, most=10)
    ] = (),
    shared: Annotated[bool, Setting("One vector for a word that two languages spell alike.")] = False,
    epochs: Epochs = 20,
    batch: Batch = 64,
    learning_rate: Rate = 1e-3,
    epsilon: Annotated[float, Setting("What keeps Adam from dividing by nothing.", above=0, most=1)] = 1e-5,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 1,
    vectors: WordVectors = None,
    device: Device = "cpu",
    checkpoint: Checkpoint = None,
    progress: Callable[[Progress], None] | None = None,
) -> Knrm:
    """Learn from judgments, one set per pair of languages; the two may be the same.

    Each judged document above grade 0 meets `per_positive` others of lower grade in every epoch: documents judged
    lower for the query if there are any, otherwise unjudged ones, at random or (`negatives="hard"`) from those most
    like it. `off` switches kernels off by number, 0 being the exact match. `shared` gives a word that two languages
    spell alike one vector instead of two. Word vectors start from `vectors` (language -> word -> vector), or evenly
    in (-1, 1).
    """
    if negatives not in NEGATIVES:
        raise ModelError(f"negatives {negatives!r}: expected one of {', '.join(NEGATIVES)}")
    if not judged:
        raise InputError("no judgments to learn from")
    from paragloss.descent import kernels as training
    from paragloss.descent.bags import bags

    rng = np.random.default_rng(seed)
    vocabularies = pairs.vocabularies(judged, max_terms=max_terms, min_df=min_df)
    rows, size = _rows(vocabularies, shared=shared)
    table = rng.uniform(-1, 1, (size, dim)).astype(np.float32)
    for lang, known in (vectors or {}).items():
        for term, row in zip(vocabularies[lang].terms, rows[lang], strict=True):
            if term in known:
                table[row] = known[term]
    model = training.ranker(table, tuple(off), rng, device)
    queries, documents, sources = [], [], []
    for one in judged:
        source, target = pairs.languages(one)
        queries.append(vocabularies[source].counts([query.text for query in one.queries]))
        documents.append(vocabularies[target].counts([document.text for document in one.documents.values()]))
        alike = weigh(documents[-1], vocabularies[target].idf, "tfidf") if negatives == "hard" else None
        sources.append(sampling.source(pairs.grades(one), alike))
        queries[-1] = _to_rows(queries[-1], rows[source], size)
        documents[-1] = _to_rows(documents[-1], rows[target], size)

    def triples(epoch: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        drawn, first, base = [], 0, 0
        for one, asked, read in zip(sources, queries, documents, strict=True):
            drawn.append(sampling.draw(one, per_positive, rng) + np.array([[first], [base], [base]]))
            first, base = first + asked.shape[0], base + read.shape[0]
        return np.concatenate(drawn, axis=1)

    history = training.train(
        model,
        bags(sp.vstack(queries, format="csr"), device),
        bags(sp.vstack(documents, format="csr"), device),
        triples,
        batch=batch,
        epochs=epochs,
        learning_rate=learning_rate,
        epsilon=epsilon,
        seed=seed,
        checkpoint=checkpoint,
        progress=progress,
    )
    about = {"method": "knrm", "negatives": negatives, "off": list(off), "loss": history.epochs[-1].loss}
    return _served(model, vocabularies, rows, about)


class Triples(NamedTuple):
    """Queries, better and worse documents as term ids from 0, and by how much the better one is better."""

    queries: list[list[int]]
    better: list[list[int]]
    worse: list[list[int]]
    margins: list[float]


def read_triples(path: str | Path) -> Triples:
    """The authors' training file: `query<TAB>better<TAB>worse<TAB>difference[<TAB>idf]`, ids from 1 joined by commas.

    An id of -1 is a word out of the vocabulary and left out; the idf column is not used.
    """
    found = Triples([], [], [], [])
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            fields = line.rstrip("\n").split("\t")
            try:
                if len(fields) not in (4, 5):
                    raise ValueError(f"{len(fields)} columns")
                texts = [[i - 1 for i in map(int, field.split(",")) if i != -1] for field in fields[:3]]
                if any(i < 0 for text in texts for i in text):
                    raise ValueError("an id below 1")
                found.margins.append(float(fields[3]))
            except ValueError as error:
                raise InputError(
                    f"{path}:{number}: {error}; expected query, better, worse (ids from 1, with commas), difference"
                ) from None
            for column, text in zip(found[:3], texts, strict=True):
                column.append(text)
    return found


@checked
def fit_triples(
    triples: Triples,
    vocabulary: Vocabulary,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    off: Annotated[
        Sequence[int], Setting("Kernels to switch off by number; 0 is the exact match.", least=0, most=10)
    ] = (),
    epochs: Epochs = 20,
    batch: Batch = 64,
    learning_rate: Rate = 1e-3,
    epsilon: Annotated[float, Setting("What keeps Adam from dividing by nothing.", above=0, most=1)] = 1e-5,
    device: Device = "cpu",
    checkpoint: Checkpoint = None,
    progress: Callable[[Progress], None] | None = None,
) -> Knrm:
    """Learn from triples whose ids are those of one vocabulary, in the order they are given; margins are not used."""
    from paragloss.descent import kernels as training
    from paragloss.descent.bags import bags

    size, count = len(vocabulary), len(triples.queries)
    rng = np.random.default_rng(seed)
    model = training.ranker(rng.uniform(-1, 1, (size, dim)).astype(np.float32), tuple(off), rng, device)
    number = np.arange(count)
    history = training.train(
        model,
        bags(_counts(triples.queries, size), device),
        bags(_counts(triples.better + triples.worse, size), device),
        lambda epoch, rng: np.stack([number, number, number + count]),
        batch=batch,
        epochs=epochs,
        learning_rate=learning_rate,
        epsilon=epsilon,
        seed=seed,
        checkpoint=checkpoint,
        progress=progress,
    )
    about = {"method": "knrm", "off": list(off), "loss": history.epochs[-1].loss}
    return _served(model, {vocabulary.lang: vocabulary}, {vocabulary.lang: np.arange(size)}, about)


def _served(
    model: Ranker,
    vocabularies: Mapping[str, Vocabulary],
    rows: Mapping[str, npt.NDArray[np.int64]],
    about: Mapping[str, Any],
) -> Knrm:
    table = kernels.unit(model.table.detach().cpu().numpy())
    weight = (model.weight * model.active).detach().cpu().numpy()
    return Knrm(vocabularies, rows, table, weight, float(model.bias.detach()), meta=about)


def _rows(vocabularies: Mapping[str, Vocabulary], *, shared: bool) -> tuple[dict[str, npt.NDArray[np.int64]], int]:
    """Which row of the table each word has, and how many rows there are."""
    numbers: dict[tuple[str, str], int] = {}
    rows = {
        lang: np.array(
            [numbers.setdefault(("" if shared else lang, term), len(numbers)) for term in vocabulary.terms], np.int64
        )
        for lang, vocabulary in vocabularies.items()
    }
    return rows, len(numbers)


def _to_rows(counts: sp.csr_matrix, rows: npt.NDArray[np.int64], size: int) -> sp.csr_matrix:
    return sp.csr_matrix((counts.data, rows[counts.indices], counts.indptr), shape=(counts.shape[0], size))


def _counts(texts: Sequence[Sequence[int]], size: int) -> sp.csr_matrix:
    indptr = np.cumsum([0, *map(len, texts)])
    flat = np.fromiter((i for text in texts for i in text), np.int64, count=int(indptr[-1]))
    counts = sp.csr_matrix((np.ones(len(flat), np.float32), flat, indptr), shape=(len(texts), size))
    counts.sum_duplicates()
    return counts
