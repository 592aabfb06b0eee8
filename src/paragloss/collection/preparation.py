"""What documents need before they are written: their language, their terms counted, the vectors of quick encoders. In
this process, or in several side by side that feed the one that writes; the same comes out, in the same order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from paragloss.analysis import analyzer
from paragloss.analysis.spaces import SpacedAnalyzer
from paragloss.bm25 import Layout
from paragloss.collection.document_languages import assign_languages
from paragloss.collection.embeddings import encoded, storing
from paragloss.collection.models import load
from paragloss.errors import StoreError
from paragloss.index.terms import CountedDocuments, analyze_document, count_analyzed
from paragloss.types import Document, Encoder, Floats

#: So many batches are prepared in this process: others take a second or two to start.
_ALONE = 4
#: A document as it travels between processes: language, title, text, fields.
_Text: TypeAlias = tuple[str, str, str, dict[str, str]]


class Prepared(NamedTuple):
    """Documents that say their language, their counted terms, and a row for each and every quick encoder."""

    documents: list[Document]
    counted: CountedDocuments
    dense: dict[str, Floats]


class Settings(NamedTuple):
    """What preparing needs to know of a collection: how terms are laid out, where its quick encoders are kept, and the
    language of documents that don't say theirs."""

    fields: tuple[str, ...]
    k1: float
    b: float
    models: tuple[tuple[str, str], ...]  # name, folder
    lang: str | None


def prepared(
    batches: Iterable[list[Document]],
    layout: Layout,
    models: Mapping[str, Encoder],
    lang: str | None,
) -> Iterator[Prepared]:
    """Batches as they come, in this process."""
    for batch in batches:
        documents = assign_languages(batch, lang)
        analyses = [analyze_document(layout, document) for document in documents]
        terms = [_whole(d, each.terms) for d, each in zip(documents, analyses, strict=True)] if models else []
        yield Prepared(documents, count_analyzed(layout, documents, analyses), _rows(models, documents, terms))


def _whole(document: Document, terms: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The terms of title and text together: those of each, where both say more than stop words."""
    cut, parts = analyzer(document.lang), [text for text in (document.title, document.text) if text]
    if isinstance(cut, SpacedAnalyzer) and all(map(cut.has_content_word, parts)):
        return [*terms.get("title", ()), *terms.get("text", ())]
    return cut.terms(document.full_text)


def side_by_side(
    batches: Iterator[list[Document]],
    layout: Layout,
    models: Mapping[str, Encoder],
    folders: Mapping[str, Path],
    *,
    lang: str | None,
    workers: int,
) -> Iterator[Prepared]:
    """Batches in the order they come, a few of them being prepared while one is written. Where reading them fails,
    those that were read before still come."""
    from paragloss.processes import in_order

    kept = tuple((name, str(folder)) for name, folder in folders.items())
    settings = Settings(layout.fields, layout.k1, layout.b, kept, lang)
    died = StoreError("a process that prepared documents died: is there memory for all? --workers 1 needs the least")
    waiting: deque[list[Document]] = deque()

    def texts() -> Iterator[list[_Text]]:
        for batch in batches:
            waiting.append(batch)
            yield [(document.lang, document.title, document.text, dict(document.fields)) for document in batch]

    def here(texts: list[_Text]) -> _Packed:
        return _packed(texts, layout, models, lang)

    for langs, counted, dense in in_order(
        workers, _open, settings, _prepare, texts(), died, max_inline=_ALONE, run_inline=here
    ):
        batch = waiting.popleft()
        pairs = zip(batch, langs, strict=True)
        yield Prepared([d if d.lang == lang else d._replace(lang=lang) for d, lang in pairs], counted, dense)


class _Packed(NamedTuple):
    langs: list[str]
    counted: CountedDocuments
    dense: dict[str, Floats]


def _rows(
    models: Mapping[str, Encoder], documents: Sequence[Document], terms: Sequence[Sequence[str]]
) -> dict[str, Floats]:
    """A matrix for each quick encoder; zeros where it has nothing to say."""
    made = {}
    for name, rows in encoded(models, documents, terms).items():
        nothing = np.zeros(storing(models[name]).dim, np.float32)
        made[name] = np.stack([nothing if row is None else row for row in rows])
    return made


# In the processes


_opened: tuple[Layout, dict[str, Any], str | None] | None = None


def _open(settings: Settings) -> None:
    global _opened
    models = {name: load(folder) for name, folder in settings.models}
    _opened = Layout(settings.fields, k1=settings.k1, b=settings.b), models, settings.lang


def _prepare(texts: list[_Text]) -> _Packed:
    assert _opened is not None
    return _packed(texts, *_opened)


def _packed(texts: list[_Text], layout: Layout, models: Mapping[str, Encoder], lang: str | None) -> _Packed:
    batch = [Document("", text, code, title, fields) for code, title, text, fields in texts]
    [(documents, counted, dense)] = prepared([batch], layout, models, lang)
    return _Packed([document.lang for document in documents], counted, dense)
