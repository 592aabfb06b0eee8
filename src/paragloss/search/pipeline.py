"""From a pipeline's name to a Searcher: `bm25+cr5+table` fuses its parts, `bm25+cr5>knrm` reranks what they find.

A part is `bm25` (words as they stand: names, numbers, cognates), the name of an encoder (search by meaning, by cosine;
`cr5:csls` by CSLS) or of a translator (search by translated words). Knows nothing of how models were made or kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from paragloss.errors import InputError, LanguageError
from paragloss.search.dense import Dense
from paragloss.search.fused import Fused, plain_sum
from paragloss.search.lexical import Lexical
from paragloss.search.merged import Merged
from paragloss.search.reranked import Reranked
from paragloss.search.structured import Probabilistic
from paragloss.search.translated import Translated
from paragloss.serving.bag import BagEncoder
from paragloss.serving.hubness import Queries
from paragloss.statistics import Statistics
from paragloss.types import Document, Encoder, Query, Reranker, Searcher, Translator

BM25 = "bm25"
#: How far each kind of part is trusted when their scores are added; measured on held-out collections, docs/log.md.
AS_THEY_STAND, ENCODED, TRANSLATED = 3.0, 1.0, 8.0


class Parts(NamedTuple):
    """What a collection has to search with."""

    store: Any
    statistics: Statistics
    encoders: Mapping[str, Encoder]
    translators: Mapping[str, Translator]
    rerankers: Mapping[str, Reranker]
    documents: Callable[[Sequence[str]], Sequence[Document]]

    @property
    def names(self) -> list[str]:
        return [BM25, *self.encoders, *self.translators]


def build(parts: Parts, name: str | None, *, source: str, targets: Sequence[str]) -> Searcher:
    """The searcher for queries in one language over documents in some. Without a name: everything there is, fused.

    Of an unnamed pipeline, what does not know the query's language is left out.
    """
    if name is None:
        wanted = [BM25, *(n for n, encoder in parts.encoders.items() if source in encoder.langs)]
        wanted += [n for n, translator in parts.translators.items() if _into(translator, source, targets)]
        return _fused(parts, wanted, source, targets)
    stages = [stage.strip() for stage in name.split(">")]
    searcher = _fused(parts, [part.strip() for part in stages[0].split("+")], source, targets)
    for stage in stages[1:]:
        if stage not in parts.rerankers:
            raise InputError(f"no reranker {stage!r} in this collection; it has {_listed(parts.rerankers)}")
        searcher = Reranked(searcher, parts.rerankers[stage], parts.documents)
    return searcher


def attainable(parts: Parts, name: str | None, *, source: str, targets: Sequence[str]) -> dict[str, float]:
    """For each language the best score a document of it can have, as every part gives at most 1 of its trust; empty
    where a reranker has the last word, which knows no best. In another language than the query's, words as they stand
    count only when nothing else can find it: what they add is luck."""
    if name is not None and ">" in name:
        return {}
    names = parts.names if name is None else [part.strip() for part in name.split("+")]
    best = {}
    for target in targets:
        spoken = [part for part in names if _speaks(parts, part.partition(":")[0], source, target)]
        bridges = [part for part in spoken if part != BM25 or source == target] or spoken
        best[target] = sum(_trust(parts, part) for part in bridges) if len(names) > 1 else 1.0
    return best


def _speaks(parts: Parts, name: str, source: str, target: str) -> bool:
    if name in parts.encoders:
        return {source, target} <= set(parts.encoders[name].langs)
    if name in parts.translators and source != target:
        return bool(_into(parts.translators[name], source, [target]))
    return True


def _fused(parts: Parts, names: Sequence[str], source: str, targets: Sequence[str]) -> Searcher:
    searchers = [_part(parts, name, source, targets) for name in names]
    if len(searchers) == 1:
        return searchers[0]
    return Fused(searchers, fuse=plain_sum, weights=[_trust(parts, name) for name in names], depth=200)


def _trust(parts: Parts, name: str) -> float:
    if name in parts.translators:
        return TRANSLATED
    return AS_THEY_STAND if name == BM25 else ENCODED


def _part(parts: Parts, name: str, source: str, targets: Sequence[str]) -> Searcher:
    if name == BM25:
        return Lexical(parts.store, parts.statistics, langs=targets, proportional=True)
    model, _, similarity = name.partition(":")
    if model in parts.encoders and similarity in ("", "csls"):
        return Dense(parts.store, _asking(parts.encoders[model], similarity == "csls"), name=model)
    if name in parts.translators:
        structured = Probabilistic(parts.store, parts.statistics, proportional=True)
        translator = parts.translators[name]
        known = _into(translator, source, targets)
        if not known and set(targets) - {source}:
            translator.translate(Query("", "", source), next(t for t in targets if t != source))  # says what it knows
        own = [source] if source in targets else []
        return Merged([Translated(structured, translator, to=target) for target in [*own, *known]])
    raise InputError(f"no {name!r} in this collection to search with; it has {_listed(parts.names)}")


def _asking(encoder: Encoder, csls: bool) -> Encoder:
    """The encoder for queries: a model with a reference has its documents' hubness beside their vectors."""
    if isinstance(encoder, BagEncoder) and encoder.reference:
        return Queries(encoder, csls=csls)
    if csls:
        raise InputError("this model has no reference for CSLS: train it again with `paragloss train`")
    return encoder


def _into(translator: Translator, source: str, targets: Sequence[str]) -> list[str]:
    """The languages a translator can translate into: it is asked to translate nothing, and says no if it can't."""
    known = []
    for target in targets:
        if target != source:
            with suppress(LanguageError):
                translator.translate(Query("", "", source), target)
                known.append(target)
    return known


def _listed(names: Sequence[str] | Mapping[str, Any]) -> str:
    return ", ".join(names) or "none"
