"""Build a searcher from the text of a pipeline.

`bm25+cr5+table` fuses its parts, `bm25+cr5>knrm` reranks what they find, `feedback|table|feedback` lets the query flow
through. A chain begins with steps that change the query's words: expanders, translators, and what chooses among the
alternatives of the translator before it. They become one translator. `grammar` parses the text, `parts` has what it may
name; docs/look-up/pipelines.md explains both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeGuard, TypeVar

from paragloss.errors import InputError, LineSyntaxError
from paragloss.index.terms import FIELDS, list_own_fields
from paragloss.search import parts as makers
from paragloss.search.fused import Merged
from paragloss.search.grammar import Chain, FusedTerms, Node, PipelinePart, Ranked, Term, find_start, parse
from paragloss.search.options import bind_options, format_options
from paragloss.search.parts import FEEDBACK, MIX, TOGETHER, Parts, SearchContext
from paragloss.search.translated import Reworded, Translated
from paragloss.translation.combined import list_known_targets
from paragloss.translation.expansion import ChainedTranslator
from paragloss.types import Query, Searcher, Translator

T = TypeVar("T")


def build(pipeline: str, search: SearchContext) -> Searcher:
    """Build the searcher that a pipeline describes; errors point at the part that is wrong."""
    return _PipelineBuilder(pipeline, search).build_node(parse(pipeline))


def list_part_options(parts: Parts) -> dict[str, list[str]]:
    """List the parts that a pipeline for this collection may name, with their options as they are written.

    :return: the options by the part as it is written: `bm25`, `a>knrm`, `rrf(a+b)`.
    """
    field_options = [f"{field}={FIELDS.get(field, 1.0):g}" for field in list_own_fields(parts.statistics)]
    return {
        **_list_searcher_options(parts, field_options),
        **_list_translator_options(parts, field_options),
        **_list_wrapper_options(parts),
    }


def _list_searcher_options(parts: Parts, field_options: Sequence[str]) -> dict[str, list[str]]:
    """List the options of what searches; an encoder can also translate words."""
    options = {name: format_options(make) for name, make in makers.SEARCHERS.items()}
    options["bm25"] += field_options
    word_options = ",".join(format_options(makers.make_word_translator))
    for name in parts.encoders:
        options[name] = [*format_options(makers.make_encoder_searcher), word_options]
    return options


def _list_translator_options(parts: Parts, field_options: Sequence[str]) -> dict[str, list[str]]:
    """List the options of what translates, with those of what follows: another translator, or the search."""
    search_options = [*format_options(makers.make_clause_searcher), *field_options]
    next_options = [*format_options(makers.get_intermediate_language), *search_options]
    options = {}
    for name in parts.translators:
        options[name] = [*format_options(makers.choose_translator), *next_options]
    for name, make in makers.TRANSLATORS.items():
        options[name] = [*format_options(make), *next_options]
    options[f"{MIX}(a+b)"] = [*format_options(makers.mix_translators), *search_options]
    return options


def _list_wrapper_options(parts: Parts) -> dict[str, list[str]]:
    """List the options of what wraps searchers and translators."""
    wrappers: dict[str, Callable[..., object]] = {
        f"{FEEDBACK}|a": makers.make_feedback_translator,
        f"a|{FEEDBACK}": makers.make_feedback_searcher,
        f"a|{TOGETHER}": makers.make_cooccurrence_translator,
        **{f"a|{name}": makers.make_parallel_text_translator for name in parts.choosers},
        **{f"{name}(a+b)": make_fusion for name, make_fusion in makers.FUSIONS.items()},
        **{f"a>{name}": makers.make_reranked_searcher for name in parts.rerankers},
    }
    return {name: format_options(make) for name, make in wrappers.items()}


class ChainSteps(NamedTuple):
    """The steps of a chain by what they do, in their order."""

    rewording: Sequence[Node]  # change the query's words
    search: Node | None  # None if the reworded query is searched by its clauses
    feedback: Sequence[Node]  # search again with words of the results


class Rewording(NamedTuple):
    """Steps of a chain that change the query's words, as one translator."""

    translator: Translator
    keeps_language: bool  # expands the query in its own language, and does not translate it
    next_settings: Mapping[str, Any]  # those options of the last translator that are for the step after it


