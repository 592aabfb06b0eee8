"""Towers trained on graded judgments with smooth cosine similarity and the smooth ordinal search loss (SOSL).

Liu, Zhang, Goldwasser and Wang, "Cross-lingual document retrieval with smooth learning", 2020; what we do otherwise
is in docs/understand/papers/smooth-ordinal.md. Training needs torch; an average-pooling model is served without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import InputError, ModelError
from paragloss.evaluation.report import panels
from paragloss.lab import judgments
from paragloss.lab.learning import pairs
from paragloss.lab.settings import (
    Batch,
    Device,
    Dim,
    Epochs,
    MaxTerms,
    MinDf,
    Patience,
    Seed,
    Setting,
    Stem,
    Validation,
    WordVectors,
    checked,
)
from paragloss.types import Aligned, Encoder, JudgedCollection
from paragloss.vocabulary import Vocabulary, weigh

if TYPE_CHECKING:
    import torch

    from paragloss.lab.descent.graded import Task
    from paragloss.lab.descent.loop import EpochProgress, History
    from paragloss.lab.descent.towers import LanguageTower, TowerEncoder

ENCODERS = ("average", "cnn", "lstm")
#: A twentieth of fewer concepts is too little to compare epochs.
MIN_CONCEPTS_FOR_VALIDATION = 200
#: Proportions of concepts for training and for validation.
TRAINING_SPLIT = (19, 1)
#: The irrelevant documents of one batch are drawn from so many, where the encoder reads words in order.
POOL = 128


class StepDefaults(NamedTuple):
    """Settings of training that depend on the encoder."""

    learning_rate: float
    decay: float
    pool: int


#: Of encoders that read words in order, and of the average.
DEFAULTS_OF_ORDERED, DEFAULTS_OF_AVERAGE = StepDefaults(0.001, 0.95, POOL), StepDefaults(0.01, 1.0, 0)
Unjudged: TypeAlias = Annotated[
    int, Setting("Documents without a judgment that are drawn for every query and epoch.", min=0, max=100_000)
]


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 64,
    seed: Seed = 0,
    links: Annotated[str, Setting("File of linked concepts, which count as partly relevant.")] = "",
    negatives: Unjudged = 40,
    patience: Patience = 5,
    validation: Validation = (),
    **settings: Annotated[Any, fit_judged],
) -> Encoder:
    """Learn one tower per language from aligned documents.

    The queries are in English (or the language that most concepts have), the documents in every other language. A
    concept's title, first sentence and whole text are queries, so that the tower can encode documents as well. `links`
    names a file of linked concepts (see `judgments.read_links`), which count as partly relevant. A twentieth of the
    concepts, with all their queries, is held out to choose the best epoch, unless `patience` is 0 or concepts are so
    few that the choice would be random. `settings` are those of `fit_judged`.

    :param aligned: concepts with their texts in several languages
    :return: an encoder of these languages
    """
    query_lang, document_langs = pairs.choose_query_language(aligned)
    linked = judgments.read_links(links) if links else None
    training = []
    all_validation = list(validation)
    for lang in document_langs:
        judged = _make_all_queries(aligned, query_lang, lang, linked)
        if patience and len(aligned) >= MIN_CONCEPTS_FOR_VALIDATION:
            judged, held_out = judgments.split(judged, TRAINING_SPLIT, seed=seed, family=_get_concept)
            all_validation += _sample_validation(held_out, negatives, seed)
        training.append(judged)
    return fit_judged(
        *training, validation=all_validation, dim=dim, seed=seed, negatives=negatives, patience=patience, **settings
    )


def _sample_validation(held_out: JudgedCollection, negatives: int, seed: int) -> list[JudgedCollection]:
    """Add up to `negatives` irrelevant documents to each held-out query; return nothing if there are none to add."""
    max_judged = max(map(len, held_out.qrels.values()), default=0)
    n_unjudged = len(held_out.documents) - max_judged
    if not held_out.queries or n_unjudged <= 0:
        return []
    return [judgments.sample_irrelevant(held_out, min(negatives, n_unjudged), seed=seed)]


def _get_concept(query_id: str) -> str:
    """Return the concept of a query of `_make_all_queries`."""
    return query_id.partition(":")[2]


def _make_all_queries(aligned: Aligned, source: str, target: str, links: judgments.Links | None) -> JudgedCollection:
    """Make queries of titles, first sentences and whole texts; ids are such as "title:CONCEPT".

    :param source: language of the queries
    :param target: language of the documents
    :param links: concept -> concepts that are partly relevant to it
    :raises InputError: if no concept has texts in both languages
    """
    queries, qrels, documents = [], {}, {}
    for query_kind in judgments.QUERY_KINDS:
        try:
            judged = judgments.from_aligned(aligned, source=source, target=target, links=links, query_kind=query_kind)
        except InputError:  # no concept has a title
            continue
        documents = dict(judged.documents)  # the same for queries of every kind
        for query in judged.queries:
            query_id = f"{query_kind}:{query.id}"
            queries.append(query._replace(id=query_id))
            qrels[query_id] = judged.qrels[query.id]
    if not queries:
        raise InputError(f"no concept has both {source!r} and {target!r}: ordinal learns from such concepts only")
    return JudgedCollection(queries, documents, qrels)


EncoderKind: TypeAlias = Annotated[
    str, Setting("Encoder of a text: the average of its word vectors, or a network.", words=ENCODERS)
]
SharedNetwork: TypeAlias = Annotated[bool, Setting("Use one network for all languages; each has its own word vectors.")]
Thresholds: TypeAlias = Annotated[
    Sequence[float], Setting("Thresholds between grades, such as 0.2,0.7.", above=-1, below=1, ascending=True)
]
Epsilon: TypeAlias = Annotated[float, Setting("Epsilon of the smooth cosine (eq. 1).", above=0, max=1e6)]
LearningRate: TypeAlias = Annotated[float | None, Setting("Learning rate.", above=0, max=1000)]
Decay: TypeAlias = Annotated[float | None, Setting("Factor of the learning rate after each epoch.", above=0, max=1)]
Clip: TypeAlias = Annotated[float | None, Setting("Maximum length of a gradient (clipping).", above=0, max=1e9)]


@checked
def fit_judged(
    *judged: JudgedCollection,
    validation: Validation = (),
    dim: Dim = 64,
    seed: Seed = 0,
    encoder: EncoderKind = "average",
    shared_network: SharedNetwork = False,
    loss: Annotated[str, Setting("Loss function.", words=tuple(LOSSES))] = "sosl",
    thresholds: Thresholds = (),
    epsilon: Epsilon = 1.0,
    stem: Stem = True,
    max_terms: MaxTerms = 100_000,
    min_df: MinDf = 1,
    vectors: WordVectors = None,
    device: Device = "cpu",
    **training: Annotated[Any, _train],
) -> BagEncoder | TowerEncoder:
    """Learn an encoder from judged queries and documents, a collection per pair of languages.

    A language has one network (tower), whatever collections it is in. Word vectors start from `vectors` (language ->
    word -> vector), others at random. The paper found separate networks better than `shared_network`, and takes words
    as they are: `stem=False`.
    """
    thresholds = tuple(thresholds) or _choose_thresholds(loss)
    _check_judgments(judged, validation, thresholds, loss)
    vocabularies = pairs.build_vocabularies(judged, max_terms=max_terms, min_df=min_df, stem=stem)
    towers, known_share = _make_towers(encoder, vocabularies, dim, vectors or {}, seed, device)
    if shared_network:
        _share_network(towers)
    make_task = partial(_make_task, vocabularies=vocabularies, device=device, ordered=encoder != "average")
    tasks = [make_task(judged_set) for judged_set in judged]
    validation_tasks = [make_task(judged_set) for judged_set in validation]
    compute_loss = partial(LOSSES[loss], thresholds=thresholds)
    history = _train(
        towers, tasks, compute_loss, encoder, validation=validation_tasks, epsilon=epsilon, seed=seed, **training
    )
    meta = {"method": "ordinal", "loss": loss, "thresholds": list(thresholds), **_describe_history(history)}
    if vectors:
        meta["found"] = known_share
    return _make_served_encoder(encoder, towers, vocabularies, epsilon, meta)


def _choose_thresholds(loss: str) -> tuple[float, ...]:
    """Return the thresholds that a loss has by default."""
    return THREE_PART_THRESHOLDS if loss == "three-part" else SOSL_THRESHOLDS


def _describe_history(history: History) -> dict[str, Any]:
    """Return what a model saves about its training."""
    best_measure = history.epochs[history.best - 1].measure
    return {"epochs": len(history.epochs), "best": history.best, "ndcg@5": best_measure}


def _train(
    towers: Mapping[str, LanguageTower],
    tasks: Sequence[Task],
    compute_loss: Callable[..., torch.Tensor],
    encoder: str,
    *,
    seed: int,
    epsilon: float,
    validation: Sequence[Task],
    negatives: Unjudged = 40,
    batch: Batch = 32,
    epochs: Epochs = 30,
    learning_rate: LearningRate = None,
    decay: Decay = None,
    clip: Clip = None,
    patience: Patience = 0,
    progress: Callable[[EpochProgress], None] | None = None,
) -> History:
    """Train the towers in place.

    Queries are compared with their judged documents and `negatives` unjudged ones, drawn anew in every epoch; to fix
    these documents, as in the paper, judge them (`judgments.sample_irrelevant`) and set `negatives=0`.

    :param tasks: the queries, documents and grades to learn from
    :param compute_loss: (scores, grades) -> loss of each pair of a query and a document
    :param encoder: the kind of the towers, which decides the learning rate and its decay where they are not given
    :param epsilon: what is added to the norm of a vector before the vector is divided by it
    :param validation: tasks that choose the best epoch
    :param batch: queries in one step
    :param patience: how many epochs without a better validation measure end the training; 0 never does
    """
    from paragloss.lab.descent import graded
    from paragloss.lab.descent.loop import TrainingSettings

    defaults = DEFAULTS_OF_AVERAGE if encoder == "average" else DEFAULTS_OF_ORDERED
    rate = defaults.learning_rate if learning_rate is None else learning_rate
    rate_decay = defaults.decay if decay is None else decay
    training = TrainingSettings(epochs, seed, rate, decay=rate_decay, clip=clip, patience=patience, progress=progress)
    sampling = graded.Sampling(negatives, batch_size=batch, pool=defaults.pool)
    return graded.train_towers(tasks, towers, compute_loss, training, sampling, epsilon, validation)


def _check_judgments(
    judged: Sequence[JudgedCollection],
    validation: Sequence[JudgedCollection],
    thresholds: Sequence[float],
    loss: str,
) -> None:
    """Check that there are judgments, and that the thresholds of a loss tell all their grades apart.

    :param judged: the collections to learn from; `validation` those that choose the epoch
    :param loss: one of LOSSES
    :raises InputError: if there are no judgments
    :raises ModelError: if a grade is too high
    """
    if not judged:
        raise InputError("no judgments to learn from")
    max_grade = len(thresholds) - 1 if loss == "three-part" else len(thresholds)
    for judged_set in (*judged, *validation):
        for grade_by_document in judged_set.qrels.values():
            grade = max(grade_by_document.values(), default=0)
            if grade > max_grade:
                raise ModelError(
                    f"grade {grade}: thresholds {thresholds} tell grades from 0 to {max_grade} apart; add one"
                )


def _make_towers(
    encoder: str, vocabularies: Mapping[str, Vocabulary], dim: int, vectors: Mapping[str, Any], seed: int, device: str
) -> tuple[dict[str, LanguageTower], dict[str, float]]:
    """Make an untrained network, called a tower, for each language.

    Its word vectors are random, except for those of words whose vectors are given.

    :param encoder: the kind of tower, one of ENCODERS
    :param dim: width of the word vectors
    :param vectors: language -> word -> known vector
    :param device: of torch
    :return: the towers, and the share of each language's words that start from a known vector
    """
    import torch

    from paragloss.lab.descent.towers import KINDS

    rng = np.random.default_rng(seed)
    towers, known_share = {}, {}
    with torch.random.fork_rng():
        torch.manual_seed(seed)  # draws the weights of networks
        for lang, vocabulary in vocabularies.items():
            table = rng.standard_normal((len(vocabulary), dim), np.float32)
            known_share[lang] = pairs.fill_known_vectors(table, vocabulary, vectors.get(lang, {}))
            towers[lang] = KINDS[encoder](torch.from_numpy(table)).to(device)
    return towers, known_share


def _share_network(towers: Mapping[str, LanguageTower]) -> None:
    """Give all towers the network of the first one, in place; their tables of word vectors stay their own.

    :raises ModelError: if the towers are averages, which have no network
    """
    first_tower, *other_towers = towers.values()
    modules = dict(first_tower.named_children())
    if not modules:
        raise ModelError("shared_network: an average has no network to share; choose the encoder cnn or lstm")
    for tower in other_towers:
        for name, module in modules.items():
            setattr(tower, name, module)


def _make_served_encoder(
    encoder: str,
    towers: Mapping[str, LanguageTower],
    vocabularies: Mapping[str, Vocabulary],
    epsilon: float,
    meta: dict[str, Any],
) -> BagEncoder | TowerEncoder:
    """Make the encoder that is served of trained towers; it needs no torch if the order of words does not count.

    :param encoder: the kind of tower, one of ENCODERS
    :param epsilon: of the smooth cosine
    """
    from paragloss.lab.descent.towers import TowerEncoder

    if encoder != "average":
        return TowerEncoder(towers, vocabularies, kind=encoder, epsilon=epsilon, meta=meta)
    bag_towers = {}
    for lang, tower in towers.items():
        table = tower.table.detach().cpu().numpy()
        bag_towers[lang] = Tower(vocabularies[lang], table, None, "tanh")
    return BagEncoder(bag_towers, weighting="mean", epsilon=epsilon, meta=meta)


class Trial(NamedTuple):
    """One combination of a grid search and its mean nDCG@5 over the folds."""

    thresholds: tuple[float, ...]
    epsilon: float
    measure: float


@checked
def tune(
    judged: JudgedCollection,
    *,
    thresholds: Annotated[
        Iterable[Sequence[float]],
        Setting("Thresholds to try, such as 0,0.5/0.2,0.7.", above=-1, below=1, ascending=True),
    ] = ((0.0, 0.5), (0.1, 0.6), (0.2, 0.7)),
    epsilons: Annotated[Sequence[float], Setting("Values of epsilon to try.", above=0, max=1e6)] = (0.25, 0.5, 1.0),
    folds: Annotated[int, Setting("Folds of the cross-validation over queries.", min=2, max=1000)] = 3,
    seed: Seed = 0,
    negatives: Unjudged = 40,
    **settings: Annotated[Any, fit_judged],
) -> list[Trial]:
    """Find the thresholds and the epsilon that rank best, by trying all combinations in cross-validation.

    Queries are split into folds; those of the same words, or with the same relevant document, are in one fold
    (`judgments.group_queries`). For each fold a model is trained on the other folds and measured on this one, which
    also chooses its epoch, for every combination alike.

    :param judged: queries and documents with their grades
    :param thresholds: the choices of scores that divide one grade from the next
    :param epsilons: the values to try of epsilon; a cosine divides each vector by its length plus epsilon
    :param negatives: documents without a judgment that are added to each query, in training and when measuring
    :param settings: other settings of `fit_judged`, the same for all combinations
    :return: every combination with its mean nDCG@5, best first
    """
    splits = _split_into_folds(judged, folds, negatives, seed)
    fit_fold = partial(fit_judged, seed=seed, negatives=negatives, **settings)
    combinations = [(tuple(values), epsilon) for values in thresholds for epsilon in epsilons]
    trials = []
    for tried_thresholds, epsilon in combinations:
        fit_combination = partial(fit_fold, thresholds=tried_thresholds, epsilon=epsilon)
        trials.append(Trial(tried_thresholds, epsilon, _cross_validate(fit_combination, splits)))
    return sorted(trials, key=lambda trial: -trial.measure)


def _cross_validate(
    fit_model: Callable[..., BagEncoder | TowerEncoder], splits: Sequence[tuple[JudgedCollection, JudgedCollection]]
) -> float:
    """Return the mean nDCG@5 of models that are trained on one collection and measured on another.

    :param fit_model: trains a model on a collection; its argument `validation` names what the model is measured on
    :param splits: the collections to train and to measure with, of each fold
    """
    measures = []
    for training, test in splits:
        model = fit_model(training, validation=[test])
        measures.append(model.meta["ndcg@5"])
    return float(np.mean(measures))


def _split_into_folds(
    judged: JudgedCollection, folds: int, negatives: int, seed: int
) -> list[tuple[JudgedCollection, JudgedCollection]]:
    """Split queries at random, those of one group together; return for each fold what to train and to test with.

    :param negatives: irrelevant documents that are added to each query of the test
    """
    group_by_query = judgments.group_queries(judged)
    parts = judgments.split(judged, [1] * folds, seed=seed, family=group_by_query.__getitem__)
    splits = []
    for held_out in parts:
        training_queries = [query for part in parts if part is not held_out for query in part.queries]
        test = judgments.sample_irrelevant(held_out, negatives, seed=seed)
        splits.append((judgments.select_queries(judged, training_queries), test))
    return splits


def table(trials: Sequence[Trial]) -> tuple[Sequence[str], list[Sequence[Any]]]:
    """Return a header and the rows of what was tried, best first."""
    rows: list[Sequence[Any]] = [(trial.thresholds, f"{trial.epsilon:g}", trial.measure) for trial in trials]
    return ("thresholds", "epsilon", "nDCG@5"), rows


def plot(trials: Sequence[Trial], path: str | Path) -> None:
    """Draw nDCG@5 against epsilon, a line for each choice of thresholds, into an image file."""
    figure, (axes,) = panels(1, width=5, height=3.2)
    trials_by_epsilon = sorted(trials, key=lambda trial: trial.epsilon)
    for thresholds in sorted({trial.thresholds for trial in trials}):
        line = [trial for trial in trials_by_epsilon if trial.thresholds == thresholds]
        label = ", ".join(f"{threshold:g}" for threshold in thresholds)
        axes.plot([trial.epsilon for trial in line], [trial.measure for trial in line], marker="o", label=label)
    axes.set(xscale="log", xlabel="epsilon", ylabel="nDCG@5 over the folds", title="thresholds")
    axes.legend(frameon=False)
    figure.savefig(str(path))


# Losses: (scores, grades from 0, thresholds) -> one value per pair. Classes are grades + 1 in the paper.
# The default thresholds are those of the smooth ordinal search loss (SOSL) and of the three-part loss.

SOSL_THRESHOLDS = (0.2, 0.7)
THREE_PART_THRESHOLDS = (0.2, 0.55, 0.9)


def sosl(scores: torch.Tensor, grades: torch.Tensor, thresholds: Sequence[float] = SOSL_THRESHOLDS) -> torch.Tensor:
    """Compute the smooth ordinal search loss, eq. 2: how far a score lies outside its class's segment, squared."""
    lower, upper = _find_segment_edges(grades, thresholds, scores)
    return (scores - upper).clamp(min=0) ** 2 + (lower - scores).clamp(min=0) ** 2


