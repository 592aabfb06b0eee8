"""Fit the scoring model of the default search, and validate it on collections that were left out.

    python studies/fit_scoring.py gather COLLECTIONS WORK FEATURES     index, search, write FEATURES/NAME.npz
    python studies/fit_scoring.py validate FEATURES                    each collection by a model of the others
    python studies/fit_scoring.py fit FEATURES OUT.json                the shipped coefficients, from all collections
    python studies/fit_scoring.py refit FEATURES                       does fitting to a collection's own queries help?

COLLECTIONS comes from studies/search_collections.py. A query's candidates and their features are those of the search
itself (`retrieval.collect_candidates`). The weights minimise the sum over queries of -log(softmax score of the right
documents), so that the order counts and every query counts the same; then a second fit of scale, intercept and the
weight of the query's length turns scores into probabilities, on the ten best candidates of each query: those are what
people see. Collections count equally, and kinds of query within a collection. Without vectors the same is done with the
vector features left out.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from measure_collections import open_indexed, read_rows
from scipy.optimize import minimize
from scipy.stats import ttest_rel

from paragloss.collection import SearchOptions, retrieval
from paragloss.search.scoring import FEATURE_NAMES, QUERY_FEATURES, VECTOR_FEATURES, Coefficients, ScoringModel

Doubles = npt.NDArray[np.float64]
RIDGE = 1e-3  # per query; keeps correlated features from growing against each other
MAX_NEGATIVES = 60  # candidates of a query that are used for fitting; all are ranked for validation
REFIT_QUERIES = 50  # judged queries that a reader may have
SHOWN_RESULTS = 10  # results that people see; probabilities are fitted and checked on them
RELIABILITY_BINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


class JudgedCollection(NamedTuple):
    """The candidates of the queries of one collection, query after query."""

    features: Doubles  # (n_candidates, n_features)
    is_right: npt.NDArray[np.bool_]  # (n_candidates,)
    starts: npt.NDArray[np.int64]  # (n_queries + 1,) where each query's candidates begin
    kinds: Sequence[str]  # (n_queries,) "title de", ...
    rights: npt.NDArray[np.int64]  # (n_queries,) how many right documents there are, found or not


def main() -> None:
    """Read the command line and run one step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["gather", "validate", "fit", "refit"])
    parser.add_argument("paths", type=Path, nargs="+")
    parser.add_argument("--only", nargs="*")
    arguments = parser.parse_args()
    if arguments.step == "gather":
        collections, work, features = arguments.paths
        features.mkdir(parents=True, exist_ok=True)
        for name in arguments.only or sorted(folder.name for folder in collections.iterdir()):
            gather_features(collections / name, work / name, features / f"{name}.npz")
    elif arguments.step == "validate":
        print_validation(read_features(arguments.paths[0]))
    elif arguments.step == "refit":
        print_refits(read_features(arguments.paths[0]))
    else:
        model = fit_model(list(read_features(arguments.paths[0]).values()))
        model.save(arguments.paths[1], "python studies/fit_scoring.py fit FEATURES OUT.json")


def gather_features(source: Path, folder: Path, out: Path) -> None:
    """Search for every query of a collection and store its candidates' features and which of them are right."""
    features, labels, sizes, kinds, rights = [], [], [], [], []
    with open_indexed(source, folder) as collection:
        versions: dict[str, set[str]] = defaultdict(set)
        for document in collection.documents():
            versions[document.id.rpartition("/")[0]].add(document.id)
        for row in add_mixed_queries(read_rows(source / "queries.jsonl")):
            options = SearchOptions(lang=row["lang"], to=[row["to"]] if row["to"] != "*" else None)
            candidates = retrieval.collect_candidates(collection.state, row["text"], options)
            right = versions[row["concept"]] if row["to"] == "*" else {f"{row['concept']}/{row['to']}"}
            features.append(candidates.features)
            labels.append([doc_id in right for doc_id in candidates.doc_ids])
            sizes.append(len(candidates.doc_ids))
            kinds.append(f"{row['kind']} {row['to']}")
            rights.append(len(right))
    np.savez(
        out,
        features=np.concatenate(features),
        is_right=np.concatenate(labels).astype(bool),
        starts=np.cumsum([0, *sizes]),
        kinds=np.array(kinds),
        rights=np.array(rights),
        names=np.array(FEATURE_NAMES),
    )
    print(f"{source.name}: {len(sizes)} queries, {sum(sizes)} candidates", flush=True)


