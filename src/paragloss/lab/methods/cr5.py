"""Cr5: documents of many languages in one space, by reduced-rank ridge regression of concepts on words.

Josifoski, Paskov, Paskov, Jaggi and West, "Crosslingual Document Embedding as Reduced-Rank Ridge Regression",
WSDM 2019. Which concepts and languages are given decides whether training is joint, pairwise or transitive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import ModelError
from paragloss.lab.learning.counting import Counted, count, text_of
from paragloss.lab.settings import Checkpoint, Dim, Lengths, MaxTerms, MinDf, Seed, Setting, Stem, checked
from paragloss.lab.solving.arrays import Arrays, unreachable
from paragloss.lab.solving.ridge import Block, Regression
from paragloss.lab.solving.spectrum import SOLVERS, Progress, Solution, chosen, closed_form, leading, reduced_rank
from paragloss.ranking import nearest
from paragloss.types import Aligned
from paragloss.vocabulary import weigh

LAMBDAS = (0.1, 0.3, 1.0, 3.0)
Lambda: TypeAlias = Annotated[
    float, Setting("How much large word weights cost; the paper tries 0.5 to 6.", above=0, most=1e9)
]
Place: TypeAlias = Annotated[
    str | None, Setting("Where to compute: cpu, cuda (both by torch) or numpy.", refuse=unreachable)
]


class _Posed(NamedTuple):
    """The regression to be solved: counted texts, and by which way to how many directions."""

    counted: Mapping[str, Counted]
    blocks: list[Block]
    concepts: int
    rank: int
    seed: int
    solver: str
    device: str | None


@checked
def fit(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed = 0,
    lambda_: Lambda = 1.0,
    checkpoint: Checkpoint = None,
    progress: Progress | None = None,
    **settings: Annotated[Any, _pose],
) -> BagEncoder:
    """Learn an encoder from concepts in two or more languages.

    `dim` is at most the number of concepts less one; the encoder says what it got. The paper: stem=False, min_df=3,
    lengths=(50, 1000), solver="one-pass". A fit that was killed goes on from its `checkpoint` file. `settings` are
    those of `_pose`: stem, max_terms, min_df, lengths, solver, device.
    """
    posed = _pose(aligned, dim=dim, seed=seed, **settings)
    solution = reduced_rank(
        posed.blocks,
        posed.concepts,
        rank=posed.rank,
        lambda_=lambda_,
        solver=posed.solver,
        seed=seed,
        device=posed.device,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        progress=progress,
    )
    about = {
        "method": "cr5",
        "lambda_": lambda_,
        "dim_asked": dim,
        "concepts": posed.concepts,
        "documents": sum(block.rows.shape[0] for block in posed.blocks),
        "nonzeros": sum(int(block.rows.nnz) for block in posed.blocks),
        **solution.report,
    }
    return _encoder(posed.counted, solution, about)


def _pose(
    aligned: Aligned,
    *,
    dim: Dim = 300,
    seed: Seed,
    stem: Stem = True,
    max_terms: MaxTerms = 200_000,
    min_df: MinDf = 2,
    lengths: Lengths = None,
    solver: Annotated[
        str, Setting("How directions are found: early finds best, converged solves the stated problem.", words=SOLVERS)
    ] = "auto",
    device: Place = None,
) -> _Posed:
    """Count the texts and weigh them.

    `lengths` bounds the distinct terms of a training document and `min_df` the documents of a term, both with regard
    to what there is (see `lab.learning.counting`). `solver` is "early", which finds best what it was not trained on;
    "one-pass", as far as the authors' went; "converged", which solves the stated problem; "closed-form", which does so
    by dense algebra; or "auto": the closed form for few documents, early for many. `device` is where torch computes
    ("cpu", "cuda"), or "numpy".
    """
    counted, concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df, lengths=lengths)
    blocks = [_block(part) for part in counted.values()]
    return _Posed(counted, blocks, concepts, min(dim, concepts - 1), seed, chosen(solver, blocks, device), device)


class Tuning(NamedTuple):
    """Precision at 1 on held-out concepts, mean over folds and all directed pairs of languages, for each λ tried."""

    scores: Mapping[float, float]
    best: float
    queries: int


@checked
def tune(
    aligned: Aligned,
    *,
    lambdas: Annotated[Sequence[float], Setting("The values of lambda to try.", above=0, most=1e9)] = LAMBDAS,
    folds: Annotated[int, Setting("How many parts the concepts are dealt into.", least=2, most=1000)] = 3,
    held_out: Annotated[int, Setting("At most so many concepts of a part ask.", least=1)] = 1000,
    seed: Seed = 0,
    **settings: Annotated[Any, _pose],
) -> Tuning:
    """Try each λ by cross-validation: concepts, each with all its languages, are dealt into `folds` parts, and those
    of a part find each other by a model of the other parts.

    Texts of a part are cut and counted once; each λ starts from the directions found for the one before it. `settings`
    are those of `_pose`: dim, stem, max_terms, min_df, lengths, solver, device.
    """
    if not lambdas:
        raise ModelError("lambdas (): expected at least one value to try")
    if len(aligned) < 2 * folds:
        raise ModelError(f"{len(aligned)} concepts are too few for {folds} folds: give at least {2 * folds}")
    order = np.random.default_rng(seed).permutation(len(aligned)).tolist()
    scores: dict[float, list[float]] = {lambda_: [] for lambda_ in lambdas}
    queries = 0
    for fold in range(folds):
        posed = _pose([aligned[i] for n, i in enumerate(order) if n % folds != fold], seed=seed, **settings)
        apart = [aligned[i] for i in order[fold::folds][:held_out]]
        for lambda_, solution in _along(posed, lambdas):
            score, asked = _precision(_encoder(posed.counted, solution, {}), apart)
            scores[lambda_].append(score)
        queries += asked
    means = {lambda_: float(np.mean(found)) for lambda_, found in scores.items()}
    return Tuning(means, max(means, key=lambda value: means[value]), queries)


def _along(posed: _Posed, lambdas: Sequence[float]) -> Iterator[tuple[float, Solution]]:
    """The solution for each λ in turn."""
    if posed.solver == "closed-form":
        for lambda_ in lambdas:
            yield lambda_, closed_form(posed.blocks, posed.concepts, rank=posed.rank, lambda_=lambda_)
        return
    regression = Regression.of(posed.blocks, posed.concepts, Arrays(posed.device), lambda_=lambdas[0])
    start = None
    for lambda_ in lambdas:
        regression = regression.at(lambda_)
        solution = leading(regression, rank=posed.rank, solver=posed.solver, seed=posed.seed, start=start)
        start = solution.vectors if posed.solver == "converged" else None
        yield lambda_, solution


def table(tuning: Tuning) -> tuple[Sequence[str], list[Sequence[Any]]]:
    """What was tried, best first: a header and its rows."""
    ranked = sorted(tuning.scores.items(), key=lambda item: -item[1])
    return ("lambda", "P@1"), [(f"{lambda_:g}", score) for lambda_, score in ranked]


def plot(tuning: Tuning, path: str | Path) -> None:
    """Draw precision against λ into an image file."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.plot(list(tuning.scores), list(tuning.scores.values()), marker="o")
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
    device: Place = None,
) -> BagEncoder:
    """The encoder with one more language; the languages it knows stay as they are.

    With t_i the mean of the vectors that the other languages' documents of a concept get (unit length), and x_i the
    new language's tf-idf row, the new table B minimises sum ||t_i - B^T x_i||² + λ ||B||².
    """
    if lang in encoder.towers:
        raise ModelError(f"the model knows {lang!r} already; it knows {', '.join(encoder.langs)}")
    known = [c for c in aligned if lang in c.texts and any(other in encoder.towers for other in c.texts)]
    if not known:
        raise ModelError(f"no concept has a text in {lang!r} and one in {', '.join(encoder.langs)}: give some")
    stem = next(iter(encoder.towers.values())).vocabulary.stem
    settings = {"stem": stem, "max_terms": max_terms, "min_df": min_df, "lengths": lengths}
    counted, _ = count(known, langs=[lang], min_langs=1, **settings)  # type: ignore[arg-type]
    part = counted[lang]
    targets = np.zeros((len(known), encoder.dim), np.float32)
    for other in encoder.langs:
        rows = [i for i, concept in enumerate(known) if other in concept.texts]
        if rows:
            targets[rows] += encoder.encode([text_of(known[i], other) for i in rows], other)
    targets /= np.maximum(np.linalg.norm(targets, axis=1, keepdims=True), 1e-12)
    arrays = Arrays(device)
    documents = len(part.concepts)
    block = Block(weigh(part.counts, part.vocabulary.idf, "tfidf"), np.arange(documents))
    regression = Regression.of([block], documents, arrays, lambda_=lambda_)
    table = arrays.get(regression.solve_plainly(arrays.put(targets[part.concepts]), 1e-3))
    towers = {**encoder.towers, lang: Tower(part.vocabulary, table)}
    added = {**encoder.meta.get("added", {}), lang: {"documents": documents, "lambda_": lambda_}}
    meta = {**encoder.meta, "added": added}
    return BagEncoder(towers, weighting=encoder.weighting, epsilon=encoder.epsilon, meta=meta)


def _block(part: Counted) -> Block:
    return Block(weigh(part.counts, part.vocabulary.idf, "tfidf"), part.concepts)


def _encoder(counted: Mapping[str, Counted], solution: Solution, about: Mapping[str, object]) -> BagEncoder:
    pairs = zip(counted.items(), solution.tables, strict=True)
    return BagEncoder({lang: Tower(part.vocabulary, table) for (lang, part), table in pairs}, meta=about)


def _precision(encoder: BagEncoder, concepts: Aligned) -> tuple[float, int]:
    hits: list[float] = []
    queries = 0
    for lang in encoder.langs:
        for other in encoder.langs:
            both = [c for c in concepts if lang in c.texts and other in c.texts]
            if lang == other or not both:
                continue
            rows = encoder.encode([text_of(c, lang) for c in both], lang)
            found = nearest(rows, encoder.encode([text_of(c, other) for c in both], other), 1)[:, 0]
            hits.append(float(np.mean(found == np.arange(len(both)))))
            queries += len(both)
    if not hits:
        raise ModelError("no held-out concept has two of the model's languages: hold out more")
    return float(np.mean(hits)), queries
