"""The rules of alignment one by one: which words are paired, what each method learns, when a map has failed."""

import numpy as np
import pytest
import scipy.sparse as sp

from paragloss.errors import ModelError
from paragloss.lab.learning.counting import CountedTexts
from paragloss.lab.learning.monolingual import WordEmbeddings
from paragloss.lab.methods import alignment
from paragloss.lab.solving import maps
from paragloss.types import Concept
from paragloss.vocabulary import Vocabulary


def make_counted(lang, terms, *texts):
    """Texts that are lists of term numbers, each about the concept of its place."""
    rows = np.zeros((len(texts), len(terms)), np.float32)
    for row, text in zip(rows, texts, strict=True):
        row[list(text)] = 1
    vocabulary = Vocabulary(lang, terms, [1] * len(terms), len(texts), stem=False)
    return CountedTexts(vocabulary, sp.csr_matrix(rows), np.arange(len(texts)))


def test_words_of_four_letters_or_more_are_also_paired_by_spelling():
    # "uno" and "one" are in the same two concepts. Of the rest, which are in one concept each, "lava" and "radio" are
    # spelt alike and long enough, "via" is too short, "solo" is in one language only.
    source = make_counted("it", ["uno", "lava", "via", "solo", "radio"], [0, 1], [0, 2], [3], [4])
    target = make_counted("en", ["radio", "lava", "via", "one"], [3], [3], [2, 1], [0])
    pairs = alignment.guess_word_pairs(source, target)
    assert pairs.tolist() == [[0, 3], [1, 1], [4, 0]]
    assert pairs.dtype == np.int64


def test_a_word_that_is_paired_already_is_not_paired_by_its_spelling():
    # "gift" of one language is in the concepts of "poison"; the other's "gift" is left alone, and "poison" is taken.
    source = make_counted("de", ["gift", "poison"], [0], [0], [1])
    target = make_counted("en", ["gift", "poison"], [1], [1], [0])
    assert alignment.guess_word_pairs(source, target).tolist() == [[0, 1]]


def test_words_that_share_a_single_concept_are_no_pair_by_default():
    source, target = make_counted("it", ["a", "b"], [0], [0], [1]), make_counted("en", ["x", "y"], [0], [0], [1])
    assert alignment.guess_word_pairs(source, target).tolist() == [[0, 0]]
    assert alignment.guess_word_pairs(source, target, fewest=1).tolist() == [[0, 0], [1, 1]]


def test_concepts_of_only_one_language_are_ignored():
    source = make_counted("it", ["a", "b"], [0], [0], [1], [1])
    target = make_counted("en", ["x", "y"], [0], [0], [1], [1])._replace(concepts=np.array([0, 1, 7, 8]))
    assert alignment.guess_word_pairs(source, target).tolist() == [[0, 0]]


def test_the_ten_thousand_most_frequent_words_are_paired():
    """Word i is in concepts i and i + 1, alike in both languages: every word would be paired."""
    words = 10_002
    rows = sp.diags([1.0, 1.0], [0, -1], shape=(words + 1, words), dtype=np.float32, format="csr")
    source, target = (
        CountedTexts(
            Vocabulary(lang, [f"{lang}{i}" for i in range(words)], [2] * words, words), rows, np.arange(words + 1)
        )
        for lang in ("aa", "bb")
    )
    pairs = alignment.guess_word_pairs(source, target)
    np.testing.assert_array_equal(pairs, np.repeat(np.arange(10_000)[:, None], 2, axis=1))


def test_occurrence_has_columns_of_unit_length_over_shared_concepts(monkeypatch):
    monkeypatch.setattr(alignment, "WORDS_FOR_GUESSES", 2)
    part = make_counted("en", ["a", "b", "c"], [0, 1], [0], [0], [2])
    columns = alignment._make_concept_columns(part, np.array([0, 1, 2])).toarray()
    np.testing.assert_allclose(columns, [[1 / np.sqrt(3), 1], [1 / np.sqrt(3), 0], [1 / np.sqrt(3), 0]], rtol=1e-6)


def test_the_best_column_and_how_many_concepts_both_are_in():
    # x is in concepts 0 1 2, y0 in 0 1, y1 in 2 alone: cosines 2 / sqrt(6) and 1 / sqrt(3); both meet y0 twice.
    X = alignment._make_concept_columns(make_counted("aa", ["x"], [0], [0], [0]), np.arange(3))
    Y = alignment._make_concept_columns(make_counted("bb", ["y0", "y1"], [0], [0], [1]), np.arange(3))
    best, support = alignment._find_best_columns(X, Y)
    assert (best.tolist(), support.tolist()) == ([0], [2.0])
    best, support = alignment._find_best_columns(Y, X, block=1)
    assert (best.tolist(), support.tolist()) == ([0, 0], [2.0, 1.0])


