"""Cr5: embed documents of many languages in one space, by reduced-rank ridge regression of concepts on words.

Josifoski, Paskov, Paskov, Jaggi and West, "Crosslingual Document Embedding as Reduced-Rank Ridge Regression",
WSDM 2019. The concepts and languages given decide whether training is joint, pairwise or transitive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, permutations
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from paragloss.encoders import hubness
from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import ModelError
from paragloss.evaluation.report import panels
from paragloss.lab.learning.counting import CountedTexts, count, text_of
from paragloss.lab.settings import Dim, Lengths, MaxTerms, MinDf, Seed, Setting, Stem, checked
from paragloss.lab.solving.arrays import Arrays, find_device_problem
from paragloss.lab.solving.ridge import Block, Regression
from paragloss.lab.solving.spectrum import (
    SOLVERS,
    Progress,
    Solution,
    choose_solver,
    solve_closed_form,
    solve_iteratively,
)
from paragloss.ranking import find_nearest
from paragloss.types import Aligned, Concept, Floats

LAMBDAS = (0.1, 0.3, 1.0, 3.0)
#: A regression on given vectors ends when its residual is this part of the right side.
SOLVE_TOLERANCE = 1e-3
Lambda: TypeAlias = Annotated[float, Setting("Ridge penalty lambda; the paper tries 0.5 to 6.", above=0, max=1e9)]
ComputeDevice: TypeAlias = Annotated[
    str | None, Setting("Device: cpu, cuda (both by torch) or numpy.", refuse=find_device_problem)
]


class CountedRegression(NamedTuple):
    """The regression to be solved: counted texts, rank and solver."""

    counted: Mapping[str, CountedTexts]
    blocks: list[Block]  # of each language
    concepts: int  # number of concepts
    rank: int  # dimensions of the embedding
    seed: int
    solver: str  # one of SOLVERS, but "auto"
    device: str | None


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    lambda_: Lambda = 1.0,
    progress: Progress | None = None,
    **settings: Annotated[Any, count_texts],
) -> BagEncoder:
    """Learn an encoder from texts about the same concepts, with the reference vectors that a search by CSLS needs.

    `dim` is at most the number of concepts less one. The paper's settings: stem=False, min_df=3, lengths=(50, 1000),
    force_lengths=True, solver="one-pass". `settings` are those of `count_texts`.

    :param aligned: concepts with their texts in several languages
    :return: an encoder of these languages
    """
    encoder = fit_space(aligned, dim=dim, seed=seed, lambda_=lambda_, progress=progress, **settings)
    encoder.reference = hubness.encode_reference_titles(encoder, aligned)
    return encoder


def fit_space(
    aligned: Aligned,
    *,
    dim: int = 300,
    seed: int = 0,
    lambda_: float = 1.0,
    progress: Progress | None = None,
    **settings: Any,
) -> BagEncoder:
    """Learn the encoder of `fit` without reference vectors, for methods that use its word vectors only.

    The arguments are those of `fit`.

    :param aligned: concepts with their texts in several languages
    """
    regression = count_texts(aligned, dim=dim, seed=seed, **settings)
    ((_, solution),) = _solve_for_each(regression, [lambda_], progress)
    meta = {
        "method": "cr5",
        "lambda_": lambda_,
        "dim_asked": dim,
        "concepts": regression.concepts,
        "documents": sum(block.rows.shape[0] for block in regression.blocks),
        "nonzeros": sum(int(block.rows.nnz) for block in regression.blocks),
        **solution.report,
    }
    return _make_encoder(regression.counted, solution, meta)


def count_texts(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed,
    stem: Stem = True,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 2,
    lengths: Lengths = None,
    force_lengths: Annotated[bool, Setting("Apply lengths even if they drop most documents of a language.")] = False,
    solver: Annotated[
        str, Setting("Solver: early ranks best, converged solves the paper's problem.", words=SOLVERS)
    ] = "auto",
    device: ComputeDevice = None,
) -> CountedRegression:
    """Count and weigh the texts of concepts, and choose how the regression is solved.

    `lengths` bounds the distinct terms of a training document and `min_df` the documents of a term (see
    `lab.learning.counting`). `solver` is "early", which finds best what it was not trained on; "one-pass", as far as
    the authors' went; "converged", which solves the stated problem; "closed-form", which does so by dense algebra; or
    "auto": the closed form for few documents, converged where two languages share no concept, early otherwise.
    """
    counted, n_concepts = count(
        aligned, stem=stem, max_terms=max_terms, min_df=min_df, lengths=lengths, force_lengths=force_lengths
    )
    blocks = [Block(part.weigh_terms(), part.concepts) for part in counted.values()]
    return CountedRegression(
        counted,
        blocks,
        concepts=n_concepts,
        rank=min(dim, n_concepts - 1),
        seed=seed,
        solver=_choose_solver(solver, counted, blocks, device),
        device=device,
    )


def _choose_solver(
    solver: str, counted: Mapping[str, CountedTexts], blocks: Sequence[Block], device: str | None
) -> str:
    """Return the solver itself, or for "auto" the one that is fast and good enough for these texts.

    :param counted: the texts of each language, and `blocks` the same as training data
    :param device: where it is computed; None for the default
    """
    chosen = choose_solver(solver, blocks, device)
    if solver == "auto" and chosen == "early" and has_unpaired_languages(counted):
        # Danish and Russian that share no concept, joined through English: P@1 .623 and .590 (back) with "early",
        # .783 and .800 with "converged" (docs/understand/papers/cr5.md).
        return "converged"
    return chosen


def has_unpaired_languages(counted: Mapping[str, CountedTexts]) -> bool:
    """Say whether some two languages share no concept, so that only a third one joins them."""
    for first, second in combinations(counted.values(), 2):
        if not np.intersect1d(first.concepts, second.concepts).size:
            return True
    return False


class Tuning(NamedTuple):
    """Precision at 1 on held-out concepts for each λ, mean over folds and all directed pairs of languages."""

    scores: Mapping[float, float]
    best: float
    queries: int


@checked
def tune(
    aligned: Aligned,
    *,
    lambdas: Annotated[Sequence[float], Setting("Values of lambda to try.", above=0, max=1e9)] = LAMBDAS,
    folds: Annotated[int, Setting("Folds of the cross-validation over concepts.", min=2, max=1000)] = 3,
    held_out: Annotated[int, Setting("Maximum number of held-out concepts that are queries in a fold.", min=1)] = 1000,
    seed: Seed = 0,
    **settings: Annotated[Any, count_texts],
) -> Tuning:
    """Try each λ by cross-validation over the concepts: those of a fold find each other by a model of the other folds.

    The texts of a fold are counted once; the solver "converged" starts each λ from the directions of the one before.
    `settings` are those of `count_texts`.

    :param aligned: concepts with their texts in several languages
    :return: the precision of each λ, and the best one
    """
    if not lambdas:
        raise ModelError("lambdas (): expected at least one value to try")
    if len(aligned) < 2 * folds:
        raise ModelError(f"{len(aligned)} concepts are too few for {folds} folds: give at least {2 * folds}")
    precisions_by_lambda: dict[float, list[float]] = {lambda_: [] for lambda_ in lambdas}  # of each fold
    total_queries = 0
    for train, test in _split_into_folds(aligned, folds, seed):
        regression = count_texts(train, seed=seed, **settings)
        for lambda_, solution in _solve_for_each(regression, lambdas):
            encoder = _make_encoder(regression.counted, solution, {})
            precision, n_queries = _measure_precision_at_1(encoder, test[:held_out])
            precisions_by_lambda[lambda_].append(precision)
        total_queries += n_queries  # the same for every λ
    means = {lambda_: float(np.mean(precisions)) for lambda_, precisions in precisions_by_lambda.items()}
    return Tuning(means, best=max(means, key=means.__getitem__), queries=total_queries)


def _split_into_folds(aligned: Aligned, folds: int, seed: int) -> Iterator[tuple[Aligned, Aligned]]:
    """Split concepts at random; yield for each fold the concepts to train with, and those that are held out."""
    order = np.random.default_rng(seed).permutation(len(aligned)).tolist()
    concepts = [aligned[i] for i in order]
    for fold in range(folds):
        train = [concept for position, concept in enumerate(concepts) if position % folds != fold]
        yield train, concepts[fold::folds]


def _solve_for_each(
    regression: CountedRegression, lambdas: Sequence[float], progress: Progress | None = None
) -> Iterator[tuple[float, Solution]]:
    """Solve a regression for each λ in turn; yield λ and its solution.

    The solver "converged" starts from the solution of the λ before.

    :param regression: the counted texts with rank and solver
    :param progress: called while an iterative solver is at work
    """
    blocks, n_concepts, rank = regression.blocks, regression.concepts, regression.rank
    if regression.solver == "closed-form":
        for lambda_ in lambdas:
            yield lambda_, solve_closed_form(blocks, n_concepts, rank=rank, lambda_=lambda_)
        return
    ridge = Regression.from_blocks(blocks, n_concepts, Arrays(regression.device), lambda_=lambdas[0])
    solve = partial(solve_iteratively, rank=rank, solver=regression.solver, seed=regression.seed, progress=progress)
    start = None
    for lambda_ in lambdas:
        solution = solve(ridge.with_lambda(lambda_), start=start)
        if regression.solver == "converged":
            start = solution.vectors
        yield lambda_, solution


def table(tuning: Tuning) -> tuple[Sequence[str], list[Sequence[Any]]]:
    """Return a header and the rows of a tuning, the best λ first."""
    ranked = sorted(tuning.scores.items(), key=lambda item: -item[1])
    return ("lambda", "P@1"), [(f"{lambda_:g}", score) for lambda_, score in ranked]


def plot(tuning: Tuning, path: str | Path) -> None:
    """Draw the precision for each λ into an image file."""
    figure, (axes,) = panels(1, width=5, height=3.2)
    lambdas, precisions = list(tuning.scores.keys()), list(tuning.scores.values())
    axes.plot(lambdas, precisions, marker="o")
    axes.axvline(tuning.best, linewidth=0.8, linestyle=":")
    axes.set(xscale="log", xlabel="λ", ylabel="P@1 on held-out concepts", title=f"best λ = {tuning.best:g}")
    figure.savefig(str(path))


@checked
def add_language(
    encoder: BagEncoder,
    aligned: Aligned,
    lang: str,
    *,
    lambda_: Lambda = 1.0,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 2,
    lengths: Lengths = None,
    device: ComputeDevice = None,
) -> BagEncoder:
    """Return the encoder with one more language; the languages it knows stay as they are.

    With t_i the mean of the vectors of the other languages' documents of a concept (unit length), and x_i the new
    language's tf-idf row, the new table B minimises sum ||t_i - B^T x_i||² + λ ||B||².

    :param encoder: an encoder that `fit` has made
    :param aligned: concepts with a text in `lang` and one in a language that the encoder knows
    :param lang: code of the new language
    :return: a new encoder
    """
    shared = _select_shared_concepts(encoder, aligned, lang)
    stem = encoder.towers[encoder.langs[0]].vocabulary.stem
    counted, _ = count(
        shared, langs=[lang], min_langs=1, stem=stem, max_terms=max_terms, min_df=min_df, lengths=lengths
    )
    texts = counted[lang]
    targets = _average_vectors(encoder, shared)[texts.concepts]  # (texts, dim)
    word_vectors = regress_on_vectors(texts.weigh_terms(), targets, lambda_=lambda_, device=device)
    towers = {**encoder.towers, lang: Tower(texts.vocabulary, word_vectors)}
    added_langs = dict(encoder.meta.get("added", {}))
    added_langs[lang] = {"documents": len(texts.concepts), "lambda_": lambda_}
    meta = {**encoder.meta, "added": added_langs}
    return BagEncoder(towers, weighting=encoder.weighting, epsilon=encoder.epsilon, meta=meta)


def _select_shared_concepts(encoder: BagEncoder, aligned: Aligned, lang: str) -> list[Concept]:
    """Select the concepts with a text in a new language and one in a language that the encoder knows.

    :raises ModelError: if there is no such concept, or the encoder knows the language already
    """
    known_langs = set(encoder.langs)
    if lang in known_langs:
        raise ModelError(f"the model knows {lang!r} already; it knows {', '.join(encoder.langs)}")
    shared = [concept for concept in aligned if lang in concept.texts and known_langs & concept.texts.keys()]
    if not shared:
        raise ModelError(f"no concept has a text in {lang!r} and one in {', '.join(encoder.langs)}: give some")
    return shared


def regress_on_vectors(rows: sp.csr_matrix, targets: Floats, *, lambda_: float, device: str | None) -> Floats:
    """Learn a table of vectors whose sums, weighted by each row, come close to given vectors: (terms, dim).

    It minimises sum over rows ||t_i - B^T x_i||² + λ ||B||².

    :param rows: (rows, terms) weights x_i of the terms
    :param targets: (rows, dim) the vectors t_i
    :param lambda_: strength of the regularization
    :param device: "cpu", "cuda" (both by torch), "numpy", or None for the best there is
    """
    n_rows, arrays = len(targets), Arrays(device)
    regression = Regression.from_blocks([Block(rows, np.arange(n_rows))], n_rows, arrays, lambda_=lambda_)
    return arrays.get(regression.solve_plainly(arrays.put(targets), SOLVE_TOLERANCE))


def _average_vectors(encoder: BagEncoder, concepts: Aligned) -> Floats:
    """Average the vectors of each concept's documents in the encoder's languages; unit length, (concepts, dim)."""
    sums = np.zeros((len(concepts), encoder.dim), np.float32)
    for lang in encoder.langs:
        rows = [i for i, concept in enumerate(concepts) if lang in concept.texts]
        if rows:
            sums[rows] += encoder.encode([text_of(concepts[i], lang) for i in rows], lang)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.asarray(sums / np.maximum(lengths, 1e-12), np.float32)


def _make_encoder(counted: Mapping[str, CountedTexts], solution: Solution, meta: Mapping[str, object]) -> BagEncoder:
    """Make an encoder of the counted vocabularies and the word vectors of a solution."""
    pairs = zip(counted.items(), solution.tables, strict=True)
    return BagEncoder({lang: Tower(part.vocabulary, vectors) for (lang, part), vectors in pairs}, meta=meta)


def _measure_precision_at_1(encoder: BagEncoder, concepts: Aligned) -> tuple[float, int]:
    """Measure how often a text finds its translation first: the mean over directed pairs of languages.

    :param concepts: held-out concepts
    :return: the precision, and how many queries it was measured with
    :raises ModelError: if no concept has texts in two languages
    """
    precisions: list[float] = []  # of each directed pair of languages
    n_queries = 0
    for source, target in permutations(encoder.langs, 2):
        shared = [concept for concept in concepts if source in concept.texts and target in concept.texts]
        if not shared:
            continue
        query_vectors = encoder.encode([text_of(concept, source) for concept in shared], source)
        document_vectors = encoder.encode([text_of(concept, target) for concept in shared], target)
        first_hits = find_nearest(query_vectors, document_vectors, 1)[:, 0]
        precisions.append(float(np.mean(first_hits == np.arange(len(shared)))))
        n_queries += len(shared)
    if not precisions:
        raise ModelError("no held-out concept has two of the model's languages: hold out more")
    return float(np.mean(precisions)), n_queries
