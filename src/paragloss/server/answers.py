"""What is asked of a collection, answered: each takes an engine first and gives what JSON can hold, so that another
process can do it. Knows nothing of HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from paragloss.collection import Answer, Collection, Deadline, SearchOptions
from paragloss.types import Query

#: How deep languages are counted: what a person might page through.
DEPTH = 50


def found(engine: Collection, q: str, options: SearchOptions, deadline: Deadline) -> dict[str, Any]:
    return _shown(engine, engine.search(q, options, deadline=deadline))


def each_language(engine: Collection, q: str, options: SearchOptions, deadline: Deadline) -> dict[str, Any]:
    """The best documents, and after them the best of every language that has none among them."""
    answer = engine.search(q, options, deadline=deadline)
    missing = [lang for lang in options.to or engine.langs if lang not in {result.lang for result in answer.results}]
    one = replace(options, lang=answer.query.lang, k=1, deadline=deadline)
    more = [result for lang in missing for result in engine.search(q, one, to=[lang]).results]
    results = [*answer.results, *sorted(more, key=lambda result: -result.score)]
    return _shown(engine, answer._replace(results=results))


def _shown(engine: Collection, answer: Answer) -> dict[str, Any]:
    results = [result._replace(meta=engine.without_folders(result.meta)) for result in answer.results]
    return answer._replace(results=results).as_json()


def counted(engine: Collection, q: str, options: SearchOptions, deadline: Deadline) -> dict[str, Any]:
    query, spread = engine.spread(q, options, k=DEPTH, deadline=deadline)
    return {
        "query": {"text": query.text, "lang": query.lang},
        "of": spread.total(),
        "languages": dict(spread.most_common()),
    }


def why(engine: Collection, q: str, id: str, options: SearchOptions, deadline: Deadline) -> dict[str, Any]:
    return engine.why(Query("", q, options.lang or ""), id, options, deadline=deadline)


def glosses(
    engine: Collection, texts: Sequence[tuple[str, str]], how: dict[str, Any], deadline: Deadline
) -> list[dict[str, Any]]:
    """Of several texts, each with its language."""
    found = []
    for text, lang in texts:
        deadline.check()
        found.append(engine.gloss(text, lang=lang or None, **how))
    return found
