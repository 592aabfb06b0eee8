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
PART_TYPES = (Searcher, Translator, Encoder, Reranker, Engine)
#: Alternatives shown for a word.
MAX_ALTERNATIVES = 5


def format_searchers(part: Any, *, name: str = "", depth: int = 0) -> str:
    """Describe a part of a pipeline (a searcher, translator, encoder or reranker) with its settings.

    :param name: what the part is called in the part that wraps it.
    :param depth: how many parts wrap it.
    :return: a line for the part and, indented below it, a line for each part that it wraps.
    """
    members = _get_members(part)
    settings = ", ".join(_format_settings(members))
    indent = "  " * depth
    label = f"{name}: " if name else ""
    lines = [f"{indent}{label}{type(part).__name__}({settings})"]
    for key, value in members.items():
        lines += [format_searchers(inner_part, name=key, depth=depth + 1) for inner_part in _list_parts(value)]
    return "\n".join(lines)


def format_query(searcher: Any, query: Query) -> str:
    """Print a query's terms, and what each translating searcher in a pipeline makes of them."""
    terms = ", ".join(analyzer(query.lang).terms(query.text)) or "none"
    blocks = [f"{query.text!r} [{query.lang}], terms: {terms}"]
    for part in _iterate_parts(searcher):
        for translated in _translate(part, query):
            lines = [f"{type(part).__name__} {query.lang}->{translated.lang}:"]
            lines += [f"  {_format_clause(clause)}" for clause in translated.clauses]
            blocks.append("\n".join(lines))
    return "\n".join(dict.fromkeys(blocks))


def list_query_forms(searcher: Any, query: Query) -> QueryForms:
    """Return the words by which a searcher would ask for a query, without asking."""
    parts = [searcher] if isinstance(searcher, DefaultSearcher) else _iterate_parts(searcher)
    return QueryForms(tuple(form for part in parts for form in _translate(part, query)))


def _translate(part: Any, query: Query) -> list[Query]:
    """Return the translations of a query that a searcher asks with; none from parts that don't translate."""
    if isinstance(part, DefaultSearcher):
        translations = part.translate(query)
    elif isinstance(part, Translated | Reworded):
        translations = [part.translate(query)]
    else:
        translations = []
    return [translated for translated in translations if translated.clauses and translated is not query]


def _get_members(part: Any) -> dict[str, Any]:
    """Return the attributes of a searcher; none of a model, unless it wraps another part."""
    members = {key.lstrip("_"): value for key, value in getattr(part, "__dict__", {}).items()}
    wraps_parts = any(_list_parts(value) for value in members.values())
    return members if wraps_parts or isinstance(part, Searcher) else {}


def _list_parts(value: Any) -> list[Any]:
    """Return the parts of a pipeline in the value of an attribute, which may be one or a list of some."""
    values = value if isinstance(value, list | tuple) else [value]
    return [item for item in values if isinstance(item, PART_TYPES) and not isinstance(item, type)]


def _iterate_parts(part: Any) -> Iterator[Any]:
    """Iterate over a part and all parts that it wraps."""
    yield part
    for value in _get_members(part).values():
        for inner_part in _list_parts(value):
            yield from _iterate_parts(inner_part)


def _format_settings(members: Mapping[str, Any]) -> list[str]:
    """Return those of a part's attributes that are settings, each as "name=value"."""
    settings = []
    for name, value in members.items():
        formatted = _format_setting(value)
        if formatted:
            settings.append(f"{name}={formatted}")
    return settings


def _format_setting(value: Any) -> str:
    """Format the value of an attribute as it is printed among the settings of a part.

    :param value: a number, a text, weights by name, a list of numbers or texts, or a function that fuses rankings.
    :return: "" for anything else, which is no setting.
    """
    if isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, Mapping) and all(isinstance(weight, float) for weight in value.values()):
        weights = [f"{key}: {weight:g}" for key, weight in value.items()]
        return "{" + ", ".join(weights) + "}"
    if isinstance(value, list | tuple) and all(isinstance(item, float | str) for item in value):
        return "[" + ", ".join(str(item) for item in value) + "]"
    return _get_fusion_name(value)


def _get_fusion_name(value: Any) -> str:
    """Return the name of a function that fuses rankings, or of the one that a partial calls; "" for anything else."""
    function = getattr(value, "func", value)
    if getattr(function, "__module__", "") != "paragloss.search.fused":
        return ""
    return str(getattr(function, "__name__", ""))


def _format_clause(clause: Translation) -> str:
    """Print a word of a query, its weight and its likeliest alternatives: "honey (1): miel 0.81, miellat 0.10"."""
    alternatives = clause.alternatives[:MAX_ALTERNATIVES]
    text = ", ".join(f"{alternative.text} {alternative.weight:.2f}" for alternative in alternatives)
    hidden_count = len(clause.alternatives) - len(alternatives)
    hidden_note = f" and {hidden_count} more" if hidden_count else ""
    return f"{clause.source} ({clause.weight:g}): {text}{hidden_note}"