def mse(scores: torch.Tensor, grades: torch.Tensor, thresholds: Sequence[float] = SOSL_THRESHOLDS) -> torch.Tensor:
    """Compute the squared distance to the middle of the class's segment."""
    lower, upper = _find_segment_edges(grades, thresholds, scores)
    return (scores - (lower + upper) / 2) ** 2


def three_part(
    scores: torch.Tensor, grades: torch.Tensor, thresholds: Sequence[float] = THREE_PART_THRESHOLDS
) -> torch.Tensor:
    """Compute the three-part hinge loss of Nigam et al. (KDD 2019), eq. 5 with m = 2.

    It is zero for irrelevant documents (grade 0) with a score below the first threshold, partly relevant ones (1) below
    the second, and relevant ones (2) above the third.
    """
    if len(thresholds) != 3:
        raise ModelError(f"three-part thresholds {tuple(thresholds)}: expected three, such as {THREE_PART_THRESHOLDS}")
    threshold_of_pair = scores.new_tensor(thresholds)[grades]
    should_be_below = grades < 2
    distance_above = scores - threshold_of_pair
    distance_on_wrong_side = distance_above.where(should_be_below, -distance_above).clamp(min=0)
    return distance_on_wrong_side**2


def odds(scores: torch.Tensor, grades: torch.Tensor, thresholds: Sequence[float] = SOSL_THRESHOLDS) -> torch.Tensor:
    """Compute the negative log-likelihood of proportional odds (McCullagh 1980).

    P(class) = S(upper - score) - S(lower - score), with S the logistic function and the outermost segments open.
    """
    lower, upper = _find_segment_edges(grades, thresholds, scores, outermost=float("inf"))
    return -((upper - scores).sigmoid() - (lower - scores).sigmoid()).clamp(min=1e-12).log()


