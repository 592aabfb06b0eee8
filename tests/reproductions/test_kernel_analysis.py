"""A ranker of five words whose vectors are known, so that every pair's kernel can be told by hand."""

import numpy as np

from papers.kernel_analysis import (
    count_pairs_by_kernel,
    count_seen_terms,
    find_strongest_kernel,
    list_translation_kernels,
    list_word_pairs,
    measure_kernels_alone,
    measure_unknown_share,
    split_into_words,
    take_first_queries,
)
from paragloss.encoders.kernel_ranker import Knrm
from paragloss.types import Alternative, Document, JudgedCollection, Query, Translation
from paragloss.vocabulary import Vocabulary


def unit_vector_at(cosine):
    """A unit vector at this cosine from (1, 0)."""
    return [cosine, np.sqrt(1 - cosine**2)]


def make_ranker():
    english = Vocabulary("en", ["dog", "cat"], [1, 1], 1, stem=False)
    german = Vocabulary("de", ["hund", "katze", "brot"], [1, 1, 1], 1, stem=False)
    table = np.array(
        [unit_vector_at(1.0), unit_vector_at(-1.0), unit_vector_at(1.0), unit_vector_at(0.5), unit_vector_at(-0.32)],
        np.float32,
    )
    return Knrm({"en": english, "de": german}, {"en": np.arange(2), "de": np.arange(2, 5)}, table, np.arange(11), 0.5)


JUDGED = JudgedCollection(
    [Query("q1", "dog dog", "en"), Query("q2", "dog bird", "en")],
    {
        "d1": Document("d1", "Hund Hund Katze", "de"),
        "d2": Document("d2", "Brot Vogel", "de"),
        "d3": Document("d3", "Katze", "de"),
    },
    {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0}},
)


def test_a_pair_falls_into_the_kernel_that_responds_most():
    assert find_strongest_kernel([1.0, 0.99, 0.9, 0.61, 0.59, 0.01, -0.01, -1.0]).tolist() == [1, 2, 2, 3, 4, 6, 7, 11]


def test_pairs_are_counted_once_however_often_they_meet():
    assert list_word_pairs(make_ranker(), JUDGED).tolist() == [[0, 2], [0, 3], [0, 4]]
    # dog-hund 1.0, dog-katze 0.5, dog-brot -0.32: the kernels of 1, .5 and -.3
    assert count_pairs_by_kernel(make_ranker(), JUDGED).tolist() == [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]


def test_translations_are_placed_where_both_words_are_known():
    class ThreeWordTranslator:
        def knows(self, source, target):
            return True

        def translate(self, query, to):
            target = {"dog": "Hund", "cat": "Katze Kater", "bird": "Vogel"}[query.text]
            return [Translation(query.text, (Alternative(target, 0.9), Alternative("Brot", 0.1)))]

    words = split_into_words([Query("1", "dog cat dog", "en"), Query("2", "bird", "en")])
    assert [word.text for word in words] == ["dog", "cat", "bird"]
    # dog-Hund: cosine 1. Kater is not in the vocabulary, so "Katze Kater" is one term, katze: cos(cat, katze) = -0.5.
    assert list_translation_kernels(make_ranker(), ThreeWordTranslator(), words, "de") == [1, 9]


def test_kernels_can_be_switched_off():
    model = make_ranker()
    weights = measure_kernels_alone(model, lambda single: single.kernel_weights.tolist())
    assert weights[4] == [4 if i == 4 else 0 for i in range(11)]
    assert measure_kernels_alone(model, lambda single: float(single.kernel_weights.sum())) == list(range(11))
    assert model.kernel_weights.tolist() == list(range(11))


def test_a_share_of_the_data_is_its_first_queries_and_the_terms_they_show():
    part = take_first_queries(JUDGED, 1)
    assert (part.queries, part.qrels) == (JUDGED.queries[:1], {"q1": {"d1": 1, "d2": 0}})
    # dog; hund, katze, brot. The second query brings no new word that the model knows.
    assert count_seen_terms(make_ranker(), part) == count_seen_terms(make_ranker(), JUDGED) == 4


def test_unknown_share_are_counted_with_repetition():
    assert measure_unknown_share(make_ranker(), JUDGED.queries) == 1 / 4


def test_pairs_beyond_one_batch_are_all_counted():
    words = Vocabulary("en", [f"word{i}" for i in range(320)], [1] * 320, 1, stem=False)
    same = Knrm({"en": words}, {"en": np.arange(320)}, np.ones((320, 1), np.float32), np.zeros(11), 0.0)
    text = " ".join(words.terms)
    judged = JudgedCollection([Query("q", text, "en")], {"d": Document("d", text, "en")}, {"q": {"d": 1}})
    assert count_pairs_by_kernel(same, judged).tolist() == [320 * 320] + [0] * 10
