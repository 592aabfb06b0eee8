"""The figures of "Cross-lingual document retrieval with smooth learning" (Liu et al. 2020), drawn and in numbers.

    python recipes/smooth_figures.py gradients losses --out figures            # 1 and 2: no data needed
    PARAGLOSS_DATA=... python recipes/smooth_figures.py density sweep negatives --out figures [--pages 1500]

1, `gradients`: how steep the smooth cosine of (x, y) and (1, 1) is, for some epsilons. 2, `losses`: SOSL and MSE over
scores. 3, `density`: scores of relevant, partly relevant and other documents after training with each loss. 4, `sweep`:
nDCG@5 for each epsilon with thresholds chosen for it by cross-validation. 5, `negatives`: and for more irrelevant
documents. 3 to 5 on MDN en-fr, judgments from links, split by page.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from sets import folder

from paragloss import judgments
from paragloss.descent.graded import smooth
from paragloss.formats.jsonl import read_aligned
from paragloss.learning import smoothness
from paragloss.models import ordinal
from paragloss.types import Encoder, Judged

EPSILONS = (0.0, 0.25, 0.5, 1.0)
THETAS = ((0.0, 0.5), (0.1, 0.6), (0.2, 0.7))


def steepness(epsilon: float, points: np.ndarray) -> np.ndarray:
    """The length of the gradient of the smooth cosine with (1, 1), at each of some points: (points,)."""
    x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    other = smooth(torch.ones(1, 2, dtype=torch.float64), epsilon)
    (smooth(x, epsilon) * other).sum().backward()
    return x.grad.norm(dim=1).numpy()


def gradients(out: Path, _: int) -> None:
    near = np.geomspace(1e-3, 3, 60)
    angles = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    figure, axes = _plot("distance from zero", "length of the gradient")
    print("epsilon  largest gradient   1 / epsilon (supremum)   2 / epsilon (the paper's bound)")
    for epsilon in EPSILONS:
        rows = [steepness(epsilon, r * np.stack([np.cos(angles), np.sin(angles)], 1)).max() for r in near]
        bounds = (smoothness.cosine_lipschitz(epsilon), 2 / epsilon) if epsilon else (np.inf, np.inf)
        print(f"{epsilon:7}  {max(rows):16.3f}   {bounds[0]:22.3f}   {bounds[1]:10.3f}")
        axes.loglog(near, rows, label=f"ε = {epsilon:g}")
    _save(figure, axes, out / "figure-1.svg")


def losses(out: Path, _: int) -> None:
    scores = torch.linspace(-1, 1, 201)
    figure, axes = _plot("score", "loss")
    for grade in (0, 1, 2):
        for name, loss in (("SOSL", ordinal.sosl), ("MSE", ordinal.mse)):
            values = loss(scores, torch.full((201,), grade), (0.0, 0.5))
            axes.plot(scores, values, linestyle="-" if name == "SOSL" else ":", label=f"{name}, grade {grade}")
            least = scores[values == values.min()]
            edges = f"no loss from {float(least.min()):.2f} to {float(least.max()):.2f}"
            print(f"{name} grade {grade}: {edges}, at most {float(values.max()):.2f}")
    _save(figure, axes, out / "figure-2.svg")


def judged(pages: int) -> list[Judged]:
    """MDN en-fr in training and held-out queries, by page."""
    concepts = read_aligned([folder() / "mdn" / f"{lang}.jsonl.gz" for lang in ("en", "fr")])
    concepts = [concept for concept in concepts if {"en", "fr"} <= concept.texts.keys()][:pages]
    links = judgments.read_links(folder() / "mdn" / "mutual_links.tsv.gz")
    asked = judgments.from_aligned(concepts, source="en", target="fr", query="first-sentence", links=links)
    return judgments.split(asked, (3, 1), seed=0)


def by_grade(model: Encoder, sampled: Judged) -> dict[int, np.ndarray]:
    """The scores of judged documents, by grade."""
    found: dict[int, list[float]] = {}
    vectors = dict(
        zip(sampled.documents, model.encode([d.whole for d in sampled.documents.values()], "fr"), strict=True)
    )
    for query, row in zip(sampled.queries, model.encode([q.text for q in sampled.queries], "en"), strict=True):
        for document, grade in sampled.qrels[query.id].items():
            found.setdefault(grade, []).append(float(row @ vectors[document]))
    return {grade: np.array(scores) for grade, scores in sorted(found.items())}


def density(out: Path, pages: int) -> None:
    train, _ = judged(pages)
    sampled = judgments.sample_irrelevant(train, 40)
    for loss in ("sosl", "three-part", "mse", "sigmoids"):
        scores = by_grade(ordinal.fit_judged(train, loss=loss, epochs=10), sampled)
        figure, axes = _plot("score", "density")
        for grade, values in scores.items():
            axes.hist(values, bins=60, range=(-1, 1), density=True, histtype="step", label=f"grade {grade}")
        _save(figure, axes, out / f"figure-3-{loss}.svg")
        told = "  ".join(f"grade {g}: {v.mean():.2f} ± {v.std():.2f}" for g, v in scores.items())
        print(f"{loss:11} {told}", flush=True)


def sweep(out: Path, pages: int) -> None:
    train, _ = judged(pages)
    best = []
    for epsilon in (0.125, *EPSILONS[1:], 2.0):
        trials = ordinal.tune(train, thresholds=THETAS, epsilons=[epsilon], folds=3, epochs=10)
        best.append((epsilon, trials[0].measure))
        print(f"epsilon {epsilon}: nDCG@5 {trials[0].measure:.3f} with thresholds {trials[0].thresholds}", flush=True)
    _curve(best, "epsilon", out / "figure-4.svg")


def negatives(out: Path, pages: int) -> None:
    train, test = judged(pages)
    found = []
    for count in (10, 20, 40, 80):
        model = ordinal.fit_judged(
            train, validation=[judgments.sample_irrelevant(test, count)], negatives=count, epochs=10
        )
        found.append((count, model.meta["ndcg@5"]))
        print(f"{count} irrelevant documents: nDCG@5 {found[-1][1]:.3f}", flush=True)
    _curve(found, "irrelevant documents of a query", out / "figure-5.svg")


def _plot(x: str, y: str) -> tuple[Figure, Any]:
    figure = Figure(figsize=(5, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.set(xlabel=x, ylabel=y)
    return figure, axes


def _curve(points: Sequence[tuple[float, float]], x: str, path: Path) -> None:
    figure, axes = _plot(x, "nDCG@5")
    axes.plot(*zip(*points, strict=True), marker="o")
    figure.savefig(str(path))


def _save(figure: Figure, axes: Any, path: Path) -> None:
    axes.legend(frameon=False, fontsize=7)
    figure.savefig(str(path))


FIGURES = {one.__name__: one for one in (gradients, losses, density, sweep, negatives)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="+", choices=FIGURES)
    parser.add_argument("--out", type=Path, default=Path("figures"))
    parser.add_argument("--pages", type=int, default=1500)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.figures:
        FIGURES[name](options.out, options.pages)
