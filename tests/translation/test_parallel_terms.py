"""Texts as arrays that translations are learned from, and learning from them: numbers worked by hand."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats

from paragloss.lab.methods import table
from paragloss.translation import word_alignment, word_table
from paragloss.translation.parallel_terms import make_bags
from paragloss.translation.word_alignment import TermBags, align_terms, find_candidate_pairs, log_likelihood_ratio
from paragloss.translation.word_table import TermSpellings
from paragloss.types import Concept, Query

# das Haus / the house, das Buch / the book, ein Buch / a book
SOURCE, TARGET = ([0, 1], [0, 2], [3, 2]), ([0, 1], [0, 2], [3, 2])


def make_bags_of_ids(*sentences, width):
    """Sentences of term ids as bags, every word at the same place."""
    start = np.cumsum([0] + [len(s) for s in sentences])
    flat = np.array([i for s in sentences for i in s], np.int32)
    same = np.ones(len(flat), np.float32)
    return TermBags(start, flat, same, same, width)


def pair_set(candidates):
    return set(zip(candidates.source.tolist(), candidates.target.tolist(), strict=True))


def test_many_sentences_keep_every_word_in_its_place():
    flat = np.array([0, 1] * 200, np.int64)
    bags = make_bags(np.arange(0, 401, 2), flat, 2, 300)
    assert bags.term.tolist() == flat.tolist()
    assert bags.start.tolist() == list(range(0, 401, 2))
    assert set(bags.weight.tolist()) == {1.0}


def test_every_long_text_keeps_as_many_words():
    bags = make_bags(np.array([0, 80, 160]), np.array([*range(80), *range(80)], np.int64), 80, 10)
    assert bags.start.tolist() == [0, 10, 20]


def test_a_long_text_keeps_what_weighs_most_by_tf_idf():
    # Two texts, so ln(3 / df). Term 0 stands four times in the first and in both: (1 + ln 4) ln(3/2) = 0.97. Term 1
    # stands once, in the first only: ln 3 = 1.10. All others are in both, once: 0.41.
    first, second = [0, 0, 0, 0, 1, *range(2, 63)], [0, *range(2, 63)]
    start = np.cumsum([0, len(first), len(second)])
    bags = make_bags(start, np.array(first + second, np.int64), 63, 1)
    assert bags.term[: bags.start[1]].tolist() == [1]
    bags = make_bags(start, np.array(first + second, np.int64), 63, 2)
    assert bags.term[: bags.start[1]].tolist() == [0, 1]


def test_presence_ignores_how_often_a_term_occurs():
    assert make_bags_of_ids([0, 0, 2], [1], width=3).presence().toarray().tolist() == [[1, 0, 1], [0, 1, 0]]


def test_the_likelihood_by_hand():
    # Before any learning a word is each of those it stands beside: das 1/3, haus 1/2, buch 1/3, ein 1/2. "the" and
    # "house" beside das and haus: (1/3 + 1/2) / 2 = 5/12 each. "the" and "book" beside das and buch: 1/3 each. "a" and
    # "book" beside ein and buch: 5/12 each.
    learned = align_terms(
        make_bags_of_ids(*SOURCE, width=4), make_bags_of_ids(*TARGET, width=4), iterations=1, diagonal=0, null=0
    )
    assert learned.likelihood == [pytest.approx(4 * math.log(5 / 12) + 2 * math.log(1 / 3))]


def test_the_null_word_takes_its_share_of_the_likelihood():
    # One word each: it is certain, from the other word (0.8) or from nowhere (0.2).
    bags = make_bags_of_ids([0], width=1)
    assert align_terms(bags, bags, iterations=2, null=0.2).likelihood == pytest.approx([0, 0], abs=1e-6)


def test_a_candidate_is_anything_beyond_chance():
    # Term 0 is in two of three texts, target 0 in one of these. ln(3/2) + ln(3/4) + ln(3/2) = 0.52: little, but more
    # than target 2 has, which is everywhere: 0. Target 1 has as much as target 0; the first of equals is kept.
    source, target = make_bags_of_ids([0], [0], [1], width=2), make_bags_of_ids([0, 2], [1, 2], [2], width=3)
    assert pair_set(find_candidate_pairs(source, target, 1)) == {(0, 0), (1, 2)}
    assert pair_set(find_candidate_pairs(source, target, 2)) == {(0, 0), (0, 1), (1, 2)}
    assert pair_set(find_candidate_pairs(source, target, 3)) == {(0, 0), (0, 1), (0, 2), (1, 2)}


def test_association_is_dunning_s_ratio_signed_by_which_side_of_chance():
    # Counts of both, one, the other and neither, as scipy has the ratio: 2 G is its statistic.
    for both_count, first_count, second_count in ((8, 2, 3), (1, 9, 10), (3, 0, 4), (2, 5, 0)):
        (association,) = log_likelihood_ratio(
            *(np.array([float(n)]) for n in (both_count, both_count + first_count, both_count + second_count)), 33
        )
        neither_count = 33 - both_count - first_count - second_count
        table = np.array([[both_count, first_count], [second_count, neither_count]]) + 0.0
        ratio = scipy.stats.chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic / 2
        assert association == pytest.approx(
            ratio if both_count * 33 >= (both_count + first_count) * (both_count + second_count) else -ratio
        )


def learn_by_loops(source, target, *, iterations, diagonal, null, prior):
    """Model 1 with places as a textbook has it: dictionaries, and a loop over every text and word."""
    word_lists = [
        [(bags.term[i], bags.weight[i], bags.position[i]) for i in range(bags.start[text], bags.start[text + 1])]
        for text in range(len(source.start) - 1)
        for bags in (source, target)
    ]
    pairs = list(zip(word_lists[::2], word_lists[1::2], strict=True))
    pairs_seen = {(s, t) for left, right in pairs for s, *_ in left for t, *_ in right} | set(prior)

    def list_shares(counts):
        mass = {s: sum(counts[pair] for pair in pairs_seen if pair[0] == s) for s, _ in pairs_seen}
        return {pair: counts[pair] / mass[pair[0]] if mass[pair[0]] else 0.0 for pair in pairs_seen}

    prior_counts = {pair: prior.get(pair, 0.0) for pair in pairs_seen}
    targets_per_source = {s: sum(pair[0] == s for pair in pairs_seen) for s, _ in pairs_seen}
    probability = list_shares({pair: prior_counts[pair] + 1 / targets_per_source[pair[0]] for pair in pairs_seen})
    null_probability = dict.fromkeys(range(target.n_terms), 1 / target.n_terms)
    for _ in range(iterations):
        expected, null_counts = dict(prior_counts), dict.fromkeys(null_probability, 0.0)
        for left, right in pairs:
            for t, occurrences, target_position in right:
                weighted_sources = [
                    (s, weight * math.exp(-diagonal * abs(source_position - target_position)))
                    for s, weight, source_position in left
                ]
                total = sum(share for _, share in weighted_sources)
                joint = [(s, (1 - null) * share / total * probability[s, t]) for s, share in weighted_sources]
                row = sum(value for _, value in joint) + null * null_probability[t]
                for s, value in joint:
                    expected[s, t] += occurrences * value / row
                null_counts[t] += occurrences * null * null_probability[t] / row
        probability = list_shares(expected)
        null_probability = {t: value / sum(null_counts.values()) for t, value in null_counts.items()}
    return probability


def test_learning_equals_plain_loops_with_positions_weights_and_priors():
    rng = np.random.default_rng(3)

    def make_random_bags(width):
        sizes = rng.integers(1, 5, 12)
        start = np.cumsum([0, *sizes])
        flat = rng.integers(0, width, start[-1]).astype(np.int32)
        return TermBags(start, flat, rng.random(start[-1]).astype(np.float32) + 0.5,
                    rng.random(start[-1]).astype(np.float32), width)  # fmt: skip

    source, target = make_random_bags(5), make_random_bags(6)
    prior = sp.csr_matrix(([2.0, 0.5], ([0, 4], [5, 1])), shape=(5, 6))
    learned = align_terms(source, target, iterations=3, diagonal=2.0, null=0.1, prior=prior).probability.toarray()
    expected = learn_by_loops(source, target, iterations=3, diagonal=2.0, null=0.1, prior={(0, 5): 2.0, (4, 1): 0.5})
    for (s, t), value in expected.items():
        assert learned[s, t] == pytest.approx(value, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("block", [1, 3, 5])
def test_learning_in_blocks_equals_learning_at_once(monkeypatch, block):
    source, target = make_bags_of_ids(*SOURCE * 3, width=4), make_bags_of_ids(*TARGET * 3, width=4)
    at_once = align_terms(source, target)
    monkeypatch.setattr(word_alignment, "CELLS_PER_BLOCK", block)
    pieces = align_terms(source, target)
    assert pieces.probability.toarray() == pytest.approx(at_once.probability.toarray())
    assert pieces.likelihood == pytest.approx(at_once.likelihood)


def test_texts_without_words_teach_nothing():
    learned = align_terms(make_bags_of_ids([], [], width=0), make_bags_of_ids([], [], width=0), iterations=2)
    assert learned.probability.shape == (0, 0)
    assert learned.likelihood == [0, 0]


def save_table(tmp_path, words, cells):
    """A table en->fr whose rows are written into the test."""
    (english, french), folder = words, tmp_path / "start"
    word_table.Table(
        {"en": TermSpellings(english, english), "fr": TermSpellings(french, french)},
        {("en", "fr"): sp.csr_matrix(np.array(cells))},
    ).save(folder)
    return str(folder)


def list_shares(learned, term, to="fr"):
    return {a.text: pytest.approx(a.weight) for a in learned.alternatives(term, "en", to)}


def test_words_that_only_the_start_knows_keep_their_shares(tmp_path):
    start = save_table(tmp_path, (["dog"], ["chien", "chat"]), [[0.75, 0.25]])
    concepts = [Concept("1", {"en": "house", "fr": "maison"})]
    for weight in (0.5, 5.0):
        learned = table.fit(concepts, start=start, start_weight=weight, symmetric=False, source="en", sharpness=1)
        assert list_shares(learned, "dog") == {"chien": 0.75, "chat": 0.25}


def test_the_weight_of_the_start_counts_as_occurrences(tmp_path):
    # The start has met chaumière three times, half a time more for being a candidate: P(maison) = 0.5 / 4 at first. Of
    # the text's one maison, house explains 0.92 * 0.125 = 0.115, no word 0.08 / 2 = 0.04: it counts 0.115 / 0.155.
    start = save_table(tmp_path, (["hous"], ["chaumi"]), [[1.0]])
    concepts = [Concept("1", {"en": "house", "fr": "maison"})]
    learned = table.fit(
        concepts, start=start, start_weight=3.0, symmetric=False, source="en", iterations=1, sharpness=1
    )
    one_count = 0.115 / 0.155
    assert list_shares(learned, "hous") == {"chaumi": 3 / (3 + one_count), "maison": one_count / (3 + one_count)}


def test_a_start_may_lack_a_language(tmp_path):
    start = save_table(tmp_path, (["dog"], ["chien"]), [[1.0]])
    concepts = [Concept("1", {"en": "house", "fr": "maison", "de": "Haus"})]
    learned = table.fit(concepts, start=start, source="en", symmetric=False)
    assert learned.translate(Query("q", "house", "en"), "de")[0].alternatives[0].text == "Haus"
    assert list_shares(learned, "dog") == {"chien": 1.0}
    assert learned.alternatives("dog", "en", "de") == ()


def test_every_source_has_as_many_candidates_the_most_associated_ones():
    rng = np.random.default_rng(1)
    term_lists = [[rng.integers(0, width, 8).tolist() for _ in range(30)] for width in (4, 9)]
    source, target = make_bags_of_ids(*term_lists[0], width=4), make_bags_of_ids(*term_lists[1], width=9)
    present = [
        np.array([[t in text for t in range(width)] for text in texts_of_side])
        for texts_of_side, width in zip(term_lists, (4, 9), strict=True)
    ]
    best = set()
    for s in range(4):
        source_count = present[0][:, s].sum()
        scores = [
            float(
                log_likelihood_ratio(
                    *(
                        np.array([float(n)])
                        for n in ((present[0][:, s] & has_target).sum(), source_count, has_target.sum())
                    ),
                    30,
                )[0]
            )
            for has_target in present[1].T
        ]
        best |= {(s, t) for t in sorted(range(9), key=lambda t: -scores[t])[:2] if scores[t] > 0}
    assert len(best) > 5
    assert pair_set(find_candidate_pairs(source, target, 2)) == best


def test_a_table_gives_as_many_alternatives_as_it_was_told_to_keep():
    concepts = [Concept("1", {"en": "house", "fr": "maison"})]
    assert [
        table.fit(concepts, max_alternatives=max_alternatives).max_alternatives for max_alternatives in (3, 25)
    ] == [3, 25]


@pytest.mark.parametrize(
    ("source", "target", "directions"),
    [
        ("en", "it", {("en", "it")}),
        ("en", "", {("en", "fr"), ("en", "it")}),
        ("", "fr", {("en", "fr"), ("it", "fr")}),
    ],
)
def test_a_table_has_only_the_directions_from_and_to_the_languages_given(source, target, directions):
    aligned = [Concept("1", {"en": "house", "fr": "maison", "it": "casa"})]
    assert set(table.fit(aligned, source=source, target=target).probabilities) == directions


def test_a_table_without_given_languages_has_all_directions():
    aligned = [Concept("1", {"en": "house", "fr": "maison", "it": "casa"})]
    assert len(table.fit(aligned).probabilities) == 6
