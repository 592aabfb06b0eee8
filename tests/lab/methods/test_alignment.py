"""Maps between word spaces: known answers, hand-worked rules, which words are paired, what each method learns, and an
alarm that goes off when it should."""

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from paragloss.errors import ModelError
from paragloss.lab.learning import monolingual
from paragloss.lab.learning.counting import CountedTexts
from paragloss.lab.learning.monolingual import WordEmbeddings
from paragloss.lab.methods import alignment
from paragloss.lab.solving import maps
from paragloss.ranking import csls_documents, csls_queries, inverted_softmax, neighbourhood, score_globally_corrected
from paragloss.types import Concept
from paragloss.vocabulary import Vocabulary


def make_rotation(dim, seed=5):
    turned = np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))[0].astype(np.float32)
    turned[:, 0] *= np.sign(np.linalg.det(turned))  # a rotation, not a reflection
    return turned


def make_space(seed, *, dim=12, words=2000, clusters=10):
    """Word-like: uneven clusters, dimensions of falling weight."""
    noise = np.random.default_rng(seed)
    middles = noise.standard_normal((clusters, dim))
    rows = middles[noise.choice(clusters, words, p=noise.dirichlet(np.ones(clusters)))]
    rows = (rows + 0.3 * noise.standard_normal((words, dim))) * np.linspace(2, 0.3, dim)
    return maps.normalize_and_center(rows.astype(np.float32))


def rotate_space(target, amount=0.02):
    turned = make_rotation(target.shape[1])
    noise = np.random.default_rng(6).standard_normal(target.shape)
    return maps.make_unit_rows((target @ turned.T + amount * noise).astype(np.float32)), turned


def test_least_squares_is_numpys():
    noise = np.random.default_rng(0)
    x, y = noise.standard_normal((50, 4)).astype(np.float32), noise.standard_normal((50, 4)).astype(np.float32)
    P = maps.learn_least_squares(x, y)
    np.testing.assert_allclose(P, np.linalg.solve(x.T @ x, x.T @ y), rtol=1e-3, atol=1e-5)  # the normal equations


def test_procrustes_finds_the_rotation_under_noise():
    target = make_space(1, dim=20)
    source, turned = rotate_space(target)
    P = maps.learn_rotation(source[:500], target[:500])
    np.testing.assert_allclose(P, turned, atol=0.02)
    np.testing.assert_allclose(P.T @ P, np.eye(20), atol=1e-5)
    worse = np.linalg.norm(source[:500] @ make_rotation(20, seed=8) - target[:500])
    assert np.linalg.norm(source[:500] @ P - target[:500]) < worse


def test_rotating_both_sides_gives_the_same_cosines_as_rotating_one():
    target = make_space(1)
    source, _ = rotate_space(target)
    P = maps.learn_rotation(source[:300], target[:300])
    A, B = maps.learn_two_rotations(source[:300], target[:300])
    np.testing.assert_allclose((source @ P) @ target.T, (source @ A) @ (target @ B).T, atol=1e-4)
    assert maps.learn_two_rotations(source, target, keep=0.5)[0].shape == (12, 6)


def test_canonical_vectors_have_the_canonical_correlations():
    noise = np.random.default_rng(2)
    shared = noise.standard_normal((200, 2))
    x, y = (shared @ noise.standard_normal((2, 5)) + noise.standard_normal((200, 5)) for _ in range(2))
    A, B = maps.learn_canonical_projections(x.astype(np.float32), y.astype(np.float32), ridge=0.0)
    xc, yc = x - x.mean(axis=0), y - y.mean(axis=0)
    # The squared correlations are the eigenvalues of Sxx^-1 Sxy Syy^-1 Syx.
    product = np.linalg.solve(xc.T @ xc, xc.T @ yc) @ np.linalg.solve(yc.T @ yc, yc.T @ xc)
    expected = np.sqrt(np.sort(np.linalg.eigvals(product).real)[::-1])
    correlations = [np.corrcoef(x @ A[:, i], y @ B[:, i])[0, 1] for i in range(5)]
    np.testing.assert_allclose(correlations, expected, atol=1e-3)


#: Cosines by hand. Target 0 is a hub: nearest to both queries.
#:           t0   t1
#:     q0   1.0  0.0
#:     q1   0.8  0.6
QUERIES = np.array([[1, 0], [0.8, 0.6]], np.float32)
TARGETS = np.array([[1, 0], [0, 1]], np.float32)


