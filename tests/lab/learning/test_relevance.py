"""Pseudo-relevance: the best match of every text, by hand, against plain loops, and with common terms left out."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from paragloss.lab.learning.relevance import _tfidf, bm25, find_best_matches


def rows(*texts, terms):
    return sp.csr_matrix(np.array([[text.count(t) for t in terms] for text in texts], np.float32))


def plain_bm25(counts, i, j):
    dense = counts.toarray()
    n, lengths = len(dense), dense.sum(1)
    score = 0.0
    for t in np.flatnonzero(dense[i]):
        df = (dense[:, t] > 0).sum()
        tf = dense[j, t]
        norm = 1.2 * (0.25 + 0.75 * lengths[j] / lengths.mean())
        score += dense[i, t] * math.log(1 + (n - df + 0.5) / (df + 0.5)) * tf * 2.2 / (tf + norm)
    return score


def plain_tfidf(counts, i, j):
    dense = counts.toarray()
    weights = dense * (np.log(len(dense) / np.maximum((dense > 0).sum(0), 1)) + 1)
    a, b = weights[i], weights[j]
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def test_weights_are_those_of_the_formulas_term_by_term():
    counts = rows("aab", "ac", "bddd", terms="abcd")
    for weighed, plain in ((bm25, plain_bm25), (_tfidf, plain_tfidf)):
        query_rows, answers = weighed(counts)
        products = (query_rows @ answers.T).toarray()
        assert products.tolist() == [pytest.approx([plain(counts, i, j) for j in range(3)], rel=1e-5) for i in range(3)]


@pytest.fixture
def zipf():
    rng = np.random.default_rng(3)
    chances = 1 / (np.arange(60) + 2.0)
    ids = rng.choice(60, (150, 5), p=chances / chances.sum())
    counts = sp.csr_matrix((np.ones(750, np.float32), ids.ravel(), np.arange(0, 751, 5)), shape=(150, 60))
    counts.sum_duplicates()
    return counts


@pytest.mark.parametrize(("relevance", "score"), [("bm25", plain_bm25), ("tfidf", plain_tfidf)])
@pytest.mark.parametrize("block", [40, 1_000_000])
def test_the_best_match_is_that_of_plain_loops(zipf, relevance, score, block):
    queries, answers = find_best_matches(zipf, relevance=relevance, block=block)
    for query, answer in list(zip(queries, answers, strict=True))[::7]:
        candidates = [j for j in range(150) if (zipf[j] != zipf[query]).nnz]
        best = max(score(zipf, query, j) for j in candidates)
        # Copies were merged before counting, which moves df a little: near enough to the best of the loops.
        assert score(zipf, query, answer) == pytest.approx(best, rel=0.02)


def test_a_copy_is_no_match_and_a_stranger_has_none():
    counts = rows("ab", "ab", "abc", "d", "", terms="abcd")
    queries, answers = find_best_matches(counts)
    assert list(zip(queries.tolist(), answers.tolist(), strict=True)) == [(0, 2), (2, 0)]


def test_a_small_budget_leaves_common_terms_out_of_the_search_but_not_of_the_score():
    # x is in all eight texts: 64 of the 64 + 4 x 4 multiplications. a..d are in two texts each.
    counts = rows("xxa", "xa", "xb", "xxb", "xc", "xcc", "xd", "xxxd", terms="xabcd")
    queries, answers = find_best_matches(counts, budget=16)
    assert queries.tolist() == list(range(8))
    assert answers.tolist() == [1, 0, 3, 2, 5, 4, 7, 6]


#: Each text has one rare term (a, b or c, in four texts) and frequent ones (w to z, in six or more). A budget of 48
#: leaves these out of the search: only texts with the same rare term are candidates.
GROUPS = ["axxyy", "azzww", "axxyzzz", "azzw", "bxyxy", "bzwzw", "bxyzxx", "bww", "cxxyy", "czzww", "cxyzz", "czzxwww"]


@pytest.mark.parametrize(("relevance", "score"), [("bm25", plain_bm25), ("tfidf", plain_tfidf)])
def test_candidates_of_rare_terms_are_compared_by_all_their_terms(relevance, score):
    counts = rows(*GROUPS, terms="abcwxyz")
    queries, answers = find_best_matches(counts, relevance=relevance, budget=48)
    assert queries.tolist() == list(range(12))
    expected = []
    for i, text in enumerate(GROUPS):
        group = [j for j, other in enumerate(GROUPS) if j != i and other[0] == text[0]]
        expected.append(max(group, key=lambda j: score(counts, i, j)))
    assert answers.tolist() == expected
    unpruned = find_best_matches(counts, relevance=relevance)[1]
    assert answers.tolist() != unpruned.tolist(), "without a budget other texts match better"


def test_a_budget_for_everything_and_none_agree_on_most(zipf):
    full = dict(zip(*(part.tolist() for part in find_best_matches(zipf)), strict=True))
    part = dict(zip(*(part.tolist() for part in find_best_matches(zipf, budget=15_000)), strict=True))
    same = [full[query] == answer for query, answer in part.items()]
    assert len(part) > 100
    assert 0.6 < np.mean(same) < 1  # it was pruned, and mostly did not matter
