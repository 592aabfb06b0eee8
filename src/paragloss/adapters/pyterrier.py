"""A collection as a PyTerrier transformer: queries in, ranked documents out. Needs no Java."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from paragloss.collection import Collection, SearchKeywords, SearchOptions
from paragloss.errors import MissingExtraError
from paragloss.types import Query

try:
    import pandas as pd
    import pyterrier as pt
except ImportError:
    raise MissingExtraError("the PyTerrier transformer", "pyterrier") from None


class ParaglossRetriever(pt.Transformer):
    """Rank documents for a data frame of queries.

    Takes the columns `qid` and `query` (and `lang` where queries differ in it) and adds `docno`, `score` and `rank`,
    which counts from 0 as in PyTerrier's own retrievers. Composes: `ParaglossRetriever(collection) % 100 >> ...`.
    """

    def __init__(
        self, collection: Collection, *, num_results: int = 1000, **search_options: Unpack[SearchKeywords]
    ) -> None:
        """Take an open collection, the number of documents per query and the options of `Collection.search`."""
        self.collection = collection
        self.options = replace(SearchOptions(**search_options), k=num_results)

    def transform(self, queries: Any) -> Any:
        """Return a data frame with one row per query and ranked document."""
        pt.validate.query_frame(queries, extra_columns=["query"])
        query_rows = queries.to_dict("records")
        parsed_queries = [Query(str(row["qid"]), str(row["query"]), str(row.get("lang") or "")) for row in query_rows]
        ranked_rows = []
        for row, ranking in zip(query_rows, self.collection.rank(parsed_queries, self.options), strict=True):
            for rank, hit in enumerate(ranking):
                ranked_rows.append({**row, "docno": hit.id, "score": float(hit.score), "rank": rank})
        return pd.DataFrame(ranked_rows, columns=[*queries.columns, "docno", "score", "rank"])