def test_rules_of_retrieval_by_hand():
    # Globally corrected, from t0: q0 is first, q1 second. From t1: q1 is first, q0 second. So q1, whose cosine prefers
    # the hub, gets t1.
    expected = [[1.0 - 1, 0.0 - 2], [0.8 - 2, 0.6 - 1]]
    np.testing.assert_allclose(score_globally_corrected(QUERIES, TARGETS), expected, atol=1e-6)
    # beta 5: column t0 is (5, 4), so exp(5)/(exp(5)+exp(4)) = 0.7311 and 0.2689; t1 is (0, 3): 0.0474 and 0.9526.
    probabilities = np.exp(inverted_softmax(QUERIES, TARGETS, beta=5.0))
    np.testing.assert_allclose(probabilities, [[0.7311, 0.0474], [0.2689, 0.9526]], atol=1e-4)
    # CSLS, k = 2: r(t0) = (1 + 0.8) / 2 = 0.9, r(t1) = (0 + 0.6) / 2 = 0.3; 2 cos - r.
    prepared = csls_documents(TARGETS, neighbourhood(TARGETS, QUERIES, k=2))
    np.testing.assert_allclose(csls_queries(QUERIES) @ prepared.T, [[1.1, -0.3], [0.7, 0.9]], atol=1e-6)


def find_mutual_by_definition(source, target, k):
    """Pairs that are each other's best by 2 cos(x, y) - r(x) - r(y), with r over the k nearest of the other side."""
    cosines = source @ target.T
    source_hubness = np.sort(cosines, axis=1)[:, -k:].mean(axis=1)
    target_hubness = np.sort(cosines, axis=0)[-k:].mean(axis=0)
    csls = 2 * cosines - source_hubness[:, None] - target_hubness
    best_target, best_source = csls.argmax(axis=1), csls.argmax(axis=0)
    return [[i, j] for i, j in enumerate(best_target.tolist()) if best_source[j] == i]


@pytest.mark.parametrize("seed", range(5))
def test_mutual_neighbours_are_those_of_the_definition_where_one_language_is_crowded(seed):
    # The source words crowd around one direction, the target words do not, so each side has other hubs.
    rng = np.random.default_rng(seed)
    crowded = rng.standard_normal((60, 8)) + 2 * rng.standard_normal(8)
    spread = rng.standard_normal((40, 8))
    source, target = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (crowded, spread))
    for first, second in ((source, target), (target, source)):
        assert maps.find_mutual_neighbours(first, second, k=5).tolist() == find_mutual_by_definition(first, second, 5)


@pytest.mark.parametrize("improve", [maps.refine_rotation, maps.self_learn_rotation])
def test_a_rough_start_is_repaired_from_all_words(improve):
    target = make_space(1)
    source, turned = rotate_space(target)
    rough = maps.learn_rotation(source[:15], target[:15])
    improved = improve(source, target, rough)
    if improve is maps.refine_rotation:
        improved, score = improved
        assert score > 0.95
    assert np.abs(improved - turned).max() < 0.03 < np.abs(rough - turned).max()


def test_self_learning_ends_where_words_and_their_nearest_give_the_same_rotation():
    source, target = make_space(1, words=300), make_space(2, words=200)
    learned = maps.self_learn_rotation(source, target, np.eye(12, dtype=np.float32), tolerance=0)
    nearest = (maps.make_unit_rows(source @ learned) @ target.T).argmax(axis=1)
    np.testing.assert_allclose(maps.learn_rotation(source, target[nearest]), learned, atol=1e-4)


def test_health_tells_a_sound_map_from_one_between_unrelated_spaces():
    target, unrelated = make_space(1, dim=30, clusters=40), make_space(99, dim=30, clusters=40)
    sound = alignment.measure_map_quality(rotate_space(target)[0] @ make_rotation(30), target)
    wrong_map, _ = maps.refine_rotation(target, unrelated, np.eye(30, dtype=np.float32))
    failed = alignment.measure_map_quality(target @ wrong_map, unrelated)
    assert sound.agreement > 0.9
    assert failed.agreement < failed.chance_agreement + 0.25 * (1 - failed.chance_agreement)


def make_word_vectors(lang, rows):
    return WordEmbeddings([f"{lang}{i}" for i in range(len(rows))], rows)


