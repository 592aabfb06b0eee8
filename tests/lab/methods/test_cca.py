"""CCA of documents against the textbook formula."""

import numpy as np
import scipy.linalg

from paragloss import demo
from paragloss.lab.learning.counting import text_of
from paragloss.lab.methods import cca
from paragloss.vocabulary import weigh


def make_views(seed=0, concepts=60):
    noise = np.random.default_rng(seed)
    common = noise.standard_normal((concepts, 3))
    rows = [common @ noise.standard_normal((3, width)) + noise.standard_normal((concepts, width)) for width in (6, 5)]
    return [view - view.mean(axis=0) for view in rows]


def test_agreement_is_one_plus_the_canonical_correlation_over_two():
    x, y = make_views()
    all_concepts = np.arange(60)
    agreement, (A, B) = cca.correlate([x, y], [all_concepts, all_concepts], dim=5, ridge=0.0)
    root = [scipy.linalg.inv(scipy.linalg.sqrtm(view.T @ view)) for view in (x, y)]
    expected = np.linalg.svd(root[0] @ x.T @ y @ root[1], compute_uv=False)[:5]
    np.testing.assert_allclose(agreement, (1 + expected) / 2, rtol=1e-5)
    correlations = [np.corrcoef(x @ A[:, i], y @ B[:, i])[0, 1] for i in range(5)]
    np.testing.assert_allclose(correlations, expected, atol=1e-4)


def test_the_ridge_is_on_both_sides():
    """Regularised canonical correlations: singular values of (Cxx + rI)^-1/2 Cxy (Cyy + rI)^-1/2."""
    x, y = make_views()
    all_concepts = np.arange(60)
    agreement, _ = cca.correlate([x, y], [all_concepts, all_concepts], dim=5, ridge=0.5)
    root = []
    for view in (x, y):
        own = view.T @ view
        own += 0.5 * np.trace(own) / len(own) * np.eye(len(own))
        root.append(scipy.linalg.inv(scipy.linalg.sqrtm(own)))
    expected = np.linalg.svd(root[0] @ x.T @ y @ root[1], compute_uv=False)[:5]
    np.testing.assert_allclose(agreement, (1 + expected) / 2, rtol=1e-5)


def test_the_number_of_directions_is_the_given_one_up_to_the_rank():
    x, y = make_views()
    all_concepts = np.arange(60)
    for dim, expected_dim in ((11, 11), (20, 11), (1, 1), (3, 3)):
        agreement, (A, B) = cca.correlate([x, y], [all_concepts, all_concepts], dim=dim, ridge=0.1)
        assert (len(agreement), A.shape, B.shape) == (expected_dim, (6, expected_dim), (5, expected_dim))


def test_fit_correlates_what_each_language_deviates_from_its_own_mean():
    """The eigenvectors of `correlate` make the covariances of all views, added up, the identity; the ridge aside."""
    concepts = demo.concepts()
    model = cca.fit(concepts, dim=6, reduced=8, ridge=1e-9)
    total = np.zeros((6, 6))
    for lang, tower in model.towers.items():
        rows = weigh(tower.vocabulary.counts([text_of(c, lang) for c in concepts]), tower.vocabulary.idf, "tfidf")
        variates = rows @ tower.table + tower.bias
        total += variates.T @ variates
    np.testing.assert_allclose(total, np.eye(6), atol=1e-3)


def test_three_views_with_gaps_solve_the_eigenproblem_of_their_definition():
    """Concept by concept: what the views of one say together against what each says alone, ridges on both sides."""
    x, y = make_views()
    z = make_views(seed=3)[0][:40]
    view_list, owners = [x, y, z], [np.arange(60), np.arange(60), np.arange(20, 60)]
    agreement, projections = cca.correlate(view_list, owners, dim=4, ridge=0.3)
    rows, joint, separate = np.zeros((60, 17)), np.zeros((17, 17)), np.zeros((17, 17))
    for view, owner, at in zip(view_list, owners, (slice(0, 6), slice(6, 11), slice(11, 17)), strict=True):
        rows[owner, at] = view
        ridge = 0.3 * np.trace(view.T @ view) / view.shape[1] * np.eye(view.shape[1])
        separate[at, at] = view.T @ view + ridge
        joint[at, at] = ridge * np.mean([1 / (3 if concept >= 20 else 2) for concept in owner])
    for concept, row in enumerate(rows):
        joint += np.outer(row, row) / (3 if concept >= 20 else 2)
    np.testing.assert_allclose(agreement, scipy.linalg.eigh(joint, separate)[0][::-1][:4], rtol=1e-5)
    V = np.vstack(projections)
    np.testing.assert_allclose(joint @ V, separate @ V * agreement, atol=1e-3)
