"""Networks that read in order, as they are served: whatever stands beside a text, and before and after saving."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from paragloss import artefacts  # noqa: E402
from paragloss.errors import LanguageError, ModelError  # noqa: E402
from paragloss.lab.descent import towers  # noqa: E402
from paragloss.lab.descent.bags import bags  # noqa: E402
from paragloss.vocabulary import Vocabulary  # noqa: E402

WORDS = [f"w{i}" for i in range(12)]


@pytest.fixture(params=["cnn", "lstm"])
def encoder(request):
    torch.manual_seed(0)
    towers_by_lang = {lang: towers.KINDS[request.param](torch.randn(12, 4)) for lang in ("en", "fr")}
    words = {lang: Vocabulary(lang, WORDS, [1] * 12, 12, stem=False) for lang in towers_by_lang}
    return towers.TowerEncoder(towers_by_lang, words, kind=request.param, epsilon=0.5, meta={"method": "ordinal"})


def test_a_texts_vector_is_its_towers_output_over_its_length_plus_epsilon(encoder):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size)) for size in rng.integers(0, 9, 300)]  # more than one block
    vectors = encoder.encode(texts, "fr")
    assert (encoder.dim, encoder.langs) == (4, ("en", "fr"))
    for i in (0, 17, 255, 256, 299):
        with torch.inference_mode():
            row = encoder.towers["fr"](bags(towers.list_terms_in_order([texts[i]], encoder.vocabularies["fr"])))[
                0
            ].numpy()
        np.testing.assert_allclose(vectors[i], row / (np.linalg.norm(row) + 0.5), atol=1e-5)
    assert not vectors[[not text for text in texts]].any(), "a text without a word is nowhere"
    assert not np.allclose(encoder.encode(["w1 w2 w3"], "en"), encoder.encode(["w3 w2 w1"], "en")), "order counts"
    with pytest.raises(LanguageError, match="does not know 'da'; it knows en, fr"):
        encoder.encode(["x"], "da")


def test_an_lstm_reads_a_text_from_both_ends():
    """With the weights of both directions exchanged, a reversed text has the vector of the text."""
    torch.manual_seed(0)
    tower = towers.Recurrent(torch.randn(12, 4)).eval()
    mirrored = towers.Recurrent(tower.table.detach().clone()).eval()
    weights = tower.cells.state_dict()
    mirrored.cells.load_state_dict(
        {name: weights[name.removesuffix("_reverse") if "_reverse" in name else f"{name}_reverse"] for name in weights}
    )
    forward_half, backward_half = tower.dense.weight.detach().split(towers.UNITS, dim=1)
    mirrored.dense.load_state_dict({"weight": torch.cat([backward_half, forward_half], 1), "bias": tower.dense.bias})
    vocabulary = Vocabulary("en", WORDS, [1] * 12, 12, stem=False)
    text, reversed_text = (
        bags(towers.list_terms_in_order([words], vocabulary)) for words in ("w1 w2 w5 w3", "w3 w5 w2 w1")
    )
    with torch.inference_mode():
        torch.testing.assert_close(mirrored(reversed_text), tower(text))


def test_saved_towers_are_the_same_towers(encoder, tmp_path):
    encoder.save(tmp_path / "m")
    loaded = towers.load(tmp_path / "m")
    for lang in ("en", "fr"):
        assert np.array_equal(loaded.encode(["w1 w2", "w7"], lang), encoder.encode(["w1 w2", "w7"], lang))
    assert (loaded.kind, loaded.epsilon, loaded.meta) == (encoder.kind, 0.5, {"method": "ordinal"})


def test_towers_with_more_words_than_vectors_or_of_no_known_kind_are_refused(encoder, tmp_path):
    encoder.towers["fr"].table = torch.nn.Parameter(encoder.towers["fr"].table[:11].detach())
    encoder.save(tmp_path / "short")
    with pytest.raises(ModelError, match="fr has more words than vectors"):
        towers.load(tmp_path / "short")
    artefacts.save(tmp_path / "bags", "bags", meta={"kind": "cnn"}, arrays={}, words={})
    with pytest.raises(ModelError, match="bags"):
        towers.load(tmp_path / "bags")
    artefacts.save(tmp_path / "other", "towers", meta={"kind": "rnn"}, arrays={}, words={})
    with pytest.raises(ModelError, match="'rnn'; expected one of average, cnn, lstm"):
        towers.load(tmp_path / "other")


def test_long_texts_are_cut_where_networks_stop_reading():
    words = Vocabulary("en", WORDS, [1] * 12, 12, stem=False)
    rows = towers.list_terms_in_order(["w3 w1 unknown w3 w2", ""], words, longest=3)
    assert (rows.indices.tolist(), rows.indptr.tolist(), rows.shape) == ([3, 1, 3], [0, 3, 3], (2, 12))
    assert towers.list_terms_in_order(["w1 " * 500], words).nnz == towers.LONGEST == 200