NOISE = np.random.default_rng(0)
SOURCE, TARGET = (NOISE.standard_normal((30, 4)).astype(np.float32) for _ in range(2))
PAIRS = np.stack([np.arange(20), np.arange(20)[::-1] + 10], axis=1)  # word 0 is 29, word 1 is 28, ...


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("least-squares", lambda x, y: (maps.learn_least_squares(x, y), np.eye(4))),
        ("cca", lambda x, y: maps.learn_canonical_projections(x, y, keep=0.5)),
        ("svd", lambda x, y: maps.learn_two_rotations(x, y, keep=0.5)),
        ("orthogonal", lambda x, y: (maps.learn_rotation(x, y), np.eye(4))),
        (
            "self-learning",
            lambda x, y: (maps.self_learn_rotation(SOURCE, TARGET, maps.learn_rotation(x, y)), np.eye(4)),
        ),
        (
            "procrustes",
            lambda x, y: (maps.refine_rotation(SOURCE, TARGET, maps.learn_rotation(x, y), rounds=2)[0], np.eye(4)),
        ),
    ],
)
def test_each_method_learns_its_own_map_from_the_pairs(method, expected):
    maps_learned = alignment._learn_map(SOURCE, TARGET, PAIRS, method=method, rounds=2, keep=0.5)
    for side, expected_side in zip(maps_learned, expected(SOURCE[PAIRS[:, 0]], TARGET[PAIRS[:, 1]]), strict=True):
        np.testing.assert_allclose(side, expected_side, atol=1e-6)


@pytest.mark.parametrize("method", alignment.METHODS)
def test_vectors_are_normalized_as_each_paper_does(method):
    rows = SOURCE + 5
    plain = {"least-squares": rows, "cca": rows - rows.mean(axis=0), "svd": maps.make_unit_rows(rows)}
    np.testing.assert_allclose(
        alignment._prepare_vectors(rows, method), plain.get(method, maps.normalize_and_center(rows)), atol=1e-6
    )


def test_cca_centres_the_vectors_that_it_maps():
    """Two spaces that are one but for where their middle lies: every word finds its own translation by the cosine."""
    words = NOISE.standard_normal((200, 4)).astype(np.float32)
    vectors = {
        lang: WordEmbeddings([f"{lang}{i}" for i in range(200)], words + shift)
        for lang, shift in (("aa", 3.0), ("bb", -1.0))
    }
    concepts = [Concept(str(i), {"aa": f"aa{i}", "bb": f"bb{i}"}) for i in range(200)]
    dictionary = {("aa", "bb"): [(f"aa{i}", f"bb{i}") for i in range(100)]}
    model = alignment.fit(concepts, method="cca", vectors=vectors, dictionary=dictionary, stem=False, min_df=1)
    np.testing.assert_allclose(np.sum(model.words("aa") * model.words("bb"), axis=1), 1, atol=1e-3)


def test_other_languages_are_mapped_onto_the_named_one():
    vectors = {
        lang: WordEmbeddings([f"{lang}{i}" for i in range(30)], rows) for lang, rows in (("aa", SOURCE), ("bb", TARGET))
    }
    concepts = [Concept(str(i), {"aa": f"aa{i}", "bb": f"bb{i}"}) for i in range(30)]
    dictionary = {("aa", "bb"): [(f"aa{i}", f"bb{i}") for i in range(30)]}
    settings = {
        "method": "least-squares",
        "vectors": vectors,
        "dictionary": dictionary,
        "stem": False,
        "min_df": 1,
    }
    model = alignment.fit(concepts, onto="bb", **settings)
    np.testing.assert_allclose(model.words("bb"), maps.make_unit_rows(TARGET), atol=1e-6)
    np.testing.assert_allclose(
        model.words("aa"), maps.make_unit_rows(SOURCE @ maps.learn_least_squares(SOURCE, TARGET)), atol=1e-5
    )
    with pytest.raises(ModelError, match="onto 'cc': expected one of aa, bb"):
        alignment.fit(concepts, onto="cc", **settings)


def list_failed(agreement, chance, n_mutual, method):
    qualities = {"de": alignment.MapQuality(agreement, n_mutual, chance)}
    return alignment._list_failed_maps(qualities, method, n_dimensions=100)


def test_a_map_has_failed_a_quarter_of_the_way_from_chance_to_one():
    # Chance .6: the line is at .6 + .25 x .4 = .7.
    assert list_failed(0.69, 0.6, 101, "procrustes") == ["de"]
    assert list_failed(0.71, 0.6, 101, "procrustes") == []


def test_few_words_do_not_condemn_a_map_unless_it_was_learned_without_a_dictionary():
    assert list_failed(0.0, 0.6, 100, "procrustes") == []
    assert list_failed(0.0, 0.6, 100, "advrefine") == ["de"]
    assert list_failed(0.9, 0.6, 100, "advrefine") == []


