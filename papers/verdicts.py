"""Compare a measured table with the paper's figures, which are in `paper_figures.toml`.

Two rows that the paper has further apart than the tolerance are one comparison. It agrees if ours are in the same order
and further apart than the tolerance, ties if ours are not further apart than that, and disagrees otherwise. Rows that
are no better than a random order, within the noise of the seeds, take part in no comparison, nor do rows whose training
had not converged.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TypeAlias

import numpy as np

#: part -> row -> column -> one value per seed
Values: TypeAlias = Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]
PAPER_FIGURES = Path(__file__).with_name("paper_figures.toml")
#: The row of a random order, where a recipe measures one.
CHANCE_ROW = "Random order"
#: A row is no better than chance if its mean is closer than this many standard deviations of its seeds, or than
#: MIN_NOISE, to the mean of the random order.
NOISE_DEVIATIONS, MIN_NOISE = 2.0, 0.005


@dataclass(frozen=True)
class PaperColumn:
    """One column of a paper's table: its figures by row, and our parts they are compared with ("all": their mean)."""

    column: str
    parts: Sequence[str]
    figures: Mapping[str, float]
    tolerance: float


@dataclass(frozen=True)
class Statement:
    """Something the paper says in words or shows in a plot: one row is above another.

    It holds where our mean of `higher` is above `factor` times our mean of `lower` plus `margin`.
    """

    text: str
    column: str
    parts: Sequence[str]
    higher: str
    lower: str
    margin: float
    factor: float = 1.0

    def holds(self, ours: Mapping[str, float]) -> bool:
        """Say whether our means, by row, agree with the statement."""
        return ours[self.higher] > self.factor * ours[self.lower] + self.margin


@dataclass(frozen=True)
class PaperTable:
    """What the paper reports: on which data, its figures, and what it says about them.

    `requires` says what a part of ours must have to be compared: "chance", a random order; "budget", the best epoch of
    each trained row.
    """

    data: str
    columns: Sequence[PaperColumn] = ()
    statements: Sequence[Statement] = ()
    requires: Sequence[str] = ()


def read_paper_table(recipe: str) -> PaperTable:
    """Read what the paper reports for a recipe."""
    record = tomllib.loads(PAPER_FIGURES.read_text(encoding="utf-8"))[recipe]
    columns = [PaperColumn(**column) for column in record.get("columns", ())]
    statements = [Statement(**statement) for statement in record.get("statements", ())]
    return PaperTable(record["data"], columns, statements, record.get("requires", ()))


@dataclass(frozen=True)
class OrderVerdict:
    """How the order of our rows compares with the paper's, in one column and part."""

    column: str
    part: str
    paper: Mapping[str, float]
    ours: Mapping[str, float]
    agree: list[tuple[str, str]] = field(default_factory=list)
    tie: list[tuple[str, str]] = field(default_factory=list)
    disagree: list[tuple[str, str]] = field(default_factory=list)
    at_chance: list[str] = field(default_factory=list)

    @property
    def word(self) -> str:
        """Summarize in a word: "agrees" only if every comparison agrees."""
        if self.disagree:
            return "disagrees"
        if self.tie or not self.agree:
            return "undecided"
        return "agrees"

    def describe(self) -> str:
        """Describe the verdict in a sentence of Markdown, with both sets of figures."""
        counts = f"{len(self.agree)} agree, {len(self.tie)} tie, {len(self.disagree)} disagree"
        figures = ", ".join(
            f"{row} {format_figure(self.paper[row])} / {format_figure(self.ours[row])}" for row in self.paper
        )
        chance = f" At chance, not compared: {', '.join(self.at_chance)}." if self.at_chance else ""
        where = "" if self.part == "all" else f"{self.part}, "
        return f"{where}{self.column}: **{self.word}** ({counts}). Paper / ours: {figures}.{chance}"


@dataclass(frozen=True)
class StatementVerdict:
    """Whether our means agree with a statement, in one part."""

    statement: Statement
    part: str
    ours: Mapping[str, float]

    @property
    def word(self) -> str:
        return "agrees" if self.statement.holds(self.ours) else "disagrees"

    def describe(self) -> str:
        """Describe the verdict in a sentence of Markdown, with our figures."""
        rows = (self.statement.higher, self.statement.lower)
        figures = ", ".join(f"{row} {format_figure(self.ours[row])}" for row in rows)
        where = "" if self.part == "all" else f"{self.part}, "
        return f"{where}{self.statement.column}: **{self.word}** with “{self.statement.text}”. Ours: {figures}."


Verdict: TypeAlias = OrderVerdict | StatementVerdict


