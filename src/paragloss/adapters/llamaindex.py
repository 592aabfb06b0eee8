"""A collection as a LlamaIndex retriever."""

from __future__ import annotations

from typing import Unpack

from paragloss.collection import Collection, SearchKeywords, SearchOptions
from paragloss.errors import MissingExtraError

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError:
    raise MissingExtraError("the LlamaIndex retriever", "llamaindex") from None


class ParaglossRetriever(BaseRetriever):
    """Documents of any language for a question in one's own; options as in `Collection.search`. A node is a whole
    document, its score the `fit`: a share that can be compared between languages."""

    def __init__(self, engine: Collection, **how: Unpack[SearchKeywords]) -> None:
        super().__init__()
        self._engine, self._options = engine, SearchOptions(**how)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._engine.search(query_bundle.query_str, self._options).results
        texts = {document.id: document.text for document in self._engine.get([r.id for r in found]) if document}
        return [
            NodeWithScore(
                node=TextNode(
                    id_=result.id,
                    text=texts.get(result.id, result.snippet),
                    metadata={**result.meta, "lang": result.lang, "title": result.title},
                ),
                score=result.fit,
            )
            for result in found
        ]
