"""Weights for lists: against a closed form, against finite differences, and what a useless feature gets."""

import numpy as np
import pytest

from paragloss.lab.solving.lists import weigh_lists


def test_two_items_are_a_coin_whose_odds_are_known():
    # 3 lists of 4 have the item with feature 1 right, 1 the item with feature 0: log odds ln 3 without a penalty.
    lists = [np.array([[1.0], [0.0]])] * 4
    weights, loss = weigh_lists(lists, [0, 0, 0, 1], penalty=0.0)
    assert weights[0] == pytest.approx(np.log(3), abs=1e-4)
    assert loss == pytest.approx(-(0.75 * np.log(0.75) + 0.25 * np.log(0.25)), abs=1e-6)


@pytest.mark.parametrize("penalty", [0.0, 0.3])
def test_the_loss_is_minimal_and_the_scale_of_a_feature_does_not_matter(penalty):
    rng = np.random.default_rng(0)
    lists = [rng.standard_normal((n, 3)) for n in (4, 7, 2, 5, 9) * 6]
    right = [int(np.argmax(features @ [2.0, -1.0, 0.0] + rng.gumbel(size=len(features)))) for features in lists]
    weights, loss = weigh_lists(lists, right, penalty=penalty)
    deviations = np.concatenate(lists).std(axis=0)

    def value(w):
        scores = [features @ w for features in lists]
        losses = [np.log(np.exp(s).sum()) - s[r] for s, r in zip(scores, right, strict=True)]
        return np.mean(losses) + penalty * np.sum((w * deviations) ** 2) / 2

    assert value(weights) == pytest.approx(loss, abs=1e-6)
    for i in range(3):
        for h in (-0.05, 0.05):
            assert value(weights + h * np.eye(3)[i]) > loss
    scaled, _ = weigh_lists([features * [1000, 1, 1] for features in lists], right, penalty=penalty)
    np.testing.assert_allclose(scaled * [1000, 1, 1], weights, rtol=1e-2, atol=1e-2)


def test_no_weight_is_below_the_given_minimum():
    lists = [np.array([[1.0, 0.0], [0.0, 1.0]])] * 10
    weights, _ = weigh_lists(lists, [0] * 10, penalty=0.01, minimum=0.0)
    assert weights[0] > 0
    assert weights[1] == 0


def test_a_constant_feature_has_no_weight_and_a_penalty_shrinks_weights():
    lists = [np.array([[1.0, 5.0], [0.0, 5.0]])] * 10
    free, _ = weigh_lists(lists, [0] * 10, penalty=1e-4)
    penalized, _ = weigh_lists(lists, [0] * 10, penalty=1.0)
    assert free[1] == penalized[1] == 0
    assert free[0] > 3 * penalized[0] > 0
