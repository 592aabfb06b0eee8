"""Word translations learned from texts that say the same thing."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError
from paragloss.lab.methods import table
from paragloss.translation import word_table
from paragloss.translation.parallel_terms import MAX_SENTENCE_TERMS, make_bags
from paragloss.translation.word_alignment import TermBags, align_terms, find_candidate_pairs, log_likelihood_ratio
from paragloss.types import Alternative, Concept, Query, Translator


def make_bags_of_ids(*sentences, width):
    """Sentences of term ids as bags, every word at the same place: order says nothing."""
    start = np.cumsum([0] + [len(s) for s in sentences])
    flat = np.array([i for s in sentences for i in s], np.int32)
    same = np.ones(len(flat), np.float32)
    return TermBags(start, flat, same, same, width)


# das Haus / the house, das Buch / the book, ein Buch / a book
DAS, HAUS, BUCH, EIN = range(4)
THE, HOUSE, BOOK, A = range(4)
GERMAN = make_bags_of_ids([DAS, HAUS], [DAS, BUCH], [EIN, BUCH], width=4)
ENGLISH = make_bags_of_ids([THE, HOUSE], [THE, BOOK], [A, BOOK], width=4)


def test_sharpening_raises_likely_alternatives_and_drops_chance(tmp_path):
    words = {
        "en": word_table.TermSpellings(["cat"], ["cat"]),
        "fr": word_table.TermSpellings(list("abc"), ["chat", "félin", "lait"]),
    }
    shares = {("en", "fr"): sp.csr_matrix([[0.75, 0.2, 0.05]])}
    word_table.Table(words, shares, max_alternatives=2, trust=2.0, sharpness=2).save(tmp_path / "table")
    sharp = word_table.Table.load(tmp_path / "table")
    # .5625 .04 .0025: the last is .004 of them; the others sum to .6025
    assert [(a.text, round(a.weight, 4)) for a in sharp.alternatives("cat", "en", "fr")] == [
        ("chat", round(0.5625 / 0.6025, 4)),
        ("félin", round(0.04 / 0.6025, 4)),
    ]
    assert (sharp.max_alternatives, sharp.trust) == (2, 2.0)
    assert sharp.probabilities["en", "fr"].toarray()[0] == pytest.approx([0.75, 0.2, 0.05])  # to learn on from


def test_one_iteration_of_model_1_by_hand():
    # Uniform start: t(the|das) = 1/3 as das stands beside the, house, book; t(the|haus) = 1/2 (the, house).
    # "the" of sentence 1: das takes (1/3) / (1/3 + 1/2) = 2/5. "the" of sentence 2: das 1/3, buch 1/3 (the, book, a):
    # das takes 1/2. So count(the|das) = 9/10.
    # "house" of sentence 1: das 2/5. "book" of sentence 2: 1/2. Total of das: 9/10 + 2/5 + 1/2 = 9/5: t(the|das) = 1/2.
    learned = align_terms(GERMAN, ENGLISH, iterations=1, diagonal=0, null=0).probability.toarray()
    np.testing.assert_allclose(learned[DAS], [1 / 2, 2 / 9, 5 / 18, 0], rtol=1e-6)


def test_model_1_against_loops_over_the_definition():
    pairs = [([0, 1], [0, 1]), ([0, 2], [0, 2]), ([3, 2], [3, 2])]
    t = {}
    for s in range(4):
        targets = {f for e, g in pairs if s in e for f in g}
        t.update({(s, f): 1 / len(targets) for f in targets})
    for _ in range(6):
        count = dict.fromkeys(t, 0.0)
        for e, f in pairs:
            for target in f:
                mass = sum(t[s, target] for s in e)
                for s in e:
                    count[s, target] += t[s, target] / mass
        t = {(s, f): c / sum(v for (x, _), v in count.items() if x == s) for (s, f), c in count.items()}
    learned = align_terms(GERMAN, ENGLISH, iterations=6, diagonal=0, null=0).probability
    for (s, f), expected in t.items():
        assert learned[s, f] == pytest.approx(expected, rel=1e-5)


def test_enough_iterations_find_the_dictionary():
    learned = align_terms(GERMAN, ENGLISH, iterations=60, diagonal=0, null=0.01).probability.toarray()
    assert learned.argmax(axis=1).tolist() == [THE, HOUSE, BOOK, A]
    assert learned.max(axis=1).min() > 0.9


def test_the_diagonal_decides_where_counts_cannot():
    # One sentence pair tells nothing of who translates whom; the order of words does.
    positions = np.array([0.25, 0.75], np.float32)
    bags = TermBags(np.array([0, 2]), np.array([0, 1], np.int32), np.ones(2, np.float32), positions, 2)
    flat = align_terms(bags, bags, diagonal=0).probability.toarray()
    np.testing.assert_allclose(flat, 0.5, atol=1e-6)
    ordered = align_terms(bags, bags, diagonal=4).probability.toarray()
    assert ordered[0, 0] > 0.9
    assert ordered[1, 1] > 0.9


sentences = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=5), min_size=1, max_size=8)


@settings(deadline=None, max_examples=60)
@given(sentences, sentences, st.sampled_from([0.0, 4.0]), st.sampled_from([2, 100]))
def test_the_likelihood_never_falls_and_rows_are_distributions(left, right, diagonal, candidates):
    count = min(len(left), len(right))
    source, target = (
        make_bags(
            np.cumsum([0] + [len(s) for s in side[:count]]), np.concatenate(side[:count]).astype(np.int32), 6, 300
        )
        for side in (left, right)
    )
    learned = align_terms(source, target, iterations=8, diagonal=diagonal, candidates=candidates)
    assert all(b >= a - 1e-6 for a, b in zip(learned.likelihood, learned.likelihood[1:], strict=False))
    mass = np.asarray(learned.probability.sum(axis=1)).ravel()
    assert all(math.isclose(m, 1, abs_tol=1e-6) or m == 0 for m in mass)


def test_candidates_are_those_that_go_together_beyond_chance():
    # Term 0 is in all texts with target 0, but target 1 comes exactly where term 1 does.
    source = make_bags_of_ids([0, 1], [0, 1], [0], [0], width=2)
    target = make_bags_of_ids([0, 1], [0, 1], [0, 2], [0, 3], width=4)
    pairs = find_candidate_pairs(source, target, 1)
    assert (1, 1) in set(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True))


def test_association_is_dunnings_ratio():
    # 2 x 2 table 10 5 / 5 80 by the entropy form: sum k ln k - rows - columns + total.
    def h(*counts):
        return sum(k * math.log(k) for k in counts if k)

    expected = h(10, 5, 5, 80) - h(15, 85) - h(15, 85) + h(100)
    got = log_likelihood_ratio(np.array([10.0]), np.array([15.0]), np.array([15.0]), 100)
    assert got[0] == pytest.approx(expected)
    assert log_likelihood_ratio(np.array([0.0]), np.array([15.0]), np.array([15.0]), 100)[0] < 0  # apart: negative


def test_a_document_is_its_distinct_words_and_a_sentence_its_words_in_order():
    long = [1, 2] * MAX_SENTENCE_TERMS
    bags = make_bags(np.array([0, 3, 3 + len(long)]), np.array([5, 4, 5, *long], np.int32), 6, 300)
    assert bags.term.tolist() == [5, 4, 5, 1, 2]
    np.testing.assert_allclose(bags.position[:3], [1 / 6, 1 / 2, 5 / 6], rtol=1e-6)
    np.testing.assert_allclose(
        bags.weight, [1, 1, 1, 1 + math.log(MAX_SENTENCE_TERMS), 1 + math.log(MAX_SENTENCE_TERMS)], rtol=1e-6
    )


def test_a_long_document_keeps_its_rarest_words():
    first, second = list(range(80)), [*range(70)]
    start = np.cumsum([0, len(first), len(second)])
    bags = make_bags(start, np.array(first + second, np.int32), 80, 10)
    assert set(bags.term[:10].tolist()) == set(range(70, 80))  # in one document only


HOUSES = [
    ("The house is red.", "La maison est rouge."),
    ("The house is big.", "La maison est grande."),
    ("Two red houses.", "Deux maisons rouges."),
    ("A big volcano.", "Un grand volcan."),
    ("The red volcano.", "Le volcan rouge."),
    ("Big volcanoes.", "Grands volcans."),
]
ALIGNED = [Concept(str(i), {"en": en, "fr": fr}) for i, (en, fr) in enumerate(HOUSES)]


@pytest.fixture(scope="module")
def learned():
    return table.fit(ALIGNED)


def list_best(translations):
    return [(t.source, t.alternatives[0].text) for t in translations]


def test_both_directions_are_learned_and_words_are_as_written(learned):
    assert isinstance(learned, Translator)
    assert learned.pairs == [("en", "fr"), ("fr", "en")]
    english_to_french = dict(list_best(learned.translate(Query("q", "red volcano houses", "en"), "fr")))
    stems = {word: analyzer("fr").terms(text) for word, text in english_to_french.items()}
    assert stems == {word: analyzer("fr").terms(text) for word, text in
                     {"red": "rouge", "volcano": "volcan", "houses": "maison"}.items()}  # fmt: skip
    assert analyzer("en").terms(list_best(learned.translate(Query("q", "maisons", "fr"), "en"))[0][1]) == analyzer(
        "en"
    ).terms("house")


def test_weights_are_sorted_probabilities(learned):
    for translation in learned.translate(Query("q", "red big house volcano", "en"), "fr"):
        weights = [a.weight for a in translation.alternatives]
        assert weights == sorted(weights, reverse=True)
        assert all(0 < w <= 1 for w in weights)
        assert sum(weights) == pytest.approx(1, abs=1e-5)


def test_every_alternative_analyses_back_to_the_term_it_stands_for(learned):
    for lang, words in learned.words.items():
        for term, surface in zip(words.terms, words.surfaces, strict=True):
            assert " ".join(analyzer(lang).terms(surface)) == term


def test_an_unknown_word_stays_untranslated(learned):
    (only,) = learned.translate(Query("q", "Xylophonist", "en"), "fr")
    assert only.alternatives == (Alternative("Xylophonist", 1.0),)


def test_a_table_knows_its_terms_and_languages(learned):
    assert learned.has_term("hous", "en")
    assert not learned.has_term("hous", "fr")
    assert not learned.has_term("hous", "de")
    assert learned.langs == ("en", "fr")
    assert learned.meta == {"translations": {f"{a}->{b}": learned.probabilities[a, b].nnz for a, b in learned.pairs}}


def test_an_empty_query_has_no_translations(learned):
    assert learned.translate(Query("q", "", "en"), "fr") == []


def test_titles_are_learned_from():
    aligned = [Concept("1", {"en": "x", "fr": "y"}, {"en": "harbour", "fr": "port"})]
    assert list_best(table.fit(aligned).translate(Query("q", "harbours", "en"), "fr")) == [("harbours", "port")]


def test_a_phrase_is_learned_as_one_term():
    # "hot dog" is no "chien chaud"; both words also occur alone.
    lines = [("hot dog", "saucisse"), ("hot", "chaud"), ("dog", "chien"), ("big", "gros")] * 12
    lines += [(f"filler{i % 40}", f"mot{i % 40}") for i in range(1000)]  # so that hot and dog are rare words
    aligned = [Concept(str(i), {"en": en, "fr": fr}) for i, (en, fr) in enumerate(lines)]
    query = Query("q", "big hot dog", "en")
    assert dict(list_best(table.fit(aligned).translate(query, "fr"))) == {"big": "gros", "hot dog": "saucisse"}
    without_phrases = list_best(table.fit(aligned, phrases=False).translate(query, "fr"))
    assert [source for source, _ in without_phrases] == ["big", "hot", "dog"]
    assert list_best(table.fit(aligned).translate(Query("q", "dog", "en"), "fr")) == [("dog", "chien")]


def test_only_the_requested_directions_are_learned():
    assert table.fit(ALIGNED, source="en").pairs == [("en", "fr")]
    trilingual = [Concept("1", {"en": "house", "fr": "maison", "de": "Haus"})]
    assert table.fit(trilingual, target="en").pairs == [("de", "en"), ("fr", "en")]
    assert len(table.fit(trilingual).pairs) == 6


def test_learning_twice_gives_the_same_and_order_of_texts_does_not_matter():
    query = Query("q", "red house volcano", "en")
    first = table.fit(ALIGNED).translate(query, "fr")
    assert table.fit(ALIGNED).translate(query, "fr") == first
    assert list_best(table.fit(ALIGNED[::-1]).translate(query, "fr")) == list_best(first)


def test_saved_and_loaded_it_translates_the_same(learned, tmp_path):
    learned.save(tmp_path / "t")
    loaded = word_table.Table.load(tmp_path / "t")
    query = Query("q", "the red house", "en")
    assert loaded.translate(query, "fr") == learned.translate(query, "fr")
    assert loaded.pairs == learned.pairs


def test_errors_say_what_there_is(learned):
    with pytest.raises(LanguageError, match="no table for en->sw; have en->fr, fr->en"):
        learned.translate(Query("q", "house", "en"), "sw")
    with pytest.raises(InputError, match="sw->any"):
        table.fit(ALIGNED, source="sw")
    with pytest.raises(InputError, match="no text is in two"):
        table.fit([Concept("1", {"en": "house"}), Concept("2", {"fr": "maison"})])


def test_learning_continues_from_a_saved_table(tmp_path):
    first = [Concept(str(i), {"en": f"dog word{i}", "fr": f"chien mot{i}"}) for i in range(5)]
    table.fit(first).save(tmp_path / "first")
    new_texts = [Concept(str(i), {"en": f"cat thing{i}", "fr": f"chat chose{i}"}) for i in range(5)]
    fresh, continued = table.fit(new_texts), table.fit(new_texts, start=str(tmp_path / "first"))
    assert fresh.alternatives("dog", "en", "fr") == ()
    assert continued.alternatives("dog", "en", "fr")[0].text == "chien"  # what only the start knows stays
    assert continued.alternatives("cat", "en", "fr")[0].text == "chat"  # what is new is learned


def test_the_start_decides_where_the_texts_leave_it_open(tmp_path):
    table.fit([Concept(str(i), {"en": "dog", "fr": "chien"}) for i in range(3)]).save(tmp_path / "start")
    # Always together: from these alone nobody can tell which is the dog.
    open_ = [Concept(str(i), {"en": "dog cat", "fr": "chat chien"}) for i in range(4)]
    continued = table.fit(open_, start=str(tmp_path / "start"), diagonal=0.0, phrases=False)
    assert continued.alternatives("dog", "en", "fr")[0].text == "chien"
    assert continued.alternatives("cat", "en", "fr")[0].text == "chat"


def test_pruning_by_hand():
    # Rows sum to one, then what is less than 0.2 or no longer among the two best goes, and the rest sums to one again.
    weights = sp.csr_matrix(np.array([[1.0, 4.0, 3.0, 2.0], [0.0, 1.0, 9.0, 0.0], [0.0, 0.0, 0.0, 0.0]]))
    pruned = word_table.prune(weights, min_probability=0.2, most=2)
    assert pruned.toarray() == pytest.approx(np.array([[0, 4 / 7, 3 / 7, 0], [0, 0, 1, 0], [0, 0, 0, 0]]))
    assert pruned.indices.tolist() == [1, 2, 2]  # best first
    assert word_table.prune(weights, min_probability=0.3, most=9).indices.tolist() == [1, 2, 2]  # 0.3 is enough


def test_without_a_translation_the_others_stay_best_first():
    words = {
        "en": word_table.TermSpellings(["cat"], ["cat"]),
        "fr": word_table.TermSpellings(list("abc"), ["lait", "chat", "félin"]),
    }
    best_first = sp.csr_matrix((np.array([0.5, 0.4, 0.1]), np.array([1, 2, 0]), np.array([0, 3])), shape=(1, 3))
    full = word_table.Table(words, {("en", "fr"): best_first}, max_alternatives=1)
    unchanged, n_removed = full.without("dog", "chien")
    assert (n_removed, unchanged.alternatives("cat", "en", "fr")[0].text) == (0, "chat")
    reduced, n_removed = full.without("Cat", "Chat")
    assert (n_removed, reduced.alternatives("cat", "en", "fr")[0].text) == (1, "félin")


def test_an_empty_row_stays_empty_when_pruned():
    nothing = sp.csr_matrix((np.zeros(2), ([0, 1], [0, 1])), shape=(2, 2))
    assert word_table.prune(nothing, min_probability=0.0, most=5).toarray().tolist() == [[0, 0], [0, 0]]


def test_probabilities_are_sharpened_by_default():
    pairs = [("bank", "banque")] * 3 + [("bank", "rive"), ("water", "eau")]
    concepts = [Concept(str(i), {"en": english, "fr": french}) for i, (english, french) in enumerate(pairs)]
    sharp, plain = table.fit(concepts), table.fit(concepts, sharpness=1)
    for learned_table, power in ((sharp, 2), (plain, 1)):
        likely, unlikely = (alternative.weight for alternative in learned_table.alternatives("bank", "en", "fr"))
        unsharpened = [alternative.weight for alternative in plain.alternatives("bank", "en", "fr")]
        assert likely / unlikely == pytest.approx((unsharpened[0] / unsharpened[1]) ** power, rel=1e-3)
