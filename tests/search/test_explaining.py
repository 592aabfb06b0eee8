"""Searchers told as indented text, and queries as they understand them."""

from fakes import Listed, WordForWord

from paragloss.search.fused import Fused, score_sum
from paragloss.search.merged import Merged
from paragloss.search.plan import tree, understood
from paragloss.search.translated import Reworded, Translated
from paragloss.types import Query

BREAD = [(f"pain{n}", 0.1) for n in range(5)]


def translator(**words):
    return WordForWord({"red": [("rouge", 0.9), ("vermeil", 0.125)], "bread": BREAD, **words})


def test_what_stands_in_another_is_indented_below_it():
    merged = Merged([Translated(Listed(a=1.0), translator(), to="fr"), Listed()])
    assert tree(Fused([merged], fuse=score_sum, weights=[0.5], depth=50), name="all") == (
        "all: Fused(fuse=score_sum, weights=[0.5], depth=50)\n"
        "  searchers: Merged()\n"
        "    searchers: Translated(to='fr', called='translator')\n"
        "      searcher: Listed()\n"
        "      translator: WordForWord()\n"
        "    searchers: Listed()"
    )


def test_five_alternatives_of_a_word_are_shown_and_the_rest_counted():
    query = Query("q", "red bread", "en")
    five = "pain0 0.10, pain1 0.10, pain2 0.10, pain3 0.10, pain4 0.10"
    said = "'red bread' [en], terms: red, bread\nTranslated en->fr:\n  red (1): rouge 0.90, vermeil 0.12\n"
    once = Translated(Listed(), translator(), to="fr")
    assert understood(Merged([once, once]), query) == f"{said}  bread (1): {five}"  # told once
    seven = translator(bread=[*BREAD, ("miche", 0.1), ("boule", 0.1)])
    assert understood(Translated(Listed(), seven, to="fr"), query) == f"{said}  bread (1): {five} and 2 more"


def test_a_query_that_nobody_translates_is_its_terms():
    assert understood(Listed(), Query("q", "?!", "en")) == "'?!' [en], terms: none"
    assert (
        understood(Translated(Listed(), translator(), to="fr"), Query("q", "pain", "fr")) == "'pain' [fr], terms: pain"
    )
    reworded = understood(Reworded(Listed(), translator()), Query("q", "red", "en"))
    assert reworded.splitlines()[1:] == ["Reworded en->en:", "  red (1): rouge 0.90, vermeil 0.12"]
