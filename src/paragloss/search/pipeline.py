"""From a pipeline's text to nested searchers: `bm25+cr5+table` fuses its parts, `bm25+cr5>knrm` reranks what they find,
`feedback|table|feedback` lets the query flow through. The signs are `grammar`'s, the parts `parts`';
docs/look-up/pipelines.md explains both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from paragloss.encoders.bag import BagEncoder
from paragloss.encoders.pretrained.titles import title_vector_name
from paragloss.search import parts as made
from paragloss.search.default_search import DefaultSearcher, SemanticSearchers
from paragloss.search.grammar import Fused, Node, Part, Ranked, parse
from paragloss.search.indexed_fields import FIELDS, named
from paragloss.search.merged import Merged
from paragloss.search.options import shown
from paragloss.search.parts import Asked, Parts
from paragloss.search.query_steps import FEEDBACK, MIX, TOGETHER, Place, flat, rewords, terms, wording
from paragloss.search.similarity import SimilaritySearcher, sample_background
from paragloss.search.structured import ClauseSearcher
from paragloss.search.translated import Reworded, Translated
from paragloss.translation.combined import list_known_targets
from paragloss.translation.word_table import USER_TABLE_TRUST
from paragloss.types import Query, Searcher, Translator, Trusted

__all__ = ["Asked", "Parts", "build", "sayable"]

#: The translator that is part of the package.
DEFAULT = "default"


def build(parts: Parts, name: str | None, *, source: str, targets: Sequence[str]) -> Searcher:
    """Build the searcher that a pipeline describes; without one, the default search.

    `source` is the language of the queries, `targets` are those of the documents.
    """
    asked = Asked(parts, source, targets)
    return build_default(asked) if name is None else _search(Place(name, asked), parse(name))


def build_default(asked: Asked) -> DefaultSearcher:
    """Build the default search from all translators of a collection and its best encoder."""
    parts = asked.parts
    usable = {
        name: translator
        for name, translator in parts.translators.items()
        if list_known_targets(translator, asked.source, [*asked.targets, *parts.statistics.beside])
    }
    weights = [1.0 if name == DEFAULT else _trust(translator) for name, translator in usable.items()]
    return DefaultSearcher(
        parts.store,
        parts.statistics,
        targets=asked.targets,
        translator=made.mix(asked, list(usable.values()), weights) if usable else None,
        semantic=_choose_encoder(asked),
    )


def _choose_encoder(asked: Asked) -> SemanticSearchers | None:
    """Choose the encoder of the default search: a pretrained one if there is one that knows the query's language."""
    parts = asked.parts
    encoders = {name: encoder for name, encoder in parts.encoders.items() if asked.source in encoder.langs}
    if not encoders:
        return None
    name = min(encoders, key=lambda name: isinstance(encoders[name], BagEncoder))
    encoder = made.make_query_encoder(encoders[name])
    title_name = title_vector_name(name)
    return SemanticSearchers(
        encoder,
        _similarity_searcher(parts, name),
        _similarity_searcher(parts, title_name) if title_name in parts.title_vectors else None,
    )


def _similarity_searcher(parts: Parts, vector_name: str) -> SimilaritySearcher:
    languages = parts.statistics.langs
    sample = partial(sample_background, parts.store, vector_name, languages)
    return SimilaritySearcher(
        parts.store, vector_name, lambda: made.remembered(parts.memory, ("background", vector_name), sample)
    )


def _trust(translator: Translator) -> float:
    return translator.trust if isinstance(translator, Trusted) else USER_TABLE_TRUST


def sayable(parts: Parts) -> dict[str, list[str]]:
    """Each part that a pipeline for this collection may name, with its options."""
    fields = [f"{field}={FIELDS.get(field, 1.0):g}" for field in named(parts.statistics)]
    searched = [*shown(made.clauses), *fields]
    found = {name: [*shown(make), *(fields if name == "bm25" else [])] for name, make in made.SEARCHERS.items()}
    found |= {name: [*shown(made.meaning), ",".join(shown(made.words))] for name in parts.encoders}
    found |= {name: [*shown(made.chosen), *shown(made.onward), *searched] for name in parts.translators}
    found |= {name: [*shown(make), *shown(made.onward), *searched] for name, make in made.TRANSLATORS.items()}
    found |= {f"{MIX}(a+b)": [*shown(made.mix), *searched]}
    found |= {f"{FEEDBACK}|a": shown(made.before), f"a|{FEEDBACK}": shown(made.after)}
    found |= {f"a|{TOGETHER}": shown(made.together)} | {f"a|{name}": shown(made.witnessed) for name in parts.choosers}
    found |= {f"{name}(a+b)": shown(make) for name, make in made.FUSIONS.items()}
    return found | {f"a>{name}": shown(made.reranked) for name in parts.rerankers}


