"""Which words translate each other, learned from parallel texts: numbers worked out by hand and by plain loops."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from paragloss.translation import word_alignment
from paragloss.translation.word_alignment import TermBags, align_terms, find_candidate_pairs, log_likelihood_ratio

DAS, HAUS, BUCH, EIN = range(4)


def make_bags_of_ids(*sentences, width):
    """Sentences of term ids as bags, every word at the same position: order says nothing."""
    start = np.cumsum([0] + [len(sentence) for sentence in sentences])
    flat = np.array([i for sentence in sentences for i in sentence], np.int32)
    return TermBags(start, flat, np.ones(len(flat), np.float32), np.ones(len(flat), np.float32), width)


# das Haus, das Buch, ein Buch; and likewise the house, the book, a book
SENTENCES = make_bags_of_ids([DAS, HAUS], [DAS, BUCH], [EIN, BUCH], width=4)


def pair_set(candidates):
    return set(zip(candidates.sources.tolist(), candidates.targets.tolist(), strict=True))


def test_presence_ignores_how_often_a_term_occurs():
    assert make_bags_of_ids([0, 0, 2], [1], width=3).presence().toarray().tolist() == [[1, 0, 1], [0, 1, 0]]


def test_one_iteration_of_model_1_by_hand():
    # Uniform start: t(the|das) = 1/3 as das stands beside the, house, book; t(the|haus) = 1/2 (the, house).
    # "the" of sentence 1: das takes (1/3) / (1/3 + 1/2) = 2/5. "the" of sentence 2: das 1/3, buch 1/3 (the, book, a):
    # das takes 1/2. So count(the|das) = 9/10.
    # "house" of sentence 1: das 2/5. "book" of sentence 2: 1/2. Total of das: 9/10 + 2/5 + 1/2 = 9/5: t(the|das) = 1/2.
    learned = align_terms(SENTENCES, SENTENCES, iterations=1, diagonal=0, null=0)
    np.testing.assert_allclose(learned.probability.toarray()[DAS], [1 / 2, 2 / 9, 5 / 18, 0], rtol=1e-6)
    # The likelihood before it: "the" and "house" beside das and haus: (1/3 + 1/2) / 2 = 5/12 each. "the" and "book"
    # beside das and buch: 1/3 each. "a" and "book" beside ein and buch: 5/12 each.
    assert learned.likelihood == [pytest.approx(4 * math.log(5 / 12) + 2 * math.log(1 / 3))]


def test_the_null_word_takes_its_share_of_the_likelihood():
    # One word each: it is certain, from the other word (0.8) or from nowhere (0.2).
    bags = make_bags_of_ids([0], width=1)
    assert align_terms(bags, bags, iterations=2, null=0.2).likelihood == pytest.approx([0, 0], abs=1e-6)


def test_texts_without_words_teach_nothing():
    learned = align_terms(make_bags_of_ids([], [], width=0), make_bags_of_ids([], [], width=0), iterations=2)
    assert learned.probability.shape == (0, 0)
    assert learned.likelihood == [0, 0]


sentences = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=5), min_size=1, max_size=8)


@settings(deadline=None, max_examples=60)
@given(sentences, sentences, st.sampled_from([0.0, 4.0]), st.sampled_from([2, 100]))
def test_the_likelihood_never_falls_and_rows_are_distributions(left, right, diagonal, candidates):
    count = min(len(left), len(right))
    source, target = (make_bags_of_ids(*side[:count], width=6) for side in (left, right))
    for bags in (source, target):
        bags.positions[:] = np.concatenate([np.linspace(0, 1, size) for size in np.diff(bags.starts)])
    learned = align_terms(source, target, iterations=8, diagonal=diagonal, candidates=candidates)
    assert all(b >= a - 1e-6 for a, b in zip(learned.likelihood, learned.likelihood[1:], strict=False))
    mass = np.asarray(learned.probability.sum(axis=1)).ravel()
    assert all(math.isclose(m, 1, abs_tol=1e-6) or m == 0 for m in mass)


def learn_by_loops(source, target, *, iterations, diagonal, null, prior):
    """Model 1 with positions as a textbook has it: dictionaries, and a loop over every text and word."""
    word_lists = [
        [(bags.terms[i], bags.weights[i], bags.positions[i]) for i in range(bags.starts[text], bags.starts[text + 1])]
        for text in range(len(source.starts) - 1)
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
        start = np.cumsum([0, *rng.integers(1, 5, 12)])
        flat = rng.integers(0, width, start[-1]).astype(np.int32)
        weights, positions = (rng.random(start[-1]).astype(np.float32) for _ in range(2))
        return TermBags(start, flat, weights + np.float32(0.5), positions, width)

    source, target = make_random_bags(5), make_random_bags(6)
    prior = sp.csr_matrix(([2.0, 0.5], ([0, 4], [5, 1])), shape=(5, 6))
    learned = align_terms(source, target, iterations=3, diagonal=2.0, null=0.1, prior=prior).probability.toarray()
    expected = learn_by_loops(source, target, iterations=3, diagonal=2.0, null=0.1, prior={(0, 5): 2.0, (4, 1): 0.5})
    for (s, t), value in expected.items():
        assert learned[s, t] == pytest.approx(value, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("block", [1, 3, 5])
def test_learning_in_blocks_equals_learning_at_once(monkeypatch, block):
    at_once = align_terms(SENTENCES, SENTENCES)
    monkeypatch.setattr(word_alignment, "CELLS_PER_BLOCK", block)
    in_blocks = align_terms(SENTENCES, SENTENCES)
    assert in_blocks.probability.toarray() == pytest.approx(at_once.probability.toarray())
    assert in_blocks.likelihood == pytest.approx(at_once.likelihood)


@pytest.mark.parametrize(("max_targets", "pairs"), [
    (1, {(0, 0), (1, 2)}), (2, {(0, 0), (0, 1), (1, 2)}), (3, {(0, 0), (0, 1), (0, 2), (1, 2)}),
])  # fmt: skip
def test_a_candidate_is_anything_beyond_chance(max_targets, pairs):
    # Term 0 is in two of three texts, target 0 in one of these. ln(3/2) + ln(3/4) + ln(3/2) = 0.52: little, but more
    # than target 2 has, which is everywhere: 0. Target 1 has as much as target 0; the first of equals is kept.
    source, target = make_bags_of_ids([0], [0], [1], width=2), make_bags_of_ids([0, 2], [1, 2], [2], width=3)
    assert pair_set(find_candidate_pairs(source, target, max_targets)) == pairs


def test_every_source_has_as_many_candidates_the_most_associated_ones():
    rng = np.random.default_rng(1)
    source_terms, target_terms = (rng.integers(0, width, (30, 8)) for width in (4, 9))  # of 30 texts
    source_presence, target_presence = (
        np.array([np.isin(range(width), terms) for terms in texts])
        for width, texts in ((4, source_terms), (9, target_terms))
    )
    shared = source_presence.T.astype(float) @ target_presence
    counts = np.broadcast_arrays(shared, source_presence.sum(axis=0)[:, None] + 0.0, target_presence.sum(axis=0) + 0.0)
    scores = log_likelihood_ratio(*counts, 30)
    best = {(s, t) for s in range(4) for t in np.argsort(-scores[s], kind="stable")[:2].tolist() if scores[s, t] > 0}
    assert len(best) > 5
    source, target = make_bags_of_ids(*source_terms, width=4), make_bags_of_ids(*target_terms, width=9)
    assert pair_set(find_candidate_pairs(source, target, 2)) == best


@pytest.mark.parametrize(("both", "source_only", "target_only"), [
    (8, 2, 3), (1, 9, 10), (3, 0, 4), (2, 5, 0), (0, 9, 10),
])  # fmt: skip
def test_association_is_dunning_s_ratio_signed_by_which_side_of_chance(both, source_only, target_only):
    counts = np.array([[both, source_only], [target_only, 33 - both - source_only - target_only]], float)
    statistic = scipy.stats.chi2_contingency(counts, correction=False, lambda_="log-likelihood").statistic
    source, target = both + source_only, both + target_only
    expected = statistic / 2 if both * 33 >= source * target else -statistic / 2
    ratio = log_likelihood_ratio(*(np.array([float(n)]) for n in (both, source, target)), 33)
    assert ratio == pytest.approx([expected])
