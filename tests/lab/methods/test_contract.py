"""What every trained encoder promises, whatever its method: one that an entry point names is picked up here."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

from paragloss import demo
from paragloss.collection import load
from paragloss.errors import LanguageError
from paragloss.methods import load_methods
from paragloss.types import Encoder

LANGS = ("en", "fr", "it")


def list_encoder_methods():
    """Every method, ours or a stranger's, whose `fit` says that it returns an encoder."""
    return sorted(name for name, module in load_methods().items() if "dim" in inspect.signature(module.fit).parameters
                  and module.fit.__annotations__["return"] != "Knrm")  # fmt: skip


def make_small_corpus():
    return [c._replace(texts={lang: c.texts[lang] for lang in LANGS}) for c in demo.concepts()]


@pytest.fixture(scope="module", params=list_encoder_methods())
def method(request):
    return load_methods()[request.param]


def fit_quickly(method):
    """What a method promises it promises after few epochs too."""
    settings = {"epochs": 15} if "epochs" in inspect.signature(method.fit).parameters else {}
    return method.fit(make_small_corpus(), dim=24, seed=1, **settings)


@pytest.fixture(scope="module")
def encoder(method):
    fitted = fit_quickly(method)
    assert isinstance(fitted, Encoder)
    return fitted


TEXTS = [c.texts["en"] for c in make_small_corpus()[:8]]


def test_vectors_are_float32_rows_of_the_given_dimension(encoder):
    rows = encoder.encode(TEXTS, "en")
    assert rows.shape == (8, encoder.dim)
    assert rows.dtype == np.float32
    assert set(encoder.langs) == set(LANGS)
    assert encoder.encode([], "en").shape == (0, encoder.dim)


def test_a_batch_is_the_same_as_one_by_one(encoder):
    rows = encoder.encode(TEXTS, "en")
    np.testing.assert_allclose(rows, np.vstack([encoder.encode([t], "en") for t in TEXTS]), rtol=1e-4, atol=1e-6)


def test_the_same_seed_gives_the_same_model(method, encoder):
    repeated = fit_quickly(method)
    np.testing.assert_array_equal(repeated.encode(TEXTS, "en"), encoder.encode(TEXTS, "en"))


def test_saving_changes_nothing_and_needs_no_torch_to_load(encoder, tmp_path):
    encoder.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").encode(TEXTS, "en"), encoder.encode(TEXTS, "en"))
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from paragloss.collection import load\n"
        f"print(load({str(tmp_path / 'model')!r}).encode(['a volcano erupts'], 'en').shape)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == f"(1, {encoder.dim})", run.stderr


def test_text_without_known_words_is_zero(encoder):
    assert not encoder.encode(["", "zzzzqqqq xkcdxkcd"], "en").any()


def test_an_unknown_language_is_an_error(encoder):
    with pytest.raises(LanguageError, match="'fi'"):
        encoder.encode(["tulivuori"], "fi")


def test_training_texts_find_their_translations_better_than_chance(encoder):
    concepts = make_small_corpus()
    english = encoder.encode([c.texts["en"] for c in concepts], "en")
    french = encoder.encode([c.texts["fr"] for c in concepts], "fr")
    precision = (np.argmax(english @ french.T, axis=1) == np.arange(len(concepts))).mean()
    assert precision > 10 / len(concepts)  # chance is 1 / 60
