"""Analyses of a kernel ranker as one call each: read files, look, write a table and a plot into a folder.

`KINDS` names them; each takes files of aligned documents (`{"concept", "lang", "title", "text"}`) and an output folder
and gives back the table. What is computed lives in `lab.kernel_analysis`; this is what a command line calls.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.collection import load
from paragloss.encoders.kernel_ranker import Knrm
from paragloss.errors import InputError
from paragloss.evaluation import evaluate, mean
from paragloss.evaluation.report import panels
from paragloss.lab import judgments, kernel_analysis
from paragloss.lab.aligned_files import read_aligned
from paragloss.lab.methods import knrm
from paragloss.ranking import rank
from paragloss.types import Hit, JudgedCollection, Translator

#: Documents a query's own one must stand out from, when an analysis measures.
RIVALS = 19
SIZES = (0.1, 0.2, 0.4, 0.7, 1.0)


class Table(NamedTuple):
    header: list[str]
    rows: list[list[Any]]


def kernel_bins(files: Sequence[str], out: str | Path, *, model: str, source: str, target: str) -> Table:
    """Per kernel: its weight, the pairs of words in it, and how well it ranks alone. Files: held-out documents."""
    ranker, judged = Knrm.load(model), _judged(files, source, target)
    scores_alone = kernel_analysis.one_at_a_time(ranker, lambda one: reciprocal_rank(one, judged))
    rows: list[list[Any]] = [
        [b.number, b.mean, b.weight, b.pairs, score]
        for b, score in zip(kernel_analysis.bins(ranker, judged), scores_alone, strict=True)
    ]
    return _write(out, "kernels", Table(["kernel", "mean", "weight", "pairs", "RR alone"], rows), _draw_bins, 3)


def translations(files: list[str], out: str | Path, *, model: str, translator: str, source: str, target: str) -> Table:
    """Which kernel the words of the queries and their translations fall into, and examples of each."""
    ranker, judged = Knrm.load(model), _judged(files, source, target)
    dictionary = load(translator)
    if not isinstance(dictionary, Translator):
        raise InputError(f"{translator} does not translate: give a table or a dictionary")
    placed = kernel_analysis.translation_pairs(ranker, dictionary, kernel_analysis.words_of(judged.queries), target)
    rows = []
    for b in kernel_analysis.bins(ranker, judged):
        pairs_of_bin = sorted((p for p in placed if p.bin == b.number), key=lambda p: -p.cosine)
        rows.append(
            [
                b.number,
                b.mean,
                b.weight,
                len(pairs_of_bin),
                "; ".join(f"{p.source} = {p.target}" for p in pairs_of_bin[:5]),
            ]
        )
    table = Table(["kernel", "mean", "weight", "translations", "examples"], rows)
    return _write(out, "translations", table, _bars(3, "pairs of translations"), 1)


def exact_match(
    files: Sequence[str], out: str | Path, *, source: str, target: str, epochs: int = 10, dim: int = 100, seed: int = 0
) -> Table:
    """Train with and without the kernel of exact matches, on two thirds of the queries, and rank with the rest."""
    train, test = judgments.split(_judged(files, source, target), (2, 1), seed=seed)
    rows: list[list[Any]] = []
    for name, off in (("all kernels", ()), ("exact match off", (0,))):
        ranker = knrm.fit_judged(train, off=off, epochs=epochs, dim=dim, seed=seed)
        rows.append([name, reciprocal_rank(ranker, test)])
    return _write(out, "exact-match", Table(["trained with", "RR"], rows), _bars(1, "RR"), 1)


def data_size(
    files: Sequence[str],
    out: str | Path,
    *,
    source: str,
    target: str,
    sizes: Sequence[float] = SIZES,
    epochs: int = 10,
    dim: int = 100,
    seed: int = 0,
) -> Table:
    """Train on growing shares of two thirds of the queries and rank with the rest; terms seen beside it."""
    train, test = judgments.split(_judged(files, source, target), (2, 1), seed=seed)
    sizes_measured = kernel_analysis.data_sizes(
        train,
        [max(1, round(share * len(train.queries))) for share in sizes],
        lambda part: knrm.fit_judged(part, epochs=epochs, dim=dim, seed=seed),
        lambda ranker: reciprocal_rank(ranker, test),
    )
    table = Table(["queries", "pairs", "terms", "RR"], [list(size) for size in sizes_measured])
    return _write(out, "data-size", table, _draw_sizes, 2)


def quality(files: Sequence[str], out: str | Path, *, model: str, source: str, target: str, categories: str) -> Table:
    """Per category of queries (a file `concept<TAB>category`): how many, words the model doesn't know, rank."""
    ranker, judged = Knrm.load(model), _judged(files, source, target)
    category_by_query = dict(_pairs(categories))
    scores = reciprocal_ranks(ranker, judged)
    rows: list[list[Any]] = []
    for category, measures in kernel_analysis.by_category({"RR": scores}, category_by_query).items():
        queries = [query for query in judged.queries if category_by_query.get(query.id) == category]
        unknown = kernel_analysis.unknown_words(ranker, queries)
        rows.append([category, len(queries), f"{unknown.unknown}/{unknown.words}", measures["RR"]])
    if not rows:
        raise InputError(f"{categories} names no concept that the files have in {source} and {target}")
    return _write(out, "quality", Table(["category", "queries", "unknown words", "RR"], rows), _bars(3, "RR"), 1)


