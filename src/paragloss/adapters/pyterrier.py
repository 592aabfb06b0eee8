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
    """From `qid`, `query` (and `lang` where queries differ) to `docno`, `score` and `rank`, first 0, as PyTerrier's own
    retrievers give them. Composes: `ParaglossRetriever(engine) % 100 >> ...`."""

    def __init__(self, engine: Collection, *, num_results: int = 1000, **how: Unpack[SearchKeywords]) -> None:
        self.engine, self.options = engine, replace(SearchOptions(**how), k=num_results)

    def transform(self, queries: Any) -> Any:
        pt.validate.query_frame(queries, extra_columns=["query"])
        rows = queries.to_dict("records")
        asked = [Query(str(row["qid"]), str(row["query"]), str(row.get("lang") or "")) for row in rows]
        rankings = self.engine.rank(asked, self.options)
        found = [
            {**row, "docno": hit.id, "score": float(hit.score), "rank": place}
            for row, ranking in zip(rows, rankings, strict=True)
            for place, hit in enumerate(ranking)
        ]
        return pd.DataFrame(found, columns=[*queries.columns, "docno", "score", "rank"])
