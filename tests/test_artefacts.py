import json

import numpy as np
import pytest

from paragloss import artefacts
from paragloss.errors import ModelError


def test_round_trip(tmp_path):
    path = tmp_path / "model"
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    artefacts.save(path, "toy", meta={"dim": 3}, arrays={"en.table": array}, words={"en.terms": ["été", "a b", "词"]})
    saved = artefacts.load(path, kind="toy")
    assert saved.meta == {"dim": 3}
    assert saved.words["en.terms"] == ["été", "a b", "词"]
    assert isinstance(saved.arrays["en.table"], np.memmap)
    np.testing.assert_array_equal(saved.arrays["en.table"], array)


def test_saving_again_replaces(tmp_path):
    for value in (1, 2):
        artefacts.save(tmp_path / "model", "toy", meta={"value": value})
    assert artefacts.load(tmp_path / "model").meta == {"value": 2}
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_objects_are_refused_and_nothing_is_left_behind(tmp_path):
    with pytest.raises(ValueError, match="Object arrays"):
        artefacts.save(tmp_path / "model", "toy", meta={}, arrays={"bad": np.array([object()])})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_ours_is_never_overwritten(tmp_path):
    (tmp_path / "letters").mkdir()
    with pytest.raises(ModelError, match="not a saved model"):
        artefacts.save(tmp_path / "letters", "toy", meta={})


def test_a_name_that_leaves_the_folder_is_refused(tmp_path):
    path = tmp_path / "model"
    artefacts.save(path, "toy", meta={})
    contents = json.loads((path / "meta.json").read_text())
    (path / "meta.json").write_text(json.dumps({**contents, "arrays": ["../../secret"]}))
    with pytest.raises(ModelError, match="outside the folder"):
        artefacts.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "damaged"), ("[]", "damaged"), ('{"format": 99, "kind": "x", "arrays": [], "words": []}', "format 99")],
)
def test_damaged_meta_is_said(tmp_path, text, message):
    (tmp_path / "meta.json").write_text(text)
    with pytest.raises(ModelError, match=message):
        artefacts.load(tmp_path)


def test_the_wrong_kind_and_no_model_at_all_are_said(tmp_path):
    artefacts.save(tmp_path / "model", "toy", meta={})
    with pytest.raises(ModelError, match="holds a toy, not a bag"):
        artefacts.load(tmp_path / "model", kind="bag")
    with pytest.raises(ModelError, match=r"no meta\.json"):
        artefacts.load(tmp_path / "nowhere")
