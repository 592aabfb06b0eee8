"""Cr5 against closed forms worked out in dense float64, and against itself."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from corpora import make_sentences, measure_precision

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import ModelError
from paragloss.lab.methods import cr5
from paragloss.lab.solving import spectrum
from paragloss.lab.solving.arrays import Arrays
from paragloss.lab.solving.ridge import Block, Regression
from paragloss.lab.solving.spectrum import solve_closed_form, solve_iteratively
from paragloss.ranking import find_nearest
from paragloss.types import Concept
from paragloss.vocabulary import Vocabulary, weigh


def make_problem(concepts=120, langs=3, terms=200, seed=0):
    """Documents drawn from shared topics; each language has its own words and misses some concepts."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(20, 0.1), concepts)
    blocks = []
    for lang in range(langs):
        words = rng.dirichlet(np.full(terms, 0.05), 20)
        doc_concepts = np.sort(rng.permutation(concepts)[: concepts - 10 * lang])
        rows = np.array([rng.multinomial(60, mix @ words) for mix in topics[doc_concepts]]).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        blocks.append(Block(sp.csr_matrix(rows), doc_concepts))
    return blocks, concepts


def solve_literally(blocks, concepts, rank, lambda_):
    """Eqs 8 to 15 read literally: ridge W of the centred problem, best rank-r W_r in the norm of eq. 10, its SVD."""
    X = sp.block_diag([block.rows for block in blocks]).toarray().astype(np.float64)
    Y = np.zeros((len(X), concepts))
    Y[np.arange(len(X)), np.concatenate([block.concepts for block in blocks])] = 1
    X, Y = X - X.mean(0), Y - Y.mean(0)
    A = X.T @ X + lambda_ * np.eye(X.shape[1])
    L = np.linalg.cholesky(A)
    P, S, Vt = np.linalg.svd(np.linalg.solve(L, X.T @ Y).T, full_matrices=False)  # Ŷ^T X̂ L^-T
    Z = (P[:, :rank] * S[:rank]) @ Vt[:rank]
    W = np.linalg.solve(L.T, Z.T).T  # W = Z L^-1
    objective = 0.5 * np.sum((Y - X @ W.T) ** 2) + 0.5 * lambda_ * np.sum(W**2)
    return W, S[:rank] ** 2, objective, 0.5 * np.sum(Y**2)


def measure_overlap(first_tables, second_tables):
    """1 if two lists of tables span the same space."""
    left, right = np.vstack(first_tables), np.vstack(second_tables)
    return np.linalg.norm(left.T @ right) ** 2 / right.shape[1]


def test_closed_form_is_the_singular_vectors_of_the_rank_limited_solution():
    blocks, concepts = make_problem()
    W, values, objective, at_zero = solve_literally(blocks, concepts, 12, 0.7)
    solution = solve_closed_form(blocks, concepts, rank=12, lambda_=0.7)
    np.testing.assert_allclose(solution.values, values, rtol=1e-9)
    right = np.linalg.svd(W, full_matrices=False)[2][:12].T
    assert measure_overlap(solution.tables, [right]) == pytest.approx(1, abs=1e-6)
    # The objective falls by half the captured sum.
    assert at_zero - objective == pytest.approx(0.5 * solution.values.sum(), rel=1e-9)


def test_two_concepts_by_hand():
    # Two languages, one word per document, two concepts: Ŷ = ±1/2, Ĝ = C. Centred documents x̂ = e_i - 1/4.
    # u = (1, -1)/√2 gives Ŷu = (1, -1, 1, -1)/√2, an eigenvector of Ĝ = I - 11ᵀ/4 with eigenvalue 1: M u = 2/(1+λ) u.
    rows = sp.identity(2, np.float32, format="csr")
    blocks = [Block(rows, np.arange(2)), Block(rows, np.arange(2))]
    solution = solve_closed_form(blocks, 2, rank=1, lambda_=3.0)
    assert solution.values[0] == pytest.approx(2 / (1 + 3.0))
    np.testing.assert_allclose(np.abs(np.vstack(solution.tables)[:, 0]), 0.5, rtol=1e-6)


