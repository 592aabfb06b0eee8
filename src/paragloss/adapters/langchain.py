"""A collection as a LangChain retriever."""

from __future__ import annotations

import warnings
from typing import Any, Unpack

from pydantic import ConfigDict

from paragloss.collection import Collection, Result, SearchKeywords, SearchOptions
from paragloss.errors import MissingExtraError

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError:
    raise MissingExtraError("the LangChain retriever", "langchain") from None


class ParaglossRetriever(BaseRetriever):
    """Retrieve documents of any language for a question in one's own.

    The content of a retrieved document is its full text or, with `full_text=False`, the passage that matched. Its
    metadata hold language, title, score, fit, snippet and the metadata of the document itself.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    collection: Collection
    full_text: bool = True
    options: SearchOptions = SearchOptions()

    def __init__(
        self,
        collection: Collection | None = None,
        *,
        full_text: bool = True,
        engine: Collection | None = None,
        **search_options: Unpack[SearchKeywords],
    ) -> None:
        """Make a retriever of an open collection.

        :param collection: the collection that is searched
        :param full_text: whether results are whole documents instead of passages
        :param engine: the old name of `collection`
        :param search_options: those of `Collection.search`
        """
        if engine is not None:
            warnings.warn("engine= is now called collection=", DeprecationWarning, stacklevel=2)
        super().__init__(collection=collection or engine, full_text=full_text, options=SearchOptions(**search_options))

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        results = self.collection.search(query, self.options).results
        texts = {}
        if self.full_text:
            documents = self.collection.get([result.id for result in results])
            texts = {document.id: document.text for document in documents if document}
        return [
            Document(id=result.id, page_content=texts.get(result.id, result.snippet), metadata=_make_metadata(result))
            for result in results
        ]


def _make_metadata(result: Result) -> dict[str, Any]:
    return {
        **result.meta,
        "lang": result.lang,
        "title": result.title,
        "score": result.score,
        "fit": result.fit,
        "snippet": result.snippet,
    }
