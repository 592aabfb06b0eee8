"""OPCA against scipy's dense generalised eigenproblem."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from paragloss.lab.solving import oriented


def make_problem(concepts=40, seed=0, languages=2, complete=True):
    noise = np.random.default_rng(seed)
    rows, owners = [], []
    for width in (12, 9, 7)[:languages]:
        concept_ids = np.sort(noise.permutation(concepts)[: concepts if complete else concepts * 3 // 4])
        rows.append(
            sp.csr_matrix(noise.random((len(concept_ids), width)) * (noise.random((len(concept_ids), width)) < 0.4))
        )
        owners.append(concept_ids)
    return rows, owners


def compute_signal_and_noise(rows, owners, gamma):
    """S and N by the definition, one document at a time."""
    X = sp.block_diag(rows).toarray()
    owner = np.concatenate(owners)
    signal = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    noise = gamma * np.eye(X.shape[1])
    for concept in np.unique(owner):
        documents = X[owner == concept]
        deviations = documents - documents.mean(axis=0)
        noise += deviations.T @ deviations
    return signal, noise


@pytest.mark.parametrize(("languages", "complete"), [(2, True), (3, True), (3, False)])
@pytest.mark.parametrize("gamma", [0.1, 2.0])
def test_the_answer_is_that_of_the_generalised_eigenproblem(languages, complete, gamma):
    rows, owners = make_problem(languages=languages, complete=complete)
    signal, noise = compute_signal_and_noise(rows, owners, gamma)
    expected = scipy.linalg.eigh(signal, noise)[0][::-1][:5]
    values, table = oriented.find_oriented_directions(rows, owners, dim=5, gamma=gamma)
    np.testing.assert_allclose(values, expected, rtol=1e-3)
    np.testing.assert_allclose(table.T @ noise @ table, np.eye(5), atol=1e-2)
    np.testing.assert_allclose(signal @ table, noise @ table * values, atol=0.02 * values[0])


def test_noise_from_differences_is_twice_noise_from_deviations():
    """So a gamma quoted for differences is halved: the same directions, half the ratios."""
    rows, owners = make_problem()
    difference = sp.hstack([rows[0], -rows[1]]).toarray()
    signal, _ = compute_signal_and_noise(rows, owners, 0)
    quoted = scipy.linalg.eigh(signal, difference.T @ difference + 0.8 * np.eye(21))[0][::-1][:4]
    values, _ = oriented.find_oriented_directions(rows, owners, dim=4, gamma=0.4)
    np.testing.assert_allclose(values / 2, quoted, rtol=1e-3)


def test_conjugate_gradients_solve_every_column():
    noise = np.random.default_rng(1)
    A = noise.standard_normal((30, 30))
    A = (A @ A.T + 5 * np.eye(30)).astype(np.float32)
    right = noise.standard_normal((30, 4)).astype(np.float32)
    right[:, 2] = 0
    scale = (1 / np.diag(A))[:, None]
    solution = oriented.conjugate_gradients(lambda b: A @ b, right, scale=scale, tolerance=1e-6)
    np.testing.assert_allclose(solution, np.linalg.solve(A, right), atol=1e-3)


def test_the_order_of_languages_changes_no_similarity():
    rows, owners = make_problem()
    _, table = oriented.find_oriented_directions(rows, owners, dim=5, gamma=0.5)
    _, turned = oriented.find_oriented_directions(rows[::-1], owners[::-1], dim=5, gamma=0.5)
    left, right = rows[0] @ table[:12], rows[1] @ table[12:]
    left_, right_ = rows[0] @ turned[9:], rows[1] @ turned[:9]
    np.testing.assert_allclose(left @ right.T, left_ @ right_.T, atol=2e-2 * np.abs(left @ right.T).max())


def test_a_few_iterations_come_close_in_a_large_space():
    """600 terms, of which the iteration holds 64 + 10 directions at a time."""
    noise = np.random.default_rng(0)
    topics = noise.dirichlet(np.full(20, 0.1), size=400)
    rows = [sp.csr_matrix(noise.poisson(topics @ noise.gamma(0.2, 2, (20, 300)))).astype(float) for _ in range(2)]
    owners = [np.arange(400)] * 2
    signal, covariance = compute_signal_and_noise(rows, owners, 5.0)
    expected = scipy.linalg.eigh(signal, covariance)[0][::-1][:10]
    values, _ = oriented.find_oriented_directions(rows, owners, dim=10, gamma=5.0)
    np.testing.assert_allclose(values, expected, rtol=0.02)
