"""Compare a measured table with its paper's figures and statements.

Two rows that the paper has further apart than the tolerance are one comparison. It agrees if ours are in the same order
and further apart than the tolerance, ties if ours are not further apart than that, and disagrees otherwise. Rows that
are no better than a random order, within the noise of the seeds, take part in no comparison, nor do rows whose training
had not converged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

import numpy as np

from papers.markdown import format_figure
from papers.recipes import PaperColumn, Recipe, Statement

#: part -> row -> column -> one value per seed
Values: TypeAlias = Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]
#: The row of a random order, where a recipe measures one.
CHANCE_ROW = "Random order"
#: A row is no better than chance if its mean is closer than this many standard deviations of its seeds, or than
#: MIN_NOISE, to the mean of the random order.
NOISE_DEVIATIONS, MIN_NOISE = 2.0, 0.005


@dataclass(frozen=True)
class OrderVerdict:
    """How the order of our rows compares with the paper's, in one column and part: pairs of rows that agree, ..."""

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
        return "agrees" if self.agree and not self.tie else "undecided"

    def describe(self) -> str:
        """Describe the verdict in a sentence of Markdown, with both sets of figures."""
        counts = f"{len(self.agree)} agree, {len(self.tie)} tie, {len(self.disagree)} disagree"
        pairs = [f"{row} {format_figure(self.paper[row])} / {format_figure(self.ours[row])}" for row in self.paper]
        chance = f" At chance, not compared: {', '.join(self.at_chance)}." if self.at_chance else ""
        place = _name_place(self.part, self.column)
        return f"{place}: **{self.word}** ({counts}). Paper / ours: {', '.join(pairs)}.{chance}"


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
        place = _name_place(self.part, self.statement.column)
        return f"{place}: **{self.word}** with “{self.statement.text}”. Ours: {figures}."


Verdict: TypeAlias = OrderVerdict | StatementVerdict


def judge_table(recipe: Recipe, values: Values) -> list[Verdict]:
    """Compare all columns and statements of a recipe's paper for which enough rows were measured."""
    comparable = {
        part: {row: columns for row, columns in rows.items() if not is_unconverged(columns)}
        for part, rows in values.items()
        if _find_part_problem(recipe, rows) is None
    }
    verdicts: list[Verdict] = []
    for column in recipe.figures:
        for part in column.parts:
            verdict = judge_order(column, part, comparable)
            if len(verdict.paper) > 1:
                verdicts.append(verdict)
    for statement in recipe.statements:
        for part in statement.parts:
            ours = mean_by_row(comparable, part, statement.column)
            rows = {statement.higher, statement.lower}
            if rows <= ours.keys() and not rows <= find_rows_at_chance(comparable, part, statement.column):
                verdicts.append(StatementVerdict(statement, part, ours))
    return verdicts


def list_problems(recipe: Recipe, values: Values) -> list[str]:
    """Say which parts and rows are not compared, and why."""
    problems = []
    for part, rows in values.items():
        part_problem = _find_part_problem(recipe, rows)
        if part_problem:
            problems.append(f"{part}: {part_problem}")
            continue
        unconverged = [row for row, columns in rows.items() if is_unconverged(columns)]
        problems += [f"{part}, {row}: the best epoch was the last" for row in unconverged]
    return problems


def describe_verdicts(recipe: Recipe, values: Values) -> list[str]:
    """Write a line of Markdown for each verdict, and for each part or row that gets none."""
    lines = [verdict.describe() for verdict in judge_table(recipe, values)]
    if recipe.figures or recipe.statements:
        lines += [f"No verdict on {problem}." for problem in list_problems(recipe, values)]
    return [f"- {line}" for line in lines]


def is_unconverged(columns: Mapping[str, Sequence[float]]) -> bool:
    """Say whether the best epoch of a row was the last with some seed: it would have gained from more epochs."""
    pairs = zip(columns.get("best epoch", ()), columns.get("epochs", ()), strict=True)
    return any(best >= epochs for best, epochs in pairs)


def _find_part_problem(recipe: Recipe, rows: Mapping[str, Mapping[str, Sequence[float]]]) -> str | None:
    """Say why no row of a part is compared; None if they are."""
    if "chance" in recipe.requires and CHANCE_ROW not in rows:
        return "no random order was measured"
    if "budget" in recipe.requires and not any("best epoch" in columns for columns in rows.values()):
        return "measured before recipes trained until convergence"
    return None


def judge_order(column: PaperColumn, part: str, values: Values) -> OrderVerdict:
    """Compare the order of our rows with the paper's in one column of one part."""
    ours = mean_by_row(values, part, column.column)
    paper = {row: figure for row, figure in column.rows.items() if row in ours}
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
    seeds_by_row = _collect_seeds(values, part, column)
    if CHANCE_ROW not in seeds_by_row:
        return set()
    means = mean_by_row(values, part, column)
    rows_at_chance = set()
    for row, seeds_by_part in seeds_by_row.items():
        mean_deviation = float(np.mean([np.std(seeds) for seeds in seeds_by_part]))
        noise = max(NOISE_DEVIATIONS * mean_deviation, MIN_NOISE)
        if means[row] - means[CHANCE_ROW] <= noise:
            rows_at_chance.add(row)
    return rows_at_chance


def mean_by_row(values: Values, part: str, column: str) -> dict[str, float]:
    """Average each row over seeds, of one part or (part = "all") over all parts that have the row."""
    return {
        row: float(np.mean([np.mean(seeds) for seeds in seeds_by_part]))
        for row, seeds_by_part in _collect_seeds(values, part, column).items()
    }


def _collect_seeds(values: Values, part: str, column: str) -> dict[str, list[Sequence[float]]]:
    """Return each row's values of a column by seed, a list for each part, of one part or (part = "all") of all."""
    seeds_by_row: dict[str, list[Sequence[float]]] = {}
    for name, rows in values.items():
        if part in ("all", name):
            for row, columns in rows.items():
                if column in columns:
                    seeds_by_row.setdefault(row, []).append(columns[column])
    return seeds_by_row


def _name_place(part: str, column: str) -> str:
    return column if part == "all" else f"{part}, {column}"
