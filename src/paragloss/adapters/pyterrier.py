"""A collection as a PyTerrier transformer: queries in, ranked documents out. Needs no Java."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paragloss.collection import Collection
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

    def __init__(
        self,
        engine: Collection,
        *,
        lang: str = "",
        to: Sequence[str] | None = None,
        num_results: int = 1000,
        pipeline: str | None = None,
    ) -> None:
        self.engine, self.lang, self.to, self.num_results, self.pipeline = engine, lang, to, num_results, pipeline

    def transform(self, queries: Any) -> Any:
        pt.validate.query_frame(queries, extra_columns=["query"])
        rows = queries.to_dict("records")
        asked = [Query(str(row["qid"]), str(row["query"]), str(row.get("lang") or self.lang)) for row in rows]
        rankings = self.engine.rank(asked, k=self.num_results, to=self.to, pipeline=self.pipeline)
        found = [
            {**row, "docno": hit.id, "score": float(hit.score), "rank": place}
            for row, ranking in zip(rows, rankings, strict=True)
            for place, hit in enumerate(ranking)
        ]
        return pd.DataFrame(found, columns=[*queries.columns, "docno", "score", "rank"])
