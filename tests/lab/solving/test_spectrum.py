"""Leading directions by iteration: the same as dense algebra finds, within the columns it may hold."""

import numpy as np
import pytest
import scipy.sparse as sp

from paragloss.lab.solving import spectrum
from paragloss.lab.solving.arrays import Arrays
from paragloss.lab.solving.ridge import Block, Regression


@pytest.fixture
def blocks():
    rng = np.random.default_rng(0)
    random_blocks = []
    for terms in (90, 110):
        rows = sp.random(150, terms, density=0.1, rng=rng, format="csr", dtype=np.float32)
        random_blocks.append(Block(rows, np.arange(150)))
    return random_blocks


def test_the_basis_is_compressed_before_it_is_too_wide_and_still_finds_the_directions(blocks, monkeypatch):
    widths = []
    add = spectrum._Basis.add

    def add_and_record(basis, block):
        add(basis, block)
        widths.append((basis.V.shape[1], basis.sizes.before_compression))

    monkeypatch.setattr(spectrum._Basis, "add", add_and_record)
    regression = Regression.from_blocks(blocks, 150, Arrays("numpy"), lambda_=0.5)
    solution = spectrum.solve_iteratively(regression, rank=4, tolerance=0.0, solve_tolerance=1e-5)
    # Rank 4: 12 columns to begin with, room for 8 more wanted each time, 12 + 6 x 8 at most; four residuals come in.
    assert (max(columns for columns, _ in widths), {max_columns for _, max_columns in widths}) == (56, {60})
    assert len(widths) > 8, "it went on after it was compressed"
    exact = spectrum.solve_closed_form(blocks, 150, rank=4, lambda_=0.5)
    np.testing.assert_allclose(solution.values, exact.values, rtol=1e-3)
    for table, exact_table in zip(solution.tables, exact.tables, strict=True):
        np.testing.assert_allclose(np.abs((table * exact_table).sum(0)) / (exact_table**2).sum(0), 1, atol=2e-2)


def test_a_start_keeps_its_span_without_its_mean(blocks):
    regression = Regression.from_blocks(blocks, 150, Arrays("numpy"), lambda_=0.5)
    start = np.random.default_rng(1).standard_normal((150, 3)).astype(np.float32) + 5
    guide = spectrum._orthonormalize_centred(regression, start)
    centred = start - start.mean(0)
    np.testing.assert_allclose(guide.T @ guide, np.eye(3), atol=1e-5)
    np.testing.assert_allclose(guide @ (guide.T @ centred), centred, atol=1e-3)


@pytest.mark.parametrize(
    ("rank", "concepts", "sizes"),
    [
        (4, 5000, (12, 8, 60)),  # eight more to begin with, eight at a time, six times that
        (100, 5000, (108, 25, 258)),  # a quarter at a time
        (200, 5000, (212, 50, 512)),  # a sixteenth more
        (400, 5000, (425, 64, 809)),  # 64 at a time
        (15, 20, (19, 8, 19)),  # one fewer than concepts
    ],
)
def test_how_many_columns_a_search_begins_with_adds_and_holds(rank, concepts, sizes):
    chosen = spectrum._choose_sizes(concepts, rank)
    assert (chosen.guide, chosen.expansion, chosen.before_compression) == sizes


def test_residuals_lead_on_from_what_was_found(blocks):
    """What comes next is what M makes of the leading vectors less their own part, outside the basis."""
    regression = Regression.from_blocks(blocks, 150, Arrays("numpy"), lambda_=0.5)
    basis = spectrum._Basis(regression, 3, 1e-6)
    basis.add(np.linalg.qr(np.random.default_rng(2).standard_normal((150, 9)))[0].astype(np.float32))
    V = basis.V
    X = sp.block_diag([block.rows for block in blocks]).toarray()
    X = X - X.mean(0)
    Y = np.vstack([np.eye(150)] * 2) - 1 / 150
    M = Y.T @ X @ np.linalg.solve(X.T @ X + 0.5 * np.eye(200), X.T @ Y)
    values, vectors = np.linalg.eigh(V.T @ M @ V)
    P = V @ vectors[:, ::-1][:, :3]
    residual = M @ P - P * values[::-1][:3]
    next(spectrum._grow_by_residuals(basis, V[:, :0], tolerance=0.01))
    fresh = basis.V[:, 9:]
    assert fresh.shape == (150, 3)
    np.testing.assert_allclose(fresh.T @ fresh, np.eye(3), atol=1e-4)
    residual_outside_basis = residual - V @ (V.T @ residual)
    np.testing.assert_allclose(fresh @ (fresh.T @ residual_outside_basis), residual_outside_basis, atol=2e-3)


def count_expansions(regression, tolerance):
    basis = spectrum._Basis(regression, 20, 1e-3)
    guide = spectrum._make_guide(basis, 0, None)
    columns = [basis.V.shape[1] for _ in spectrum._grow_by_residuals(basis, guide, tolerance)]
    assert columns[0] == guide.shape[1] == 28, "first comes all of the guide"
    return basis.expansions


def test_a_search_ends_when_an_expansion_gains_less_than_its_share_or_after_many(blocks, monkeypatch):
    regression = Regression.from_blocks(blocks, 150, Arrays("numpy"), lambda_=0.5)
    assert count_expansions(regression, tolerance=0.5) == 1
    assert count_expansions(regression, tolerance=0.02) > 1
    monkeypatch.setattr(spectrum, "MAX_EXPANSIONS", 2)
    assert count_expansions(regression, tolerance=-1.0) == 2


def test_a_guide_of_several_panels_is_added_before_any_residual(blocks):
    regression = Regression.from_blocks(blocks, 150, Arrays("numpy"), lambda_=0.5)
    basis = spectrum._Basis(regression, 70, 1e-3)
    expansions = []
    for _ in spectrum._grow_by_residuals(basis, spectrum._make_guide(basis, 0, None), tolerance=0.01):
        expansions.append(basis.expansions)
    assert expansions[:3] == [0, 0, 1], "the guide of 78 columns has two panels"