def add_mixed_queries(rows: list[dict]) -> list[dict]:
    """Ask titles (or sentences) of all languages together, too; such a query has `to` "*"."""
    kind = "title" if any(row["kind"] == "title" for row in rows) else "sentence"
    distinct = {row["concept"]: row for row in rows if row["kind"] == kind}
    return rows + [row | {"kind": "mixed", "to": "*"} for row in distinct.values()]


def read_features(folder: Path) -> dict[str, JudgedCollection]:
    """Read what `gather_features` wrote: collection -> candidates."""
    tables = {}
    for path in sorted(folder.glob("*.npz")):
        table = np.load(path)
        columns = [list(table["names"]).index(name) for name in FEATURE_NAMES]
        features = table["features"][:, columns].astype(np.float64)
        tables[path.stem] = JudgedCollection(
            features, table["is_right"], table["starts"], [str(kind) for kind in table["kinds"]], table["rights"]
        )
    return tables


def fit_model(tables: Sequence[JudgedCollection]) -> ScoringModel:
    """Fit the coefficients with and without vectors."""
    vector_columns = [FEATURE_NAMES.index(name) for name in VECTOR_FEATURES]
    word_columns = [column for column in range(len(FEATURE_NAMES)) if column not in vector_columns]
    every_column = list(range(len(FEATURE_NAMES)))
    return ScoringModel(fit_coefficients(tables, every_column), fit_coefficients(tables, word_columns))


def fit_coefficients(tables: Sequence[JudgedCollection], columns: Sequence[int]) -> Coefficients:
    """Fit weights of some features by the order of each query's candidates, then scale and intercept by all of them."""
    sample = [sample_candidates(table, np.random.default_rng(0)) for table in tables]
    weights = np.zeros(len(FEATURE_NAMES))
    weights[columns] = fit_order([table._replace(features=table.features[:, columns]) for table in sample])
    return calibrate(tables, weights, columns)


def sample_candidates(table: JudgedCollection, rng: np.random.Generator) -> JudgedCollection:
    """Keep the right candidates of each query and at most MAX_NEGATIVES of the others."""
    sampled, sizes = [], []
    for start, end in pairwise(table.starts):
        rows = np.arange(start, end)
        wrong = rows[~table.is_right[start:end]]
        if len(wrong) > MAX_NEGATIVES:
            wrong = np.sort(rng.choice(wrong, MAX_NEGATIVES, replace=False))
        sampled.append(np.sort(np.concatenate([rows[table.is_right[start:end]], wrong])))
        sizes.append(len(sampled[-1]))
    rows = np.concatenate(sampled)
    return table._replace(features=table.features[rows], is_right=table.is_right[rows], starts=np.cumsum([0, *sizes]))


def query_weights(table: JudgedCollection) -> Doubles:
    """Weigh queries so that each kind and language of a collection counts the same and a collection counts 1."""
    counts: dict[str, int] = defaultdict(int)
    for kind in table.kinds:
        counts[kind] += 1
    return np.array([1 / (counts[kind] * len(counts)) for kind in table.kinds])


