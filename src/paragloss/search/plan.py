"""Nested searchers as indented text: what was really built, read off the objects themselves, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from paragloss.analysis import analyzer
from paragloss.search.default_search import DefaultSearcher
from paragloss.search.translated import Reworded, Translated
from paragloss.translation.engines import Engine
from paragloss.types import Encoder, Query, QueryForms, Reranker, Searcher, Translation, Translator

#: What a pipeline is linked of.
_LINKS = (Searcher, Translator, Encoder, Reranker, Engine)
#: Alternatives shown for a word.
_MOST = 5


def tree(link: Any, *, name: str = "", depth: int = 0) -> str:
    """A line for each searcher, translator, encoder or reranker with its settings; what it wraps stands below it."""
    members = _members(link)
    settings = [f"{key}={shown}" for key, value in members.items() if (shown := _setting(value))]
    lines = ["  " * depth + (f"{name}: " if name else "") + f"{type(link).__name__}({', '.join(settings)})"]
    for key, value in members.items():
        lines += [tree(each, name=key, depth=depth + 1) for each in _links(value)]
    return "\n".join(lines)


def understood(searcher: Any, query: Query) -> str:
    """A query's terms, and what each searcher within that translates makes of them."""
    terms = ", ".join(analyzer(query.lang).terms(query.text)) or "none"
    blocks = [f"{query.text!r} [{query.lang}], terms: {terms}"]
    for link in _within(searcher):
        for translated in _translations(link, query):
            lines = [f"{type(link).__name__} {query.lang}->{translated.lang}:"]
            blocks.append("\n".join([*lines, *(f"  {_clause(clause)}" for clause in translated.clauses)]))
    return "\n".join(dict.fromkeys(blocks))


def forms(searcher: Any, query: Query) -> QueryForms:
    """The words by which a searcher would ask for a query; nothing is asked."""
    return QueryForms(tuple(form for link in _within(searcher) for form in _translations(link, query)))


def _translations(link: Any, query: Query) -> list[Query]:
    """What a searcher makes of a query before it asks another, in one language or in many."""
    if isinstance(link, DefaultSearcher):
        translations = link.translate(query)
    else:
        translations = [link.translate(query)] if isinstance(link, Translated | Reworded) else []
    return [translated for translated in translations if translated.clauses and translated is not query]


def _members(link: Any) -> dict[str, Any]:
    """What a link was made with. A model's insides are no part of a pipeline, unless it wraps another."""
    members = {key.lstrip("_"): value for key, value in getattr(link, "__dict__", {}).items()}
    wraps = type(link).__module__.startswith("paragloss.search") or any(map(_links, members.values()))
    return members if wraps else {}


def _links(value: Any) -> list[Any]:
    some = value if isinstance(value, list | tuple) else [value]
    return [each for each in some if isinstance(each, _LINKS) and not isinstance(each, type)]


def _within(link: Any) -> Iterator[Any]:
    yield link
    for value in _members(link).values():
        for each in _links(value):
            yield from _within(each)


def _setting(value: Any) -> str:
    """A number, a word, some of them, or a function of ours by its name; "" for anything else."""
    if isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Mapping) and all(isinstance(each, float) for each in value.values()):
        return "{" + ", ".join(f"{key}: {each:g}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple) and all(isinstance(each, float | str) for each in value):
        return "[" + ", ".join(str(each) for each in value) + "]"
    function = getattr(value, "func", value)  # a partial's own
    ours = getattr(function, "__module__", "") == "paragloss.search.fused"
    return str(function.__name__) if ours and hasattr(function, "__name__") else ""


def _clause(clause: Translation) -> str:
    some = ", ".join(f"{alternative.text} {alternative.weight:.2f}" for alternative in clause.alternatives[:_MOST])
    more = len(clause.alternatives) - _MOST
    return f"{clause.source} ({clause.weight:g}): {some}" + (f" and {more} more" if more > 0 else "")
