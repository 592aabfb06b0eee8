import json
import os

import numpy as np
import pytest

from paragloss.artefacts import load, read_kind, save
from paragloss.collection import Collection
from paragloss.errors import ModelError
from paragloss.types import Document


def test_round_trip(tmp_path):
    path = tmp_path / "model"
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    save(path, "toy", meta={"dim": 3}, arrays={"en.table": array}, words={"en.terms": ["été", "a b", "词"]})
    saved = load(path, kind="toy")
    assert saved.meta == {"dim": 3}
    assert saved.words["en.terms"] == ["été", "a b", "词"]
    assert isinstance(saved.arrays["en.table"], np.memmap)
    np.testing.assert_array_equal(saved.arrays["en.table"], array)


def test_saving_again_replaces(tmp_path):
    for value in (1, 2):
        save(tmp_path / "model", "toy", meta={"value": value})
    assert load(tmp_path / "model").meta == {"value": 2}
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_arrays_of_anything_but_real_numbers_and_texts_are_refused(tmp_path):
    save(tmp_path / "complex", "toy", meta={}, arrays={"a": np.zeros(3, np.complex64)})
    with pytest.raises(ModelError, match="complex64: expected real numbers"):
        load(tmp_path / "complex")
    save(tmp_path / "nan", "toy", meta={"k1": float("nan")})
    with pytest.raises(ModelError, match="NaN is no number"):
        load(tmp_path / "nan")


def test_objects_are_refused_and_nothing_is_left_behind(tmp_path):
    with pytest.raises(ValueError, match="Object arrays"):
        save(tmp_path / "model", "toy", meta={}, arrays={"bad": np.array([object()])})
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_ours_is_never_overwritten(tmp_path):
    (tmp_path / "letters").mkdir()
    with pytest.raises(ModelError, match="not a saved model"):
        save(tmp_path / "letters", "toy", meta={})


def test_a_model_never_takes_the_place_of_a_collection(tmp_path):
    """The folder of a collection has a `meta.json` as well."""
    path = tmp_path / "library"
    with Collection.create(str(path), default=False, meaning=False) as collection:
        collection.index([Document("kept", "some text", "en")])
    with pytest.raises(ModelError, match="not a saved model"):
        save(path, "toy", meta={})
    with Collection.open(str(path)) as collection:
        assert collection.count() == 1


def test_a_name_that_leaves_the_folder_and_another_format_are_refused(tmp_path):
    path = tmp_path / "model"
    save(path, "toy", meta={})
    contents = json.loads((path / "meta.json").read_text())
    for change, message in (({"arrays": ["../../secret"]}, "outside the folder"), ({"format": 99}, "format 99")):
        (path / "meta.json").write_text(json.dumps({**contents, **change}))
        with pytest.raises(ModelError, match=message):
            load(path)


def test_the_wrong_kind_and_no_model_at_all_are_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "model", "toy", meta={})
    with pytest.raises(ModelError, match="holds a toy, not a bag"):
        load(tmp_path / "model", kind="bag")
    for path in (tmp_path / "nowhere", ""):
        with pytest.raises(ModelError, match=r"not a saved model: it has no meta\.json"):
            load(path)


@pytest.mark.parametrize("name", ["w.txt", "a.npy", "meta.json"])
def test_a_link_in_a_model_is_not_followed(tmp_path, name):
    save(tmp_path / "m", "thing", meta={}, arrays={"a": np.arange(3)}, words={"w": ["x"]})
    (tmp_path / "m" / name).rename(tmp_path / "secret")
    (tmp_path / "m" / name).symlink_to(tmp_path / "secret")
    with pytest.raises(ModelError, match="is a link, which may lead anywhere"):
        load(tmp_path / "m")


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_modes_follow_the_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        save(tmp_path / "m", "thing", meta={}, arrays={"a": np.arange(3)}, words={"w": ["x"]})
    finally:
        os.umask(before)
    assert (tmp_path / "m").stat().st_mode & 0o777 == 0o777 & ~mask
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "m").iterdir()} == {0o666 & ~mask}


@pytest.mark.parametrize(
    "meta",
    ["{", "null", "[]", '"x"', "{}", "1e9999", "[" * 100_000]
    + ['{"format":1,"kind":null,"arrays":[],"words":[],"meta":{}}']
    + [f'{{"format":1,"kind":"thing","arrays":{a},"words":{w},"meta":{m}}}' for a, w, m in [
        ("null", "[]", "{}"), ("[null]", "[]", "{}"), ('"a"', "[]", "{}"), ("[]", "{}", "{}"), ("[]", "[]", "null"),
        ('["../a"]', "[]", "{}"), ('["nothing"]', "[]", "{}"),
    ]],
)  # fmt: skip
def test_a_damaged_meta_json_gets_one_line(tmp_path, meta):
    save(tmp_path / "m", "thing", meta={}, arrays={"a": np.arange(3)})
    (tmp_path / "m" / "meta.json").write_text(meta)
    with pytest.raises(ModelError) as caught:
        load(tmp_path / "m")
    assert "\n" not in str(caught.value)


def test_a_kind_is_told_without_opening_the_arrays(tmp_path):
    save(tmp_path / "m", "toy", meta={}, arrays={"a": np.ones(3)})
    (tmp_path / "m" / "a.npy").write_bytes(b"rubbish")
    assert read_kind(tmp_path / "m") == "toy"
    with pytest.raises(ModelError, match="damaged"):
        load(tmp_path / "m")


@pytest.mark.parametrize("value", [None, "x", {}, []])
@pytest.mark.parametrize("kind", ["table", "dictionary", "bag"])
def test_a_setting_that_is_no_number_is_said_on_loading(tmp_path, kind, value):
    from paragloss.collection import load as load_model
    from paragloss.formats.dictionaries import Entry
    from paragloss.lab.methods import cr5, table
    from paragloss.translation.dictionary import Dictionary
    from paragloss.types import Concept

    texts = [("red house", "maison rouge"), ("red bread", "pain rouge"), ("white house", "maison blanche")]
    aligned = [Concept(str(i), {"en": en, "fr": fr}) for i, (en, fr) in enumerate(texts)]
    model = {
        "table": lambda: table.fit(aligned),
        "bag": lambda: cr5.fit(aligned, dim=2, min_df=1),
        "dictionary": lambda: Dictionary.build([Entry("red", "rouge")], source="en", target="fr"),
    }[kind]()
    model.save(tmp_path / "m")
    load_model(tmp_path / "m")
    contents = json.loads((tmp_path / "m" / "meta.json").read_text())
    contents["meta"]["epsilon" if kind == "bag" else "most"] = value
    (tmp_path / "m" / "meta.json").write_text(json.dumps(contents))
    with pytest.raises(ModelError, match="is damaged"):
        load_model(tmp_path / "m")
