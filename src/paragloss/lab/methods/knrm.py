"""K-NRM: rerank documents by soft matches between the words of a query and of a document, in one language or two.

Xiong, Dai, Callan, Liu and Power, SIGIR 2017; across languages: Qing Liu, "A Neural Approach to Cross-Lingual
Information Retrieval", CMU 2018. What we do otherwise is in docs/understand/papers/knrm.md. Training takes torch,
scoring numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from paragloss.encoders import kernel_features, published
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.kernel_ranker import Knrm, standing
from paragloss.errors import InputError
from paragloss.lab import judgments
from paragloss.lab.learning import firststage, pairs, sampling
from paragloss.lab.methods import cr5
from paragloss.lab.settings import (
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
from paragloss.lab.solving.lists import weigh_lists
from paragloss.types import Aligned, Document, Floats, Integers, JudgedCollection, Query
from paragloss.vocabulary import Vocabulary, weigh

if TYPE_CHECKING:
    from paragloss.lab.descent.kernel_networks import Ranker
    from paragloss.lab.descent.loop import Progress

NEGATIVES = ("random", "hard")
#: Columns of `standing`, and how many times a surer search than ours is made up for every concept. With none, what a
#: learned table had found was spoilt on two of seven sets; with more than three, what Cr5 had found gained less.
_FIRST_STAGE_FEATURES, _STRONGER_SEARCHES = 3, 3


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    query: Annotated[str, Setting("What a concept asks with.", words=judgments.QUERIES)] = "title",
    start: Annotated[str, Setting("A saved encoder, or word vectors, whose word vectors to take.")] = "",
    folds: Annotated[int, Setting("Into how many parts concepts are dealt to be kept apart.", min=2, max=100)] = 5,
    queries: Annotated[int, Setting("How many concepts kept apart to learn from.", min=10, max=1_000_000)] = 400,
    depth: Annotated[int, Setting("How many candidates of each to learn from.", min=2, max=1000)] = 30,
    penalty: Annotated[float, Setting("What holds the weights down.", min=0, max=100)] = 0.01,
    progress: Callable[[float, float], None] | None = None,
) -> Knrm:
    """Learn to rerank from aligned documents: English (or the language that most concepts have) asks with titles,
    first sentences or whole texts, and the concept's text in each other language should come first.

    Word vectors come from `start`, a saved bag encoder, or from Cr5 learned on the same documents, and stay as they
    are. What is learned is how much each kernel counts, and how much what the search before said: from the `depth`
    best documents that search finds for concepts which neither it nor the vectors have seen, `queries` of them at
    most, dealt into `folds` parts. `penalty` holds the weights down where there is little to learn from.
    """
    asking, answering = pairs.pivot(aligned)
    query_kind = (
        query if query != "title" or any(concept.titles.get(asking) for concept in aligned) else "first-sentence"
    )
    judged = [judgments.from_aligned(aligned, source=asking, target=lang, query=query_kind) for lang in answering]
    start_encoder = published.opened(start) if start else None
    parts = firststage.split_folds(len(aligned), parts=folds, max_items=queries, seed=seed)
    lists: list[_List] = []
    for number, held_out in enumerate(parts):
        apart = {aligned[i].id for i in held_out}
        encoder = start_encoder or cr5.fit_space([c for c in aligned if c.id not in apart], dim=dim, seed=seed)
        rng = np.random.default_rng([seed, number])
        for judged_pair in judged:
            lists += _candidates(encoder, judged_pair, apart, depth, rng)
        if progress is not None:
            progress((number + 1) / (len(parts) + 1), 0.0)
    if not any(judged_pair.real for judged_pair in lists):
        raise InputError(f"no text of {len(aligned)} concepts is found by its {query_kind}: give more to learn from")
    learned, loss = _weighed(lists, penalty)
    vocabularies, table = _words(start_encoder or cr5.fit_space(aligned, dim=dim, seed=seed))
    about = {"method": "knrm", "asked": query_kind, "lists": len(lists), "loss": loss, "start": start or "cr5"}
    return Knrm(
        vocabularies,
        _number_rows(vocabularies),
        table,
        bias=0.0,
        trust=learned.trust,
        weight=learned.weight,
        title=learned.title,
        alike=learned.same_words,
        meta=about,
    )


class _List(NamedTuple):
    """The candidates of one search: how they stood, what the kernels feel of text and title, which one is right."""

    first_stage: Floats  # (candidates, 3)
    features: Floats  # (candidates, 2 x kernels + 2): what stands in text and title as it is asked comes last
    right: int
    real: bool  # False for a search that was made up


class _Learned(NamedTuple):
    """What `Knrm` takes beside words and their vectors."""

    trust: Floats
    weight: Floats
    title: Floats
    same_words: Floats


def _weighed(lists: Sequence[_List], penalty: float) -> tuple[_Learned, float]:
    """Learn how far to trust the first stage, and the weights of kernels and of exact words, on text and title.

    Kernels are weighed by what real searches found: in a made-up one the right document is often one that looks wrong,
    which would turn them round. Then all lists say how much the kernels together count beside each kind of standing,
    none of it below zero: the worst that reranking may do is nothing.
    """
    real = [candidates for candidates in lists if candidates.real]
    feature_lists = [np.hstack([candidates.first_stage, candidates.features]) for candidates in real]
    kernel_weights, _ = weigh_lists(feature_lists, [candidates.right for candidates in real], penalty=penalty)
    kernel = kernel_weights[_FIRST_STAGE_FEATURES:]
    feature_lists = [np.column_stack([candidates.first_stage, candidates.features @ kernel]) for candidates in lists]
    together, loss = weigh_lists(
        feature_lists, [candidates.right for candidates in lists], penalty=penalty, minimum=0.0
    )
    features = (together[_FIRST_STAGE_FEATURES] * kernel).astype(np.float32)
    weight, title, same_words = np.split(features, [len(kernel_features.MEANS), 2 * len(kernel_features.MEANS)])
    return _Learned(together[:_FIRST_STAGE_FEATURES].astype(np.float32), weight, title, same_words), loss


def _candidates(
    encoder: BagEncoder, judged: JudgedCollection, apart: Set[str], depth: int, rng: np.random.Generator
) -> Iterator[_List]:
    """Yield what several searches find for held-out concepts."""
    source, target = pairs.languages(judged)
    queries = [query for query in judged.queries if query.id in apart]
    documents = [judged.documents[query.id] for query in queries]
    if not queries or not {source, target} <= set(encoder.langs):
        return
    lists: dict[int, list[tuple[firststage.Candidates, bool]]] = {}
    for scores, real in _searches(encoder, queries, documents, rng):
        for candidates in firststage.rank_candidates(scores, depth):
            lists.setdefault(candidates.query, []).append((candidates, real))
    feel = _feeling(encoder, queries, documents)
    for query, several in lists.items():
        anyone = np.unique(
            np.concatenate([candidates.documents for candidates, _ in several])
        )  # felt once, for all searches
        features = feel(query, anyone)
        for candidates, real in several:
            yield _List(
                standing(candidates.scores),
                features[np.searchsorted(anyone, candidates.documents)],
                candidates.right,
                real,
            )


def _searches(
    encoder: BagEncoder, query_list: Sequence[Query], documents: Sequence[Document], rng: np.random.Generator
) -> Iterator[tuple[Floats, bool]]:
    """Scores (queries, documents) by meaning, by words as they stand and by something surer, and whether they are
    real: the last are made up."""
    source, target = query_list[0].lang, documents[0].lang
    queries, texts = [query.text for query in query_list], [document.full_text for document in documents]
    by_meaning = encoder.encode(queries, source) @ encoder.encode(texts, target).T
    yield by_meaning, True
    yield firststage.score_shared_words(queries, source, texts, target), True
    for _ in range(_STRONGER_SEARCHES):
        yield firststage.simulate_stronger_search(by_meaning, rng), False


def _feeling(
    encoder: BagEncoder, queries: Sequence[Query], documents: Sequence[Document]
) -> Callable[[int, Integers], Floats]:
    """Return a function that computes the kernel features of documents' texts and titles for a query, by number."""
    vocabularies, table = _words(encoder)
    blank = Knrm(vocabularies, _number_rows(vocabularies), table, np.zeros(len(kernel_features.MEANS), np.float32), 0.0)
    read = [blank.words(document.full_text, document.lang) for document in documents]
    names = [blank.words(document.title or document.text, document.lang) for document in documents]

    def feel(query: int, document_numbers: Integers) -> Floats:
        text, lang = queries[query].text, queries[query].lang
        words, parts = blank.ids(text, lang), [[part[i] for i in document_numbers] for part in (read, names)]
        soft = [blank.features_ids(words, [candidate_words.ids for candidate_words in part]) for part in parts]
        return np.hstack([*soft, blank.shared(text, lang, parts)])

    return feel


