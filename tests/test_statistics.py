"""BM25 vectors and the statistics counted from them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragloss import bm25
from paragloss.bm25 import Layout, dot, make_sparse_vector
from paragloss.errors import StoreError
from paragloss.statistics import DocumentFrequencies, Statistics
from paragloss.stores._payload import pack_sparse_rows
from paragloss.types import SparseVector

CAT = ("en", {"text": ["cat", "sat", "cat"], "title": ["cat"]})
DOG = ("en", {"text": ["dog"]})
KATZE = ("de", {"text": ["katze", "cat"]})


def count_documents(*documents, fields=("title", "text")) -> tuple[Statistics, list[SparseVector]]:
    statistics = Statistics(Layout(fields))
    vectors = weigh(statistics, *documents)
    statistics.count([lang for lang, _ in documents], vectors)
    return statistics, vectors


def weigh(statistics: Statistics, *documents) -> list[SparseVector]:
    return statistics.weigh_documents([lang for lang, _ in documents], statistics.layout.count_terms(documents))


def test_a_score_worked_by_hand():
    statistics, (cat, dog, katze) = count_documents(CAT, DOG, KATZE)
    # English text: N = 2, lengths 3 and 1, average 2. "cat": df 1, so idf = ln(1 + 1.5 / 1.5) = ln 2.
    # In CAT tf = 2 and K = 1.2 (0.25 + 0.75 * 3 / 2) = 1.65: 2 / 3.65.
    query = statistics.weigh_query("en", {"cat": 1.0}, {"text": 1.0})
    assert dot(query, cat) == pytest.approx(math.log(2) * 2 / 3.65, rel=1e-6)
    assert dot(query, dog) == dot(query, katze) == 0
    # The title: N = 1, length 1, average 1, so K = 1.2, and idf = ln(1 + 0.5 / 1.5). It counts three times.
    two_fields = statistics.weigh_query("en", {"cat": 1.0}, {"text": 1.0, "title": 3.0})
    assert dot(two_fields, cat) == pytest.approx(math.log(2) * 2 / 3.65 + 3 * math.log(4 / 3) / 2.2, rel=1e-6)


def test_counts_are_kept_by_field_and_language():
    statistics, _ = count_documents(CAT, DOG, KATZE)
    assert statistics.langs == ("de", "en")
    assert [statistics.documents("text", lang) for lang in ("en", "de", "fr")] == [2, 1, 0]
    assert [statistics.documents("title", lang) for lang in ("en", "de")] == [1, 0]
    assert statistics.average("text", "en") == 2.0
    assert statistics.df("text", "en", ["cat", "dog", "katze", "cow"]).tolist() == [1, 1, 0, 0]
    assert statistics.df("text", "de", ["cat", "dog", "katze"]).tolist() == [1, 0, 1]
    assert statistics.df("title", "en", ["cat", "dog"]).tolist() == [1, 0]


def test_a_language_does_not_see_another():
    one_language, (vector,) = count_documents(KATZE)
    two_languages, vectors = count_documents(*[CAT, DOG] * 50, KATZE)
    assert vectors[-1].values.tolist() == vector.values.tolist()
    query = {"katze": 1.0, "cat": 1.0}
    for expected_array, array in zip(
        one_language.weigh_query("de", query, {"text": 1.0}),
        two_languages.weigh_query("de", query, {"text": 1.0}),
        strict=True,
    ):
        np.testing.assert_array_equal(expected_array, array)


WORDS = st.lists(st.sampled_from([f"w{i}" for i in range(30)]), max_size=25)
DOCUMENTS = st.lists(
    st.tuples(st.sampled_from(["en", "de", "zh"]), st.fixed_dictionaries({"title": WORDS, "text": WORDS})), max_size=12
)


@given(DOCUMENTS)
def test_vectors_give_back_the_terms_they_were_made_of(documents):
    statistics, vectors = count_documents(*documents)
    bags = statistics.layout.unpack(vectors)
    part_ends = np.cumsum(bags.size)[:-1]
    ids, counts = np.split(bags.ids, part_ends), np.split(bags.counts, part_ends)
    unpacked = {
        (row, field): (bags.length[i], dict(zip(ids[i].tolist(), counts[i].tolist(), strict=True)))
        for i, (row, field) in enumerate(zip(bags.row.tolist(), bags.field.tolist(), strict=True))
    }
    expected = {}
    for row, (lang, fields) in enumerate(documents):
        for field, name in enumerate(("title", "text")):
            if words := fields[name]:
                ids_of_words = statistics.ids(name, lang, words).tolist()
                expected[row, field] = (len(words), Counter(ids_of_words))
    assert unpacked == expected


@given(DOCUMENTS, DOCUMENTS)
def test_taking_documents_out_again_leaves_no_trace(remaining, removed):
    expected, _ = count_documents(*remaining)
    statistics = Statistics(Layout(("title", "text")))
    first = weigh(statistics, *remaining)
    statistics.count([lang for lang, _ in remaining], first)
    second = weigh(statistics, *removed)
    statistics.count([lang for lang, _ in removed], second)
    statistics.count([lang for lang, _ in removed], second, sign=-1)
    assert statistics.to_bytes() == expected.to_bytes()


@given(DOCUMENTS, DOCUMENTS, DOCUMENTS)
def test_merging_is_counting_in_any_order(first_documents, second_documents, removed):
    """What writers counted apart sums up to what one would have counted: added twice over, taken away once."""

    def count_apart(*lists_of_documents):
        statistics = Statistics(Layout(("title", "text")))
        for documents in lists_of_documents:
            statistics.count([lang for lang, _ in documents], weigh(Statistics(statistics.layout), *documents))
        return statistics

    first, second, third = map(count_apart, (first_documents, second_documents, removed))
    expected = count_apart(first_documents, second_documents)
    changes = [(third, -1), (second, 1), (third, 1), (first, 1)]
    one_by_one = Statistics(first.layout)
    for change in changes:
        one_by_one.merge([change])
    assert one_by_one.df("text", "en", ["w1"]).tolist() == expected.df("text", "en", ["w1"]).tolist()
    for order in (changes, changes[::-1]):
        merged = Statistics(first.layout)
        merged.merge(order)
        assert merged.to_bytes() == expected.to_bytes()


@given(DOCUMENTS)
def test_bytes_and_back(documents):
    statistics, _ = count_documents(*documents)
    restored, is_complete = Statistics.from_bytes(statistics.to_bytes())
    assert is_complete
    assert restored.to_bytes() == statistics.to_bytes()
    empty, is_complete = Statistics.from_bytes(statistics.to_unfinished_bytes())
    assert not is_complete
    assert (empty.langs, empty.layout.fields) == ((), ("title", "text"))


@pytest.mark.parametrize(
    "data", [b"", b"rubbish", b'{"format": 1}\n', b'{"format": 9}\n', count_documents(CAT)[0].to_bytes()[:-1]]
)
def test_damaged_or_cut_off_bytes_are_an_error(data):
    with pytest.raises(StoreError, match="statistics"):
        Statistics.from_bytes(data)


def test_weights_are_stale_when_their_average_is_off_by_more_than_the_tolerance():
    """104 words in the mean, weighed with 100: 4 % off."""
    statistics, _ = count_documents(("en", {"text": ["w"] * 100}), fields=("text",))
    statistics.count(["en"], weigh(statistics, ("en", {"text": ["w"] * 108})))
    assert statistics.average("text", "en") == 104.0
    assert [statistics.find_stale_languages(tolerance) for tolerance in (0.03, 0.05)] == [{"en"}, set()]


def test_reweighing_is_weighing_with_everything_known():
    statistics, (short,) = count_documents(("en", {"text": ["a"]}))
    long = ("en", {"text": ["b"] * 9})
    vectors = weigh(statistics, long)
    statistics.count(["en"], vectors)
    assert statistics.average("text", "en") == 5.0
    assert statistics.find_stale_languages() == {"en"}  # the short one was weighed with an average of 1
    new, old = statistics.reweigh_documents("en", pack_sparse_rows([short, *vectors]))
    assert [*new] == [0]  # the long one was weighed with the average of now
    statistics.count_new_weights("en", old)
    assert statistics.find_stale_languages(0.0) == set()
    fresh, expected = count_documents(("en", {"text": ["a"]}), long)
    for vector, expected_vector in zip([new[0], *vectors], expected, strict=True):
        np.testing.assert_array_equal(vector.indices, expected_vector.indices)
        np.testing.assert_array_equal(vector.values, expected_vector.values)
    assert statistics.to_bytes() == fresh.to_bytes()


def test_the_same_average_is_used_until_it_has_moved():
    statistics, _ = count_documents(*[("en", {"text": ["w"] * 100})] * 20)
    (similar,) = weigh(statistics, ("en", {"text": ["w"] * 150}))  # the average would be 102.4
    (longer,) = weigh(statistics, ("en", {"text": ["w"] * 400}))  # 114.3
    assert similar.values[1] == 100.0
    assert longer.values[1] == np.float32(2400 / 21)


def test_terms_with_one_id_count_as_one_term(monkeypatch):
    layout = Layout(["text"])
    monkeypatch.setattr(bm25, "term_hashes", lambda lang: {"one": 5, "two": 5, "three": 7})
    statistics = Statistics(layout)
    (vector,) = weigh(statistics, ("en", {"text": ["one", "two", "two", "three"]}))
    assert len(vector.indices) == 2 + 2
    assert layout.unpack([vector]).counts.tolist() == [3, 1]


def test_ids_stay_within_their_field_and_clear_of_what_is_reserved():
    layout = Layout(["a", "b", "c"])
    span = 2**32 // 3
    for field in range(3):
        ids = layout.ids(field, [0, 1, span - 3, span - 2, 2**32 - 1]).astype(np.int64)
        assert (ids >= field * span + 2).all()
        assert (ids < (field + 1) * span).all()


@pytest.mark.parametrize("wrong", [{"fields": []}, {"fields": ["a", "a"]}, {"k1": 0.0}, {"b": 1.5}])
def test_layouts_that_make_no_sense(wrong):
    with pytest.raises(StoreError):
        Layout(**{"fields": ["text"], **wrong})


def test_an_unknown_field():
    with pytest.raises(StoreError, match="no field 'body' is indexed; title, text are"):
        count_documents(CAT)[0].df("body", "en", ["cat"])


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 40), max_size=20), st.booleans(), st.booleans()), max_size=20),
    st.sampled_from([0, 3, 100]),
)
def test_frequencies_are_those_of_a_plain_table(steps, lookups_before_filter):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paragloss.statistics.LOOKUPS_BEFORE_FILTER", lookups_before_filter)
        frequencies, table = DocumentFrequencies(), dict.fromkeys(range(41), 0)
        for i, (ids, merge, is_looked_up) in enumerate(steps):
            sign = 1 if i % 3 else -1
            frequencies.add(np.array(ids, np.uint32), sign)
            for id in ids:
                table[id] += sign
            if merge:
                frequencies = DocumentFrequencies(*frequencies.to_arrays())
            if is_looked_up:  # while more comes
                assert frequencies.look_up(np.arange(41, dtype=np.uint32)).tolist() == list(table.values())
        assert frequencies.look_up(np.arange(41, dtype=np.uint32)).tolist() == list(table.values())


def test_sparse_is_in_order_and_without_zeros():
    vector = make_sparse_vector({9: 1.0, 3: 0.0, 2: 2.0})
    assert (vector.indices.tolist(), vector.values.tolist()) == ([2, 9], [2.0, 1.0])


def test_queries_are_weighed_together_as_alone_and_anew_after_a_count():
    statistics, _ = count_documents(CAT, DOG, KATZE)
    weights = {"title": 2.0, "text": 1.0}
    queries = [("en", {"cat": 1.0, "dog": 0.5, "nobody": 1.0}), ("de", {}), ("de", {"katze": 1.0})]
    together = statistics.weigh_queries(queries, weights)
    for query, weighed in zip(queries, together, strict=True):
        (alone,) = statistics.weigh_queries([query], weights)
        assert all(map(np.array_equal, alone.vector, weighed.vector))
        assert alone.max_score == weighed.max_score
    statistics.count(["en"], weigh(statistics, DOG))
    assert statistics.weigh_queries(queries, weights)[0].vector.values.tolist() != together[0].vector.values.tolist()
