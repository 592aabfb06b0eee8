"""What a part's options become: keyword arguments of the function that makes it, or an error at their place."""

from typing import Literal

import pytest

from paragloss.errors import LineSyntaxError
from paragloss.search.grammar import parse
from paragloss.search.options import Fields, bind_options, format_options


def make_part(
    searcher,
    *,
    depth: int = 10,
    top: int = 0,
    exact: bool = False,
    beta: float = 0.3,
    to: str = "",
    match: Literal["every", "best"] = "every",
    fields: Fields | None = None,
):
    """A part with every kind of option."""


def make_other_part(*, depth: int = 50, window: int = 3):
    """A part without fields."""


def bind_text(text, *makers):
    return bind_options(parse(text), text, makers or (make_part,), ["title", "text"])


def test_options_are_shown_as_they_are_written():
    assert format_options(make_part) == ["depth=10", "top=0", "exact", "beta=0.3", "to=xx", "every|best"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", {}),
        ("x:depth=5,top=0", {"depth": 5, "top": 0}),
        ("x:exact", {"exact": True}),
        ("x:exact=yes", {"exact": True}),
        ("x:exact=no", {"exact": False}),
        ("x:beta=.5,to=fr", {"beta": 0.5, "to": "fr"}),
        ("x:best", {"match": "best"}),
        ("x:match=best", {"match": "best"}),
        ("x:title,text=2", {"fields": {"title": None, "text": 2.0}}),
    ],
)
def test_options_in_the_text_become_keyword_arguments(text, expected):
    assert bind_text(text) == [expected]


def test_an_option_goes_to_the_first_function_that_has_it():
    assert bind_text("x:depth=5,window=2,title", make_part, make_other_part) == [
        {"depth": 5, "fields": {"title": None}},
        {"window": 2},
    ]
    assert bind_text("x:depth=5", make_other_part, make_part) == [{"depth": 5}, {}]


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("x:top=2,depth=0", 8, "depth=0: expected a whole number from 1 up"),
        ("x:top=-1", 2, "top=-1: expected a whole number from 0 up"),
        ("x:beta=much", 2, "beta=much: expected a number from 0 up"),
        ("x:exact=maybe", 2, "exact=maybe: expected yes or no"),
        ('x:to=""', 2, "to=: expected a word"),
        ("x:match=all", 2, "match=all: expected one of every, best"),
        ("x:title=two", 2, "title=two: expected a number from 0 up"),
        ("x:depth", 2, "x has no option 'depth'; it has depth=10, top=0, exact"),
        ("x:colour", 2, "every|best, title=WEIGHT, text=WEIGHT"),
    ],
)
def test_a_bad_option_is_an_error_at_its_column(text, at, message):
    with pytest.raises(LineSyntaxError) as caught:
        bind_text(text)
    assert caught.value.at == at
    assert message in str(caught.value)


def test_a_part_without_fields_refuses_weights_of_fields():
    with pytest.raises(LineSyntaxError, match="x has no option 'title'; it has depth=50, window=3\n"):
        bind_text("x:title", make_other_part)
    with pytest.raises(LineSyntaxError, match="it has none\n"):
        bind_text("x:title", lambda: None)