@pytest.mark.parametrize("device", ["numpy", "cpu"])
def test_iterating_finds_the_closed_form(device):
    if device == "cpu":
        pytest.importorskip("torch")
    blocks, concepts = make_problem()
    exact = solve_closed_form(blocks, concepts, rank=12, lambda_=1.0)
    regression = Regression.from_blocks(blocks, concepts, Arrays(device), lambda_=1.0)
    iterated = solve_iteratively(regression, rank=12, tolerance=1e-6, solve_tolerance=1e-5)
    assert iterated.values.sum() == pytest.approx(exact.values.sum(), rel=1e-5)
    assert measure_overlap(iterated.tables, exact.tables) == pytest.approx(1, abs=1e-3)
    stacked = np.vstack(iterated.tables)
    np.testing.assert_allclose(stacked.T @ stacked, np.eye(12), atol=1e-5)


def test_one_pass_captures_less_than_convergence_and_more_than_early():
    blocks, concepts = make_problem(400, 2)
    regression = Regression.from_blocks(blocks, concepts, Arrays("numpy"), lambda_=1.0)
    one_pass = solve_iteratively(regression, rank=15, solver="one-pass")
    converged = solve_iteratively(regression.with_lambda(1.0), rank=15)
    early = solve_iteratively(regression.with_lambda(1.0), rank=15, solver="early")
    assert one_pass.report["columns"] == 40
    assert early.report["columns"] == 23
    assert early.values.sum() < one_pass.values.sum()
    assert 0.5 * converged.values.sum() < one_pass.values.sum() < converged.values.sum()


def test_a_solve_is_that_of_dense_algebra():
    blocks, concepts = make_problem(60, 2)
    regression = Regression.from_blocks(blocks, concepts, Arrays("numpy"), lambda_=0.2)
    rows = regression.copy_to_documents(Arrays("numpy").normal(concepts, 5, 0))
    B, MV = regression.solve(rows, tolerance=1e-6)
    X = sp.block_diag([block.rows for block in blocks]).toarray()
    X = X - X.mean(axis=0)
    expected = np.linalg.solve(X.T @ X + 0.2 * np.eye(X.shape[1]), X.T @ rows)
    np.testing.assert_allclose(B, expected, atol=1e-4)
    np.testing.assert_allclose(MV, regression.sum_by_concept((X @ expected).astype(np.float32)), atol=1e-4)


def test_scaling_rows_and_lambda_together_changes_nothing():
    # X -> 3X and λ -> 9λ leaves M as it is, and W's right singular vectors too.
    blocks, concepts = make_problem()
    scaled = [Block(block.rows * 3, block.concepts) for block in blocks]
    original = solve_closed_form(blocks, concepts, rank=10, lambda_=1.0)
    rescaled = solve_closed_form(scaled, concepts, rank=10, lambda_=9.0)
    np.testing.assert_allclose(original.values, rescaled.values, rtol=1e-6)
    assert measure_overlap(original.tables, rescaled.tables) == pytest.approx(1, abs=1e-6)


def select_languages(concepts, *langs):
    return [Concept(c.id, {lang: c.texts[lang] for lang in langs}) for c in concepts]


def test_fit_brings_unseen_documents_together():
    concepts = make_sentences(400, 0, ("en", "it"))
    encoder = cr5.fit(concepts[:300], dim=40)
    assert encoder.langs == ("en", "it")
    assert encoder.dim == 40
    assert measure_precision(encoder, concepts[300:], ("en", "it")) > 0.3  # chance is 0.01
    assert encoder.meta["documents"] == 600
    stacked = np.vstack([tower.table for tower in encoder.towers.values()])
    np.testing.assert_allclose(stacked.T @ stacked, np.eye(40), atol=1e-5)


def test_transitive_training_joins_languages_that_share_no_concept():
    concepts = make_sentences(500, 0, ("da", "en", "it"))
    danish_english = [Concept(c.id, {k: t for k, t in c.texts.items() if k != "it"}) for c in concepts[:200]]
    english_italian = [Concept(c.id, {k: t for k, t in c.texts.items() if k != "da"}) for c in concepts[200:400]]
    encoder = cr5.fit(danish_english + english_italian, dim=40)
    assert measure_precision(encoder, concepts[400:], ("da", "it")) > 0.2


