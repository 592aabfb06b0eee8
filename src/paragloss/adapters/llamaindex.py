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
    """Retrieve documents of any language for a question in one's own.

    A node is a whole document. Its score is the `fit` of the result, which can be compared between languages.
    """

    def __init__(self, collection: Collection, **search_options: Unpack[SearchKeywords]) -> None:
        """Take an open collection and the options of `Collection.search`."""
        super().__init__()
        self._collection, self._options = collection, SearchOptions(**search_options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        results = self._collection.search(query_bundle.query_str, self._options).results
        documents = self._collection.get([result.id for result in results])
        texts = {document.id: document.text for document in documents if document}
        nodes = []
        for result in results:
            text = texts.get(result.id, result.snippet)
            metadata = {**result.meta, "lang": result.lang, "title": result.title}
            nodes.append(NodeWithScore(node=TextNode(id_=result.id, text=text, metadata=metadata), score=result.fit))
        return nodes
