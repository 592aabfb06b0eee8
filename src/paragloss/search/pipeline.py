"""Build searchers: the default search directly, others from the text of a pipeline.

`bm25+cr5+table` fuses its parts, `bm25+cr5>knrm` reranks what they find, `feedback|table|feedback` lets the query flow
through. `grammar` parses the text, `parts` has what it may name; docs/look-up/pipelines.md explains both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.pretrained.titles import title_vector_name
from paragloss.index.fields import FIELDS, list_own_fields
from paragloss.search import parts as makers
from paragloss.search.default_search import DefaultSearcher, SemanticSearchers
from paragloss.search.grammar import Fused, Node, Part, Ranked, parse
from paragloss.search.merged import Merged
from paragloss.search.options import shown
from paragloss.search.parts import Parts, SearchContext
from paragloss.search.query_steps import (
    FEEDBACK,
    MIX,
    TOGETHER,
    PipelineContext,
    build_rewording,
    flatten_chain,
    is_rewording,
    list_terms,
    weight_of,
)
from paragloss.search.similarity import SimilaritySearcher, sample_background
from paragloss.search.structured import ClauseSearcher
from paragloss.search.translated import Reworded, Translated
from paragloss.translation.combined import list_known_targets
from paragloss.translation.word_table import USER_TABLE_TRUST
from paragloss.types import Query, Searcher, Translator, TrustedTranslator

__all__ = ["Parts", "SearchContext", "build", "list_part_options"]

#: The translator that is part of the package.
DEFAULT = "default"


def build(parts: Parts, name: str | None, *, source: str, targets: Sequence[str]) -> Searcher:
    """Build the searcher that a pipeline describes; without one, the default search.

    `source` is the language of the queries, `targets` are those of the documents.
    """
    search = SearchContext(parts, source, targets)
    return build_default(search) if name is None else _build_node(PipelineContext(name, search), parse(name))


def build_default(search: SearchContext) -> DefaultSearcher:
    """Build the default search from all translators of a collection and its best encoder."""
    parts = search.parts
    languages = [*search.targets, *parts.statistics.secondary_languages]
    usable = {
        name: translator
        for name, translator in parts.translators.items()
        if list_known_targets(translator, search.source, languages)
    }
    weights = [1.0 if name == DEFAULT else _get_trust(translator) for name, translator in usable.items()]
    return DefaultSearcher(
        parts.store,
        parts.statistics,
        targets=search.targets,
        translator=makers.mix(search, list(usable.values()), weights) if usable else None,
        semantic=_choose_encoder(search),
    )


def _choose_encoder(search: SearchContext) -> SemanticSearchers | None:
    """Choose the encoder of the default search: a pretrained one if there is one that knows the query's language."""
    parts = search.parts
    encoders = {name: encoder for name, encoder in parts.encoders.items() if search.source in encoder.langs}
    if not encoders:
        return None
    name = min(encoders, key=lambda name: isinstance(encoders[name], BagEncoder))
    title_name = title_vector_name(name)
    return SemanticSearchers(
        makers.make_query_encoder(encoders[name]),
        _build_similarity_searcher(parts, name),
        _build_similarity_searcher(parts, title_name) if title_name in parts.title_vectors else None,
    )


def _build_similarity_searcher(parts: Parts, vector_name: str) -> SimilaritySearcher:
    sample = partial(sample_background, parts.store, vector_name, parts.statistics.langs)
    return SimilaritySearcher(
        parts.store, vector_name, lambda: makers.remembered(parts.memory, ("background", vector_name), sample)
    )


def _get_trust(translator: Translator) -> float:
    return translator.trust if isinstance(translator, TrustedTranslator) else USER_TABLE_TRUST


def list_part_options(parts: Parts) -> dict[str, list[str]]:
    """List the parts that a pipeline for this collection may name, with their options as they are written."""
    fields = [f"{field}={FIELDS.get(field, 1.0):g}" for field in list_own_fields(parts.statistics)]
    clause_options = [*shown(makers.clauses), *fields]
    options = {name: [*shown(make), *(fields if name == "bm25" else [])] for name, make in makers.SEARCHERS.items()}
    options |= {name: [*shown(makers.meaning), ",".join(shown(makers.words))] for name in parts.encoders}
    options |= {name: [*shown(makers.chosen), *shown(makers.onward), *clause_options] for name in parts.translators}
    for name, maker in makers.TRANSLATORS.items():
        options[name] = [*shown(maker), *shown(makers.onward), *clause_options]
    options[f"{MIX}(a+b)"] = [*shown(makers.mix), *clause_options]
    options |= {f"{FEEDBACK}|a": shown(makers.before), f"a|{FEEDBACK}": shown(makers.after)}
    options |= {f"a|{TOGETHER}": shown(makers.together)}
    options |= {f"a|{name}": shown(makers.witnessed) for name in parts.choosers}
    options |= {f"{name}(a+b)": shown(maker) for name, maker in makers.FUSIONS.items()}
    return options | {f"a>{name}": shown(makers.reranked) for name in parts.rerankers}


