"""What K-NRM learns from, piece by piece: folds, candidates, weights, triples of several sets."""

import numpy as np
import pytest
from corpora import make_sentences

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.encoders.kernel_ranker import Knrm, describe_first_scores
from paragloss.errors import InputError
from paragloss.lab import judgments
from paragloss.lab.learning import pairs
from paragloss.lab.methods import cr5, knrm
from paragloss.lab.solving.lists import weigh_lists
from paragloss.types import Document, JudgedCollection, Query
from paragloss.vocabulary import Vocabulary

torch = pytest.importorskip("torch")

TITLED = [c._replace(titles={"en": " ".join(c.texts["en"].split()[:2])}) for c in make_sentences(40, 0)]
UNTITLED = make_sentences(40, 0)


@pytest.mark.parametrize(
    ("aligned", "query", "expected"),
    [
        (TITLED, "title", "title"),
        (UNTITLED, "title", "first-sentence"),
        (TITLED, "text", "text"),
        (UNTITLED, "text", "text"),
    ],
)
def test_queries_are_titles_by_default_if_there_are_any(aligned, query, expected):
    model = knrm.fit(aligned, dim=4, query=query)
    assert (model.meta["asked"], model.meta["start"], model.bias) == (expected, "cr5", 0.0)


def test_vectors_of_a_fold_come_from_the_other_concepts_and_progress_is_told(monkeypatch):
    training_sets, held_out_sets, shares = [], [], []
    plain, list_candidates = cr5.fit_space, knrm._list_candidates
    monkeypatch.setattr(
        cr5,
        "fit_space",
        lambda aligned, **options: training_sets.append({c.id for c in aligned}) or plain(aligned, **options),
    )
    monkeypatch.setattr(knrm, "_list_candidates", lambda *args: held_out_sets.append(args[2]) or list_candidates(*args))
    knrm.fit(TITLED, dim=4, folds=4, progress=lambda share, loss: shares.append((share, loss)))
    all_ids = {c.id for c in TITLED}
    assert training_sets == [*(all_ids - held_out for held_out in held_out_sets), all_ids]
    assert [len(held_out) for held_out in held_out_sets] == [10] * 4
    assert set.union(*held_out_sets) == all_ids
    assert shares == [(pytest.approx(n / 5), 0.0) for n in (1, 2, 3, 4)]


def test_titles_that_find_no_text_are_an_error():
    deaf = [c._replace(titles={"en": f"unheard{i}"}) for i, c in enumerate(UNTITLED)]
    with pytest.raises(InputError, match="no text of 40 concepts is found by its title"):
        knrm.fit(deaf, dim=4)


#: Two languages over four directions: English word i is French word i. Concept i has French words i and i + 1.
WORDS = BagEncoder({
    lang: Tower(Vocabulary(lang, [f"{lang}{i}" for i in range(4)], [1] * 4, 4, stem=False), np.eye(4, dtype=np.float32))
    for lang in ("en", "fr")
})  # fmt: skip
DOCUMENTS = {str(i): Document(str(i), f"fr{i} fr{(i + 1) % 4}", "fr", "fr1" if i == 0 else "") for i in range(4)}
JUDGED = JudgedCollection(
    [Query(str(i), f"en{i}", "en") for i in range(4)], DOCUMENTS, {str(i): {str(i): 2} for i in range(4)}
)


def make_candidates(encoder=WORDS, held_out=frozenset("0123")):
    return list(knrm._list_candidates(encoder, JUDGED, held_out, 4, np.random.default_rng(0)))


def test_every_real_search_is_followed_by_three_simulated_better_ones():
    # English 0 finds document 3 ("fr3 fr0"), then its own ("fr1 fr0 fr1" with its title). No word is spelt alike, so
    # that a second real search finds nothing.
    searches = make_candidates()
    assert [search.is_real for search in searches] == [True, False, False, False] * 4
    assert searches[0].right == 1
    np.testing.assert_allclose(
        searches[0].first_stage, describe_first_scores(np.array([np.sqrt(1 / 2), np.sqrt(1 / 5)])), rtol=1e-4
    )


def test_features_are_kernels_of_the_text_then_of_the_title_or_the_text_again():
    first = make_candidates()[0]
    blank = Knrm({"fr": WORDS.towers["fr"].vocabulary}, {"fr": np.arange(4)}, np.eye(4), np.zeros(11), 0.0)
    untitled, text, title = (blank.compute_features([0], [ids])[0] for ids in ([3, 0], [1, 0, 1], [1]))
    assert first.features.shape == (2, 24)
    np.testing.assert_allclose(first.features[0, :22], [*untitled, *untitled], atol=1e-6)
    np.testing.assert_allclose(first.features[1, :22], [*text, *title], atol=1e-6)
    assert not first.features[:, 22:].any()  # no word stands in both languages


def test_candidates_come_from_held_out_concepts_with_vectors_only():
    assert (
        len(make_candidates(held_out={"1", "2", "3"})) == 8
    )  # document 1 is all that English 1 finds then: not a ranking
    assert not make_candidates(held_out=set())
    assert not make_candidates(encoder=BagEncoder({"en": WORDS.towers["en"]}))