def test_health_compares_the_two_thousand_commonest_words_with_a_shuffled_target(monkeypatch):
    words = np.random.default_rng(1).standard_normal((2500, 3)).astype(np.float32)
    refined, compared = [], []
    monkeypatch.setattr(maps, "refine_rotation", lambda x, y, P, *, rounds: refined.append((x, y, rounds)) or (P, 0.0))
    monkeypatch.setattr(
        maps, "measure_agreement", lambda x, y, *, seed: compared.append((x, y)) or (seed + 0.5, len(x))
    )
    assert alignment.measure_map_quality(words, words) == alignment.MapQuality(0.5, 2000, 0.5)
    assert alignment.measure_map_quality(words, words, seed=3).agreement == 3.5
    (plain, same), (_, shuffled) = compared[:2]
    np.testing.assert_array_equal(plain, same)
    assert not np.allclose(same, shuffled)
    assert np.abs(np.corrcoef(same.T, shuffled.T)[:3, 3:]).max() < 0.1
    assert refined[0][2] == 3
    np.testing.assert_array_equal(refined[0][1], shuffled)


TEXTS = {"aa": "aa0 aa1 aa2", "bb": "bb0 bb1 bb2"}
CONCEPTS = [Concept(str(i), {lang: " ".join(f"{lang}{(i + j) % 9}" for j in range(3)) for lang in TEXTS})
            for i in range(18)]  # fmt: skip


def make_vectors(lang, order, width=4):
    rows = np.random.default_rng(3).standard_normal((12, width)).astype(np.float32)
    return WordEmbeddings([f"{lang}{i}" for i in order], rows[list(order)])


def test_given_vectors_keep_their_words_with_the_frequencies_of_the_corpus():
    vectors_by_lang = {"aa": make_vectors("aa", range(12)), "bb": make_vectors("bb", range(12))}
    model = alignment.fit(CONCEPTS, method="orthogonal", vectors=vectors_by_lang)
    vocabulary = model.towers["aa"].vocabulary
    # Each of nine words is in three of every nine texts; the last three vectors are of words that no text has.
    assert vocabulary.terms == [f"aa{i}" for i in range(12)]
    assert list(vocabulary.df) == [6] * 9 + [0] * 3


@pytest.mark.parametrize("dictionary", [None, {("bb", "aa"): [(f"bb{i}", f"aa{i}") for i in range(9)]},
                                        {("aa", "bb"): [(f"aa{i}", f"bb{i}") for i in range(9)]}])  # fmt: skip
def test_words_are_paired_whatever_the_order_of_their_vectors(dictionary):
    """The same vectors, those of one language backwards and without two words that the corpus has."""
    vectors_by_lang = {"aa": make_vectors("aa", range(12)), "bb": make_vectors("bb", [11, 10, 8, 7, 6, 5, 4, 3, 2])}
    model = alignment.fit(CONCEPTS, method="orthogonal", vectors=vectors_by_lang, dictionary=dictionary)
    assert model.meta["maps"]["bb"]["pairs"] == 7
    words = [2, 5, 7, 10]
    rows_aa, rows_bb = (model.encode([f"{lang}{i}" for i in words], lang) for lang in ("aa", "bb"))
    np.testing.assert_allclose(np.diag(rows_aa @ rows_bb.T), 1, atol=0.05)


def test_dictionary_entries_of_several_words_are_passed_over():
    entries = [("bb1", "aa1"), ("bb2", "aa2"), ("bb3 bb4", "aa3"), ("bb3", "aa3 aa4"), ("bb5", "unheard")]
    vectors_by_lang = {lang: make_vectors(lang, range(12)) for lang in TEXTS}
    model = alignment.fit(CONCEPTS, method="svd", vectors=vectors_by_lang, dictionary={("bb", "aa"): entries})
    assert model.meta["maps"]["bb"]["pairs"] == 2


def test_vectors_of_different_widths_are_refused_and_trained_ones_cut_to_what_all_have():
    with pytest.raises(ModelError, match="different widths"):
        alignment.fit(
            CONCEPTS, vectors={"aa": make_vectors("aa", range(12)), "bb": make_vectors("bb", range(12), width=5)}
        )
    wide, narrow = np.ones((3, 5), np.float32), np.ones((3, 4), np.float32)
    cut = alignment._trim_widths({"aa": wide, "bb": narrow})
    assert [rows.shape for rows in cut.values()] == [(3, 4), (3, 4)]


def test_texts_of_a_single_word_are_learned_from():
    single = [c._replace(texts={"aa": f"aa{i % 9}", "bb": f"bb{i % 9}"}) for i, c in enumerate(CONCEPTS)]
    vectors_by_lang = {lang: make_vectors(lang, range(12)) for lang in TEXTS}
    assert alignment.fit(CONCEPTS + single, method="svd", vectors=vectors_by_lang).meta["concepts"] == 36


@pytest.mark.parametrize("learn", [maps.learn_canonical_projections, maps.learn_two_rotations])
def test_a_share_of_directions_is_rounded_and_never_zero(learn):
    all_directions = learn(SOURCE, TARGET)
    for keep, width in ((1.0, 4), (0.7, 3), (0.6, 2), (0.3, 1), (0.0, 1)):
        for side, all_columns in zip(learn(SOURCE, TARGET, keep=keep), all_directions, strict=True):
            np.testing.assert_allclose(side, all_columns[:, :width], atol=1e-5)