def _build_node(context: PipelineContext, node: Node) -> Searcher:
    if isinstance(node, Ranked):
        return _build_reranked(context, node)
    if isinstance(node, Fused):
        return _build_sum(context, node)
    if isinstance(node, Part) and _is_fusion(node):
        return _build_fusion(context, node)
    return _build_chain(context, list(flatten_chain(node)))


def _build_reranked(context: PipelineContext, node: Ranked) -> Searcher:
    searcher, rerankers = _build_node(context, node.search), context.search.parts.rerankers
    for part in node.rerankers:
        if part.name not in rerankers:
            names = ", ".join(rerankers) or "none"
            raise context.make_error(f"no reranker {part.name!r} in this collection; it has {names}", part)
        settings = context.bind_options(part, makers.reranked)[0]
        searcher = makers.reranked(context.search, searcher, part.name, **settings)
    return searcher


def _build_sum(context: PipelineContext, node: Fused) -> Searcher:
    """Build what `+` means: scores scaled to [0, 1] between the last and the best hit of each part, and added."""
    searchers = [_build_node(context, term.search) for term in node.terms]
    return makers.minmax(searchers, [weight_of(term) for term in node.terms])


def _is_fusion(part: Part) -> bool:
    return part.name in makers.FUSIONS and part.inner is not None


def _build_fusion(context: PipelineContext, part: Part) -> Searcher:
    """Build a fusion that is written with its name, such as rrf(a+b)."""
    assert part.inner is not None
    terms, maker = list_terms(part.inner), makers.FUSIONS[part.name]
    (settings,) = context.bind_options(part, maker)
    searchers = [_build_node(context, term.search) for term in terms]
    return maker(searchers, [weight_of(term) for term in terms], **settings)


def _build_chain(context: PipelineContext, steps: list[Node]) -> Searcher:
    """Build a chain: steps that reword the query, one that searches, and feedback from what it finds."""
    n_rewordings = 0
    while n_rewordings < len(steps) and is_rewording(context, steps[n_rewordings], is_first=not n_rewordings):
        n_rewordings += 1
    first_steps, last_steps = steps[:n_rewordings], steps[n_rewordings:]
    # Without a step that searches, the reworded query is searched by its clauses.
    is_searched = not last_steps or (isinstance(last_steps[0], Part) and last_steps[0].name == FEEDBACK)
    rewording = build_rewording(context, first_steps, is_searched=is_searched) if first_steps else None
    if is_searched:
        searcher = makers.clauses(context.search, **(rewording.clause_settings if rewording else {}))
    else:
        searcher = _build_last_step(context, last_steps.pop(0))
    for step in last_steps:
        if not isinstance(step, Part) or step.name != FEEDBACK:
            raise context.make_error(f"only {FEEDBACK} can follow what searches", step)
        searcher = makers.after(context.search, searcher, **context.bind_options(step, makers.after)[0])
    if rewording is None:
        return searcher
    if rewording.keeps_language:
        name = context.search.parts.called(rewording.translator)
        return Reworded(searcher, rewording.translator, called=name)
    return _build_translated(context.search, searcher, rewording.translator)


def _build_last_step(context: PipelineContext, node: Node) -> Searcher:
    """Build what searches at the end of a chain: bm25, an encoder, or anything in parentheses."""
    if not isinstance(node, Part) or _is_fusion(node):
        return _build_node(context, node)
    parts = context.search.parts
    if node.name in parts.encoders:
        maker: Callable[..., Searcher] = partial(makers.meaning, context.search, node.name)
    elif node.name in makers.SEARCHERS:
        maker = partial(makers.SEARCHERS[node.name], context.search)
    else:
        message = f"no {node.name!r} in this collection to search with; it has {', '.join(parts.names)}"
        raise context.make_error(message, node)
    searcher: Searcher = context.call_maker(node, maker, context.bind_options(node, maker)[0])
    return searcher


def _build_translated(search: SearchContext, searcher: Searcher, translator: Translator) -> Searcher:
    """Build one ranking of the query in each language that the translator knows, and as it is in its own."""
    secondary = [lang for lang in search.parts.statistics.secondary_languages if lang not in search.targets]
    languages = [*search.targets, *(secondary if isinstance(searcher, ClauseSearcher) else [])]
    into = list_known_targets(translator, search.source, languages)
    foreign = [target for target in search.targets if target != search.source]
    if not into and foreign:
        translator.translate(Query("", "", search.source), foreign[0])  # raises an error that says what it knows
    own = [search.source] if search.source in languages else []
    name = search.parts.called(translator)
    return Merged([Translated(searcher, translator, to=to, called=name) for to in [*own, *into]])
