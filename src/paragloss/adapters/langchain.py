"""A collection as a LangChain retriever."""

from __future__ import annotations

from typing import Any, Unpack

from pydantic import ConfigDict

from paragloss.collection import Collection, SearchKeywords, SearchOptions
from paragloss.errors import MissingExtraError

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError:
    raise MissingExtraError("the LangChain retriever", "langchain") from None


class ParaglossRetriever(BaseRetriever):
    """Documents of any language for a question in one's own; options as in `Collection.search`.

    What LangChain gets as the content is the whole text (`whole=False`: the passage that matched); the rest is in its
    metadata: language, title, score, fit and what the document has of its own.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    engine: Collection
    whole: bool = True
    options: SearchOptions = SearchOptions()

    def __init__(self, engine: Collection, *, whole: bool = True, **how: Unpack[SearchKeywords]) -> None:
        super().__init__(engine=engine, whole=whole, options=SearchOptions(**how))

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = self.engine.search(query, self.options).results
        texts = self.engine.get([result.id for result in found]) if self.whole else []
        whole = {document.id: document.text for document in texts if document}
        return [
            Document(id=result.id, page_content=whole.get(result.id, result.snippet), metadata=_about(result))
            for result in found
        ]


def _about(result: Any) -> dict[str, Any]:
    own = {"lang": result.lang, "title": result.title, "score": result.score, "fit": result.fit}
    return {**result.meta, **own, "snippet": result.snippet}
