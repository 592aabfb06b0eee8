"""Tuning cr5 and ordinal: what is kept apart, what is tried, and how it is told."""

from types import SimpleNamespace

import numpy as np
import pytest
from corpora import make_sentences
from matplotlib.figure import Figure

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import ModelError
from paragloss.lab import judgments
from paragloss.lab.methods import cr5, ordinal
from paragloss.lab.solving import spectrum
from paragloss.types import Concept, Document, JudgedCollection, Query
from paragloss.vocabulary import Vocabulary

SMALL_CORPUS = make_sentences(40, 0)


def test_cr5_tests_every_concept_once_with_a_model_not_trained_on_it(monkeypatch):
    parts = []
    plain, precision = cr5.count_texts, cr5._measure_precision_at_1
    monkeypatch.setattr(
        cr5, "count_texts", lambda training, **settings: parts.append(training) or plain(training, **settings)
    )
    monkeypatch.setattr(
        cr5, "_measure_precision_at_1", lambda model, held_out: parts.append(held_out) or precision(model, held_out)
    )
    tuning = cr5.tune(SMALL_CORPUS, lambdas=(1.0,), folds=3, dim=5, stem=False)
    names = [[c.id for c in part] for part in parts]
    for training, held_out in zip(names[::2], names[1::2], strict=True):
        assert sorted(training + held_out) == sorted(c.id for c in SMALL_CORPUS), (
            "all of a concept's languages are in one fold"
        )
    assert sorted(name for held_out in names[1::2] for name in held_out) == sorted(c.id for c in SMALL_CORPUS)
    assert [len(part) for part in names] == [26, 14, 27, 13, 27, 13]
    assert tuning.queries == 80, "forty concepts, two directions"
    parts.clear()
    cr5.tune(SMALL_CORPUS, lambdas=(1.0,), held_out=3, dim=5, stem=False)
    assert [len(part) for part in parts] == [26, 3, 27, 3, 27, 3]


def test_cr5_chooses_the_lambda_that_is_best_over_all_folds(monkeypatch):
    # Fold by fold: .5 finds .2, 1., .0; 2 finds .6, .5, .4. The first and the best single fold would both say .5 or 2.
    precisions = iter([0.2, 0.6, 1.0, 0.5, 0.0, 0.4])
    monkeypatch.setattr(cr5, "_measure_precision_at_1", lambda model, apart: (next(precisions), len(apart)))
    tuning = cr5.tune(SMALL_CORPUS, lambdas=(0.5, 2.0), dim=5, stem=False)
    assert tuning.scores == pytest.approx({0.5: 0.4, 2.0: 0.5})
    assert (tuning.best, tuning.queries) == (2.0, 40)


def test_cr5_refuses_to_tune_too_few_concepts_or_no_lambdas():
    with pytest.raises(ModelError, match="5 concepts are too few for 3 folds: give at least 6"):
        cr5.tune(SMALL_CORPUS[:5])
    assert cr5.tune(SMALL_CORPUS[:6], lambdas=(1.0,), stem=False).queries == 12
    with pytest.raises(ModelError, match="at least one value"):
        cr5.tune(SMALL_CORPUS, lambdas=())


@pytest.mark.parametrize(
    ("solver", "starts"),
    [("early", [None, None, None]), ("converged", [None, "the last", "the last"]), ("one-pass", [None] * 3)],
)
def test_cr5_starts_from_the_solution_of_the_previous_lambda_when_converging(monkeypatch, solver, starts):
    tried = []

    def note(regression, *, start, **options):
        tried.append((regression.lambda_, options["solver"], start))
        solution = plain(regression, start=start, **options)
        return solution._replace(vectors="the last") if solver == "converged" else solution

    plain = lambda regression, *, start, **options: spectrum.solve_iteratively(regression, **options)  # noqa: E731
    monkeypatch.setattr(cr5, "solve_iteratively", note)
    monkeypatch.setattr(cr5, "solve_closed_form", None)
    cr5.tune(SMALL_CORPUS, lambdas=(0.5, 2.0, 1.0), folds=2, dim=5, stem=False, solver=solver, device="numpy")
    assert tried == 2 * list(zip((0.5, 2.0, 1.0), [solver] * 3, starts, strict=True))


def test_cr5_solves_few_documents_by_the_closed_form(monkeypatch):
    monkeypatch.setattr(cr5, "solve_iteratively", None)
    assert set(cr5.tune(SMALL_CORPUS, lambdas=(0.5, 2.0), dim=5, stem=False).scores) == {0.5, 2.0}
    assert cr5.tune(SMALL_CORPUS, lambdas=(3.0,), dim=5, stem=False, solver="closed-form").best == 3.0


def test_cr5_tries_a_single_lambda_by_iteration():
    assert cr5.tune(SMALL_CORPUS, lambdas=(3.0,), dim=5, stem=False, solver="early", device="numpy").best == 3.0


