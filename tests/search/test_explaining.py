"""Searchers told as indented text, and queries as they understand them."""

from fakes import FixedSearcher, WordTranslator

from paragloss.collection.search_plan import format_query, format_searchers
from paragloss.search.fused import Fused, Merged, fuse_scaled_scores
from paragloss.search.translated import Reworded, Translated
from paragloss.types import Query

BREAD = [(f"pain{n}", 0.1) for n in range(5)]


def make_translator(**words):
    return WordTranslator({"red": [("rouge", 0.9), ("vermeil", 0.125)], "bread": BREAD, **words})


def test_nested_searchers_are_printed_indented():
    merged = Merged([Translated(FixedSearcher(a=1.0), make_translator(), to="fr"), FixedSearcher()])
    assert format_searchers(Fused([merged], fuse=fuse_scaled_scores, weights=[0.5], depth=50), name="all") == (
        "all: Fused(fuse=fuse_scaled_scores, weights=[0.5], depth=50)\n"
        "  searchers: Merged()\n"
        "    searchers: Translated(to='fr', called='translator')\n"
        "      searcher: FixedSearcher(scores={a: 1}, requests=[])\n"
        "      translator: WordTranslator()\n"
        "    searchers: FixedSearcher(scores={}, requests=[])"
    )


def test_five_alternatives_of_a_word_are_shown_and_the_rest_counted():
    query = Query("q", "red bread", "en")
    five = "pain0 0.10, pain1 0.10, pain2 0.10, pain3 0.10, pain4 0.10"
    printed = "'red bread' [en], terms: red, bread\nTranslated en->fr:\n  red (1): rouge 0.90, vermeil 0.12\n"
    searcher = Translated(FixedSearcher(), make_translator(), to="fr")
    assert format_query(Merged([searcher, searcher]), query) == f"{printed}  bread (1): {five}"  # told once
    seven = make_translator(bread=[*BREAD, ("miche", 0.1), ("boule", 0.1)])
    assert (
        format_query(Translated(FixedSearcher(), seven, to="fr"), query) == f"{printed}  bread (1): {five} and 2 more"
    )


def test_an_untranslated_query_is_printed_as_its_terms():
    assert format_query(FixedSearcher(), Query("q", "?!", "en")) == "'?!' [en], terms: none"
    assert (
        format_query(Translated(FixedSearcher(), make_translator(), to="fr"), Query("q", "pain", "fr"))
        == "'pain' [fr], terms: pain"
    )
    reworded = format_query(Reworded(FixedSearcher(), make_translator()), Query("q", "red", "en"))
    assert reworded.splitlines()[1:] == ["Reworded en->en:", "  red (1): rouge 0.90, vermeil 0.12"]