class _PipelineBuilder:
    """Builds the searcher of one pipeline; errors point at the part that is wrong."""

    def __init__(self, text: str, search: SearchContext) -> None:
        self._text, self._search, self._parts = text, search, search.parts
        self._fields = list_own_fields(search.parts.statistics)

    def build_node(self, node: Node) -> Searcher:
        """Build the searcher of a node of the tree: reranked, fused or a chain."""
        if isinstance(node, Ranked):
            return self._build_reranked(node)
        if isinstance(node, FusedTerms):
            return makers.fuse_by_scaled_sum(*self._build_terms(node))
        if isinstance(node, PipelinePart) and _is_fusion(node):
            assert node.inner is not None
            return self._make(node, makers.FUSIONS[node.name], *self._build_terms(node.inner))
        return self._build_chain(list(_flatten_chain(node)))

    def _build_terms(self, node: Node) -> tuple[list[Searcher], list[float]]:
        """Build the searchers that are fused, with their weights."""
        terms = _list_terms(node)
        return [self.build_node(term.search) for term in terms], [_get_weight(term) for term in terms]

    def _build_reranked(self, node: Ranked) -> Searcher:
        """Build a searcher and the rerankers that score its results, one after the other.

        :raises LineSyntaxError: for a reranker that the collection does not have.
        """
        searcher = self.build_node(node.search)
        for part in node.rerankers:
            if part.name not in self._parts.rerankers:
                names = ", ".join(self._parts.rerankers) or "none"
                raise self._make_error(f"no reranker {part.name!r} in this collection; it has {names}", part)
            searcher = self._make(part, makers.make_reranked_searcher, self._search, searcher, part.name)
        return searcher

    def _build_chain(self, steps: Sequence[Node]) -> Searcher:
        """Build the searcher of a chain of steps, such as `feedback|table|feedback`.

        Steps that reword the query come first, then at most one that searches, then feedback from its results. A chain
        without a step that searches searches the reworded query by its clauses.

        :param steps: one at least.
        """
        chain = self._split_chain(steps)
        rewording: Rewording | None = None
        if chain.search is None:
            rewording = self._build_rewording(chain.rewording, makers.make_clause_searcher)
            searcher = makers.make_clause_searcher(self._search, **rewording.next_settings)
        else:
            if chain.rewording:
                rewording = self._build_rewording(chain.rewording, _take_no_options)
            searcher = self._build_search_step(chain.search)
        searcher = self._add_feedback(searcher, chain.feedback)
        if rewording is None:
            return searcher
        return self._apply_rewording(rewording, searcher)

    def _split_chain(self, steps: Sequence[Node]) -> ChainSteps:
        """Split a chain into steps that reword the query, a step that searches, if there is one, and the others."""
        n_rewordings = 0
        while n_rewordings < len(steps) and self._is_rewording(steps[n_rewordings], is_first=n_rewordings == 0):
            n_rewordings += 1
        rewording, later_steps = steps[:n_rewordings], steps[n_rewordings:]
        if not later_steps or _is_feedback(later_steps[0]):
            return ChainSteps(rewording, None, later_steps)
        return ChainSteps(rewording, later_steps[0], later_steps[1:])

    def _add_feedback(self, searcher: Searcher, steps: Sequence[Node]) -> Searcher:
        """Let each step search again with words of what the searcher before it finds.

        :raises LineSyntaxError: for a step that is no feedback.
        """
        for step in steps:
            if not _is_feedback(step):
                raise self._make_error(f"only {FEEDBACK} can follow what searches", step)
            searcher = self._make(step, makers.make_feedback_searcher, self._search, searcher)
        return searcher

    def _build_search_step(self, node: Node) -> Searcher:
        """Build the step of a chain that searches: bm25, an encoder, or anything in parentheses.

        :raises LineSyntaxError: for a name that the collection has nothing of.
        """
        if not isinstance(node, PipelinePart) or _is_fusion(node):
            return self.build_node(node)
        if node.name in self._parts.encoders:
            return self._make(node, makers.make_encoder_searcher, self._search, node.name)
        if node.name in makers.SEARCHERS:
            return self._make(node, makers.SEARCHERS[node.name], self._search)
        names = ", ".join(self._parts.names)
        raise self._make_error(f"no {node.name!r} in this collection to search with; it has {names}", node)

    def _apply_rewording(self, rewording: Rewording, searcher: Searcher) -> Searcher:
        """Build a searcher that rewords or translates queries before another one searches.

        A query is translated into every target language, and the results are merged.
        """
        translator = rewording.translator
        name = self._parts.name_translator(translator)
        if rewording.keeps_language:
            return Reworded(searcher, translator, called=name)
        languages = self._list_translation_targets(translator, searcher)
        return Merged([Translated(searcher, translator, to=lang, called=name) for lang in languages])

    def _list_translation_targets(self, translator: Translator, searcher: Searcher) -> list[str]:
        """List the languages of documents that a query is translated into, so far as the translator knows them.

        The query's own language is the first if documents in it are searched, with the query as it is.

        :param searcher: searches with the translated query.
        :raises LanguageError: if the translator knows no foreign language that is searched.
        """
        source = self._search.source
        searched_languages = self._list_searched_languages(searcher)
        translatable_languages = list_known_targets(translator, source, searched_languages)
        foreign_targets = [target for target in self._search.targets if target != source]
        if foreign_targets and not translatable_languages:
            # An empty query is translated for the error that this raises: it says what the translator knows.
            translator.translate(Query("", "", source), foreign_targets[0])
        if source in searched_languages:
            return [source, *translatable_languages]
        return translatable_languages

    def _list_searched_languages(self, searcher: Searcher) -> list[str]:
        """List the target languages, and those of parts of documents if the searcher searches these parts, too."""
        targets = list(self._search.targets)
        if not hasattr(searcher, "looks_inside"):
            return targets
        return targets + [lang for lang in self._parts.statistics.secondary_languages if lang not in targets]

    def _build_rewording(self, nodes: Sequence[Node], search_maker: Callable[..., object]) -> Rewording:
        """Build one translator from the steps of a chain that change the query's words.

        An option of a translator may be meant for what follows it: before another translator `to`, the language that
        it translates into; before the search the options of the searcher.

        :param nodes: the steps, one at least.
        :param search_maker: the function that makes the searcher, or one that takes no options.
        :raises LineSyntaxError: for a step that does something else.
        """
        first_step = self._expect_rewording(nodes[0], is_first=True)
        steps = [first_step, *(self._expect_rewording(node, is_first=False) for node in nodes[1:])]
        rewording: Rewording | None = None
        for number, step in enumerate(steps):
            make_translator = self._find_translator(step)
            if make_translator is None:
                rewording = self._build_expander_or_chooser(step, rewording)
                continue
            precedes_translator = any(self._find_translator(later_step) for later_step in steps[number + 1 :])
            next_maker = makers.get_intermediate_language if precedes_translator else search_maker
            rewording = self._append_translator(rewording, step, make_translator, next_maker)
        assert rewording is not None, "a chain has a step"
        return rewording

    def _append_translator(
        self,
        previous: Rewording | None,
        step: PipelinePart,
        make_translator: Callable[..., Translator],
        next_maker: Callable[..., object],
    ) -> Rewording:
        """Build the translator that one step of a pipeline names, and chain it to the translator of the steps before.

        Of the options of a step some are for its own translator, and some for what follows it. In `table:to=en|table`
        the first step's `to` says in which language the second one gets the query.

        :param previous: the steps before as one translator, which gets the query first; None for the first step.
        :param step: the name of a translator with its options, as they are written.
        :param make_translator: makes the translator; its keyword arguments are the options for it.
        :param next_maker: the function that the other options of the step are keyword arguments of. It is not called
            here: they are returned as `next_settings`.
        :return: all steps up to this one as one translator.
        :raises LineSyntaxError: for an option that neither function has, or one with a wrong value.
        """
        own_settings, next_settings = bind_options(step, self._text, (make_translator, next_maker), self._fields)
        translator = self._call(step, make_translator, own_settings)
        if previous is not None:
            intermediate_language = makers.get_intermediate_language(**previous.next_settings)
            translator = ChainedTranslator(previous.translator, translator, via=intermediate_language)
        return Rewording(translator, keeps_language=False, next_settings=next_settings)

    def _expect_rewording(self, step: Node, *, is_first: bool) -> PipelinePart:
        """Return a step if it changes the query's words; raise LineSyntaxError if not."""
        if not isinstance(step, PipelinePart) or not self._is_rewording(step, is_first=is_first):
            raise self._make_error("only what translates can stand here", step)
        return step

    def _build_expander_or_chooser(self, step: PipelinePart, previous: Rewording | None) -> Rewording:
        """Build a step that expands the query, or that chooses among the alternatives of a translator.

        :param previous: the steps before it; None for the first step.
        :raises LineSyntaxError: if there is no translator to choose from.
        """
        if step.name == FEEDBACK:
            expander = self._make(step, makers.make_feedback_translator, self._search)
            return Rewording(expander, keeps_language=True, next_settings={})
        if previous is None:
            raise self._make_error(f"{step.name} chooses among translations: put it behind a translator", step)
        arguments = self._search, previous.translator
        if step.name == TOGETHER:
            translator = self._make(step, makers.make_cooccurrence_translator, *arguments)
        else:
            translator = self._make(step, makers.make_parallel_text_translator, *arguments, step.name)
        return previous._replace(translator=translator)

    def _is_rewording(self, step: Node, *, is_first: bool) -> bool:
        """Tell whether a step changes the query's words: it translates, chooses among translations, or expands.

        :param is_first: whether it is the first of its chain; feedback expands the query only there.
        """
        if not isinstance(step, PipelinePart):
            return False
        is_chooser = step.name == TOGETHER or step.name in self._parts.choosers
        is_expander = is_first and step.name == FEEDBACK
        return is_chooser or is_expander or self._find_translator(step) is not None

    def _find_translator(self, step: PipelinePart) -> Callable[..., Translator] | None:
        """Return the function that makes the translator of a step from its options; None for a step of another kind."""
        if step.name in self._parts.translators:
            return partial(makers.choose_translator, self._search, step.name)
        if step.name in self._parts.encoders:
            if any(option.name == "words" for option in step.options):
                return partial(makers.make_word_translator, self._search, step.name)
            return None
        if step.name == MIX and step.inner is not None:
            return partial(self._mix_translators, step.inner)
        if step.name in makers.TRANSLATORS:
            return partial(makers.TRANSLATORS[step.name], self._search)
        return None

    def _mix_translators(self, inner: Node, *, most: int = 20) -> Translator:
        """Build the translators of the terms in parentheses, combined; `most` is an option of `mix`."""
        terms = _list_terms(inner)
        chains = [list(_flatten_chain(term.search)) for term in terms]
        translators = [self._build_rewording(chain, _take_no_options).translator for chain in chains]
        return makers.mix_translators(self._search, translators, [_get_weight(term) for term in terms], most=most)

    def _make(self, part: PipelinePart, make: Callable[..., T], *arguments: Any) -> T:
        """Make a searcher or translator; the options of its part are the keyword arguments of the function.

        :param make: the function that makes it.
        :param arguments: its positional arguments.
        :raises LineSyntaxError: for an option that the function does not have, or if it raises an InputError.
        """
        (settings,) = bind_options(part, self._text, (make,), self._fields)
        return self._call(part, partial(make, *arguments), settings)

    def _call(self, part: PipelinePart, make: Callable[..., T], settings: Mapping[str, Any]) -> T:
        """Call the function that makes a part of the pipeline; an InputError becomes one that points at the part.

        :param settings: the keyword arguments of the function.
        """
        try:
            return make(**settings)
        except LineSyntaxError:  # points at a place in the pipeline already
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
    return node.terms if isinstance(node, FusedTerms) else (Term(None, node),)


def _get_weight(term: Term) -> float:
    return 1.0 if term.weight is None else term.weight


def _is_fusion(part: PipelinePart) -> bool:
    return part.name in makers.FUSIONS and part.inner is not None


def _is_feedback(step: Node) -> TypeGuard[PipelinePart]:
    return isinstance(step, PipelinePart) and step.name == FEEDBACK


def _take_no_options() -> None:
    """Stand for a step that is not searched by clauses and has no options of searching."""