def make_corpus(words, concepts=60):
    """Concept i uses words i, i+1, ... of both languages."""
    return [
        Concept(str(i), {lang: " ".join(f"{lang}{(i * 7 + j) % words}" for j in range(12)) for lang in ("aa", "bb")})
        for i in range(concepts)
    ]


@pytest.mark.slow
def test_advrefine_recovers_a_rotation_without_a_dictionary():
    target = make_space(1)
    source, turned = rotate_space(target)
    order = np.random.default_rng(7).permutation(len(source))
    from paragloss.lab.descent.adversarial import learn_adversarial_rotation

    start = learn_adversarial_rotation(source[order], target, seed=1, epochs=5, steps=500, hidden=256)
    learned, _ = maps.refine_rotation(source[order], target, start)
    np.testing.assert_allclose(learned, turned, atol=0.03)


def test_unrelated_spaces_are_warned_about_and_recorded_as_failed():
    unrelated = {"aa": make_space(1, dim=30, words=500), "bb": make_space(99, dim=30, words=500)}
    vectors = {lang: make_word_vectors(lang, rows) for lang, rows in unrelated.items()}
    with pytest.warns(UserWarning, match="advrefine map from bb to aa has failed") as warned:
        model = alignment.fit(make_corpus(500), method="advrefine", vectors=vectors, epochs=1, steps=50, hidden=64)
    assert model.meta["failed"] == ["bb"]
    assert model.meta["maps"]["bb"]["pairs"] == 0  # learned from none
    assert warned[0].filename == __file__


