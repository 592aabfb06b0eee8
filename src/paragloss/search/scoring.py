"""The scoring model of the default search: features of a document for a query -> probability that it answers it.

That probability orders the results, merges the languages and is shown to the reader. Studies get the features of all
candidates of a query from

    paragloss.collection.retrieval.collect_candidates(state, text, options) -> MeasuredCandidates

where `state` is `Collection.state` and `options` a `SearchOptions`. `MeasuredCandidates` has `doc_ids`, `languages`,
`features` (float32, one row per candidate, columns as in `FEATURE_NAMES`) and `has_vectors` (whether the encoder has
read the document; for the others the model without vectors is used, and the similarity columns are 0).
`scoring_model.json` beside this file holds the coefficients; `ScoringModel.save` writes one.

How to fit: listwise for the features of documents (softmax over the candidates of a query, weights not negative), then
a logistic regression over that score and `QUERY_FEATURES`, which are equal for all candidates of a query. One logistic
regression for everything orders worse (nDCG@10 .863 instead of .878 in a trial).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paragloss.bm25 import Doubles
from paragloss.types import Floats

#: What each column of the features means.
FEATURES: dict[str, str] = {
    "words": "weight of the query's terms that title and text match (BM25F), divided by that of all its terms plus "
    "UNMATCHED_WEIGHT, so that rare words count more than frequent ones",
    "title_words": "the same in the title, with terms weighed by how rare they are in titles; divided by the number of "
    "query terms, because a long query is seldom a title",
    "title_similarity": "cosine of query and title, in standard deviations above unrelated titles of the language, "
    "divided by the number of query terms",
    "passage_similarity": "cosine of query and best passage, likewise, corrected for the number of passages; where "
    "positive, times the share of the query that isn't matched: matching words make a passage similar, too",
    "match_rarity": "-log of the number of documents expected to match the same query terms by chance",
    "log_query_terms": "logarithm of the number of query terms",
}
FEATURE_NAMES = tuple(FEATURES)
#: The features that need vectors; the model without vectors leaves them out.
VECTOR_FEATURES = ("title_similarity", "passage_similarity")
#: The features that are equal for all candidates of a query.
QUERY_FEATURES = ("log_query_terms",)
MODEL_FILE = Path(__file__).parent / "scoring_model.json"


@dataclass(frozen=True)
class MeasuredCandidates:
    """Documents that the store returned for one query, in no particular order, with their features."""

    doc_ids: Sequence[str]
    languages: Sequence[str]
    features: Floats  # (n_candidates, n_features), columns as in FEATURE_NAMES
    has_vectors: npt.NDArray[np.bool_]  # (n_candidates,)


class FeatureContribution(NamedTuple):
    """What one feature adds to the log-odds of a document."""

    feature: str
    value: float
    log_odds: float


class Coefficients(NamedTuple):
    """The coefficients of one logistic regression."""

    intercept: float
    weights: Doubles  # (n_features,)

    def to_table(self) -> dict[str, float]:
        """Return the coefficients by name, rounded as they are saved."""
        table = {"intercept": round(self.intercept, 3)}
        for feature, weight in zip(FEATURE_NAMES, self.weights, strict=True):
            table[feature] = round(float(weight), 3)
        return table


@dataclass(frozen=True)
class ScoringModel:
    """Two logistic regressions over the same features: for documents with vectors, and for those without.

    The probability of a candidate depends on its own features only. Adding or removing other documents therefore never
    reorders the rest.
    """

    with_vectors: Coefficients
    without_vectors: Coefficients

    def log_odds(self, candidates: MeasuredCandidates) -> Doubles:
        """Return the logarithm of the odds that each candidate answers the query; (n_candidates,)."""
        features = candidates.features.astype(np.float64)
        with_vectors = features @ self.with_vectors.weights + self.with_vectors.intercept
        without = features @ self.without_vectors.weights + self.without_vectors.intercept
        return np.asarray(np.where(candidates.has_vectors, with_vectors, without))

    def explain(self, features: Floats, *, has_vectors: bool) -> list[FeatureContribution]:
        """Split the log-odds of one candidate into what its features contribute; the intercept comes last.

        :param features: of the candidate, (n_features,).
        :param has_vectors: whether the encoder has read the document, which decides between the two regressions.
        """
        coefficients = self.with_vectors if has_vectors else self.without_vectors
        contributions = [
            FeatureContribution(name, float(value), float(value) * float(weight))
            for name, value, weight in zip(FEATURE_NAMES, features, coefficients.weights, strict=True)
        ]
        return [*contributions, FeatureContribution("intercept", 1.0, coefficients.intercept)]

    @classmethod
    def load(cls, path: Path = MODEL_FILE) -> ScoringModel:
        """Read the coefficients from a JSON file."""
        tables = json.loads(path.read_text(encoding="utf-8"))
        return cls(_read_coefficients(tables["with_vectors"]), _read_coefficients(tables["without_vectors"]))

    def save(self, path: Path, recipe: str) -> None:
        """Write the coefficients to a JSON file, with the command that computed them."""
        tables = {
            "with_vectors": self.with_vectors.to_table(),
            "without_vectors": self.without_vectors.to_table(),
        }
        path.write_text(json.dumps({"recipe": recipe, **tables}, indent=1) + "\n", encoding="utf-8")


def compute_probabilities(log_odds: Doubles) -> Doubles:
    """Turn log-odds into probabilities."""
    return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))


@cache
def shipped_model() -> ScoringModel:
    """Return the model that comes with the package."""
    return ScoringModel.load()


def _read_coefficients(table: dict[str, float]) -> Coefficients:
    return Coefficients(table["intercept"], np.array([table.get(name, 0.0) for name in FEATURE_NAMES]))
