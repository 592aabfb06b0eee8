"""What is asked of a collection, answered: each takes an engine first and gives what JSON can hold, so that another
process can do it. Knows nothing of HTTP."""

from __future__ import annotations

import json
import posixpath
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from paragloss.collection import Collection, Deadline, SearchOptions
from paragloss.formats.numbers import get_document_day
from paragloss.types import Document, Query

#: How deep documents are counted: what a person might page through; and how many of the best are sorted by date.
DEPTH, SORTED = 200, 50
#: Of a field so many values are told; one whose values nearly all differ is no help, nor is one of few documents.
VALUES = 12


#: What a document says of itself that nobody chooses by.
_UNTOLD = {"path", "url", "modified", "date", "year", "pages", "slides", "sheets", "page", "unread"}


def found(
    engine: Collection,
    q: str,
    options: SearchOptions,
    deadline: Deadline,
    *,
    why: bool = False,
    newest: bool = False,
    each_language: bool = False,
) -> dict[str, Any]:
    """The best documents: the newest of them first, or after them the best of every language that has none among them;
    each perhaps with its explanation."""
    options = _here(engine, options)
    answer = engine.search(q, replace(options, newest=SORTED) if newest else options, deadline=deadline)
    results = [(answer, result) for result in answer.results]  # each with the answer that knows why
    if each_language and not newest:
        missing = [to for to in options.to or engine.langs if to not in {result.lang for _, result in results}]
        one = replace(options, lang=answer.query.lang, k=1, deadline=deadline)
        others = [engine.search(q, one, to=[lang]) for lang in missing]
        more = [(other, result) for other in others for result in other.results]
        results += sorted(more, key=lambda pair: -pair[1].score)
    shown = answer._replace(results=[result for _, result in results]).as_json()
    for row, (source, result) in zip(shown["results"], results, strict=True):
        row |= told(engine, row["meta"])
        if why:
            deadline.check()
            row["why"] = source.why(result.id)["parts"]
    return shown


def _here(engine: Collection, options: SearchOptions) -> SearchOptions:
    """Conditions as the engine takes them: folders are those of this machine."""
    return replace(options, where=engine.with_folders(options.where)) if options.where else options


def told(engine: Collection, meta: Mapping[str, Any]) -> dict[str, Any]:
    """What a document says of itself, without folders of this machine; and whether its file can be opened there."""
    original = {"original": True} if engine.original(meta) else {}
    return {"meta": engine.without_folders(meta), **original}


def counted(engine: Collection, q: str, options: SearchOptions, deadline: Deadline) -> dict[str, Any]:
    query, found = engine.candidates(q, _here(engine, options), k=DEPTH, deadline=deadline)
    return {
        "query": {"text": query.text, "lang": query.lang},
        "of": len(found),
        "languages": dict(Counter(document.lang for document in found).most_common()),
        "fields": _fields(engine, found),
    }


def _fields(engine: Collection, found: Sequence[Document]) -> dict[str, dict[str, int]]:
    """By what documents can be told apart: kind, folder, year, and the fields that some of them share values of."""
    counts: dict[str, Counter[str]] = {}
    for document in found:
        meta = engine.without_folders(document.meta)
        folder, name = posixpath.split(str(meta.get("path", "")))
        day = get_document_day(meta)
        year = {} if day is None else {"dated": date.fromordinal(int(day)).year}
        told = {"kind": posixpath.splitext(name)[1][1:].lower(), "folder": folder, **year, **meta}
        for field, value in told.items():
            if field not in _UNTOLD and isinstance(value, str | int) and 0 < len(str(value)) <= 60:
                text = str(value).lower() if isinstance(value, bool) else str(value)
                counts.setdefault(field, Counter())[text] += 1
    several = {f: c for f, c in counts.items() if 1 < len(c) <= max(3, c.total() // 2)}
    return {field: dict(counted.most_common(VALUES)) for field, counted in several.items()}


def why(engine: Collection, q: str, id: str, options: SearchOptions, deadline: Deadline) -> dict[str, Any]:
    return engine.why(Query("", q, options.lang or ""), id, _here(engine, options), deadline=deadline)


def translated(engine: Collection, text: str, lang: str, to: str, _: Deadline) -> str:
    return engine.translation(text, lang=lang, to=to)


def glosses(engine: Collection, texts: Sequence[tuple[str, str]], how: dict[str, Any], deadline: Deadline) -> list[str]:
    """Of several texts, each with its language; as JSON already."""

    def in_time() -> Iterator[tuple[str, str]]:
        for one in texts:
            deadline.check()
            yield one

    return [gloss.to_json_text() for gloss in engine.glosses(in_time(), **how)]


def written(engine: Collection, work: Callable[..., Any], *told: Any) -> bytes:
    """What some `work` answers as JSON: written where it is done, so that nobody else waits for that."""
    return json.dumps(work(engine, *told), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
