"""What a collection holds and how it searches, said to people: its contents, what a pipeline nests, what a text's words
mean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paragloss import languages
from paragloss.collection import coverage, model_records, retrieval, search_plan
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.backfill import deferred_encoders
from paragloss.collection.models import about
from paragloss.collection.state import State
from paragloss.encoders.pretrained import Pretrained
from paragloss.gloss import Gloss, lexicon
from paragloss.gloss import glosses as glossed
from paragloss.index.fields import SUBWORD_FIELDS
from paragloss.search import pipeline as pipelines
from paragloss.translation.language_support import describe_support
from paragloss.types import Query, Translator

#: So many characters of a text tell its language.
_TELLING = 1500


def summary(state: State) -> dict[str, Any]:
    """How much the collection holds and how it can be searched: of `info` what no document need be read for."""
    parts = state.parts()
    return {
        "documents": state.store.count(),
        "languages": {lang: state.store.count({"lang": [lang]}) for lang in state.langs},
        "languages beside": dict(state.index.statistics.secondary_languages),
        "support": _describe_support(state),
        "models": {name: _about(state, name) for name in model_records.read_model_records(state.store)},
        "pipelines": [*parts.names, *(f"...>{name}" for name in parts.rerankers)],
    }


def info(state: State) -> dict[str, Any]:
    """What the collection holds."""
    found = summary(state)
    return {
        "collection": state.location,
        **{key: found.pop(key) for key in ("documents", "languages")},
        "fields": _fields(state),
        "default model": _about_default(state),
        "unknown words": _unknown_words(state),
        **found,
        "options": pipelines.list_part_options(state.parts()),
    }


def explain(state: State, text: str, options: SearchOptions) -> str:
    """The searchers that a pipeline nests for this collection and, with a query, how it is understood."""
    lang = options.lang or ""
    query = retrieval.read_query(state, Query("", text, lang))[0] if text.strip() else None
    source = query.lang if query else languages.normalise(lang) if lang else next(iter(state.langs), "en")
    searcher = retrieval.searcher(state, options.pipeline, source, retrieval.targets_of(state, options.to))
    lines = [search_plan.format_searchers(searcher)]
    return "\n\n".join([*lines, search_plan.format_query(searcher, query)] if query else lines)


def glosses(state: State, texts: Iterable[tuple[str, str]], *, to: str, asked: str = "") -> list[Gloss]:
    """What the words of texts mean, each with its language where that is known, by everything here that translates or
    has words of both languages near."""
    target = languages.normalise(to)
    sources: dict[str, Translator | lexicon.Lexicon] = {
        **state.explaining(),
        "glossary": state.glossary,
        "lexicon": lexicon.open(),
    }
    known = (
        (text, languages.normalise(lang) if lang else retrieval.guesses(state, text[:_TELLING])[0].lang)
        for text, lang in texts
    )
    return glossed(known, target, sources, asked=asked)


def _fields(state: State) -> dict[str, int]:
    """The fields that documents have, and how many have each."""
    statistics = state.index.statistics
    counts = {f: sum(statistics.documents(f, lang) for lang in state.langs) for f in statistics.layout.fields}
    return {field: count for field, count in counts.items() if count and field not in SUBWORD_FIELDS}


def _unknown_words(state: State) -> dict[str, float]:
    """The share of words the default model does not know, in some documents of each of its languages."""
    found: dict[str, float] = {}
    if state.default is None:
        return found
    for lang in state.langs:
        some = next(state.store.scroll({"lang": [lang]}, batch=coverage.SAMPLE), [])
        share = coverage.unknown_share([record.document.text for record in some], lang, state.default)
        if share is not None:
            found[lang] = round(share, 2)
    return found


def _about(state: State, name: str) -> dict[str, Any] | str:
    """A model; of a slow one also how many of the documents it can read it has read."""
    if name not in state.models:
        return "unfinished: add it again"
    told = about(state.models[name])
    for model in deferred_encoders({name: state.models[name]}).values():
        where = {"lang": list(model.langs)}
        total = state.store.count(where)
        told |= {"encoded": total - state.store.count(where, without_vector=name), "of": total}
    return told


def _describe_support(state: State) -> dict[str, str]:
    """Say of each language of the collection how its documents are found from other languages."""
    table_langs = state.default.langs if state.default is not None else ()
    has_encoder = any(isinstance(model, Pretrained) for model in state.models.values())
    return {lang: describe_support(lang, table_langs, has_encoder=has_encoder) for lang in state.langs}


def _about_default(state: State) -> str:
    if state.default is None:
        return "left out"
    unknown = sorted(lang for lang in state.langs if not state.default.knows("en", lang))
    but = f", but not {', '.join(unknown)} of this collection" if unknown else ""
    return f"used: {len(state.default.langs)} languages{but}"