def sigmoids(scores: torch.Tensor, grades: torch.Tensor, thresholds: Sequence[float] = SOSL_THRESHOLDS) -> torch.Tensor:
    """Compute what the authors' code calls proportional odds: -log of S(upper - score) x S(score - lower).

    The outermost segments end at -1 and 1.
    """
    lower, upper = _find_segment_edges(grades, thresholds, scores)
    return -(upper - scores).sigmoid().log() - (scores - lower).sigmoid().log()


LOSSES: Mapping[str, Callable[..., torch.Tensor]] = {
    "sosl": sosl,
    "three-part": three_part,
    "mse": mse,
    "odds": odds,
    "sigmoids": sigmoids,
}


def _find_segment_edges(
    grades: torch.Tensor, thresholds: Sequence[float], prototype: torch.Tensor, *, outermost: float = 1.0
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return between which two scores a pair of a query and a document should be scored, given its grade.

    Thresholds divide the scores from -1 to 1 into one segment per grade. With thresholds 0.2 and 0.7 the segment of
    grade 0 is from -1 to 0.2, that of grade 1 from 0.2 to 0.7, and that of grade 2 from 0.7 to 1.

    :param grades: (pairs,) whole numbers from 0
    :param thresholds: where one segment ends and the next begins, ascending
    :param prototype: any tensor of the device and the type that the edges are to have
    :param outermost: the lowest segment begins at -outermost, and the highest ends at outermost
    :return: the lower and the upper edge of each pair's segment, (pairs,) each
    :raises ModelError: if the thresholds are not ascending between -1 and 1
    """
    _check_thresholds(thresholds)
    edges = prototype.new_tensor([-outermost, *thresholds, outermost])
    return edges[grades], edges[grades + 1]


def _check_thresholds(thresholds: Sequence[float]) -> None:
    """Raise ModelError unless there are thresholds, and they ascend between -1 and 1."""
    values = list(thresholds)
    is_ascending = values == sorted(set(values))
    is_inside = bool(values) and values[0] > -1 and values[-1] < 1
    if not is_ascending or not is_inside:
        raise ModelError(
            f"thresholds {tuple(values)}: expected ascending values between -1 and 1, such as {SOSL_THRESHOLDS}"
        )


def _make_task(judged: JudgedCollection, vocabularies: Mapping[str, Vocabulary], device: str, *, ordered: bool) -> Task:
    """Turn judged queries and documents into the arrays that towers are trained on.

    :param judged: queries in one language, documents in another, and grades of pairs of them
    :param vocabularies: language -> the words that its tower knows
    :param device: of torch
    :param ordered: whether the towers read terms in the order of the text; otherwise texts are means of their terms
    :return: the queries, the documents, and a matrix of grades with a row for each query
    """
    from paragloss.lab.descent import graded
    from paragloss.lab.descent.towers import list_terms_in_order

    query_lang, document_lang = pairs.get_languages(judged)
    read_texts = list_terms_in_order if ordered else _average_terms
    query_texts = [query.text for query in judged.queries]
    document_texts = [document.full_text for document in judged.documents.values()]
    queries = read_texts(query_texts, vocabularies[query_lang])
    documents = read_texts(document_texts, vocabularies[document_lang])
    return graded.make_task(query_lang, document_lang, queries, documents, pairs.make_grade_matrix(judged), device)


def _average_terms(texts: Sequence[str], vocabulary: Vocabulary) -> sp.csr_matrix:
    """Return texts as means of their terms, by idf: (texts, terms)."""
    return weigh(vocabulary.counts(texts), vocabulary.idf, "mean")