def _words(encoder: BagEncoder) -> tuple[dict[str, Vocabulary], Floats]:
    """Return every language's words and their vectors, of unit length, one language after another."""
    vocabularies = {lang: tower.vocabulary for lang, tower in encoder.towers.items()}
    return vocabularies, kernel_features.normalize_rows(np.vstack([encoder.words(lang) for lang in vocabularies]))


def _number_rows(vocabularies: Mapping[str, Vocabulary]) -> dict[str, Integers]:
    """Number the rows of the table by word, one language after another."""
    edges = np.cumsum([0, *map(len, vocabularies.values())])
    return {lang: np.arange(first, last) for lang, (first, last) in zip(vocabularies, pairwise(edges), strict=True)}


@checked
def fit_judged(
    *judged: JudgedCollection,
    dim: Dim = 300,
    seed: Seed = 0,
    negatives: Annotated[
        str, Setting("Which documents the right one is set against: any, or those most like it.", words=NEGATIVES)
    ] = "random",
    per_positive: Annotated[
        int, Setting("How many others each relevant document meets in an epoch.", min=1, max=100_000)
    ] = 4,
    difference: Annotated[
        int,
        Setting("By how much grades must differ for one document to be set above another.", min=1, max=10**9),
    ] = 1,
    shared: Annotated[bool, Setting("One vector for a word that two languages spell alike.")] = False,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 1,
    vectors: WordVectors = None,
    **settings: Annotated[Any, _learn],
) -> Knrm:
    """Learn from judgments, one set per pair of languages; the two may be the same.

    Each judged document above grade 0 meets `per_positive` others of lower grade in every epoch: documents judged
    lower for the query if there are any, otherwise unjudged ones, at random or (`negatives="hard"`) from those most
    like it. Where grades are scores of a click model in thousandths (`clicks --scores`), `difference` says which pairs
    are worth learning from. `shared` gives a word that two languages spell alike one vector instead of two. Word
    vectors start from `vectors` (language -> word -> vector), or evenly in (-1, 1). `settings` are those of `_learn`.
    """
    if not judged:
        raise InputError("no judgments to learn from")
    vocabularies = pairs.vocabularies(judged, max_terms=max_terms, min_df=min_df)
    rows, size = _rows(vocabularies, shared=shared)
    rng = np.random.default_rng(seed)
    table = rng.uniform(-1, 1, (size, dim)).astype(np.float32)
    start_vectors = (vectors or {}).items()
    vector_share = {
        lang: pairs.fill_known_vectors(table, vocabularies[lang], words, rows=rows[lang])
        for lang, words in start_vectors
    }
    hard = negatives == "hard"
    sets = [
        _counted(judged_set, vocabularies, rows, size, hard_negatives=hard, difference=difference)
        for judged_set in judged
    ]

    def triples(_: int, rng: np.random.Generator) -> Integers:
        drawn, first, base = [], 0, 0
        for judged_set in sets:
            drawn.append(
                sampling.draw_triples(judged_set.source, per_positive, rng) + np.array([[first], [base], [base]])
            )
            first, base = first + judged_set.queries.shape[0], base + judged_set.documents.shape[0]
        return np.concatenate(drawn, axis=1)

    queries, documents = (sp.vstack(part, format="csr") for part in zip(*((a, b) for a, b, _ in sets), strict=True))
    model, about = _learn(table, rng, queries, documents, triples, seed=seed, **settings)
    about |= {"negatives": negatives} | ({"found": vector_share} if vectors else {})
    return _served(model, vocabularies, rows, about)