def test_dim_is_capped_at_the_number_of_concepts_less_one_and_recorded():
    encoder = cr5.fit(make_sentences(12, 0, ("en", "it")), dim=300)
    assert encoder.dim == 11
    assert cr5.fit(make_sentences(12, 0, ("en", "it")), dim=5).dim == 5
    assert encoder.meta["dim_asked"] == 300


def test_concepts_in_one_language_are_ignored():
    concepts = make_sentences(60, 0, ("en", "it"))
    lonely = [Concept("lonely", {"en": "nobody else says this"})]
    encoder = cr5.fit(concepts + lonely, dim=10)
    assert encoder.meta["concepts"] == 60
    assert "nobody" not in encoder.towers["en"].vocabulary.index


def test_wrong_arguments_are_errors():
    with pytest.raises(ModelError, match="0 of 1 concepts have texts in 2 languages"):
        cr5.fit([Concept("a", {"en": "word"})])
    with pytest.raises(ModelError, match="solver 'fast'"):
        cr5.fit(make_sentences(10, 0, ("en", "it")), solver="fast")
    with pytest.raises(ModelError, match="lambda_ 0"):
        cr5.fit(make_sentences(10, 0, ("en", "it")), lambda_=0)


def test_adding_a_language_keeps_the_other_tables_and_joins_their_space():
    concepts = make_sentences(500, 0, ("da", "en", "it"))
    encoder = cr5.fit(select_languages(concepts[:300], "en", "it"), dim=40)
    pairs = select_languages(concepts[100:400], "da", "en")
    wider = cr5.add_language(encoder, pairs, "da")
    assert wider.langs == ("en", "it", "da")
    assert wider.towers["en"] is encoder.towers["en"]
    assert measure_precision(wider, concepts[400:], ("da", "it")) > 0.2
    with pytest.raises(ModelError, match="knows 'da' already"):
        cr5.add_language(wider, pairs, "da")


def test_add_language_minimises_its_stated_objective_over_concepts_that_have_it_and_a_known_one():
    concepts = make_sentences(80, 0, ("da", "en", "it"))
    encoder = cr5.fit(select_languages(concepts, "en", "it"), dim=10)
    pairs = select_languages(concepts, "da", "en")
    unusable = [Concept("a", {"da": "dawak dawbl"}), Concept("b", {"en": "enwak", "it": "itwak"}), Concept("c", {})]
    wider = cr5.add_language(encoder, unusable + pairs, "da", lambda_=0.5, device="numpy")
    tower = wider.towers["da"]
    X = weigh(tower.vocabulary.counts([c.texts["da"] for c in pairs]), tower.vocabulary.idf, "tfidf").toarray()
    T = encoder.encode([c.texts["en"] for c in pairs], "en")
    np.testing.assert_allclose(tower.table, np.linalg.solve(X.T @ X + 0.5 * np.eye(X.shape[1]), X.T @ T), atol=2e-3)
    assert wider.meta["added"] == {"da": {"documents": 80, "lambda_": 0.5}}
    with pytest.raises(ModelError, match="no concept has a text in 'da'"):
        cr5.add_language(encoder, unusable, "da")


def test_progress_ends_at_one_and_never_falls(monkeypatch):
    monkeypatch.setattr(spectrum, "MAX_DOCUMENTS_FOR_CLOSED_FORM", 0)
    reports = []
    cr5.fit(
        make_sentences(200, 0, ("en", "it")),
        dim=80,
        device="numpy",
        progress=lambda share, left: reports.append((share, left)),
    )
    assert [share for share, _ in reports] == sorted(share for share, _ in reports)
    assert reports[-1] == (1.0, 0.0)
    assert len(reports) > 2


DATA = Path(os.environ.get("PARAGLOSS_DATA", Path.home() / ".cache" / "paragloss"))


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "lohelp").exists(), reason="no LibreOffice help pages under PARAGLOSS_DATA")
def test_held_out_help_pages_are_found_across_languages():
    from paragloss.formats.jsonl import read_concepts

    aligned = sorted(read_concepts([DATA / "lohelp" / f"{lang}.jsonl.gz" for lang in ("en", "it")]))
    bilingual = [c for c in aligned if len(c.texts) == 2]
    encoder = cr5.fit(bilingual[:-200], dim=200)
    assert measure_precision(encoder, bilingual[-200:], ("it", "en")) > 0.7