def make_lists(rng, *, share_right_in_search, share_right_in_kernel, number=60):
    """Searches of six candidates: the right one is the first in `told` of them as the search says, and in `felt` of
    them as the first kernel does."""
    searches = []
    for i in range(number):
        standing_rows, kernel = rng.random((6, 3)), rng.random((6, 24))
        right = int(rng.integers(6))
        standing_rows[right] += 2 if i < share_right_in_search * number else -2
        kernel[right, 0] += 2 if i < share_right_in_kernel * number else -2
        searches.append(knrm._CandidateList(standing_rows, kernel, right, i % 3 > 0))
    return searches


def test_kernel_weights_come_from_real_searches_and_their_share_from_all():
    searches = make_lists(np.random.default_rng(0), share_right_in_search=0.9, share_right_in_kernel=0.8)
    learned, loss = knrm._learn_weights(searches, 0.01)
    assert [part.shape for part in learned] == [(3,), (11,), (11,), (2,)]
    real = [search for search in searches if search.is_real]
    expected, _ = weigh_lists(
        [np.hstack([o.first_stage, o.features]) for o in real], [o.right for o in real], penalty=0.01
    )
    kernel, weights = expected[3:], np.concatenate(learned[1:])
    share = weights[0] / kernel[0]
    assert share > 0
    np.testing.assert_allclose(weights, share * kernel, rtol=1e-4, atol=1e-6)
    assert 0 < loss < np.log(6)


def test_a_misleading_search_gets_no_trust_and_never_a_negative_one():
    learned, _ = knrm._learn_weights(
        make_lists(np.random.default_rng(0), share_right_in_search=0.0, share_right_in_kernel=1.0), 0.01
    )
    np.testing.assert_array_equal(learned.first_search, 0)
    assert learned.text_kernels[0] > 0


def test_triples_of_a_second_set_are_those_of_its_own_queries_and_documents():
    aligned = make_sentences(10, 0, ("en", "fr", "it"))
    judged = [judgments.from_aligned(aligned, source="en", target=lang, query_kind="text") for lang in ("fr", "it")]
    vocabularies = pairs.build_vocabularies(judged, max_terms=100, min_df=1)
    words = knrm._TableWords.assign_rows(vocabularies, shared=False)
    training_set = knrm._TrainingSet([knrm._count_judged(judged_set, words, False, 1) for judged_set in judged], 8)
    query_rows, right, wrong = training_set.draw_triples(np.random.default_rng(0))
    np.testing.assert_array_equal(query_rows, right)  # query i is answered by document i, in either set
    assert sorted(set(query_rows.tolist())) == list(range(20))
    assert ((query_rows < 10) == (wrong < 10)).all()
    assert (right != wrong).all()


def test_word_vectors_begin_evenly_between_minus_one_and_one():
    judged = judgments.from_aligned(make_sentences(20, 0), source="en", target="fr", query_kind="text")
    model = knrm.fit_judged(judged, dim=300, epochs=1, learning_rate=1e-12)
    rows = model.table * np.sqrt(300 / 3)  # vectors are served with unit length; 300 such numbers have the length 10
    assert (np.abs(rows).max() < 1.2, np.abs(rows).max() > 0.9, abs(rows.mean()) < 0.1) == (True, True, True)
    assert np.mean(np.abs(rows) < 0.5) == pytest.approx(0.5, abs=0.05)


def test_given_vectors_are_where_words_start():
    judged = judgments.from_aligned(make_sentences(20, 0), source="en", target="fr", query_kind="text")
    vectors_by_lang = {"fr": {"frwak": np.array([1, 2, 2, 0], np.float32)}}
    model = knrm.fit_judged(judged, dim=4, epochs=1, learning_rate=1e-12, vectors=vectors_by_lang)
    (row,) = model.ids("frwak", "fr")
    np.testing.assert_allclose(model.table[row], np.array([1, 2, 2, 0]) / 3, atol=1e-5)
    assert 0 < model.meta["found"]["fr"] < 0.1
    assert "found" not in knrm.fit_judged(judged, dim=4, epochs=1).meta


def make_topics(seed, queries=24):
    """Queries of a topic's word; documents of the same topic are better than those of another one."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, 4, queries)
    documents = {f"d{i}": Document(f"d{i}", f"fr{i % 4} w{rng.integers(9)}", "fr") for i in range(16)}
    qrels = {
        f"q{i}": {f"d{j}": int(j % 4 == topic) for j in rng.choice(16, 8, replace=False).tolist()}
        for i, topic in enumerate(topics.tolist())
    }
    return JudgedCollection([Query(f"q{i}", f"en{t}", "en") for i, t in enumerate(topics)], documents, qrels)


def test_the_epoch_that_ranks_other_queries_best_is_kept_and_training_stops_soon_after():
    train, valid = make_topics(0), make_topics(1)
    settings = {"dim": 8, "learning_rate": 0.05, "batch": 8, "vectors": None}
    measures = []
    model = knrm.fit_judged(
        train,
        validation=[valid],
        epochs=60,
        patience=3,
        progress=lambda epoch: measures.append(epoch.measure),
        **settings,
    )
    best = model.meta["best"]
    assert (model.meta["epochs"], measures[best - 1]) == (len(measures), max(measures))
    assert best == measures.index(max(measures)) + 1
    assert len(measures) == min(best + 3, 60) < 60
    as_long = knrm.fit_judged(train, epochs=best, **settings)
    np.testing.assert_array_equal(model.table, as_long.table)
    assert measures[-1] > 0.5
