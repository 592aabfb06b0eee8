"""Build a searcher from the text of a pipeline.

`bm25+cr5+table` fuses its parts, `bm25+cr5>knrm` reranks what they find, `feedback|table|feedback` lets the query flow
through. A chain begins with steps that change the query's words: expanders, translators, and what chooses among the
alternatives of the translator before it. They become one translator. `grammar` parses the text, `parts` has what it may
name; docs/look-up/pipelines.md explains both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from paragloss.errors import InputError, LineSyntaxError
from paragloss.index.fields import list_own_fields
from paragloss.search import parts as makers
from paragloss.search.grammar import Chain, Fused, Node, Part, Ranked, Term, find_start, parse
from paragloss.search.merged import Merged
from paragloss.search.options import bind_options
from paragloss.search.parts import FEEDBACK, MIX, TOGETHER, SearchContext
from paragloss.search.translated import Reworded, Translated
from paragloss.translation.combined import list_known_targets
from paragloss.translation.expansion import ChainedTranslator
from paragloss.types import Query, Searcher, Translator


class Rewording(NamedTuple):
    """The steps before a search as one translator."""

    translator: Translator
    keeps_language: bool
    clause_settings: Mapping[str, Any]  # what the last step says of how its words are searched


class PipelineBuilder:
    """Builds the searcher of one pipeline; errors point at the part that is wrong."""

    def __init__(self, text: str, search: SearchContext) -> None:
        self._text, self._search, self._parts = text, search, search.parts
        self._fields = list_own_fields(search.parts.statistics)

    def build(self) -> Searcher:
        """Build the searcher."""
        return self._build_node(parse(self._text))

    def _build_node(self, node: Node) -> Searcher:
        if isinstance(node, Ranked):
            return self._build_reranked(node)
        if isinstance(node, Fused):
            return makers.minmax(*self._build_terms(node))
        if isinstance(node, Part) and _is_fusion(node):
            assert node.inner is not None
            settings = self._bind(node, makers.FUSIONS[node.name])[0]
            return makers.FUSIONS[node.name](*self._build_terms(node.inner), **settings)
        return self._build_chain(list(_flatten_chain(node)))

    def _build_terms(self, node: Node) -> tuple[list[Searcher], list[float]]:
        """Build the searchers that are fused, with their weights."""
        terms = _list_terms(node)
        return [self._build_node(term.search) for term in terms], [_weight_of(term) for term in terms]

    def _build_reranked(self, node: Ranked) -> Searcher:
        searcher = self._build_node(node.search)
        for part in node.rerankers:
            if part.name not in self._parts.rerankers:
                names = ", ".join(self._parts.rerankers) or "none"
                raise self._make_error(f"no reranker {part.name!r} in this collection; it has {names}", part)
            settings = self._bind(part, makers.rerank)[0]
            searcher = makers.rerank(self._search, searcher, part.name, **settings)
        return searcher

    def _build_chain(self, steps: list[Node]) -> Searcher:
        """Build a chain: steps that reword the query, one that searches, and feedback from what it finds."""
        n_rewordings = 0
        while n_rewordings < len(steps) and self._is_rewording(steps[n_rewordings], is_first=not n_rewordings):
            n_rewordings += 1
        first_steps, last_steps = steps[:n_rewordings], steps[n_rewordings:]
        # Without a step that searches, the reworded query is searched by its clauses.
        is_searched = not last_steps or (isinstance(last_steps[0], Part) and last_steps[0].name == FEEDBACK)
        rewording = self._build_rewording(first_steps, is_searched=is_searched) if first_steps else None
        if is_searched:
            searcher = makers.clauses(self._search, **(rewording.clause_settings if rewording else {}))
        else:
            searcher = self._build_last_step(last_steps.pop(0))
        for step in last_steps:
            if not isinstance(step, Part) or step.name != FEEDBACK:
                raise self._make_error(f"only {FEEDBACK} can follow what searches", step)
            searcher = makers.after(self._search, searcher, **self._bind(step, makers.after)[0])
        if rewording is None:
            return searcher
        if rewording.keeps_language:
            return Reworded(searcher, rewording.translator, called=self._parts.name_translator(rewording.translator))
        return self._build_translated(searcher, rewording.translator)

    def _build_last_step(self, node: Node) -> Searcher:
        """Build what searches at the end of a chain: bm25, an encoder, or anything in parentheses."""
        if not isinstance(node, Part) or _is_fusion(node):
            return self._build_node(node)
        if node.name in self._parts.encoders:
            maker: Callable[..., Searcher] = partial(makers.meaning, self._search, node.name)
        elif node.name in makers.SEARCHERS:
            maker = partial(makers.SEARCHERS[node.name], self._search)
        else:
            message = f"no {node.name!r} in this collection to search with; it has {', '.join(self._parts.names)}"
            raise self._make_error(message, node)
        searcher: Searcher = self._call_maker(node, maker)
        return searcher

    def _build_translated(self, searcher: Searcher, translator: Translator) -> Searcher:
        """Build one ranking of the query in each language that the translator knows, and as it is in its own."""
        source, targets = self._search.source, self._search.targets
        secondary = [lang for lang in self._parts.statistics.secondary_languages if lang not in targets]
        languages = [*targets, *(secondary if hasattr(searcher, "looks_inside") else [])]
        into = list_known_targets(translator, source, languages)
        foreign = [target for target in targets if target != source]
        if not into and foreign:
            translator.translate(Query("", "", source), foreign[0])  # raises an error that says what it knows
        own = [source] if source in languages else []
        name = self._parts.name_translator(translator)
        return Merged([Translated(searcher, translator, to=to, called=name) for to in [*own, *into]])

    def _build_rewording(self, steps: Sequence[Node], *, is_searched: bool = False) -> Rewording:
        """Build one translator from several steps.

        If its words are searched by clauses (`is_searched`), the options of the last translator may say how; those of
        translators before it say into which language they translate.
        """
        translator: Translator | None = None
        intermediate_language, clause_settings = "", dict[str, Any]()
        last = max((number for number, step in enumerate(steps) if self._find_translator(step)), default=-1)
        for number, step in enumerate(steps):
            if not isinstance(step, Part) or not self._is_rewording(step, is_first=not number):
                raise self._make_error("only what translates can stand here", step)
            maker = self._find_translator(step)
            if maker is None:
                translator = self._wrap_translator(step, translator)
                continue
            second_maker = makers.onward if number < last else makers.clauses if is_searched else _take_no_options
            settings, second_settings = self._bind(step, maker, second_maker)
            added = self._call_maker(step, maker, settings)
            previous = translator
            translator = added if previous is None else ChainedTranslator(previous, added, via=intermediate_language)
            if number < last:
                intermediate_language = makers.onward(**second_settings)
            else:
                clause_settings = second_settings
        assert translator is not None, "a chain has a step"
        keeps_language = all(isinstance(step, Part) and step.name in makers.EXPANDERS for step in steps)
        return Rewording(translator, keeps_language, clause_settings)

    def _wrap_translator(self, step: Part, translator: Translator | None) -> Translator:
        """Build a step that expands the query, or that chooses among the alternatives of the translator before it."""
        if step.name == FEEDBACK:
            return makers.before(self._search, **self._bind(step, makers.before)[0])
        if translator is None:
            raise self._make_error(f"{step.name} chooses among translations: put it behind a translator", step)
        if step.name == TOGETHER:
            wrapped: Translator = self._call_maker(step, partial(makers.together, self._search, translator))
            return wrapped
        return makers.witnessed(self._search, translator, step.name, **self._bind(step, makers.witnessed)[0])

    def _is_rewording(self, step: Node, *, is_first: bool) -> bool:
        """Return whether a step changes the query's words; feedback does as the first step, later it follows a
        search."""
        if not isinstance(step, Part):
            return False
        is_chooser = step.name == TOGETHER or step.name in self._parts.choosers
        return is_chooser or self._find_translator(step) is not None or (is_first and step.name == FEEDBACK)

    def _find_translator(self, step: Node) -> Callable[..., Translator] | None:
        """Return the function that makes a translator of a step, given its options; None if it is no translator."""
        if not isinstance(step, Part):
            return None
        if step.name in self._parts.translators:
            return partial(makers.choose_translator, self._search, step.name)
        if step.name in self._parts.encoders:
            has_words = any(option.name == "words" for option in step.options)
            return partial(makers.words, self._search, step.name) if has_words else None
        if step.name == MIX and step.inner is not None:
            return partial(self._mix_translators, step.inner)
        maker = makers.TRANSLATORS.get(step.name)
        return partial(maker, self._search) if maker is not None else None

    def _mix_translators(self, inner: Node, *, most: int = 20) -> Translator:
        terms = _list_terms(inner)
        translators = [self._build_rewording(list(_flatten_chain(term.search))).translator for term in terms]
        return makers.mix(self._search, translators, [_weight_of(term) for term in terms], most=most)

    def _bind(self, part: Part, *functions: Callable[..., Any]) -> list[dict[str, Any]]:
        """Return for each function the keyword arguments that the part's options give it."""
        return bind_options(part, self._text, functions, self._fields)

    def _call_maker(self, part: Part, maker: Callable[..., Any], settings: Mapping[str, Any] | None = None) -> Any:
        """Call the function that makes a part; its input errors point at the part."""
        try:
            return maker(**(self._bind(part, maker)[0] if settings is None else settings))
        except LineSyntaxError:
            raise
        except InputError as error:
            raise self._make_error(str(error), part) from None

    def _make_error(self, message: str, node: Node) -> LineSyntaxError:
        return LineSyntaxError(message, self._text, find_start(node))


def _flatten_chain(node: Node) -> Iterator[Node]:
    """Iterate over the steps of a chain and of the chains in it."""
    if isinstance(node, Chain):
        for step in node.steps:
            yield from _flatten_chain(step)
    else:
        yield node


def _list_terms(node: Node) -> tuple[Term, ...]:
    """List what is fused or mixed; a node of another kind is the only one."""
    return node.terms if isinstance(node, Fused) else (Term(None, node),)


def _weight_of(term: Term) -> float:
    return 1.0 if term.weight is None else term.weight


def _is_fusion(part: Part) -> bool:
    return part.name in makers.FUSIONS and part.inner is not None


def _take_no_options() -> None:
    """Stand for a step that is not searched by clauses and has no options of searching."""