def fit_order(tables: Sequence[JudgedCollection]) -> Doubles:
    """Return the weights that maximise the likelihood of the right candidates among those of their query."""
    features = np.concatenate([table.features for table in tables])
    is_right = np.concatenate([table.is_right for table in tables]).astype(np.float64)
    sizes = np.concatenate([np.diff(table.starts) for table in tables])
    weights_of_queries = np.concatenate([query_weights(table) for table in tables])
    used = sizes > 0
    sizes, weights_of_queries = sizes[used], weights_of_queries[used]
    starts = np.cumsum([0, *sizes[:-1]])
    right_counts = np.add.reduceat(is_right, starts)
    weights_of_queries = weights_of_queries * (right_counts > 0)
    query_of_row = np.repeat(np.arange(len(sizes)), sizes)
    scale = features.std(axis=0) + 1e-9
    standardized = features / scale
    targets = is_right / np.maximum(right_counts, 1)[query_of_row]  # right candidates share the probability

    def loss(weights: Doubles) -> tuple[float, Doubles]:
        scores = standardized @ weights
        scores -= np.maximum.reduceat(scores, starts)[query_of_row]
        exponentials = np.exp(scores)
        totals = np.add.reduceat(exponentials, starts)
        log_likelihood = scores - np.log(totals)[query_of_row]
        row_weights = weights_of_queries[query_of_row]
        value = -(row_weights * targets * log_likelihood).sum() + RIDGE * len(tables) * weights @ weights
        residuals = row_weights * (exponentials / totals[query_of_row] - targets)
        return value, standardized.T @ residuals + 2 * RIDGE * len(tables) * weights

    not_negative = [(0, None)] * features.shape[1]  # more evidence never lowers a probability
    result = minimize(loss, np.zeros(features.shape[1]), jac=True, method="L-BFGS-B", bounds=not_negative)
    return result.x / scale


def calibrate(tables: Sequence[JudgedCollection], weights: Doubles, columns: Sequence[int]) -> Coefficients:
    """Turn scores into log-odds: scale, intercept and the features that are the same for all candidates of a query."""
    constant = [column for column in columns if FEATURE_NAMES[column] in QUERY_FEATURES]
    weights = np.where(np.isin(np.arange(len(weights)), constant), 0.0, weights)
    best_rows = [find_best_rows(table, table.features @ weights) for table in tables]
    features = np.concatenate([table.features[rows] for table, rows in zip(tables, best_rows, strict=True)])
    labels = np.concatenate([table.is_right[rows] for table, rows in zip(tables, best_rows, strict=True)]).astype(float)
    row_weights = np.concatenate(
        [
            np.repeat(query_weights(table), np.diff(table.starts))[rows]
            for table, rows in zip(tables, best_rows, strict=True)
        ]
    )
    design = np.column_stack([features @ weights, np.ones(len(features)), features[:, constant]])

    def loss(values: Doubles) -> tuple[float, Doubles]:
        log_odds = design @ values
        value = (row_weights * (np.logaddexp(0, log_odds) - labels * log_odds)).sum()
        return value, design.T @ (row_weights * (1 / (1 + np.exp(-log_odds)) - labels))

    start = np.array([1.0, -5.0, *np.zeros(len(constant))])
    values = minimize(loss, start, jac=True, method="L-BFGS-B").x
    scaled = weights * values[0]
    scaled[constant] = values[2:]
    return Coefficients(float(values[1]), scaled)


def find_best_rows(table: JudgedCollection, scores: Doubles) -> npt.NDArray[np.int64]:
    """Return the rows of the ten best candidates of each query."""
    rows = [start + np.argsort(-scores[start:end])[:SHOWN_RESULTS] for start, end in pairwise(table.starts)]
    return np.concatenate(rows)


def print_validation(tables: dict[str, JudgedCollection]) -> None:
    """Rank every collection by a model of the others; print reciprocal ranks by kind, baselines and the reliability."""
    probabilities, labels = [], []
    print(f"{'collection':14} {'kind':9} queries  model  words  title  meaning")
    differences: dict[str, list[float]] = defaultdict(list)
    for name, table in tables.items():
        model = fit_model([other for other_name, other in tables.items() if other_name != name])
        log_odds = table.features @ model.with_vectors.weights + model.with_vectors.intercept
        best_rows = find_best_rows(table, log_odds)
        probabilities.append(1 / (1 + np.exp(-log_odds[best_rows])))
        labels.append(table.is_right[best_rows])
        systems = [log_odds, *list_single_parts(table.features)]
        ranks = [reciprocal_ranks(table, scores) for scores in systems]
        kinds = np.array([kind.split()[0] for kind in table.kinds])
        for kind in sorted(set(kinds)):
            rows = kinds == kind
            means = [values[rows].mean() for values in ranks]
            best = max(range(1, len(ranks)), key=lambda system: means[system])
            mark = ""
            if means[best] > means[0]:
                mark = f"  below the best part, p {ttest_rel(ranks[0][rows], ranks[best][rows]).pvalue:.3f}"
            print(f"{name:14} {kind:9} {rows.sum():7}  " + "  ".join(f"{mean:.3f}" for mean in means) + mark)
            differences[kind].append(means[0])
    print({kind: round(float(np.mean(values)), 3) for kind, values in differences.items()})
    print_reliability(np.concatenate(probabilities), np.concatenate(labels))