def _learn(
    table: Floats,
    rng: np.random.Generator,
    queries: sp.csr_matrix,
    documents: sp.csr_matrix,
    triples: Callable[[int, np.random.Generator], Integers],
    *,
    seed: Seed,
    off: Annotated[
        Sequence[int], Setting("Kernels to switch off by number; 0 is the exact match.", min=0, max=10)
    ] = (),
    epochs: Epochs = 20,
    batch: Batch = 64,
    learning_rate: Rate = 1e-3,
    epsilon: Annotated[float, Setting("What keeps Adam from dividing by nothing.", above=0, max=1)] = 1e-5,
    device: Device = "cpu",
    checkpoint: Checkpoint = None,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Ranker, dict[str, Any]]:
    """Learn everything at once, by gradients, from triples of counted texts; `off` switches kernels off by number."""
    from paragloss.lab.descent import kernel_networks as training
    from paragloss.lab.descent.bags import bags

    model = training.ranker(table, tuple(off), rng, device)
    texts = bags(queries, device), bags(documents, device)
    steps: dict[str, Any] = {"epochs": epochs, "learning_rate": learning_rate, "epsilon": epsilon, "seed": seed}
    steps |= {"checkpoint": checkpoint, "progress": progress}
    history = training.train(model, *texts, triples, batch=batch, **steps)
    return model, {"method": "knrm", "off": list(off), "loss": history.epochs[-1].loss}