def test_csls_as_the_paper_takes_it():
    # 2 cos(q, d) - r(d), with r(d) the mean cosine of d to its k nearest queries; the query's own term is constant.
    rng = np.random.default_rng(0)
    queries, documents = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in rng.standard_normal((2, 30, 5)))
    cosines = queries @ documents.T
    hubness = np.sort(cosines, axis=0)[-10:].mean(axis=0)
    expected = np.argsort(-(2 * cosines - hubness), axis=1)[:, :3]
    neighbours = find_nearest(queries.astype(np.float32), documents.astype(np.float32), 3, csls=10)
    np.testing.assert_array_equal(neighbours, expected)


def test_a_new_language_aims_at_the_direction_between_those_that_are_known():
    """English and Italian disagree: (1, 0) and (-0.8, 0.6) add up to (0.2, 0.6), which is made as long as 1."""
    words = {"en": [[1, 0]], "it": [[-0.8, 0.6]]}
    encoder = BagEncoder({
        lang: Tower(Vocabulary(lang, [f"{lang}word"], [2], 2, stem=False), np.array(row, np.float32))
        for lang, row in words.items()
    })  # fmt: skip
    concepts = [Concept(str(i), {"en": "enword", "it": "itword", "da": "daword"}) for i in range(2)]
    # One word, two texts: the table is 2 t / (2 + lambda) with t the target.
    (row,) = cr5.add_language(encoder, concepts, "da", lambda_=1.0, device="numpy").towers["da"].table
    np.testing.assert_allclose(row, 2 / 3 * np.array([0.2, 0.6]) / np.hypot(0.2, 0.6), rtol=1e-3)


def test_tuning_by_iteration_uses_its_seed_and_starts_from_the_last_solution(monkeypatch):
    calls, find_leading = [], cr5.solve_iteratively
    monkeypatch.setattr(cr5, "solve_iteratively", lambda *a, **k: calls.append(k) or find_leading(*a, **k))
    for solver in ("converged", "one-pass"):
        calls.clear()
        cr5.tune(
            make_sentences(60, 0, ("en", "it")),
            lambdas=(0.5, 2.0),
            folds=2,
            dim=8,
            seed=7,
            solver=solver,
            device="numpy",
        )
        assert {(call["seed"], call["solver"], call["rank"]) for call in calls} == {(7, solver, 8)}
        assert [call["start"] is None for call in calls] == [True, solver == "one-pass"] * 2


def test_languages_joined_through_a_third_one_are_solved_to_convergence(monkeypatch):
    monkeypatch.setattr(spectrum, "MAX_DOCUMENTS_FOR_CLOSED_FORM", 0)  # which would solve these few documents
    pairs = [("da", "en"), ("en", "ru")]
    joined = [Concept(f"{a}{i}", {a: f"{a}{i} {a}", b: f"{b}{i} {b}"}) for a, b in pairs for i in range(20)]
    assert cr5.fit(joined, dim=5).meta["solver"] == "converged"
    triples = [Concept(str(i), {lang: f"{lang}{i} {lang}" for lang in ("da", "en", "ru")}) for i in range(20)]
    assert cr5.fit(triples, dim=5).meta["solver"] == "early"


@pytest.mark.parametrize(
    ("n_short", "force", "documents"),
    [(4, False, 12), (4, True, 4), (3, False, 6)],  # of two languages: two or three of six texts are long enough
)
def test_a_bound_of_lengths_is_applied_if_it_is_forced_or_drops_at_most_half(n_short, force, documents):
    texts = ["one two three four"] * (6 - n_short) + ["one two"] * n_short
    aligned = [Concept(str(i), {"en": text, "fr": text}) for i, text in enumerate(texts)]
    model = cr5.fit(aligned, dim=1, lengths=(3, 10), force_lengths=force)
    assert model.meta["documents"] == documents