def print_refits(tables: dict[str, JudgedCollection]) -> None:
    """Rank half of each collection's queries by a model of the other collections, and by models fitted to its own ones.

    The models are fitted to the other half of its queries; to these and all other collections, which then count as much
    as the collection itself; and to REFIT_QUERIES of them alone. Prints the mean reciprocal ranks.
    """
    every_column = list(range(len(FEATURE_NAMES)))
    means = []
    print(f"{'collection':14} queries  others  own half  both  {REFIT_QUERIES} queries")
    for name, table in tables.items():
        shuffled = np.random.default_rng(0).permutation(len(table.kinds))
        own_half, tested_half = np.array_split(shuffled, 2)
        own, tested = select_queries(table, own_half), select_queries(table, tested_half)
        few = select_queries(table, own_half[:REFIT_QUERIES])
        others = [other for other_name, other in tables.items() if other_name != name]
        models = [
            fit_coefficients(training, every_column)
            for training in (others, [own], others + [own] * len(others), [few])
        ]
        ranks = [reciprocal_ranks(tested, tested.features @ model.weights) for model in models]
        means.append([values.mean() for values in ranks])
        p = ttest_rel(ranks[0], ranks[2]).pvalue
        print(f"{name:14} {len(tested.kinds):7}  " + "  ".join(f"{mean:.3f}" for mean in means[-1]) + f"  p {p:.3f}")
    print("mean", np.mean(means, axis=0).round(4))


def select_queries(table: JudgedCollection, queries: npt.NDArray[np.int64]) -> JudgedCollection:
    """Return the candidates of some queries, in the order of the table."""
    queries = np.sort(queries)
    rows = np.concatenate([np.arange(table.starts[query], table.starts[query + 1]) for query in queries])
    sizes = np.diff(table.starts)[queries]
    return JudgedCollection(
        table.features[rows],
        table.is_right[rows],
        np.cumsum([0, *sizes]),
        [table.kinds[query] for query in queries],
        table.rights[queries],
    )


def list_single_parts(features: Doubles) -> list[Doubles]:
    """Return the scores of words, title similarity and passage similarity alone."""
    words, title_words, title, passage, log_terms = (
        features[:, FEATURE_NAMES.index(name)]
        for name in ("words", "title_words", "title_similarity", "passage_similarity", "log_query_terms")
    )
    return [words + title_words * np.exp(log_terms), title, passage]


def reciprocal_ranks(table: JudgedCollection, scores: Doubles) -> Doubles:
    """Return 1 / rank of the best right candidate of each query, 0 where none was retrieved."""
    ranks = np.zeros(len(table.kinds))
    for query, (start, end) in enumerate(pairwise(table.starts)):
        right = table.is_right[start:end]
        if right.any():
            best = scores[start:end][right].max()
            ranks[query] = 1 / (1 + (scores[start:end][~right] >= best).sum())
    return ranks


def print_reliability(probabilities: Doubles, is_right: npt.NDArray[np.bool_]) -> None:
    """Print, for each bin of the probability, its mean and the share of candidates that are right."""
    print("probability   candidates  mean   right")
    for low, high in pairwise(RELIABILITY_BINS):
        rows = (probabilities >= low) & (probabilities < high)
        if rows.any():
            mean, share = probabilities[rows].mean(), is_right[rows].mean()
            print(f"{low:.2f} to {high:.2f}  {rows.sum():10}  {mean:.3f}  {share:.3f}")


if __name__ == "__main__":
    main()