#: Names on the command line.
KINDS: Mapping[str, Callable[..., Table]] = {
    "kernels": kernel_bins,
    "translations": translations,
    "exact-match": exact_match,
    "data-size": data_size,
    "quality": quality,
}


def reciprocal_rank(model: Knrm, judged: JudgedCollection) -> float:
    """Where a query's own document stands among RIVALS others, on average; ties count against it."""
    return mean({"RR": reciprocal_ranks(model, judged)})["RR"]


def reciprocal_ranks(model: Knrm, judged: JudgedCollection) -> dict[str, float]:
    against = judgments.sample_irrelevant(judged, min(RIVALS, len(judged.documents) - 1))
    run = {}
    for query in against.queries:
        documents = [judged.documents[name] for name in against.qrels[query.id]]
        scores = model.score(query, documents)
        # Irrelevant documents come first among equals: a model that can't tell must not look good by luck.
        ranked = rank((Hit(d.id, float(s)) for d, s in zip(documents, scores, strict=True)), len(documents))
        run[query.id] = sorted(ranked, key=lambda hit: (-hit.score, against.qrels[query.id][hit.id]))
    return evaluate(run, against.qrels, ("RR",))["RR"]


def _judged(files: Sequence[str], source: str, target: str) -> JudgedCollection:
    return judgments.from_aligned(list(read_aligned(files)), source=source, target=target, query="title")


def _pairs(path: str) -> list[tuple[str, str]]:
    with open(path, encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    for number, row in enumerate(rows, 1):
        if len(row) != 2:
            raise InputError("expected a concept and a category with a tab between them", location=f"{path}:{number}")
    return [(row[0], row[1]) for row in rows]


def _write(out: str | Path, name: str, table: Table, draw: Callable[[list[Any], Table], None], columns: int) -> Table:
    """The table as TSV and the plot as SVG."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.tsv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerows([table.header, *table.rows])
    figure, axes = panels(columns, width=4.5, height=3.2)
    draw(axes, table)
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    return table


def _bars(*drawn: Any) -> Callable[[list[Any], Table], None]:
    """Some columns of a table as bars, each with its label, a plot for each."""

    def draw(axes: list[Any], table: Table) -> None:
        for axis, column, label in zip(axes, drawn[::2], drawn[1::2], strict=True):
            axis.bar([str(row[0]) for row in table.rows], [row[column] for row in table.rows], color="#2a7f62")
            axis.set(xlabel=table.header[0], ylabel=label)

    return draw


def _draw_bins(axes: list[Any], table: Table) -> None:
    """Fig. 6.2 (a) and (b), and Fig. 6.3 of Liu's thesis."""
    _bars(3, "pairs of words", 2, "weight", 4, "RR alone")(axes, table)
    axes[0].set_yscale("symlog")


def _draw_sizes(axes: list[Any], table: Table) -> None:
    """Figs. 6.5 and 6.6 of Liu's thesis."""
    for axis, column, label in zip(axes, (3, 2), ("RR", "terms seen"), strict=True):
        axis.plot([row[1] for row in table.rows], [row[column] for row in table.rows], marker="o", color="#2a7f62")
        axis.set(xlabel="judged pairs trained on", ylabel=label)