@pytest.mark.parametrize("method", ["least-squares", "cca", "orthogonal", "self-learning", "svd", "procrustes"])
def test_given_vectors_and_a_dictionary_bring_documents_together(method):
    target = make_space(1, words=500)
    source, _ = rotate_space(target)
    vectors = {"aa": make_word_vectors("aa", target), "bb": make_word_vectors("bb", source)}
    dictionary = {("bb", "aa"): [(f"bb{i}", f"aa{i}") for i in range(200)]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = alignment.fit(make_corpus(500), method=method, vectors=vectors, dictionary=dictionary)
    texts = [f"{{0}}{i} {{0}}{i + 1} {{0}}{i + 2}" for i in range(300, 400)]
    aa = model.encode([t.format("aa") for t in texts], "aa")
    bb = model.encode([t.format("bb") for t in texts], "bb")
    assert (np.argmax(bb @ aa.T, axis=1) == np.arange(100)).mean() > 0.9


@pytest.mark.parametrize("method", ["svd", "cca", "procrustes"])
def test_three_languages_meet_in_the_hub(method):
    target = make_space(1, words=500)
    source, turned = rotate_space(target)
    vectors = {
        lang: make_word_vectors(lang, rows) for lang, rows in (("aa", target), ("bb", source), ("cc", target @ turned))
    }
    concepts = [c._replace(texts={**c.texts, "cc": c.texts["aa"].replace("aa", "cc")}) for c in make_corpus(500)]
    dictionary = {(lang, "aa"): [(f"{lang}{i}", f"aa{i}") for i in range(200)] for lang in ("bb", "cc")}
    model = alignment.fit(concepts, method=method, vectors=vectors, dictionary=dictionary)
    assert model.meta["hub"] == "aa"
    bb, cc = (model.encode([f"{lang}{i}" for i in range(300, 400)], lang) for lang in ("bb", "cc"))
    assert (np.argmax(bb @ cc.T, axis=1) == np.arange(100)).mean() > 0.8
    # Nothing but a rotation lies between aa and cc, so that every word of cc lands where its translation is.
    np.testing.assert_allclose(np.sum(model.words("aa") * model.words("cc"), axis=1), 1, atol=1e-2)


def test_windows_are_counted_by_distance_and_stop_at_the_end_of_a_text():
    # Texts "0 1 2" and "0", window 2: neighbours count 1, those two apart 1/2; nothing crosses into the second text.
    counts = monolingual.count_cooccurrences([np.array([0, 1, 2], np.int32), np.array([0], np.int32)], 3, window=2)
    np.testing.assert_allclose(counts.toarray(), [[0, 1, 0.5], [1, 0, 1], [0.5, 1, 0]])


def test_words_used_alike_get_similar_vectors():
    texts = [f"{animal} eats {food}" for animal in ("cat", "dog") for food in ("meat", "fish", "bread")]
    texts += [f"{item} costs {price}" for item in ("car", "house") for price in ("money", "gold", "silver")]
    vocabulary, _ = Vocabulary.build(texts, "en", min_df=1, stem=False)
    words, rows = monolingual.train_word_vectors(texts, vocabulary, dim=5)
    rows = maps.make_unit_rows(rows)
    cat, dog, car = (rows[words.index(word)] for word in ("cat", "dog", "car"))
    assert cat @ dog > 0.9 > 0.3 > cat @ car


def test_gensim_can_train_the_word_vectors():
    pytest.importorskip("gensim")
    texts = ["the cat eats fish", "the dog eats meat"] * 5
    vocabulary, _ = Vocabulary.build(texts, "en", min_df=1, stem=False)
    rows = monolingual.train_word_vectors(texts, vocabulary, dim=8, trainer="word2vec").rows
    assert rows.shape == (len(vocabulary), 8)
    assert rows.any(axis=1).all()


def test_wrong_arguments_are_errors():
    with pytest.raises(ModelError, match="'magic'"):
        alignment.fit(make_corpus(50), method="magic")
    with pytest.raises(ModelError, match="no vectors for bb"):
        alignment.fit(make_corpus(50), vectors={"aa": make_word_vectors("aa", make_space(1, words=50))})
    vectors = {lang: make_word_vectors(lang, make_space(1, words=50)) for lang in ("aa", "bb")}
    with pytest.raises(ModelError, match="0 word pairs for bb-aa"):
        alignment.fit(make_corpus(50), vectors=vectors, dictionary={("bb", "aa"): [("x", "y")]})
    pairs = [("bb1", "aa1"), ("bb2", "aa2")]
    with pytest.raises(ModelError, match="1 word pairs for bb-aa"):
        alignment.fit(make_corpus(50), vectors=vectors, dictionary={("bb", "aa"): pairs[:1]})
    fitted = alignment.fit(make_corpus(50), method="svd", vectors=vectors, dictionary={("bb", "aa"): pairs})
    assert fitted.meta["maps"]["bb"]["pairs"] == 2


def make_counted(lang, terms, *texts):
    """Texts that are lists of term numbers, each about the concept of its place."""
    rows = np.zeros((len(texts), len(terms)), np.float32)
    for row, text in zip(rows, texts, strict=True):
        row[list(text)] = 1
    vocabulary = Vocabulary(lang, terms, [1] * len(terms), len(texts), stem=False)
    return CountedTexts(vocabulary, sp.csr_matrix(rows), np.arange(len(texts)))


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        # "uno" and "one" are in the same two concepts. Of the rest, which are in one concept each, "lava" and "radio"
        # are spelt alike and long enough, "via" is too short, "solo" is in one language only.
        (
            make_counted("it", ["uno", "lava", "via", "solo", "radio"], [0, 1], [0, 2], [3], [4]),
            make_counted("en", ["radio", "lava", "via", "one"], [3], [3], [2, 1], [0]),
            [[0, 3], [1, 1], [4, 0]],
        ),
        # "gift" of one language is in the concepts of "poison"; the other's "gift" is left alone, "poison" is taken.
        (
            make_counted("de", ["gift", "poison"], [0], [0], [1]),
            make_counted("en", ["gift", "poison"], [1], [1], [0]),
            [[0, 1]],
        ),
        # Concepts 1, 2, 3 and 7, 8 have one language only.
        (
            make_counted("it", ["a", "b"], [0], [0], [1], [1]),
            make_counted("en", ["x", "y"], [0], [0], [1], [1])._replace(concepts=np.array([0, 1, 7, 8])),
            [[0, 0]],
        ),
    ],
    ids=["by concepts, then by spelling", "no spelling of a paired word", "shared concepts only"],
)
def test_words_are_paired_by_their_concepts_and_then_by_their_spelling(source, target, expected):
    pairs = alignment.guess_word_pairs(source, target)
    assert pairs.tolist() == expected
    assert pairs.dtype == np.int64


def test_words_that_share_a_single_concept_are_no_pair_by_default():
    source, target = make_counted("it", ["a", "b"], [0], [0], [1]), make_counted("en", ["x", "y"], [0], [0], [1])
    assert alignment.guess_word_pairs(source, target).tolist() == [[0, 0]]
    assert alignment.guess_word_pairs(source, target, fewest=1).tolist() == [[0, 0], [1, 1]]


