"""Maps between word spaces: known answers, hand-worked rules, and an alarm that goes off when it should."""

import warnings

import numpy as np
import pytest

from paragloss.errors import ModelError
from paragloss.lab.learning import monolingual
from paragloss.lab.learning.counting import count
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


def test_globally_corrected_ranks_by_hand():
    # From t0: q0 is first, q1 second. From t1: q1 is first, q0 second. So q1, whose cosine prefers the hub, gets t1.
    expected = [[1.0 - 1, 0.0 - 2], [0.8 - 2, 0.6 - 1]]
    np.testing.assert_allclose(score_globally_corrected(QUERIES, TARGETS), expected, atol=1e-6)


def test_inverted_softmax_by_hand():
    # beta 5: column t0 is (5, 4), so exp(5)/(exp(5)+exp(4)) = 0.7311 and 0.2689; t1 is (0, 3): 0.0474 and 0.9526.
    probabilities = np.exp(inverted_softmax(QUERIES, TARGETS, beta=5.0))
    np.testing.assert_allclose(probabilities, [[0.7311, 0.0474], [0.2689, 0.9526]], atol=1e-4)


def test_csls_by_hand():
    # k = 2: r(t0) = (1 + 0.8) / 2 = 0.9, r(t1) = (0 + 0.6) / 2 = 0.3; 2 cos - r.
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


def test_refinement_repairs_a_rough_start():
    target = make_space(1)
    source, turned = rotate_space(target)
    rough = maps.learn_rotation(source[:15], target[:15])
    better, score = maps.refine_rotation(source, target, rough)
    assert np.abs(better - turned).max() < 0.03 < np.abs(rough - turned).max()
    assert score > 0.95


def test_self_learning_repairs_a_rough_start_from_all_words():
    target = make_space(1)
    source, turned = rotate_space(target)
    rough = maps.learn_rotation(source[:15], target[:15])
    better = maps.self_learn_rotation(source, target, rough)
    assert np.abs(better - turned).max() < 0.03 < np.abs(rough - turned).max()


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
    return monolingual.WordEmbeddings([f"{lang}{i}" for i in range(len(rows))], rows)


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


def test_three_languages_meet_in_the_hub():
    target = make_space(1, words=500)
    source, turned = rotate_space(target)
    vectors = {
        lang: make_word_vectors(lang, rows) for lang, rows in (("aa", target), ("bb", source), ("cc", target @ turned))
    }
    concepts = [c._replace(texts={**c.texts, "cc": c.texts["aa"].replace("aa", "cc")}) for c in make_corpus(500)]
    dictionary = {(lang, "aa"): [(f"{lang}{i}", f"aa{i}") for i in range(200)] for lang in ("bb", "cc")}
    for method in ("svd", "cca", "procrustes"):
        model = alignment.fit(concepts, method=method, vectors=vectors, dictionary=dictionary)
        assert model.meta["hub"] == "aa"
        bb, cc = (
            model.encode([f"bb{i}" for i in range(300, 400)], "bb"),
            model.encode([f"cc{i}" for i in range(300, 400)], "cc"),
        )
        assert (np.argmax(bb @ cc.T, axis=1) == np.arange(100)).mean() > 0.8


def test_words_of_the_same_concepts_become_the_seed_dictionary():
    texts = [("sun moon radio", "sole luna radio"), ("sun star", "sole stella"), ("moon star", "luna stella")] * 3
    concepts = [Concept(str(i), {"en": en, "it": it}) for i, (en, it) in enumerate(texts)]
    counted, _ = count(concepts, stem=False, lengths=(1, 100))
    pairs = alignment.guess_word_pairs(counted["it"], counted["en"])
    words = {(counted["it"].vocabulary.terms[i], counted["en"].vocabulary.terms[j]) for i, j in pairs}
    assert words == {("sole", "sun"), ("luna", "moon"), ("stella", "star"), ("radio", "radio")}


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
