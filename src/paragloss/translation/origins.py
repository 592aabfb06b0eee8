"""Who said that a word means this: of several translators in one, which gave an alternative, and how much of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TypeAlias

from paragloss.errors import LanguageError
from paragloss.translation.combined import Combined
from paragloss.translation.glossary import Corrected, Pairs, Remaining
from paragloss.types import Query, Translation, Translator

#: Of a source term and an alternative's text the names of those that said so, with the weight each gave it.
Origins: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]
GLOSSARY = "glossary"


def origins(translator: Translator, query: Query, to: str, names: Mapping[int, str]) -> Origins:
    """`names` are those of translators, by `id`; one that has none goes by its kind."""
    name = names.get(id(translator), type(translator).__name__.lower())
    if isinstance(translator, Combined):
        return _mixed(translator, query, to, names)
    if isinstance(translator, Corrected):
        own = _said(translator.glossary.known(query, to), GLOSSARY)
        inner = origins(translator.translator, query, to, {id(translator.translator): name} | dict(names))
        return {**inner, **own}
    if isinstance(translator, Pairs | Remaining):
        name = GLOSSARY
    return _said(translator.translate(query, to), name)


def _said(clauses: list[Translation], name: str) -> Origins:
    return {(clause.source, a.text): {name: a.weight} for clause in clauses for a in clause.alternatives}


def _mixed(combined: Combined, query: Query, to: str, names: Mapping[int, str]) -> Origins:
    """As `Combined` mixes: of each translator the share of its own weight, times how much it counts."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for translator, weight in combined.parts:
        said: Origins = {}
        with suppress(LanguageError):
            said = origins(translator, query, to, names)
        mass: dict[str, float] = {}
        for (source, _), by in said.items():
            mass[source] = mass.get(source, 0.0) + sum(by.values())
        for (source, text), by in said.items():
            for name, part in by.items():
                here = found.setdefault((source, text), {})
                here[name] = here.get(name, 0.0) + weight * part / (mass[source] or 1.0)
    return found
