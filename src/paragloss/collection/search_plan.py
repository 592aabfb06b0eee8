"""Print nested searchers as indented text, read off the objects themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from paragloss.analysis import analyzer
from paragloss.search.default_search import DefaultSearcher
from paragloss.search.translated import Reworded, Translated
from paragloss.translation.engines import Engine
from paragloss.types import Encoder, Query, QueryForms, Reranker, Searcher, Translation, Translator

#: The kinds of objects that a pipeline consists of.
LINK_TYPES = (Searcher, Translator, Encoder, Reranker, Engine)
#: Alternatives shown for a word.
MAX_ALTERNATIVES = 5


def format_searchers(link: Any, *, name: str = "", depth: int = 0) -> str:
    """Print a searcher, translator, encoder or reranker with its settings, and what it wraps below it."""
    members = _get_members(link)
    settings = [
        f"{key}={text}" for key, text in ((key, _format_setting(value)) for key, value in members.items()) if text
    ]
    lines = ["  " * depth + (f"{name}: " if name else "") + f"{type(link).__name__}({', '.join(settings)})"]
    for key, value in members.items():
        lines += [format_searchers(inner_link, name=key, depth=depth + 1) for inner_link in _list_links(value)]
    return "\n".join(lines)


def format_query(searcher: Any, query: Query) -> str:
    """Print a query's terms, and what each translating searcher in a pipeline makes of them."""
    terms = ", ".join(analyzer(query.lang).terms(query.text)) or "none"
    blocks = [f"{query.text!r} [{query.lang}], terms: {terms}"]
    for link in _iterate_links(searcher):
        for translated in _translate(link, query):
            lines = [f"{type(link).__name__} {query.lang}->{translated.lang}:"]
            blocks.append("\n".join([*lines, *(f"  {_format_clause(clause)}" for clause in translated.clauses)]))
    return "\n".join(dict.fromkeys(blocks))


def list_query_forms(searcher: Any, query: Query) -> QueryForms:
    """Return the words by which a searcher would ask for a query, without asking."""
    links = [searcher] if isinstance(searcher, DefaultSearcher) else _iterate_links(searcher)
    return QueryForms(tuple(form for link in links for form in _translate(link, query)))


def _translate(link: Any, query: Query) -> list[Query]:
    """Return the translations of a query that a searcher asks with."""
    if isinstance(link, DefaultSearcher):
        translations = link.translate(query)
    elif isinstance(link, Translated | Reworded):
        translations = [link.translate(query)]
    else:
        translations = []
    return [translated for translated in translations if translated.clauses and translated is not query]


def _get_members(link: Any) -> dict[str, Any]:
    """Return the attributes of a searcher; none of a model, unless it wraps another link."""
    members = {key.lstrip("_"): value for key, value in getattr(link, "__dict__", {}).items()}
    wraps_links = any(_list_links(value) for value in members.values())
    return members if wraps_links or isinstance(link, Searcher) else {}


def _list_links(value: Any) -> list[Any]:
    values = value if isinstance(value, list | tuple) else [value]
    return [item for item in values if isinstance(item, LINK_TYPES) and not isinstance(item, type)]


def _iterate_links(link: Any) -> Iterator[Any]:
    """Iterate over a link and all links that it wraps."""
    yield link
    for value in _get_members(link).values():
        for inner_link in _list_links(value):
            yield from _iterate_links(inner_link)


def _format_setting(value: Any) -> str:
    """Format a number, a word, a collection of them, or the name of a fusion function; "" for anything else."""
    if isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Mapping) and all(isinstance(weight, float) for weight in value.values()):
        return "{" + ", ".join(f"{key}: {weight:g}" for key, weight in value.items()) + "}"
    if isinstance(value, list | tuple) and all(isinstance(item, float | str) for item in value):
        return "[" + ", ".join(str(item) for item in value) + "]"
    function = getattr(value, "func", value)  # of a partial
    is_fusion = getattr(function, "__module__", "") == "paragloss.search.fused"
    return str(function.__name__) if is_fusion and hasattr(function, "__name__") else ""


def _format_clause(clause: Translation) -> str:
    alternatives = clause.alternatives[:MAX_ALTERNATIVES]
    text = ", ".join(f"{alternative.text} {alternative.weight:.2f}" for alternative in alternatives)
    hidden = len(clause.alternatives) - len(alternatives)
    return f"{clause.source} ({clause.weight:g}): {text}" + (f" and {hidden} more" if hidden else "")