class _Counted(NamedTuple):
    """Judged texts as counts over rows of the table, and what triples are drawn from."""

    queries: sp.csr_matrix
    documents: sp.csr_matrix
    source: sampling.Source


def _counted(
    judged: JudgedCollection,
    vocabularies: Mapping[str, Vocabulary],
    rows: Mapping[str, Integers],
    size: int,
    *,
    hard_negatives: bool,
    difference: int,
) -> _Counted:
    source, target = pairs.languages(judged)
    queries = vocabularies[source].counts([query.text for query in judged.queries])
    documents = vocabularies[target].counts([document.full_text for document in judged.documents.values()])
    similarity_rows = weigh(documents, vocabularies[target].idf, "tfidf") if hard_negatives else None
    drawn_from = sampling.make_source(pairs.grades(judged), similarity_rows, difference=difference)
    return _Counted(_to_rows(queries, rows[source], size), _to_rows(documents, rows[target], size), drawn_from)


def _served(
    model: Ranker, vocabularies: Mapping[str, Vocabulary], rows: Mapping[str, Integers], about: Mapping[str, Any]
) -> Knrm:
    table = kernel_features.normalize_rows(model.table.detach().cpu().numpy())
    weight = (model.weight * model.active).detach().cpu().numpy()
    return Knrm(vocabularies, rows, table, weight, float(model.bias.detach()), meta=about)


def _rows(vocabularies: Mapping[str, Vocabulary], *, shared: bool) -> tuple[dict[str, Integers], int]:
    """Number the rows of the table by word; return the numbers and how many rows there are."""
    numbers: dict[tuple[str, str], int] = {}
    rows = {}
    for lang, vocabulary in vocabularies.items():
        own = [numbers.setdefault(("" if shared else lang, term), len(numbers)) for term in vocabulary.terms]
        rows[lang] = np.array(own, np.int64)
    return rows, len(numbers)


def _to_rows(counts: sp.csr_matrix, rows: Integers, size: int) -> sp.csr_matrix:
    return sp.csr_matrix((counts.data, rows[counts.indices], counts.indptr), shape=(counts.shape[0], size))
