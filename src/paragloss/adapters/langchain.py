"""A collection as a LangChain retriever."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict

from paragloss.collection import Collection
from paragloss.errors import MissingExtraError

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError:
    raise MissingExtraError("the LangChain retriever", "langchain") from None


class ParaglossRetriever(BaseRetriever):
    """Documents of any language for a question in one's own; `lang`, `to`, `k`, `pipeline` as in `Collection.search`.

    What LangChain gets as the content is the whole text (`whole=False`: the passage that matched); the rest is in its
    metadata: language, title, score, fit and what the document has of its own.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    engine: Collection
    lang: str | None = None
    to: list[str] | None = None
    k: int = 10
    pipeline: str | None = None
    whole: bool = True

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = self.engine.search(query, lang=self.lang, to=self.to, k=self.k, pipeline=self.pipeline).results
        texts = self.engine.get([result.id for result in found]) if self.whole else []
        whole = {document.id: document.text for document in texts if document}
        return [
            Document(id=result.id, page_content=whole.get(result.id, result.snippet), metadata=_about(result))
            for result in found
        ]


def _about(result: Any) -> dict[str, Any]:
    own = {"lang": result.lang, "title": result.title, "score": result.score, "fit": result.fit}
    return {**result.meta, **own, "snippet": result.snippet}
