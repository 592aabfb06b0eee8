"""Build searchers: the default search, or what the text of a pipeline describes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.pretrained.titles import title_vector_name
from paragloss.index.fields import FIELDS, list_own_fields
from paragloss.search import parts as makers
from paragloss.search.default_search import DefaultSearcher, SemanticSearchers
from paragloss.search.options import format_options
from paragloss.search.parts import FEEDBACK, MIX, TOGETHER, Parts, SearchContext
from paragloss.search.pipeline_builder import PipelineBuilder
from paragloss.search.similarity import SimilaritySearcher, sample_background
from paragloss.translation.combined import list_known_targets
from paragloss.translation.word_table import USER_TABLE_TRUST
from paragloss.types import Searcher, Translator, TrustedTranslator

__all__ = ["Parts", "SearchContext", "build", "list_part_options"]

#: The translator that is part of the package.
DEFAULT = "default"


def build(parts: Parts, pipeline: str | None, *, source: str, targets: Sequence[str]) -> Searcher:
    """Build the searcher that a pipeline describes; without one, the default search.

    :param source: the language of the queries.
    :param targets: the languages of the documents.
    """
    search = SearchContext(parts, source, targets)
    return build_default(search) if pipeline is None else PipelineBuilder(pipeline, search).build()


def build_default(search: SearchContext) -> DefaultSearcher:
    """Build the default search from all translators of a collection and its best encoder."""
    parts = search.parts
    languages = [*search.targets, *parts.statistics.secondary_languages]
    translators = {
        name: translator
        for name, translator in parts.translators.items()
        if list_known_targets(translator, search.source, languages)
    }
    weights = [1.0 if name == DEFAULT else _get_trust(translator) for name, translator in translators.items()]
    return DefaultSearcher(
        parts.store,
        parts.statistics,
        targets=search.targets,
        translator=makers.mix_translators(search, list(translators.values()), weights) if translators else None,
        semantic=_choose_encoder(search),
        variants=parts.variants,
        step=parts.step,
    )


def _choose_encoder(search: SearchContext) -> SemanticSearchers | None:
    """Choose an encoder that knows the query's language, a pretrained one if there is one; None if none knows it."""
    parts = search.parts
    encoders = {name: encoder for name, encoder in parts.encoders.items() if search.source in encoder.langs}
    if not encoders:
        return None
    name = min(encoders, key=lambda name: isinstance(encoders[name], BagEncoder))  # False sorts first
    title_name = title_vector_name(name)
    return SemanticSearchers(
        makers.make_query_encoder(encoders[name]),
        _build_similarity_searcher(parts, name),
        _build_similarity_searcher(parts, title_name) if title_name in parts.title_vectors else None,
    )


def _build_similarity_searcher(parts: Parts, vector_name: str) -> SimilaritySearcher:
    sample = partial(sample_background, parts.store, vector_name, parts.statistics.langs)
    return SimilaritySearcher(parts.store, vector_name, lambda: parts.cache.get(("background", vector_name), sample))


def _get_trust(translator: Translator) -> float:
    return translator.trust if isinstance(translator, TrustedTranslator) else USER_TABLE_TRUST


def list_part_options(parts: Parts) -> dict[str, list[str]]:
    """List the parts that a pipeline for this collection may name, with their options as they are written."""
    field_options = [f"{field}={FIELDS.get(field, 1.0):g}" for field in list_own_fields(parts.statistics)]
    search_options = [*format_options(makers.make_clause_searcher), *field_options]
    translation_options = [*format_options(makers.get_intermediate_language), *search_options]
    encoder_options = format_options(makers.make_encoder_searcher)
    word_options = ",".join(format_options(makers.make_word_translator))
    options = {name: format_options(make) for name, make in makers.SEARCHERS.items()}
    options["bm25"] += field_options
    for name in parts.encoders:
        options[name] = [*encoder_options, word_options]
    for name in parts.translators:
        options[name] = [*format_options(makers.choose_translator), *translation_options]
    for name, make in makers.TRANSLATORS.items():
        options[name] = [*format_options(make), *translation_options]
    options[f"{MIX}(a+b)"] = [*format_options(makers.mix_translators), *search_options]
    options[f"{FEEDBACK}|a"] = format_options(makers.make_feedback_translator)
    options[f"a|{FEEDBACK}"] = format_options(makers.make_feedback_searcher)
    options[f"a|{TOGETHER}"] = format_options(makers.make_cooccurrence_translator)
    for name in parts.choosers:
        options[f"a|{name}"] = format_options(makers.make_parallel_text_translator)
    for name, make_fusion in makers.FUSIONS.items():
        options[f"{name}(a+b)"] = format_options(make_fusion)
    for name in parts.rerankers:
        options[f"a>{name}"] = format_options(makers.make_reranked_searcher)
    return options
