"""What K-NRM learns from, piece by piece: folds, candidates, weights, triples of several sets."""

import numpy as np
import pytest
from corpora import sentences

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.encoders.kernel_ranker import Knrm, standing
from paragloss.errors import InputError
from paragloss.lab import judgments
from paragloss.lab.methods import cr5, knrm
from paragloss.lab.solving.lists import weigh_lists
from paragloss.types import Document, JudgedCollection, Query
from paragloss.vocabulary import Vocabulary

torch = pytest.importorskip("torch")

TITLED = [c._replace(titles={"en": " ".join(c.texts["en"].split()[:2])}) for c in sentences(40, 0)]
UNTITLED = sentences(40, 0)


@pytest.mark.parametrize(
    ("aligned", "query", "asked"),
    [
        (TITLED, "title", "title"),
        (UNTITLED, "title", "first-sentence"),
        (TITLED, "text", "text"),
        (UNTITLED, "text", "text"),
    ],
)
def test_titles_ask_unless_there_are_none_or_something_else_is_said(aligned, query, asked):
    model = knrm.fit(aligned, dim=4, query=query)
    assert (model.meta["asked"], model.meta["start"], model.bias) == (asked, "cr5", 0.0)


def test_vectors_of_a_fold_come_from_the_other_concepts_and_progress_is_told(monkeypatch):
    taught, apart, shares = [], [], []
    plain, candidates = cr5.fit_space, knrm._candidates
    monkeypatch.setattr(
        cr5, "fit_space", lambda aligned, **said: taught.append({c.id for c in aligned}) or plain(aligned, **said)
    )
    monkeypatch.setattr(knrm, "_candidates", lambda *args: apart.append(args[2]) or candidates(*args))
    knrm.fit(TITLED, dim=4, folds=4, progress=lambda share, loss: shares.append((share, loss)))
    everyone = {c.id for c in TITLED}
    assert taught == [*(everyone - held for held in apart), everyone]
    assert [len(held) for held in apart] == [10] * 4
    assert set.union(*apart) == everyone
    assert shares == [(pytest.approx(n / 5), 0.0) for n in (1, 2, 3, 4)]


def test_titles_that_find_nothing_are_said():
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


def candidates(encoder=WORDS, apart=frozenset("0123")):
    return list(knrm._candidates(encoder, JUDGED, apart, 4, np.random.default_rng(0)))


def test_every_search_by_meaning_is_followed_by_three_that_are_surer():
    # English 0 finds document 3 ("fr3 fr0"), then its own ("fr1 fr0 fr1" with its title). No word is spelt alike, so
    # that a second real search finds nothing.
    found = candidates()
    assert [one.real for one in found] == [True, False, False, False] * 4
    assert found[0].right == 1
    np.testing.assert_allclose(found[0].standing, standing(np.array([np.sqrt(1 / 2), np.sqrt(1 / 5)])), rtol=1e-4)


def test_kernels_feel_the_text_and_then_the_title_or_the_text_again():
    first = candidates()[0]
    blank = Knrm({"fr": WORDS.towers["fr"].vocabulary}, {"fr": np.arange(4)}, np.eye(4), np.zeros(11), 0.0)
    untitled, text, title = (blank.features_ids([0], [ids])[0] for ids in ([3, 0], [1, 0, 1], [1]))
    assert first.features.shape == (2, 24)
    np.testing.assert_allclose(first.features[0, :22], [*untitled, *untitled], atol=1e-6)
    np.testing.assert_allclose(first.features[1, :22], [*text, *title], atol=1e-6)
    assert not first.features[:, 22:].any()  # no word stands in both languages


def test_only_concepts_kept_apart_ask_and_are_found_and_only_in_languages_that_have_vectors():
    assert len(candidates(apart={"1", "2", "3"})) == 8  # document 1 is all that English 1 finds then: not a ranking
    assert not candidates(apart=set())
    assert not candidates(encoder=BagEncoder({"en": WORDS.towers["en"]}))


def lists(rng, *, told, felt, number=60):
    """Searches of six candidates: the right one is the first in `told` of them as the search says, and in `felt` of
    them as the first kernel does."""
    made = []
    for i in range(number):
        said, kernel = rng.random((6, 3)), rng.random((6, 24))
        right = int(rng.integers(6))
        said[right] += 2 if i < told * number else -2
        kernel[right, 0] += 2 if i < felt * number else -2
        made.append(knrm._List(said, kernel, right, i % 3 > 0))
    return made


def test_what_is_felt_is_weighed_by_real_searches_and_counted_by_all():
    made = lists(np.random.default_rng(0), told=0.9, felt=0.8)
    learned, loss = knrm._weighed(made, 0.01)
    assert [part.shape for part in learned] == [(3,), (11,), (11,), (2,)]
    real = [one for one in made if one.real]
    found, _ = weigh_lists([np.hstack([o.standing, o.features]) for o in real], [o.right for o in real], penalty=0.01)
    kernel, weights = found[3:], np.concatenate(learned[1:])
    share = weights[0] / kernel[0]
    assert share > 0
    np.testing.assert_allclose(weights, share * kernel, rtol=1e-4, atol=1e-6)
    assert 0 < loss < np.log(6)


def test_a_search_that_says_the_opposite_is_not_trusted_and_never_turned_round():
    learned, _ = knrm._weighed(lists(np.random.default_rng(0), told=0.0, felt=1.0), 0.01)
    np.testing.assert_array_equal(learned.trust, 0)
    assert learned.weight[0] > 0


def test_triples_of_a_second_set_are_those_of_its_own_queries_and_documents(monkeypatch):
    aligned = sentences(10, 0, ("en", "fr", "it"))
    judged = [judgments.from_aligned(aligned, source="en", target=lang, query="text") for lang in ("fr", "it")]
    calls = []
    monkeypatch.setattr(knrm, "_learn", lambda *args, **said: calls.append(args) or (None, {}))
    monkeypatch.setattr(knrm, "_served", lambda *_: None)
    knrm.fit_judged(*judged, dim=4, per_positive=8)
    table, _, queries, documents, triples = calls[0]
    drawn = triples(0, np.random.default_rng(0))
    assert (queries.shape[0], documents.shape[0], drawn.shape[0]) == (20, 20, 3)
    asked, right, wrong = drawn
    np.testing.assert_array_equal(asked, right)  # query i is answered by document i, in either set
    assert sorted(set(asked.tolist())) == list(range(20))
    assert ((asked < 10) == (wrong < 10)).all()
    assert (right != wrong).all()
    # Word vectors begin evenly between -1 and 1.
    assert (table.min() < -0.9, table.max() > 0.9, np.abs(table).max() <= 1) == (True, True, True)
    assert abs(table.mean()) < 0.1


def test_given_vectors_are_where_words_start():
    judged = judgments.from_aligned(sentences(20, 0), source="en", target="fr", query="text")
    given = {"fr": {"frwak": np.array([1, 2, 2, 0], np.float32)}}
    model = knrm.fit_judged(judged, dim=4, epochs=1, learning_rate=1e-12, vectors=given)
    (row,) = model.ids("frwak", "fr")
    np.testing.assert_allclose(model.table[row], np.array([1, 2, 2, 0]) / 3, atol=1e-5)
    assert 0 < model.meta["found"]["fr"] < 0.1
    assert "found" not in knrm.fit_judged(judged, dim=4, epochs=1).meta


def test_no_judgments_are_refused():
    with pytest.raises(InputError, match="no judgments"):
        knrm.fit_judged()
