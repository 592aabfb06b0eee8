"""What is asked of a collection, answered: each takes an engine first and gives what JSON can hold, so that another
process can do it. Knows nothing of HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paragloss.collection import Answer, Collection, Deadline
from paragloss.types import Query, Where

#: How deep languages are counted: what a person might page through.
DEPTH = 50


def found(
    engine: Collection, q: str, lang: str | None, to: Sequence[str] | None, options: dict[str, Any], deadline: Deadline
) -> dict[str, Any]:
    return _shown(engine, engine.search(q, lang=lang, to=to, deadline=deadline, **options))


def each_language(
    engine: Collection, q: str, lang: str | None, to: Sequence[str] | None, options: dict[str, Any], deadline: Deadline
) -> dict[str, Any]:
    """The best documents, and after them the best of every language that has none among them."""
    options = {**options, "deadline": deadline}
    answer = engine.search(q, lang=lang, to=to, **options)
    missing = [other for other in to or engine.langs if other not in {result.lang for result in answer.results}]
    more = [
        result
        for other in missing
        for result in engine.search(q, lang=answer.query.lang, to=[other], **{**options, "k": 1}).results
    ]
    results = [*answer.results, *sorted(more, key=lambda result: -result.score)]
    return _shown(engine, answer._replace(results=results))


def _shown(engine: Collection, answer: Answer) -> dict[str, Any]:
    results = [result._replace(meta=engine.without_folders(result.meta)) for result in answer.results]
    return answer._replace(results=results).as_json()


def counted(engine: Collection, q: str, lang: str, where: Where | None, deadline: Deadline) -> dict[str, Any]:
    query, spread = engine.spread(q, lang=lang or None, k=DEPTH, where=where, deadline=deadline)
    return {
        "query": {"text": query.text, "lang": query.lang},
        "of": spread.total(),
        "languages": dict(spread.most_common()),
    }


def why(engine: Collection, q: str, lang: str, id: str, how: dict[str, Any], deadline: Deadline) -> dict[str, Any]:
    return engine.why(Query("", q, lang), id, deadline=deadline, **how)


def glosses(
    engine: Collection, texts: Sequence[tuple[str, str]], how: dict[str, Any], deadline: Deadline
) -> list[dict[str, Any]]:
    """Of several texts, each with its language."""
    found = []
    for text, lang in texts:
        deadline.check()
        found.append(engine.gloss(text, lang=lang or None, **how))
    return found
