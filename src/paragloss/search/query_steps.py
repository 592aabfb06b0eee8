"""Build one translator from the steps of a pipeline that change a query's words before it is searched.

Expanders and translators stand one behind the other; `together` and parallel texts choose among the alternatives of
the step before them; `mix(...)` makes one translator of several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from paragloss.errors import InputError, LineSyntaxError
from paragloss.index.fields import list_own_fields
from paragloss.search import parts as makers
from paragloss.search.grammar import Chain, Fused, Node, Part, Term, place
from paragloss.search.options import bind
from paragloss.search.parts import SearchContext
from paragloss.translation.expansion import ChainedTranslator
from paragloss.types import Translator

FEEDBACK, TOGETHER, MIX = "feedback", "together", "mix"


class PipelineContext(NamedTuple):
    """The text of a pipeline, which errors point into, and what it searches."""

    text: str
    search: SearchContext

    def make_error(self, message: str, node: Node) -> LineSyntaxError:
        """Return an error that points at a node of the pipeline."""
        return LineSyntaxError(message, self.text, place(node))

    def bind_options(self, part: Part, *functions: Callable[..., Any]) -> list[dict[str, Any]]:
        """Return for each function the keyword arguments that the part's options give it."""
        return bind(part, self.text, functions, list_own_fields(self.search.parts.statistics))

    def call_maker(self, part: Part, maker: Callable[..., Any], settings: Mapping[str, Any]) -> Any:
        """Call the function that makes a part; its input errors point at the part."""
        try:
            return maker(**settings)
        except LineSyntaxError:
            raise
        except InputError as error:
            raise self.make_error(str(error), part) from None


class Rewording(NamedTuple):
    """The steps before a search as one translator."""

    translator: Translator
    keeps_language: bool
    clause_settings: Mapping[str, Any]  # what the last step says of how its words are searched


def is_rewording(context: PipelineContext, step: Node, *, is_first: bool) -> bool:
    """Return whether a step changes the query's words. Feedback does so as the first step; later it follows a
    search."""
    if not isinstance(step, Part):
        return False
    return is_translator(context, step) or _is_chooser(context, step) or (is_first and step.name == FEEDBACK)


def is_translator(context: PipelineContext, step: Node) -> bool:
    """Return whether a step translates."""
    return isinstance(step, Part) and _find_maker(context, step) is not None


def build_rewording(context: PipelineContext, steps: Sequence[Node], *, is_searched: bool = False) -> Rewording:
    """Build one translator from several steps.

    If its words are searched by clauses (`is_searched`), the options of the last translator may say how; those of
    translators before it say into which language they translate.
    """
    translator: Translator | None = None
    intermediate_language, clause_settings = "", dict[str, Any]()
    last = max((number for number, step in enumerate(steps) if is_translator(context, step)), default=-1)
    for number, step in enumerate(steps):
        if not isinstance(step, Part) or not is_rewording(context, step, is_first=not number):
            raise context.make_error("only what translates can stand here", step)
        maker = _find_maker(context, step)
        if maker is None:
            translator = _wrap_translator(context, step, translator)
            continue
        second_maker = makers.onward if number < last else makers.clauses if is_searched else _take_no_options
        settings, more_settings = context.bind_options(step, maker, second_maker)
        added = context.call_maker(step, maker, settings)
        translator = added if translator is None else ChainedTranslator(translator, added, via=intermediate_language)
        if number < last:
            intermediate_language = makers.onward(**more_settings)
        else:
            clause_settings = more_settings
    assert translator is not None, "a chain has a step"
    keeps_language = all(isinstance(step, Part) and step.name in makers.EXPANDERS for step in steps)
    return Rewording(translator, keeps_language, clause_settings)


def _wrap_translator(context: PipelineContext, step: Part, translator: Translator | None) -> Translator:
    """Build a step that expands the query, or that chooses among the alternatives of the translator before it."""
    if step.name == FEEDBACK:
        return makers.before(context.search, **context.bind_options(step, makers.before)[0])
    if translator is None:
        raise context.make_error(f"{step.name} chooses among translations: put it behind a translator", step)
    if step.name == TOGETHER:
        maker = partial(makers.together, context.search, translator)
        wrapped: Translator = context.call_maker(step, maker, context.bind_options(step, maker)[0])
        return wrapped
    settings = context.bind_options(step, makers.witnessed)[0]
    return makers.witnessed(context.search, translator, step.name, **settings)


def flatten_chain(node: Node) -> Iterator[Node]:
    """Iterate over the steps of a chain and of the chains in it."""
    if isinstance(node, Chain):
        for step in node.steps:
            yield from flatten_chain(step)
    else:
        yield node


def list_terms(node: Node) -> tuple[Term, ...]:
    """List what is fused or mixed; a node of another kind is the only one."""
    return node.terms if isinstance(node, Fused) else (Term(None, node),)


def weight_of(term: Term) -> float:
    """Return the weight of a term, 1 if none is given."""
    return 1.0 if term.weight is None else term.weight


def _is_chooser(context: PipelineContext, step: Part) -> bool:
    """Return whether a step chooses among the alternatives of the one before."""
    return step.name == TOGETHER or step.name in context.search.parts.choosers


def _take_no_options() -> None:
    """Stand for a step that is not searched by clauses and has no options of searching."""


def _find_maker(context: PipelineContext, part: Part) -> Callable[..., Translator] | None:
    """Return the function that makes a translator of a part, given its options; None if it is no translator."""
    parts = context.search.parts
    if part.name in parts.translators:
        return partial(makers.chosen, context.search, part.name)
    if part.name in parts.encoders:
        has_words = any(option.name == "words" for option in part.options)
        return partial(makers.words, context.search, part.name) if has_words else None
    if part.name == MIX and part.inner is not None:
        return partial(_mix_translators, context, part.inner)
    return partial(makers.TRANSLATORS[part.name], context.search) if part.name in makers.TRANSLATORS else None


def _mix_translators(context: PipelineContext, inner: Node, *, most: int = 20) -> Translator:
    terms = list_terms(inner)
    translators = [build_rewording(context, list(flatten_chain(term.search))).translator for term in terms]
    return makers.mix(context.search, translators, [weight_of(term) for term in terms], most=most)
