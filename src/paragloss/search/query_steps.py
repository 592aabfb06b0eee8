"""The steps of a pipeline that change a query's words before it is asked, as one translator.

Expanders and translators stand one behind the other; `together` and parallel texts choose among the alternatives of
what stands before them; `mix(...)` makes one translator of several. Knows nothing of searching.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from paragloss.errors import InputError, PlacedError
from paragloss.search import parts as made
from paragloss.search.grammar import Chain, Fused, Node, Part, Term, place
from paragloss.search.indexed_fields import named
from paragloss.search.options import bind
from paragloss.search.parts import Asked
from paragloss.translation.expansion import ChainedTranslator
from paragloss.types import Translator

FEEDBACK, TOGETHER, MIX = "feedback", "together", "mix"


class Place(NamedTuple):
    """A pipeline's text, to point into, and what it is asked of."""

    text: str
    asked: Asked

    def wrong(self, message: str, node: Node) -> PlacedError:
        return PlacedError(message, self.text, place(node))

    def bound(self, part: Part, *makers: Callable[..., Any]) -> list[dict[str, Any]]:
        """For each maker the keyword arguments that the part's options give it."""
        return bind(part, self.text, makers, named(self.asked.parts.statistics))

    def made(self, part: Part, make: Callable[..., Any], settings: Mapping[str, Any]) -> Any:
        """What the maker makes; what it can't make, at its place."""
        try:
            return make(**settings)
        except PlacedError:
            raise
        except InputError as error:
            raise self.wrong(str(error), part) from None


class Wording(NamedTuple):
    """A translator, whether it stays in the query's own language, and what the last part said of searching."""

    translator: Translator
    stays: bool
    clauses: Mapping[str, Any]


def rewords(here: Place, step: Node, *, first: bool) -> bool:
    """Whether a step changes the query's words. Feedback does at the beginning; later it follows a search."""
    if not isinstance(step, Part):
        return False
    return translates(here, step) or _chooses(here, step) or (first and step.name == FEEDBACK)


def translates(here: Place, step: Node) -> bool:
    return isinstance(step, Part) and _maker(here, step) is not None


def _chooses(here: Place, step: Part) -> bool:
    """Whether a step chooses among the alternatives of the one before."""
    return step.name == TOGETHER or step.name in here.asked.parts.choosers


def wording(here: Place, steps: Sequence[Node], *, searched: bool = False) -> Wording:
    """The steps as one translator. The last may say how its words are `searched`; those before, where they go."""
    found: Translator | None = None
    via, clauses = "", {}
    last = max((number for number, step in enumerate(steps) if translates(here, step)), default=-1)
    for number, step in enumerate(steps):
        if not isinstance(step, Part) or not rewords(here, step, first=not number):
            raise here.wrong("only what translates can stand here", step)
        if (make := _maker(here, step)) is not None:
            if number < last:
                settings, onward = here.bound(step, make, made.onward)
            else:
                searching = made.clauses if searched else _no_options
                settings, clauses = here.bound(step, make, searching)
                onward = {}
            one = here.made(step, make, settings)
            found, via = (one if found is None else ChainedTranslator(found, one, via=via)), made.onward(**onward)
        elif step.name == FEEDBACK:
            found = made.before(here.asked, **here.bound(step, made.before)[0])
        elif found is None:
            raise here.wrong(f"{step.name} chooses among translations: put it behind a translator", step)
        elif step.name == TOGETHER:
            make = partial(made.together, here.asked, found)
            found = here.made(step, make, here.bound(step, make)[0])
        else:
            found = made.witnessed(here.asked, found, step.name, **here.bound(step, made.witnessed)[0])
    assert found is not None, "a chain has a step"
    stays = all(isinstance(step, Part) and step.name in made.EXPANDERS for step in steps)
    return Wording(found, stays, clauses)


def flat(node: Node) -> Iterator[Node]:
    """The steps of a chain, those of chains within it too."""
    if isinstance(node, Chain):
        for step in node.steps:
            yield from flat(step)
    else:
        yield node


def terms(node: Node) -> tuple[Term, ...]:
    """What is fused or mixed: one alone, too."""
    return node.terms if isinstance(node, Fused) else (Term(None, node),)


def _no_options() -> None:
    """Where something else searches, there is nothing to say of how words are searched."""


def _maker(here: Place, part: Part) -> Callable[..., Translator] | None:
    """The function that makes a translator of a part, given its options; None where the part is none."""
    parts = here.asked.parts
    if part.name in parts.translators:
        return partial(made.chosen, here.asked, part.name)
    if part.name in parts.encoders:
        as_words = any(option.name == "words" for option in part.options)
        return partial(made.words, here.asked, part.name) if as_words else None
    if part.name == MIX and part.inner is not None:
        return partial(_mixed, here, part.inner)
    return partial(made.TRANSLATORS[part.name], here.asked) if part.name in made.TRANSLATORS else None


def _mixed(here: Place, inner: Node, *, most: int = 20) -> Translator:
    each = [wording(here, list(flat(term.search))).translator for term in terms(inner)]
    return made.mix(here.asked, each, [1.0 if term.weight is None else term.weight for term in terms(inner)], most=most)
