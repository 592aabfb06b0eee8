"""The language of pipelines by itself: what text makes which tree, where errors point, and the way back."""

from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragloss.errors import LineSyntaxError
from paragloss.search.grammar import Chain, FusedTerms, PartOption, PipelinePart, Ranked, Term, find_start, parse

BM25, CR5, TABLE, KNRM = PipelinePart("bm25"), PipelinePart("cr5"), PipelinePart("table"), PipelinePart("knrm")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("bm25", BM25),
        ("bm25+cr5", FusedTerms((Term(None, BM25), Term(None, CR5)))),
        ("bm25+0.3*cr5", FusedTerms((Term(None, BM25), Term(0.3, CR5)))),
        ("cr5:csls", PipelinePart("cr5", (PartOption("csls"),))),
        ("bm25:title=2,url=0.5", PipelinePart("bm25", (PartOption("title", "2"), PartOption("url", "0.5")))),
        ("e5|table|feedback", Chain((PipelinePart("e5"), TABLE, PipelinePart("feedback")))),
        ("bm25>knrm", Ranked(BM25, (KNRM,))),
        (
            "bm25>knrm:depth=50>other",
            Ranked(BM25, (PipelinePart("knrm", (PartOption("depth", "50"),)), PipelinePart("other"))),
        ),
        ("rrf:constant=10(bm25+cr5)", PipelinePart("rrf", (PartOption("constant", "10"),), parse("bm25+cr5"))),
        # | binds tighter than *, * than +, + than >
        (
            "2*a|b+c>d",
            Ranked(
                FusedTerms((Term(2.0, Chain((PipelinePart("a"), PipelinePart("b")))), Term(None, PipelinePart("c")))),
                (PipelinePart("d"),),
            ),
        ),
        ("(bm25>knrm)+cr5", FusedTerms((Term(None, Ranked(BM25, (KNRM,))), Term(None, CR5)))),
        ("((bm25))", BM25),
        (" bm25 +\n cr5 ", parse("bm25+cr5")),
        ('"my model: v2"+mt:"http://localhost:5000"', parse('"my model: v2" + mt:"http://localhost:5000"')),
        ('"say ""hi"""', PipelinePart('say "hi"')),
        ("表+cr5", FusedTerms((Term(None, PipelinePart("表")), Term(None, CR5)))),
        ("model-1.2_b/c", PipelinePart("model-1.2_b/c")),
    ],
)
def test_a_pipeline_is_parsed_into_its_tree(text, tree):
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "at", "message"),
    [
        ("", 0, "the pipeline ends where the name of a part"),
        ("bm25+", 5, "the pipeline ends"),
        ("bm25>>knrm", 5, "found '>' where a reranker's name"),
        ("bm25 cr5", 5, "found 'cr5' where nothing, or one of"),
        ("bm25+(cr5", 9, r"the pipeline ends where \) or one of"),
        ("bm25)", 4, r"found '\)'"),
        ("x*cr5", 0, "a number before"),
        ("-1*cr5", 0, "a number before"),
        ("nan*cr5", 0, "a number before"),
        ('"0.3"*cr5', 0, "a number before"),
        ("bm25:", 5, "where an option was expected"),
        ("bm25:title=", 11, "where a value was expected"),
        ("bm25:title=2,", 13, "an option"),
        ("mt:http://x", 7, "found ':'"),
        ('bm25+"cr5', 5, "a quote that never ends"),
        ("|table", 0, r"found '\|'"),
        ("(" * 30 + "a" + ")" * 30, 20, "at most 20 parentheses"),
    ],
)
def test_a_syntax_error_points_at_its_column(text, at, message):
    with pytest.raises(LineSyntaxError, match=message) as caught:
        parse(text)
    assert caught.value.at == at
    _, line, caret = str(caught.value).split("\n")
    assert line == f"  {text}"
    assert caret == " " * (at + 2) + "^"


def test_the_caret_is_aligned_below_wide_letters():
    with pytest.raises(LineSyntaxError) as caught:
        parse("日本>>x")
    assert str(caught.value).split("\n")[-1] == "  " + " " * 5 + "^"


def write_tree(node, *kinds):
    """Return text that is parsed into a tree, with nodes of some kinds in parentheses."""
    if isinstance(node, kinds):
        return f"({write_tree(node)})"
    if isinstance(node, Ranked):
        return ">".join([write_tree(node.search, Ranked), *map(write_tree, node.rerankers)])
    if isinstance(node, FusedTerms):
        weights = ["" if term.weight is None else f"{Decimal(repr(term.weight)):f}*" for term in node.terms]
        return "+".join(
            weight + write_tree(term.search, Ranked, FusedTerms)
            for weight, term in zip(weights, node.terms, strict=True)
        )
    if isinstance(node, Chain):
        return "|".join(write_tree(step, Ranked, FusedTerms, Chain) for step in node.steps)
    options = ",".join(quote(o.name) + ("" if o.value is None else f"={quote(o.value)}") for o in node.options)
    inner = "" if node.inner is None else f"({write_tree(node.inner)})"
    return quote(node.name) + (f":{options}" if options else "") + inner


def quote(text):
    return '"' + text.replace('"', '""') + '"'


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
OPTIONS = st.builds(PartOption, NAMES, st.none() | NAMES)


def tree_nodes(deeper):
    """Every tree that text can make: one term alone has a weight, a chain has two steps or more."""
    parts = st.builds(PipelinePart, NAMES, st.lists(OPTIONS, max_size=3).map(tuple), st.none() | deeper)
    weights = st.none() | st.floats(0, 1e20, allow_nan=False)
    fused = st.lists(st.builds(Term, weights, deeper), min_size=1, max_size=3).map(tuple).map(FusedTerms)
    return st.one_of(
        parts,
        st.lists(deeper, min_size=2, max_size=3).map(tuple).map(Chain),
        fused.filter(lambda node: len(node.terms) > 1 or node.terms[0].weight is not None),
        st.builds(Ranked, deeper, st.lists(parts, min_size=1, max_size=2).map(tuple)),
    )


@given(st.recursive(st.builds(PipelinePart, NAMES), tree_nodes, max_leaves=8))
def test_a_tree_that_is_written_is_read_as_itself(tree):
    assert parse(write_tree(tree)) == tree


@given(st.text('ab1.*+|>:=,() "', max_size=20))
def test_any_text_is_a_tree_or_an_error_with_a_place(text):
    with suppress(LineSyntaxError):
        tree = parse(text)
        assert parse(write_tree(tree)) == tree


def test_a_tree_knows_the_column_where_it_begins():
    assert [find_start(parse(text)) for text in ("  a|b", " 2*a+b", "(a+b)>c", "((a|b)+c)|d")] == [2, 3, 1, 2]
