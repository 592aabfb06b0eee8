"""Describe a collection to people: its contents, the searchers of a pipeline, the meanings of a text's words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paragloss import languages
from paragloss.collection import coverage, model_records, retrieval, search_plan
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.models import describe_model
from paragloss.collection.state import State
from paragloss.encoders.pretrained import Pretrained
from paragloss.gloss import Gloss, glosses, lexicon
from paragloss.index.terms import SUBWORD_FIELDS
from paragloss.search import pipeline as pipelines
from paragloss.translation.language_support import describe_support
from paragloss.types import Query, Translator

#: Characters by which the language of a text is identified.
_IDENTIFIED_CHARACTERS = 1500


def summarize_collection(state: State) -> dict[str, Any]:
    """Return how much the collection holds and how it can be searched: what `info` tells without reading documents."""
    parts = state.parts()
    return {
        "documents": state.store.count(),
        "languages": {lang: state.store.count({"lang": [lang]}) for lang in state.langs},
        "languages beside": dict(state.index.statistics.secondary_languages),
        "support": _describe_support(state),
        "models": {name: _describe_model(state, name) for name in model_records.read_model_records(state.store)},
        "pipelines": [*parts.names, *(f"...>{name}" for name in parts.rerankers)],
    }


def describe_collection(state: State) -> dict[str, Any]:
    """Return what a collection contains and which options pipelines have for it, as `paragloss info` prints it.

    :return: by the name of each line, in the order in which `info` prints them.
    """
    summary = summarize_collection(state)
    document_count = summary.pop("documents")
    language_counts = summary.pop("languages")
    return {
        "collection": state.location,
        "documents": document_count,
        "languages": language_counts,
        "fields": _count_fields(state),
        "default model": _describe_default(state),
        "unknown words": _measure_unknown_shares(state),
        **summary,
        "options": pipelines.list_part_options(state.parts()),
    }


def explain_pipeline(state: State, text: str, options: SearchOptions) -> str:
    """Describe the searchers that a pipeline nests for this collection and, with a query, how it is understood.

    :param text: the query; it may be empty.
    :param options: the language of the query, the pipeline and the languages that are searched.
    :return: several lines of text.
    """
    targets = retrieval.resolve_targets(state, options.to)
    if not text.strip():
        query_lang = options.lang or next(iter(state.langs), "en")
        searcher = retrieval.build_searcher(state, options.pipeline, languages.normalise(query_lang), targets)
        return search_plan.format_searchers(searcher)
    query = retrieval.read_query(state, Query("", text, options.lang or "")).query
    searcher = retrieval.build_searcher(state, options.pipeline, query.lang, targets)
    return f"{search_plan.format_searchers(searcher)}\n\n{search_plan.format_query(searcher, query)}"


def gloss_texts(state: State, texts: Iterable[tuple[str, str]], *, to: str, query: str = "") -> list[Gloss]:
    """Look up the meanings of the words of texts in all sources of a collection: models, glossary and lexicon.

    :param texts: each text with its language; "" identifies it.
    :param to: the reader's language.
    :param query: what the reader searched for; meanings that it contains are preferred.
    :return: the glosses of each text.
    """
    sources: dict[str, Translator | lexicon.Lexicon] = {
        **state.gloss_translators(),
        "glossary": state.glossary,
        "lexicon": lexicon.open(),
    }
    texts_with_language = []
    for text, stated_lang in texts:
        lang = languages.normalise(stated_lang) if stated_lang else _identify_language(state, text)
        texts_with_language.append((text, lang))
    return glosses(texts_with_language, languages.normalise(to), sources, query=query)


def _identify_language(state: State, text: str) -> str:
    """Return the likeliest language of a text, judged by its beginning."""
    return retrieval.guess_query_languages(state, text[:_IDENTIFIED_CHARACTERS])[0].lang


def _count_fields(state: State) -> dict[str, int]:
    """Return the fields that documents have, each with the number of documents."""
    statistics = state.index.statistics
    counts = {}
    for field in statistics.layout.fields:
        n_documents = sum(statistics.documents(field, lang) for lang in state.langs)
        if n_documents and field not in SUBWORD_FIELDS:
            counts[field] = n_documents
    return counts


def _measure_unknown_shares(state: State) -> dict[str, float]:
    """Return the share of words the default model does not know, in a sample of documents of each language."""
    shares: dict[str, float] = {}
    if state.default is None:
        return shares
    for lang in state.langs:
        sample = next(state.store.scroll({"lang": [lang]}, batch_size=coverage.SAMPLE_SIZE), [])
        share = coverage.measure_unknown_share([record.document.text for record in sample], lang, state.default)
        if share is not None:
            shares[lang] = round(share, 2)
    return shares


def _describe_model(state: State, name: str) -> dict[str, Any] | str:
    """Describe a model; a pretrained encoder with the number of documents it has encoded, of those it can."""
    if name not in state.models:
        return "unfinished: add it again"
    model = state.models[name]
    description = describe_model(model)
    if isinstance(model, Pretrained):
        where = {"lang": list(model.langs)}
        total = state.store.count(where)
        description |= {"encoded": total - state.store.count(where, without_vector=name), "of": total}
    return description


def _describe_support(state: State) -> dict[str, str]:
    """Say of each language of the collection how its documents are found from other languages."""
    table_langs = state.default.langs if state.default is not None else ()
    has_encoder = any(isinstance(model, Pretrained) for model in state.models.values())
    return {lang: describe_support(lang, table_langs, has_encoder=has_encoder) for lang in state.langs}


def _describe_default(state: State) -> str:
    if state.default is None:
        return "left out"
    unknown = sorted(lang for lang in state.langs if not state.default.knows("en", lang))
    exceptions = f", but not {', '.join(unknown)} of this collection" if unknown else ""
    return f"used: {len(state.default.langs)} languages{exceptions}"