def test_precision_is_the_mean_over_directed_pairs_that_meet():
    """Words are their own directions; French says "deux" where English says "one". English and Italian share a
    concept, French and Italian none."""
    words = {"en": ["one", "two"], "fr": ["deux", "un"], "it": ["uno", "due"]}
    model = BagEncoder({
        lang: Tower(Vocabulary(lang, terms, [1, 1], 2, stem=False), np.eye(2, dtype=np.float32))
        for lang, terms in words.items()
    })  # fmt: skip
    concepts = [
        Concept("1", {"en": "one", "fr": "un"}),
        Concept("2", {"en": "two", "fr": "deux"}),
        Concept("3", {"en": "one", "it": "uno"}),
        Concept("4", {"fr": "un"}),
    ]
    # en-fr and fr-en: neither of two queries; en-it and it-en: their only one.
    assert cr5._measure_precision_at_1(model, concepts) == (0.5, 6)
    with pytest.raises(ModelError, match="hold out more"):
        cr5._measure_precision_at_1(model, concepts[3:])


TUNING = cr5.Tuning({0.5: 0.2, 1.0: 0.6, 2.0: 0.4}, 1.0, 10)
TRIALS = [
    ordinal.Trial((0.2, 0.7), 1.0, 0.6),
    ordinal.Trial((0.2, 0.7), 0.5, 0.5),
    ordinal.Trial((0.0, 0.5), 0.5, 0.3),
]


def test_tables_have_the_best_first():
    assert cr5.table(TUNING) == (("lambda", "P@1"), [("1", 0.6), ("2", 0.4), ("0.5", 0.2)])
    header, rows = ordinal.table(TRIALS)
    assert (header, rows[0]) == (("thresholds", "epsilon", "nDCG@5"), ((0.2, 0.7), "1", 0.6))


@pytest.fixture
def saved_plots(monkeypatch):
    """The axes that a plot has drawn, and where it was saved."""
    saved = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, path: saved.append((figure.axes[0], path)))
    return saved


def test_cr5_draws_precision_against_lambda(saved_plots):
    cr5.plot(TUNING, "lambda.svg")
    ((axes, path),) = saved_plots
    curve, best = axes.get_lines()
    assert np.array_equal(curve.get_xydata(), [[0.5, 0.2], [1.0, 0.6], [2.0, 0.4]])
    assert (list(best.get_xdata()), path) == ([1.0, 1.0], "lambda.svg")
    assert (axes.get_xscale(), axes.get_xlabel(), axes.get_title()) == ("log", "λ", "best λ = 1")


def test_ordinal_draws_a_named_line_for_each_choice_of_thresholds(saved_plots):
    ordinal.plot(TRIALS, "grid.png")
    ((axes, path),) = saved_plots
    lines = {line.get_label(): line.get_xydata().tolist() for line in axes.get_lines()}
    assert lines == {"0, 0.5": [[0.5, 0.3]], "0.2, 0.7": [[0.5, 0.5], [1.0, 0.6]]}
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["0, 0.5", "0.2, 0.7"]
    assert not axes.get_legend().get_frame_on()
    assert (axes.get_xscale(), axes.get_xlabel(), path) == ("log", "epsilon", "grid.png")


def test_ordinal_learns_from_the_folds_that_it_does_not_test_on(monkeypatch):
    judged = judgments.from_aligned(make_sentences(30, 0), source="en", target="fr", query="text")
    calls = []

    class Fitted:
        meta = {"ndcg@5": 0.5}  # noqa: RUF012

    def note(training, *, validation, **options):
        calls.append((training, validation, options))
        Fitted.meta = {"ndcg@5": options["epsilon"] + len(calls) / 100}
        return Fitted

    monkeypatch.setattr(ordinal, "fit_judged", note)
    trials = ordinal.tune(judged, thresholds=[(0.2, 0.7)], epsilons=(0.25, 0.5), folds=3, seed=1, negatives=4, dim=7)
    assert len(calls) == 6
    all_ids = {query.id for query in judged.queries}
    for training, (test,), options in calls:
        tested = {query.id for query in test.queries}
        assert len(tested) == 10
        assert {query.id for query in training.queries} == all_ids - tested == set(training.qrels)
        assert all(len(grades) == 5 for grades in test.qrels.values())  # its own document and four others
        assert (options["thresholds"], options["negatives"], options["seed"], options["dim"]) == ((0.2, 0.7), 4, 1, 7)
    # Epsilon and the mean of 1, 2, 3 hundredths, then of 4, 5, 6: best first.
    assert [(t.epsilon, round(t.measure, 6)) for t in trials] == [(0.5, 0.55), (0.25, 0.27)]


def test_ordinal_keeps_queries_with_one_answer_in_one_fold(monkeypatch):
    queries = [Query(f"{kind}{i}", f"{kind} {i}", "en") for i in range(12) for kind in ("title", "text")]
    documents = {str(i): Document(str(i), f"texte {i}", "fr") for i in range(12)}
    judged = JudgedCollection(queries, documents, {query.id: {query.text.split()[1]: 2} for query in queries})
    answer_sets = []

    def fit(training, *, validation, **_):
        answer_sets.append([{query.text.split()[1] for query in part.queries} for part in (training, *validation)])
        return SimpleNamespace(meta={"ndcg@5": 0.5})

    monkeypatch.setattr(ordinal, "fit_judged", fit)
    ordinal.tune(judged, thresholds=((0.2, 0.7),), epsilons=(1.0,), negatives=2)
    assert all(not learned & held_out for learned, held_out in answer_sets)
    assert sorted(len(held_out) for _, held_out in answer_sets) == [4, 4, 4]
