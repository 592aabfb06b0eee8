"""Leading directions by iteration: the same as dense algebra finds, within the columns it may hold."""

import numpy as np
import pytest
import scipy.sparse as sp

from paragloss.lab.solving import spectrum
from paragloss.lab.solving.arrays import Arrays
from paragloss.lab.solving.ridge import Block, Regression


@pytest.fixture(scope="module")
def blocks():
    rng = np.random.default_rng(0)
    random_blocks = []
    for terms in (90, 110):
        rows = sp.random(150, terms, density=0.1, rng=rng, format="csr", dtype=np.float32)
        random_blocks.append(Block(rows, np.arange(150)))
    return random_blocks


@pytest.fixture(scope="module")
def exact(blocks):
    return spectrum.solve_closed_form(blocks, 150, rank=4, lambda_=0.5)


@pytest.fixture
def regression(blocks):
    return Regression.from_blocks(blocks, 150, Arrays("numpy"), lambda_=0.5)


def test_the_basis_is_compressed_before_it_is_too_wide_and_still_finds_the_directions(regression, exact, monkeypatch):
    widths = []
    add = spectrum._Basis.add

    def add_and_record(basis, block):
        add(basis, block)
        widths.append((basis.V.shape[1], basis.sizes.before_compression))

    monkeypatch.setattr(spectrum._Basis, "add", add_and_record)
    solution = spectrum.solve_iteratively(regression, rank=4, tolerance=0.0, solve_tolerance=1e-5)
    # Rank 4: 12 columns to begin with, room for 8 more wanted each time, 12 + 6 x 8 at most; four residuals come in.
    assert (max(columns for columns, _ in widths), {max_columns for _, max_columns in widths}) == (56, {60})
    assert len(widths) > 8, "it went on after it was compressed"
    assert solution.report["residual"] < 1e-2
    np.testing.assert_allclose(solution.values, exact.values, rtol=1e-3)
    for table, exact_table in zip(solution.tables, exact.tables, strict=True):
        np.testing.assert_allclose(np.abs((table * exact_table).sum(0)) / (exact_table**2).sum(0), 1, atol=2e-2)


def test_a_search_that_starts_from_the_solution_ends_at_once(regression, exact):
    """What the directions have in common is left out: it is no direction of concepts."""
    settings = {"rank": 4, "tolerance": 0.01, "solve_tolerance": 1e-5}
    solution = spectrum.solve_iteratively(regression, start=exact.vectors + 5, **settings)
    assert solution.report["expansions"] == 1
    np.testing.assert_allclose(solution.values, exact.values, rtol=1e-3)


def count_expansions(regression, tolerance):
    return spectrum.solve_iteratively(regression, rank=20, tolerance=tolerance).report["expansions"]


def test_a_search_ends_when_an_expansion_gains_less_than_its_share_or_after_many(regression, monkeypatch):
    assert count_expansions(regression, tolerance=0.5) == 1
    assert count_expansions(regression, tolerance=0.02) > 1
    monkeypatch.setattr(spectrum, "MAX_EXPANSIONS", 2)
    assert count_expansions(regression, tolerance=-1.0) == 2


def test_a_guide_of_several_panels_is_added_before_any_residual(regression):
    basis = spectrum._Basis(regression, 70, 1e-3)
    expansions = []
    for _ in spectrum._grow_by_residuals(basis, spectrum._make_guide(basis, 0, None), tolerance=0.01):
        expansions.append(basis.expansions)
    assert expansions[:3] == [0, 0, 1], "the guide of 78 columns has two panels"
