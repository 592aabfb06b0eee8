"""Candidates for concepts that the search before has not seen."""

import numpy as np
import pytest

from paragloss.lab.learning import firststage


def test_folds_hold_out_every_item_once_up_to_a_limit():
    parts = firststage.split_folds(23, parts=5, max_items=100, seed=0)
    assert sorted(np.concatenate(parts).tolist()) == list(range(23))
    assert [len(part) for part in firststage.split_folds(1000, parts=5, max_items=400, seed=0)] == [200, 200]
    assert [len(part) for part in firststage.split_folds(1000, parts=5, max_items=401, seed=0)] == [200, 200, 200]
    assert len(firststage.split_folds(3, parts=5, max_items=400, seed=0)) == 3


def test_the_best_documents_of_a_query_and_the_rank_of_its_own():
    scores = np.array([[0.2, 0.9, 0.1, 0.0], [0.5, 0.4, 0.3, 0.2], [0.9, 0.8, 0.1, 0.7], [1.0, 0, 0, 0]], np.float32)
    first, second = firststage.rank_candidates(scores, 2)
    assert (first.query, first.documents.tolist(), first.right) == (0, [1, 0], 1)
    assert first.scores.tolist() == pytest.approx([0.9, 0.2])
    assert (second.query, second.documents.tolist(), second.right) == (1, [0, 1], 1)
    # The third query's own document is not among its two best; the fourth's was not found at all.


def test_a_surer_search_raises_each_query_s_own_document_by_deviations_of_its_row():
    scores = np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 1.0], [0.0, 0.0, 3.0]], np.float32)
    raised = firststage.simulate_stronger_search(scores, np.random.default_rng(7)) - scores
    drawn = np.random.default_rng(7).gamma(2.0, 1.5, 3)  # three deviations in the mean
    np.testing.assert_allclose(np.diag(raised), drawn * [np.sqrt(2 / 3), 0, np.sqrt(2)], rtol=1e-5)
    assert not (raised - np.diag(np.diag(raised))).any()


def test_untranslated_words_are_scored_by_bm25():
    # Three documents of 2, 1 and 3 words; "map" is in two, ln(1 + 1.5 / 2.5), "array" in one, ln(1 + 2.5 / 1.5).
    documents = ["map brot", "brot", "map map array"]
    scores = firststage.score_shared_words(["map array map nowhere"], "en", documents, "de")[0]
    rare, common = np.log(1 + 2.5 / 1.5), np.log(1 + 1.5 / 2.5)
    weigh = lambda times, length: times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / 2))  # noqa: E731
    expected = [2 * common * weigh(1, 2), 0, 2 * common * weigh(2, 3) + rare * weigh(1, 3)]
    np.testing.assert_allclose(scores, np.array(expected) / 4, rtol=1e-5)  # by the number of query words


def test_ties_go_to_the_first_document():
    scores = np.tile(np.arange(50) % 2 + 1, (50, 1)).astype(np.float32)  # every other document is as good as the rest
    candidates_by_query = {
        candidates.query: (candidates.documents.tolist(), candidates.right)
        for candidates in firststage.rank_candidates(scores, 25)
    }
    assert candidates_by_query == {query: (list(range(1, 50, 2)), query // 2) for query in range(1, 50, 2)}
