"""K-NRM: rerank documents by soft matches between the words of a query and of a document, in one language or two.

Xiong, Dai, Callan, Liu and Power, SIGIR 2017; across languages: Qing Liu, "A Neural Approach to Cross-Lingual
Information Retrieval", CMU 2018. What we do otherwise is in docs/understand/papers/knrm.md. Training takes torch,
scoring numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from paragloss.encoders import kernel_features, published
from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.kernel_ranker import Knrm, Words, describe_first_scores
from paragloss.errors import InputError
from paragloss.evaluation import evaluate
from paragloss.lab import judgments
from paragloss.lab.learning import firststage, pairs, sampling
from paragloss.lab.methods import cr5
from paragloss.lab.settings import (
    Batch,
    Device,
    Dim,
    Epochs,
    MaxTerms,
    MinDf,
    Patience,
    Rate,
    Seed,
    Setting,
    Stem,
    Validation,
    WordVectors,
    checked,
)
from paragloss.lab.solving.lists import weigh_lists
from paragloss.ranking import rank_scores
from paragloss.types import Aligned, Document, Floats, Integers, JudgedCollection, Query
from paragloss.vocabulary import Vocabulary, weigh

if TYPE_CHECKING:
    from paragloss.lab.descent.kernel_networks import Ranker
    from paragloss.lab.descent.loop import EpochProgress, History

NEGATIVES = ("random", "hard")
#: Number of features of the first search (columns of `describe_first_scores`).
_FIRST_STAGE_FEATURES = 3
#: How many searches are made for every concept, and how many stronger ones are simulated. Without any of these,
#: reranking made the results of a learned table worse on two of seven sets; with more than three, it improved those of
#: Cr5 less.
_REAL_SEARCHES, _STRONGER_SEARCHES = 2, 3


QueryKind: TypeAlias = Annotated[str, Setting("Which text of a concept is the query.", words=judgments.QUERY_KINDS)]
Start: TypeAlias = Annotated[str, Setting("A saved encoder, or word vectors, whose word vectors are used.")]
Folds: TypeAlias = Annotated[int, Setting("How many parts of the concepts are held out in turn.", min=2, max=100)]
MaxQueries: TypeAlias = Annotated[int, Setting("How many held-out concepts to learn from.", min=10, max=1_000_000)]
Depth: TypeAlias = Annotated[int, Setting("How many candidates of each concept to learn from.", min=2, max=1000)]
Penalty: TypeAlias = Annotated[float, Setting("How much large weights cost.", min=0, max=100)]


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    query: QueryKind = "title",
    start: Start = "",
    folds: Folds = 5,
    queries: MaxQueries = 400,
    depth: Depth = 30,
    penalty: Penalty = 0.01,
    progress: Callable[[float, float], None] | None = None,
) -> Knrm:
    """Learn to rerank from aligned documents.

    A query is made of each concept, in English or the language that most concepts have; the concept's texts in other
    languages should rank first. Word vectors stay fixed; weights of the kernels and of the first search are learned
    from the documents that each fold of the concepts finds with word vectors trained on the other folds.

    :param aligned: concepts with their texts in several languages
    :param query: which text of a concept is its query: its title, its first sentence or its whole text
    :param start: a saved encoder, or word vectors, to start from; by default Cr5 is trained, with `dim` dimensions
    :param queries: how many concepts to learn from at most; `depth` is how many documents of each search
    :param penalty: limits the weights, which matters with few concepts
    :return: a reranker of documents in these languages
    """
    query_kind, judged_sets = _make_judged_sets(aligned, query)
    start_encoder = published.open_bag_encoder(start) if start else None
    train_vectors = partial(_get_encoder, start_encoder, dim=dim, seed=seed)
    concept_folds = firststage.split_folds(len(aligned), parts=folds, max_items=queries, seed=seed)
    list_held_out = partial(_list_held_out, aligned, judged_sets, train_vectors, depth)
    candidate_lists = _collect_candidates(list_held_out, concept_folds, seed, progress)
    if not any(candidates.is_real for candidates in candidate_lists):
        raise InputError(f"no text of {len(aligned)} concepts is found by its {query_kind}: give more to learn from")
    weights, loss = _learn_weights(candidate_lists, penalty)
    meta = {"method": "knrm", "asked": query_kind, "lists": len(candidate_lists), "loss": loss, "start": start or "cr5"}
    return _make_reranker(train_vectors(aligned), weights, meta)


def _make_judged_sets(aligned: Aligned, query_kind: str) -> tuple[str, list[JudgedCollection]]:
    """Make queries of the concepts in one language for their texts in each other language.

    :param query_kind: one of `judgments.QUERY_KINDS`; instead of titles that no concept has, first sentences are used
    :return: the kind that was used, and a collection for each language of documents
    """
    query_lang, document_langs = pairs.choose_query_language(aligned)
    if query_kind == "title" and not any(concept.titles.get(query_lang) for concept in aligned):
        query_kind = "first-sentence"
    judged_sets = []
    for lang in document_langs:
        judged_sets.append(judgments.from_aligned(aligned, source=query_lang, target=lang, query_kind=query_kind))
    return query_kind, judged_sets


def _get_encoder(start: BagEncoder | None, concepts: Aligned, *, dim: int, seed: int) -> BagEncoder:
    """Return the encoder to start from; without one, Cr5 trained on some concepts."""
    return start or cr5.fit_space(concepts, dim=dim, seed=seed)


def _collect_candidates(
    list_held_out: Callable[[Integers, np.random.Generator], Iterator[_CandidateList]],
    concept_folds: Sequence[Integers],
    seed: int,
    progress: Callable[[float, float], None] | None,
) -> list[_CandidateList]:
    """Collect the candidates of the concepts of all folds, and report the progress after each fold.

    :param list_held_out: (fold, random numbers) -> the candidates of the concepts of the fold
    :param concept_folds: numbers of the concepts of each fold
    :param progress: called with the share of the work done
    """
    candidate_lists: list[_CandidateList] = []
    n_steps = len(concept_folds) + 1  # the last one is the training of the vectors that are served
    for number, fold in enumerate(concept_folds):
        candidate_lists += list_held_out(fold, np.random.default_rng([seed, number]))
        if progress is not None:
            progress((number + 1) / n_steps, 0.0)
    return candidate_lists


def _list_held_out(
    aligned: Aligned,
    judged_sets: Sequence[JudgedCollection],
    train_vectors: Callable[[Aligned], BagEncoder],
    depth: int,
    fold: Integers,
    rng: np.random.Generator,
) -> Iterator[_CandidateList]:
    """Yield the candidates of the concepts of a fold, found by an encoder that was trained on the other concepts.

    :param judged_sets: queries of all concepts, and their documents, of each pair of languages
    :param train_vectors: makes an encoder from concepts
    :param depth: candidates of each search
    :param fold: numbers of the concepts that are held out
    :param rng: draws the simulated searches
    """
    held_out_ids = {aligned[i].id for i in fold}
    encoder = train_vectors([concept for concept in aligned if concept.id not in held_out_ids])
    for judged in judged_sets:
        yield from _list_candidates(encoder, judged, held_out_ids, depth, rng)


def _make_reranker(encoder: BagEncoder, weights: _Weights, meta: dict[str, Any]) -> Knrm:
    """Make a reranker of the word vectors of an encoder and learned weights.

    :param encoder: its word vectors are used
    :param meta: how the model was made
    """
    words = _TableWords.assign_rows({lang: tower.vocabulary for lang, tower in encoder.towers.items()}, shared=False)
    table = kernel_features.normalize_rows(np.vstack([encoder.words(lang) for lang in words.vocabularies]))
    return Knrm(
        words.vocabularies,
        words.rows,
        table,
        bias=0.0,
        kernel_weights=weights.text_kernels,
        title_kernel_weights=weights.title_kernels,
        first_search_weights=weights.first_search,
        verbatim_weights=weights.verbatim,
        meta=meta,
    )


class _CandidateList(NamedTuple):
    """The candidates of one search as training data."""

    first_stage: Floats  # (candidates, 3) scores of the search, see `describe_first_scores`
    features: Floats  # (candidates, 2 x kernels + 2) of text and title; the last two count words shared with the query
    right: int  # position of the right candidate
    is_real: bool  # False for a simulated search


class _Weights(NamedTuple):
    """The weights of a reranker."""

    first_search: Floats  # (3,) of the scores of the first search, see `describe_first_scores`
    text_kernels: Floats  # (kernels,) of the kernels of the text
    title_kernels: Floats  # (kernels,) of the kernels of the title
    verbatim: Floats  # (2,) of the words that the text, and that the title, shares with the query


def _learn_weights(lists: Sequence[_CandidateList], penalty: float) -> tuple[_Weights, float]:
    """Learn the weights of a reranker in two steps; return them and the loss.

    The first step learns how much the features of words (kernels and shared words) count relative to each other, the
    second one how much they count together, beside the scores of the first search.

    :param lists: candidates of real and of simulated searches
    :param penalty: limits the squared weights
    """
    real_lists = [candidates for candidates in lists if candidates.is_real]
    relative_weights = _learn_relative_weights(real_lists, penalty)
    first_search_weights, scale, loss = _learn_scale(lists, relative_weights, penalty)
    word_weights = (scale * relative_weights).astype(np.float32)
    n_kernels = len(kernel_features.MEANS)
    text_end, title_end = n_kernels, 2 * n_kernels  # the columns of `_CandidateFeatures.compute`
    weights = _Weights(
        first_search_weights,
        text_kernels=word_weights[:text_end],
        title_kernels=word_weights[text_end:title_end],
        verbatim=word_weights[title_end:],
    )
    return weights, loss


def _learn_relative_weights(real_lists: Sequence[_CandidateList], penalty: float) -> npt.NDArray[np.float64]:
    """Learn the weights of the kernels and of shared words relative to each other: (2 x kernels + 2,).

    :param real_lists: candidates of real searches only: in a simulated one the right document often looks wrong, which
        would reverse the weights
    """
    features = [np.hstack([candidates.first_stage, candidates.features]) for candidates in real_lists]
    weights, _ = weigh_lists(features, [candidates.right for candidates in real_lists], penalty=penalty)
    return weights[_FIRST_STAGE_FEATURES:]


def _learn_scale(
    lists: Sequence[_CandidateList], relative_weights: npt.NDArray[np.float64], penalty: float
) -> tuple[Floats, float, float]:
    """Learn how much the scores of the first search count, and the scores by words beside them.

    Neither is below zero, so that the worst reranking changes nothing.

    :param lists: candidates of real and of simulated searches
    :param relative_weights: the weights of the features whose sum is the score by words
    :return: the weights of the first search, (3,); the factor of the score by words; and the loss
    """
    features, right_candidates = [], []
    for candidates in lists:
        word_scores = candidates.features @ relative_weights  # (candidates,)
        features.append(np.column_stack([candidates.first_stage, word_scores]))  # (candidates, 3 + 1)
        right_candidates.append(candidates.right)
    weights, loss = weigh_lists(features, right_candidates, penalty=penalty, minimum=0.0)  # (3 + 1,)
    first_search_weights = weights[:_FIRST_STAGE_FEATURES].astype(np.float32)
    word_factor = float(weights[_FIRST_STAGE_FEATURES])
    return first_search_weights, word_factor, loss


def _list_candidates(
    encoder: BagEncoder, judged: JudgedCollection, held_out_ids: Set[str], depth: int, rng: np.random.Generator
) -> Iterator[_CandidateList]:
    """Yield the candidates that several searches rank best for each held-out concept.

    :param encoder: an encoder that was not trained on the held-out concepts; nothing is yielded if it does not know the
        language of the queries or that of the documents
    :param judged: a query of each concept, and the document of the same id that is right for it
    :param depth: candidates of each search
    :param rng: draws the simulated searches
    """
    query_lang, document_lang = pairs.get_languages(judged)
    queries = [query for query in judged.queries if query.id in held_out_ids]
    documents = [judged.documents[query.id] for query in queries]
    if not queries or query_lang not in encoder.langs or document_lang not in encoder.langs:
        return
    scores_by_search = _score_by_searches(encoder, queries, documents, rng)
    rankings_by_query: dict[int, list[_Ranking]] = {}
    for number, scores in enumerate(scores_by_search):
        is_real = number < _REAL_SEARCHES  # the simulated searches come after the real ones
        for candidates in firststage.rank_candidates(scores, depth):
            ranking = _Ranking(candidates, is_real)
            rankings_by_query.setdefault(candidates.query, []).append(ranking)
    features_of = _CandidateFeatures.build(encoder, queries, documents)
    for query_number, rankings in rankings_by_query.items():
        yield from _describe_rankings(features_of, query_number, rankings)


class _Ranking(NamedTuple):
    """The best documents of one query by one search."""

    candidates: firststage.Candidates
    is_real: bool  # False for a simulated search


def _describe_rankings(
    features_of: _CandidateFeatures, query_number: int, rankings: Sequence[_Ranking]
) -> Iterator[_CandidateList]:
    """Turn each ranking of one query into training data.

    The features of a document are computed once for all rankings that it is in.

    :param features_of: computes the features of documents for a query, both given by their numbers
    """
    document_numbers = np.unique(np.concatenate([ranking.candidates.documents for ranking in rankings]))
    features = features_of.compute(query_number, document_numbers)  # (documents, features)
    for candidates, is_real in rankings:
        rows = np.searchsorted(document_numbers, candidates.documents)  # into `features`
        first_stage = describe_first_scores(candidates.scores)
        yield _CandidateList(first_stage, features[rows], candidates.right, is_real)


def _score_by_searches(
    encoder: BagEncoder, queries: Sequence[Query], documents: Sequence[Document], rng: np.random.Generator
) -> list[Floats]:
    """Score all documents for all queries by several searches: a matrix (queries, documents) for each.

    The first _REAL_SEARCHES are real: by the vectors of an encoder, and by shared words. The others are simulated: they
    are the search by vectors with higher scores for the right documents, as a better encoder would give.

    :param documents: the right document of each query
    """
    query_lang, document_lang = queries[0].lang, documents[0].lang
    query_texts = [query.text for query in queries]
    document_texts = [document.full_text for document in documents]
    vector_scores = encoder.encode(query_texts, query_lang) @ encoder.encode(document_texts, document_lang).T
    shared_word_scores = firststage.score_shared_words(query_texts, query_lang, document_texts, document_lang)
    simulated = [firststage.simulate_stronger_search(vector_scores, rng) for _ in range(_STRONGER_SEARCHES)]
    return [vector_scores, shared_word_scores, *simulated]


class _CandidateFeatures(NamedTuple):
    """Computes the features of documents for queries; both are given by their numbers."""

    untrained: Knrm
    queries: Sequence[Query]
    texts: list[Words]
    titles: list[Words]

    @classmethod
    def build(cls, encoder: BagEncoder, queries: Sequence[Query], documents: Sequence[Document]) -> _CandidateFeatures:
        """Prepare to compute features: look up the words of the texts and titles of all documents once.

        :param encoder: its word vectors are compared
        """
        n_kernels = len(kernel_features.MEANS)
        no_weights = _Weights(*(np.zeros(n, np.float32) for n in (_FIRST_STAGE_FEATURES, n_kernels, n_kernels, 2)))
        untrained = _make_reranker(encoder, no_weights, {})
        texts = [untrained.words(document.full_text, document.lang) for document in documents]
        titles = [untrained.words(document.title or document.text, document.lang) for document in documents]
        return cls(untrained, queries, texts, titles)

    def compute(self, query_number: int, document_numbers: Integers) -> Floats:
        """Return the features of some documents for a query: (documents, 2 x kernels + 2)."""
        query = self.queries[query_number]
        query_ids = self.untrained.ids(query.text, query.lang)
        texts = [self.texts[i] for i in document_numbers]
        titles = [self.titles[i] for i in document_numbers]
        text_kernels = self.untrained.compute_features(query_ids, [words.ids for words in texts])
        title_kernels = self.untrained.compute_features(query_ids, [words.ids for words in titles])
        shared_words = self.untrained.measure_shared_words(query.text, query.lang, [texts, titles])
        return np.hstack([text_kernels, title_kernels, shared_words])


Negatives: TypeAlias = Annotated[
    str, Setting("Which documents the right one is compared with: any, or the most similar.", words=NEGATIVES)
]
PerPositive: TypeAlias = Annotated[
    int, Setting("How many others each relevant document is compared with in an epoch.", min=1, max=100_000)
]
Difference: TypeAlias = Annotated[
    int, Setting("By how much the grades of two documents must differ to learn from them.", min=1, max=10**9)
]
KernelsOff: TypeAlias = Annotated[
    Sequence[int], Setting("Numbers of kernels to switch off; 0 is the exact match.", min=0, max=10)
]
AdamEpsilon: TypeAlias = Annotated[float, Setting("Epsilon in the denominator of Adam.", above=0, max=1)]
Shared: TypeAlias = Annotated[bool, Setting("Use one vector for words that are spelled alike in both languages.")]


@checked
def fit_judged(
    *judged: JudgedCollection,
    dim: Dim = 300,
    seed: Seed = 0,
    negatives: Negatives = "random",
    per_positive: PerPositive = 4,
    difference: Difference = 1,
    shared: Shared = False,
    validation: Validation = (),
    stem: Stem = True,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 1,
    vectors: WordVectors = None,
    off: KernelsOff = (),
    **training: Annotated[Any, _train],
) -> Knrm:
    """Learn to rerank from judged queries and documents, training word vectors and kernel weights together.

    In every epoch each relevant document (of a grade above 0) is compared with `per_positive` others: every second one
    is judged lower for the query, if there are any, the rest are unjudged. Grades may be those of `clicks --scores`.

    :param judged: collections, each with its queries in one language and its documents in one, perhaps the same
    :param negatives: unjudged documents are drawn at random, or ("hard") from those most similar to the better one
    :param validation: the epoch with the best nDCG@10 on these is kept, by default the last one
    :param vectors: language -> word -> vector to start from; others start evenly distributed in (-1, 1)
    """
    if not judged:
        raise InputError("no judgments to learn from")
    vocabularies = pairs.build_vocabularies(judged, max_terms=max_terms, min_df=min_df, stem=stem)
    words = _TableWords.assign_rows(vocabularies, shared=shared)
    counted_sets = [_count_judged(judged_set, words, negatives == "hard", difference) for judged_set in judged]
    training_set = _TrainingSet(counted_sets, per_positive)
    rng = np.random.default_rng(seed)
    table = rng.uniform(-1, 1, (words.n_rows, dim)).astype(np.float32)
    known_share = _fill_known_vectors(table, words, vectors or {})
    model, history = _train(table, rng, training_set, words, validation, seed=seed, off=off, **training)
    meta = {"method": "knrm", "off": list(off), "negatives": negatives, **_describe_history(history)}
    if vectors:
        meta["found"] = known_share
    return _make_knrm(model, words, meta)


def _describe_history(history: History) -> dict[str, Any]:
    """Return what a model saves about its training; the epoch `best` was kept."""
    return {"loss": history.epochs[-1].loss, "best": history.best, "epochs": len(history.epochs)}


class _TableWords(NamedTuple):
    """The words that have a vector in a table, and its row."""

    vocabularies: Mapping[str, Vocabulary]
    rows: Mapping[str, Integers]  # language -> the row of each of its words
    n_rows: int  # of the table

    @classmethod
    def assign_rows(cls, vocabularies: Mapping[str, Vocabulary], *, shared: bool) -> _TableWords:
        """Assign the words of several languages to the rows of a table, one language after another.

        :param shared: whether words that several languages spell alike have the same row
        """
        row_by_word: dict[tuple[str, str], int] = {}
        rows_by_lang = {}
        for lang, vocabulary in vocabularies.items():
            rows = []
            for term in vocabulary.terms:
                word = ("" if shared else lang, term)
                rows.append(row_by_word.setdefault(word, len(row_by_word)))
            rows_by_lang[lang] = np.array(rows, np.int64)
        return cls(vocabularies, rows_by_lang, len(row_by_word))

    def count_rows(self, texts: Sequence[str], lang: str) -> sp.csr_matrix:
        """Count how often each text of a language has the words of each row of the table: (texts, n_rows)."""
        counts = self.vocabularies[lang].counts(texts)
        rows = self.rows[lang][counts.indices]
        return sp.csr_matrix((counts.data, rows, counts.indptr), shape=(len(texts), self.n_rows))


def _fill_known_vectors(
    table: Floats, words: _TableWords, vectors: Mapping[str, Mapping[str, Floats]]
) -> dict[str, float]:
    """Overwrite the rows of known words in a table of word vectors, in place.

    :param table: (rows, dim)
    :param words: the words of the table
    :param vectors: language -> word -> vector
    :return: the share of the words of each of these languages that is known
    """
    known_share = {}
    for lang, known_vectors in vectors.items():
        vocabulary, rows = words.vocabularies[lang], words.rows[lang]
        known_share[lang] = pairs.fill_known_vectors(table, vocabulary, known_vectors, rows=rows)
    return known_share


def _measure_mean_ndcg(model: Ranker, words: _TableWords, validation: Sequence[JudgedCollection]) -> float:
    """Compute the nDCG@10 of parameters in training on judged collections: the mean of their means over queries."""
    reranker = _make_knrm(model, words, {})
    return float(np.mean([_measure_ndcg(reranker, judged_set) for judged_set in validation]))


def _measure_ndcg(reranker: Knrm, judged: JudgedCollection) -> float:
    """Compute the mean nDCG@10 of the judged documents of each query, ranked by the reranker."""
    run = {}
    for query in judged.queries:
        doc_ids = [doc_id for doc_id in judged.qrels[query.id] if doc_id in judged.documents]
        documents = [judged.documents[doc_id] for doc_id in doc_ids]
        scores = np.asarray(reranker.score(query, documents), np.float32)
        run[query.id] = rank_scores(scores, doc_ids, len(doc_ids))
    ndcg_by_query = evaluate(run, judged.qrels, ["nDCG@10"])["nDCG@10"]
    return float(np.mean(list(ndcg_by_query.values())))


class _CountedJudgments(NamedTuple):
    """A judged collection whose texts are counts over rows of a table."""

    queries: sp.csr_matrix  # (queries, rows)
    documents: sp.csr_matrix  # (documents, rows)
    source: sampling.TripleSource  # of triples of a query, a better and a worse document


class _TrainingSet(NamedTuple):
    """What a reranker is trained on: several judged collections, whose queries and documents are numbered through."""

    judged_sets: Sequence[_CountedJudgments]
    per_positive: int  # triples of each relevant document in an epoch

    def draw_triples(self, rng: np.random.Generator) -> Integers:
        """Draw the triples of an epoch: (3, triples) numbers of a query, a better and a worse document."""
        triples_by_set = []
        first_query, first_document = 0, 0
        for judged_set in self.judged_sets:
            offsets = np.array([[first_query], [first_document], [first_document]])
            triples_by_set.append(sampling.draw_triples(judged_set.source, self.per_positive, rng) + offsets)
            first_query += judged_set.queries.shape[0]
            first_document += judged_set.documents.shape[0]
        return np.concatenate(triples_by_set, axis=1)


def _train(
    table: Floats,
    rng: np.random.Generator,
    training_set: _TrainingSet,
    words: _TableWords,
    validation: Sequence[JudgedCollection],
    *,
    seed: int,
    off: Sequence[int],
    epochs: Epochs = 20,
    patience: Patience = 0,
    batch: Batch = 64,
    learning_rate: Rate = 1e-3,
    epsilon: AdamEpsilon = 1e-5,
    device: Device = "cpu",
    progress: Callable[[EpochProgress], None] | None = None,
) -> tuple[Ranker, History]:
    """Train word vectors and kernel weights together by gradients; return them, and the measures of the epochs.

    :param table: (rows, dim) word vectors to start from
    :param rng: draws the kernel weights to start from
    :param words: the words of the table's rows
    :param validation: the epoch with the best nDCG@10 on these is kept, without any the last one
    :param off: numbers of the kernels that are not used
    :param batch: triples in one step; `patience` is how many epochs without a better measure end the training
    """
    from paragloss.lab.descent import kernel_networks
    from paragloss.lab.descent.bags import bags
    from paragloss.lab.descent.loop import TrainingSettings

    model = kernel_networks.make_ranker(table, tuple(off), rng, device)
    judged_sets = training_set.judged_sets
    queries = bags(sp.vstack([judged_set.queries for judged_set in judged_sets], format="csr"), device)
    documents = bags(sp.vstack([judged_set.documents for judged_set in judged_sets], format="csr"), device)
    training = TrainingSettings(epochs, seed, learning_rate, epsilon=epsilon, patience=patience, progress=progress)
    validate = partial(_measure_mean_ndcg, model, words, validation) if validation else None
    history = kernel_networks.train_ranker(
        model, queries, documents, training_set.draw_triples, training, batch_size=batch, validate=validate
    )
    return model, history


def _count_judged(
    judged: JudgedCollection, words: _TableWords, has_hard_negatives: bool, difference: int
) -> _CountedJudgments:
    """Count the words of a judged collection, and prepare its grades for drawing triples.

    :param words: the words that have a vector, which are those that are counted
    :param has_hard_negatives: whether unjudged documents are those similar to the relevant one
    :param difference: by how much the grades of a triple differ at least
    """
    query_lang, document_lang = pairs.get_languages(judged)
    document_texts = [document.full_text for document in judged.documents.values()]
    similarity_rows = None
    if has_hard_negatives:
        vocabulary = words.vocabularies[document_lang]
        similarity_rows = weigh(vocabulary.counts(document_texts), vocabulary.idf, "tfidf")
    query_counts = words.count_rows([query.text for query in judged.queries], query_lang)  # (queries, words)
    document_counts = words.count_rows(document_texts, document_lang)  # (documents, words)
    grades = pairs.make_grade_matrix(judged)  # (queries, documents)
    source = sampling.make_source(grades, similarity_rows, difference=difference)
    return _CountedJudgments(query_counts, document_counts, source)


def _make_knrm(model: Ranker, words: _TableWords, meta: Mapping[str, Any]) -> Knrm:
    """Make the model that is served of the trained parameters."""
    table = kernel_features.normalize_rows(model.table.detach().cpu().numpy())
    weight = (model.weight * model.active).detach().cpu().numpy()
    return Knrm(words.vocabularies, words.rows, table, weight, float(model.bias.detach()), meta=meta)