NOISE = np.random.default_rng(0)
SOURCE, TARGET = (NOISE.standard_normal((30, 4)).astype(np.float32) for _ in range(2))
PAIRS = np.stack([np.arange(20), np.arange(20)[::-1] + 10], axis=1)  # word 0 is 29, word 1 is 28, ...


ROTATION = maps.learn_rotation(SOURCE[PAIRS[:, 0]], TARGET[PAIRS[:, 1]])


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("least-squares", lambda x, y: (maps.learn_least_squares(x, y), np.eye(4))),
        ("cca", lambda x, y: maps.learn_canonical_projections(x, y, keep=0.5)),
        ("svd", lambda x, y: maps.learn_two_rotations(x, y, keep=0.5)),
        ("orthogonal", lambda x, y: (ROTATION, np.eye(4))),
        ("self-learning", lambda x, y: (maps.self_learn_rotation(SOURCE, TARGET, ROTATION), np.eye(4))),
        ("procrustes", lambda x, y: (maps.refine_rotation(SOURCE, TARGET, ROTATION, rounds=2)[0], np.eye(4))),
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


def test_other_languages_are_mapped_onto_the_named_one():
    vectors = {"aa": make_word_vectors("aa", SOURCE), "bb": make_word_vectors("bb", TARGET)}
    concepts = [Concept(str(i), {"aa": f"aa{i}", "bb": f"bb{i}"}) for i in range(30)]
    dictionary = {("aa", "bb"): [(f"aa{i}", f"bb{i}") for i in range(30)]}
    fit = partial(alignment.fit, concepts, method="least-squares", vectors=vectors, dictionary=dictionary, min_df=1)
    model = fit(onto="bb")
    np.testing.assert_allclose(model.words("bb"), maps.make_unit_rows(TARGET), atol=1e-6)
    mapped = maps.make_unit_rows(SOURCE @ maps.learn_least_squares(SOURCE, TARGET))
    np.testing.assert_allclose(model.words("aa"), mapped, atol=1e-5)
    with pytest.raises(ModelError, match="onto 'cc': expected one of aa, bb"):
        fit(onto="cc")


@pytest.mark.parametrize(
    ("method", "agreement", "n_mutual", "has_failed"),
    [
        # Chance .6: the line is at .6 + .25 x .4 = .7.
        ("procrustes", 0.69, 101, True),
        ("procrustes", 0.71, 101, False),
        # No more mutual neighbours than dimensions: too few to condemn a map, unless it was learned without pairs.
        ("procrustes", 0.0, 100, False),
        ("advrefine", 0.0, 100, True),
        ("advrefine", 0.9, 100, False),
    ],
)
def test_a_map_has_failed_a_quarter_of_the_way_from_chance_to_one(method, agreement, n_mutual, has_failed):
    qualities = {"de": alignment.MapQuality(agreement, n_mutual, chance_agreement=0.6)}
    assert alignment._list_failed_maps(qualities, method, n_dimensions=100) == ["de"] * has_failed


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
    vectors_by_lang = {"aa": make_vectors("aa", range(12)), "bb": make_vectors("bb", range(12), width=5)}
    with pytest.raises(ModelError, match="different widths"):
        alignment.fit(CONCEPTS, vectors=vectors_by_lang)
    few_words = [c._replace(texts={**c.texts, "aa": f"aa{i % 3} aa{(i + 1) % 3}"}) for i, c in enumerate(CONCEPTS)]
    dictionary = {("bb", "aa"): [(f"bb{i}", f"aa{i}") for i in range(3)]}
    assert alignment.fit(few_words, dim=8, method="svd", min_df=1, dictionary=dictionary).dim <= 3


@pytest.mark.parametrize("learn", [maps.learn_canonical_projections, maps.learn_two_rotations])
def test_a_share_of_directions_is_rounded_and_never_zero(learn):
    all_directions = learn(SOURCE, TARGET)
    for keep, width in ((1.0, 4), (0.7, 3), (0.6, 2), (0.3, 1), (0.0, 1)):
        for side, all_columns in zip(learn(SOURCE, TARGET, keep=keep), all_directions, strict=True):
            np.testing.assert_allclose(side, all_columns[:, :width], atol=1e-5)
