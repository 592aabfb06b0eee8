import pytest

from paragloss.errors import InputError
from paragloss.lab.query_log import (
    find_ambiguous,
    lower_first,
    measure_judged_counts,
    remove_ambiguous_queries,
    remove_random_queries,
    translate_log,
    translate_queries,
)
from paragloss.types import Alternative, Document, JudgedCollection, Query, Translation

WORDS = {
    "alle": [("all", 1.0)],
    "ganz": [("all", 0.6), ("whole", 0.4)],
    "Brot": [("Bread", 1.0)],
    "backen": [("bake", 1.0)],
}


class WordTranslator:
    def knows(self, source, target):
        return True

    def translate(self, query, to):
        return [
            Translation(word, tuple(Alternative(*pair) for pair in WORDS[word]))
            for word in query.text.split()
            if word in WORDS
        ]


def make_log(**documents):
    """A query per keyword, judged on so many documents."""
    queries = [Query(name, name.replace("_", " "), "de") for name in documents]
    names = {f"d{i}": Document(f"d{i}", "", "de") for i in range(max(documents.values()))}
    return JudgedCollection(queries, names, {name: {f"d{i}": 1 for i in range(n)} for name, n in documents.items()})


def test_queries_are_translated_word_by_word_and_all_else_stays():
    queries = [Query("1", "ganz Brot", "de"), Query("2", "Xylophon", "de")]
    translated = [Query("1", "all Bread", "en"), Query("2", "Xylophon", "en")]
    assert translate_queries(queries, WordTranslator(), "en") == translated
    before = make_log(Brot_backen=2)
    after = translate_log(before, WordTranslator(), "en", case="lower")
    assert after.queries == [Query("Brot_backen", "bread bake", "en")]
    assert (after.documents, after.qrels) == (before.documents, before.qrels)
    with pytest.raises(InputError, match="lower-first"):
        translate_log(before, WordTranslator(), "en", case="upper")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The live video", "the live video"),
        ("Hong Kong Jockey Club information", "Hong Kong Jockey Club information"),
        ("Shenzhen weather", "shenzhen weather"),  # the rule's known mistake
        ("Poker", "Poker"),
        ("", ""),
    ],
)
def test_the_first_word_is_lowered_when_the_second_is_low(text, expected):
    assert lower_first(text) == expected


def test_queries_that_become_one_are_ambiguous_unless_they_were_one():
    before = [Query("1", "alle", "de"), Query("2", "ganz", "de"), Query("3", "Brot", "de"), Query("4", "Brot", "de")]
    after = translate_queries(before, WordTranslator(), "en")
    assert find_ambiguous(before, after) == {"all": ["1", "2"]}


def test_the_longest_list_decides_for_all_queries_of_a_translation():
    before = make_log(alle=1, ganz=3, Brot=4)
    after = translate_log(before, WordTranslator(), "en")
    cleaned = remove_ambiguous_queries(before, after, max_judged=2)
    assert [query.id for query in cleaned.judged.queries] == ["Brot"]  # long too, but not ambiguous
    assert cleaned[1:] == (2, 2, 8, 4)
    assert list(cleaned.judged.qrels) == ["Brot"]
    assert remove_ambiguous_queries(before, after, max_judged=3)[1:] == (2, 0, 8, 8)


def test_a_control_loses_as_much_by_chance():
    judged = make_log(**{f"q{i}": 1 + i % 3 for i in range(30)})  # 60 pairs
    control = remove_random_queries(judged, 40, seed=1)
    assert 37 <= sum(len(grades) for grades in control.qrels.values()) <= 40
    assert control == remove_random_queries(judged, 40, seed=1) != remove_random_queries(judged, 40, seed=2)
    assert remove_random_queries(judged, 60) == judged


def test_lengths_of_ambiguous_lists():
    before = make_log(alle=1, ganz=3, Brot=9)
    after = translate_log(before, WordTranslator(), "en")
    lengths = measure_judged_counts(before, after, bounds=(1, 2))
    assert lengths == (2.0, 1, 3, 1.0, {"1 to 1": 1, "2 to 2": 0, "above 2": 1})
    assert measure_judged_counts(before, after, bounds=(1, 3)).ranges == {"1 to 1": 1, "2 to 3": 1, "above 3": 0}
    no_ranges = dict.fromkeys(("1 to 100", "101 to 200", "201 to 1000", "above 1000"), 0)
    assert measure_judged_counts(before, before) == (0.0, 0, 0, 0.0, no_ranges)