def judge_table(paper: PaperTable, values: Values) -> list[Verdict]:
    """Compare all columns and statements of a paper's table for which enough rows were measured."""
    values = select_comparable(paper, values)
    verdicts: list[Verdict] = []
    for column in paper.columns:
        for part in column.parts:
            verdict = judge_order(column, part, values)
            if len(verdict.paper) > 1:
                verdicts.append(verdict)
    for statement in paper.statements:
        for part in statement.parts:
            ours = mean_by_row(values, part, statement.column)
            rows = {statement.higher, statement.lower}
            if rows <= ours.keys() and not rows <= find_rows_at_chance(values, part, statement.column):
                verdicts.append(StatementVerdict(statement, part, ours))
    return verdicts


def select_comparable(paper: PaperTable, values: Values) -> Values:
    """Select the parts and rows that a verdict can rest on."""
    return {
        part: {row: columns for row, columns in rows.items() if not is_unconverged(columns)}
        for part, rows in values.items()
        if _find_part_problem(paper, rows) is None
    }


def list_problems(paper: PaperTable, values: Values) -> list[str]:
    """Say which parts and rows are not compared, and why."""
    problems = []
    for part, rows in values.items():
        part_problem = _find_part_problem(paper, rows)
        if part_problem:
            problems.append(f"{part}: {part_problem}")
        else:
            problems += [
                f"{part}, {row}: the best epoch was the last"
                for row, columns in rows.items()
                if is_unconverged(columns)
            ]
    return problems


def is_unconverged(columns: Mapping[str, Sequence[float]]) -> bool:
    """Say whether the best epoch of a row was the last with some seed: it would have gained from more epochs."""
    pairs = zip(columns.get("best epoch", ()), columns.get("epochs", ()), strict=True)
    return any(best >= epochs for best, epochs in pairs)


def _find_part_problem(paper: PaperTable, rows: Mapping[str, Mapping[str, Sequence[float]]]) -> str | None:
    """Say why no row of a part is compared; None if they are."""
    if "chance" in paper.requires and CHANCE_ROW not in rows:
        return "no random order was measured"
    if "budget" in paper.requires and not any("best epoch" in columns for columns in rows.values()):
        return "measured before recipes trained until convergence"
    return None


def judge_order(column: PaperColumn, part: str, values: Values) -> OrderVerdict:
    """Compare the order of our rows with the paper's in one column of one part."""
    ours = mean_by_row(values, part, column.column)
    paper = {row: figure for row, figure in column.figures.items() if row in ours}
    rows_at_chance = find_rows_at_chance(values, part, column.column)
    at_chance = [row for row in paper if row in rows_at_chance]
    verdict = OrderVerdict(column.column, part, paper, ours, at_chance=at_chance)
    for first, second in combinations([row for row in paper if row not in at_chance], 2):
        paper_gap, our_gap = paper[first] - paper[second], ours[first] - ours[second]
        if abs(paper_gap) <= column.tolerance:
            continue  # the paper itself does not tell them apart
        if abs(our_gap) <= column.tolerance:
            verdict.tie.append((first, second))
        elif (our_gap > 0) == (paper_gap > 0):
            verdict.agree.append((first, second))
        else:
            verdict.disagree.append((first, second))
    return verdict


def find_rows_at_chance(values: Values, part: str, column: str) -> set[str]:
    """Return the rows that are no better than a random order, within the noise of the seeds."""
    means = mean_by_row(values, part, column)
    chance = means.get(CHANCE_ROW)
    if chance is None:
        return set()
    noise = noise_by_row(values, part, column)
    return {row for row, mean in means.items() if mean - chance <= noise[row]}


def mean_by_row(values: Values, part: str, column: str) -> dict[str, float]:
    """Average each row over seeds, of one part or (part = "all") over all parts that have the row."""
    means: dict[str, list[float]] = {}
    for name, rows in values.items():
        if part in ("all", name):
            for row, columns in rows.items():
                if column in columns:
                    means.setdefault(row, []).append(float(np.mean(columns[column])))
    return {row: float(np.mean(part_means)) for row, part_means in means.items()}


def noise_by_row(values: Values, part: str, column: str) -> dict[str, float]:
    """Estimate how far each row's mean may lie from chance by chance, from the deviation between its seeds."""
    deviations: dict[str, list[float]] = {}
    for name, rows in values.items():
        if part in ("all", name):
            for row, columns in rows.items():
                if column in columns:
                    deviations.setdefault(row, []).append(float(np.std(columns[column])))
    return {row: max(NOISE_DEVIATIONS * float(np.mean(std)), MIN_NOISE) for row, std in deviations.items()}


def format_figure(value: float) -> str:
    """Format a value as tables do: .512, 1,234, 12.3."""
    if abs(value) >= 100 or (value == int(value) and abs(value) > 1):
        return f"{value:,.0f}"
    if abs(value) >= 2:
        return f"{value:.1f}"
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"
