"""Settings that change what is learned: each is followed to where it acts, or its effect is worked out by hand."""

import numpy as np
import pytest
import scipy.sparse as sp
from corpora import make_sentences

from paragloss.lab.methods import cr5, knrm, ordinal
from paragloss.lab.settings import read_options
from paragloss.lab.solving.spectrum import solve_closed_form
from paragloss.methods import load_method
from paragloss.types import Document, JudgedCollection, Query

torch = pytest.importorskip("torch")

from paragloss.lab.descent import contrast, towers  # noqa: E402
from paragloss.lab.descent.bags import bags  # noqa: E402


@pytest.mark.parametrize("lambda_", [0.5, 6.0])
def test_cr5_regresses_with_the_lambda_it_is_given(lambda_):
    concepts = make_sentences(30, 0)
    model = cr5.fit(concepts, dim=5, lambda_=lambda_, stem=False)
    regression = cr5.count_texts(concepts, dim=5, seed=0, stem=False)
    solution = solve_closed_form(regression.blocks, regression.concepts, rank=5, lambda_=lambda_)
    for tower, expected in zip(model.towers.values(), solution.tables, strict=True):
        np.testing.assert_allclose(np.abs(tower.table), np.abs(expected), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", [knrm, ordinal])
@pytest.mark.parametrize(("stem", "terms"), [(True, ["dog", "run"]), (False, ["dogs", "running", "the"])])
def test_words_are_stemmed_unless_they_are_taken_as_they_are(method, stem, terms):
    documents = {doc_id: Document(doc_id, text, "fr") for doc_id, text in (("d", "les chiens"), ("e", "un chat"))}
    judged = JudgedCollection([Query("q", "the running dogs", "en")], documents, {"q": {"d": 2}})
    model = method.fit_judged(judged, dim=4, epochs=1, stem=stem)
    vocabulary = model.vocabularies["en"] if method is knrm else model.tower("en").vocabulary
    assert sorted(vocabulary.terms) == terms


def test_negatives_by_hand():
    left = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    right = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.6, 0.8]])
    # Cosines of the rows: (1, -1, .6), (0, 0, .8), (1, -1, .6). Own less the next: 2, -.8, -.4; less the one after
    # that: .4, 0, 1.6.
    with_one, with_two = (float(contrast.contrast(left, right, loss="difference", negatives=n)) for n in (1, 2))
    assert with_one == pytest.approx(-0.8 / 3)
    assert with_two == pytest.approx(-(0.8 / 3 + 2.0 / 3) / 2)
    logistic = [float(contrast.contrast(left, right, loss="logistic", scale=1.0, negatives=n)) for n in (1, 2)]
    soft = [np.logaddexp(0, -np.array(gaps)).mean() for gaps in ([2.0, -0.8, -0.4], [0.4, 0.0, 1.6])]
    assert logistic == pytest.approx([soft[0], np.mean(soft)])


@pytest.mark.parametrize("kind", ["cnn", "lstm"])
def test_words_are_dropped_in_training_and_not_when_served(kind):
    torch.manual_seed(0)
    tower = towers.KINDS[kind](torch.randn(6, 4))
    text = bags(sp.csr_matrix(np.eye(6, dtype=np.float32)))
    rows = {mode: [tower.train(mode)(text).detach() for _ in range(2)] for mode in (True, False)}
    assert not torch.allclose(*rows[True])
    assert torch.equal(*rows[False])
    words = torch.cat([towers._pad_words(torch.ones(6, 4), text, True)[0].flatten() for _ in range(200)])
    assert float((words == 0).float().mean()) == pytest.approx(towers.DROPOUT, abs=0.03)


class CapturedError(Exception):
    """What a function was called with, instead of what it would have done."""


@pytest.mark.parametrize("name", ["alignment", "bae", "cca", "cr5", "lsi", "opca", "s2net"])
def test_counting_settings_reach_the_counting(name, monkeypatch):
    module = load_method(name)

    def note(*_, **arguments):
        raise CapturedError(arguments)

    expected = {"stem": False, "max_terms": 77, "min_df": 3}
    if "lengths" in read_options(module.fit):
        expected["lengths"] = (2, 9)
    monkeypatch.setattr(module, "count", note)
    with pytest.raises(CapturedError) as caught:
        module.fit(make_sentences(20, 0), **expected)
    assert caught.value.args[0].items() >= expected.items()