def _search(here: Place, node: Node) -> Searcher:
    if isinstance(node, Ranked):
        return _ranked(here, node)
    if isinstance(node, Fused):
        return _fused(here, node)
    if isinstance(node, Part) and node.name in made.FUSIONS and node.inner is not None:
        some, make = terms(node.inner), made.FUSIONS[node.name]
        weights = [1.0 if term.weight is None else term.weight for term in some]
        (settings,) = here.bound(node, make)
        return make([_search(here, term.search) for term in some], weights, **settings)
    return _chain(here, list(flat(node)))


def _ranked(here: Place, node: Ranked) -> Searcher:
    searcher, rerankers = _search(here, node.search), here.asked.parts.rerankers
    for part in node.rerankers:
        if part.name not in rerankers:
            have = ", ".join(rerankers) or "none"
            raise here.wrong(f"no reranker {part.name!r} in this collection; it has {have}", part)
        searcher = made.reranked(here.asked, searcher, part.name, **here.bound(part, made.reranked)[0])
    return searcher


def _fused(here: Place, node: Fused) -> Searcher:
    """Build what `+` means: scores scaled to [0, 1] between the last and the best hit of each part, and added."""
    parts = [_search(here, term.search) for term in node.terms]
    return made.minmax(parts, [1.0 if term.weight is None else term.weight for term in node.terms])


def _chain(here: Place, steps: list[Node]) -> Searcher:
    """The query flows from left to right: it is reworded, asked, and asked again with words of what was found."""
    number = 0
    while number < len(steps) and rewords(here, steps[number], first=not number):
        number += 1
    before, after = steps[:number], steps[number:]
    alone = not after or (isinstance(after[0], Part) and after[0].name == FEEDBACK)  # words search by themselves
    words = wording(here, before, searched=alone) if before else None
    searcher = made.clauses(here.asked, **(words.clauses if words else {})) if alone else _one(here, after.pop(0))
    for step in after:
        if not isinstance(step, Part) or step.name != FEEDBACK:
            raise here.wrong(f"only {FEEDBACK} can follow what searches", step)
        searcher = made.after(here.asked, searcher, **here.bound(step, made.after)[0])
    if words is None:
        return searcher
    if words.stays:
        return Reworded(searcher, words.translator, called=here.asked.parts.called(words.translator))
    return _in_every_language(here.asked, searcher, words.translator)


def _one(here: Place, node: Node) -> Searcher:
    """What searches at the end of a chain: bm25, an encoder, or anything in parentheses."""
    if not isinstance(node, Part) or (node.name in made.FUSIONS and node.inner is not None):
        return _search(here, node)
    if node.name in here.asked.parts.encoders:
        make: Callable[..., Searcher] = partial(made.meaning, here.asked, node.name)
    elif node.name in made.SEARCHERS:
        make = partial(made.SEARCHERS[node.name], here.asked)
    else:
        have = ", ".join(here.asked.parts.names)
        raise here.wrong(f"no {node.name!r} in this collection to search with; it has {have}", node)
    searcher: Searcher = here.made(node, make, here.bound(node, make)[0])
    return searcher


def _in_every_language(asked: Asked, searcher: Searcher, translator: Translator) -> Searcher:
    """Build one ranking of the query in each language that the translator knows, and as it is in its own."""
    secondary = [lang for lang in asked.parts.statistics.beside if lang not in asked.targets]
    languages = [*asked.targets, *(secondary if isinstance(searcher, ClauseSearcher) else [])]
    into = list_known_targets(translator, asked.source, languages)
    others = [target for target in asked.targets if target != asked.source]
    if not into and others:
        translator.translate(Query("", "", asked.source), others[0])  # raises an error that says what it knows
    own = [asked.source] if asked.source in languages else []
    name = asked.parts.called(translator)
    return Merged([Translated(searcher, translator, to=to, called=name) for to in [*own, *into]])
