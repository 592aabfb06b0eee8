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
from paragloss.types import Concept, Document, JudgedCollection, Query
from paragloss.vocabulary import Vocabulary

SMALL_CORPUS = make_sentences(40, 0)


def test_cr5_tests_every_concept_once_with_a_model_not_trained_on_it(monkeypatch):
    measured = []  # of each fold, what the model was trained on (words are those of one concept) and what is held out
    precision = cr5._measure_precision_at_1
    monkeypatch.setattr(
        cr5,
        "_measure_precision_at_1",
        lambda model, held_out: measured.append((model, held_out)) or precision(model, held_out),
    )
    aligned = [Concept(str(i), {"en": f"one common en{i} x{i}", "fr": f"un commun fr{i} y{i}"}) for i in range(40)]
    tuning = cr5.tune(aligned, lambdas=(1.0,), folds=3, dim=5, stem=False, min_df=1)
    held_out_ids = [[c.id for c in held_out] for _, held_out in measured]
    assert sorted(np.concatenate(held_out_ids).tolist()) == sorted(c.id for c in aligned)
    assert [len(ids) for ids in held_out_ids] == [14, 13, 13]
    for (model, _), ids in zip(measured, held_out_ids, strict=True):
        known_words = set(model.towers["en"].vocabulary.terms)
        assert {c.id for c in aligned if f"en{c.id}" not in known_words} == set(ids)
    assert (tuning.queries, set(tuning.scores), tuning.best) == (80, {1.0}, 1.0)
    assert cr5.tune(aligned, lambdas=(1.0,), held_out=3, dim=5, stem=False, min_df=1).queries == 18


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


@pytest.fixture
def fold_calls(monkeypatch):
    """What is fitted, without fitting: training set, validation sets and settings; the measure grows call by call."""
    calls = []

    def note(training, *, validation, **options):
        calls.append((training, validation, options))
        return SimpleNamespace(meta={"ndcg@5": options["epsilon"] + len(calls) / 100})

    monkeypatch.setattr(ordinal, "fit_judged", note)
    return calls


def test_ordinal_learns_from_the_folds_that_it_does_not_test_on(fold_calls):
    judged = judgments.from_aligned(make_sentences(30, 0), source="en", target="fr", query_kind="text")
    trials = ordinal.tune(judged, thresholds=[(0.2, 0.7)], epsilons=(0.25, 0.5), folds=3, seed=1, negatives=4, dim=7)
    assert len(fold_calls) == 6
    all_ids = {query.id for query in judged.queries}
    for training, (test,), options in fold_calls:
        tested = {query.id for query in test.queries}
        assert len(tested) == 10
        assert {query.id for query in training.queries} == all_ids - tested == set(training.qrels)
        assert all(len(grades) == 5 for grades in test.qrels.values())  # its own document and four others
        assert (options["thresholds"], options["negatives"], options["seed"], options["dim"]) == ((0.2, 0.7), 4, 1, 7)
    # Epsilon and the mean of 1, 2, 3 hundredths, then of 4, 5, 6: best first.
    assert [(t.epsilon, round(t.measure, 6)) for t in trials] == [(0.5, 0.55), (0.25, 0.27)]


def test_ordinal_keeps_queries_with_one_answer_in_one_fold(fold_calls):
    queries = [Query(f"{kind}{i}", f"{kind} {i}", "en") for i in range(12) for kind in ("title", "text")]
    documents = {str(i): Document(str(i), f"texte {i}", "fr") for i in range(12)}
    judged = JudgedCollection(queries, documents, {query.id: {query.text.split()[1]: 2} for query in queries})
    ordinal.tune(judged, thresholds=((0.2, 0.7),), epsilons=(1.0,), negatives=2)
    for training, (test,), _ in fold_calls:
        learned, held_out = ({query.text.split()[1] for query in part.queries} for part in (training, test))
        assert not learned & held_out
        assert len(held_out) == 4
