"""What a long solve keeps on disk: where, how often, and for whom."""

import numpy as np
import pytest

from paragloss.lab.solving import spectrum
from paragloss.lab.solving.spectrum import Checkpoint


def test_it_is_written_every_so_often_in_a_folder_that_need_not_be_there(tmp_path, monkeypatch):
    now, asked = [100.0], []
    monkeypatch.setattr(spectrum.time, "monotonic", lambda: now[0])
    path = tmp_path / "some" / "where" / "solve.npz"
    saver = Checkpoint(path, 30.0, "key")
    for now[0] in (129.0, 130.0, 159.0, 160.0):
        saver.save(lambda: asked.append(now[0]) or {"V": np.full(2, now[0])})
    assert asked == [130.0, 160.0]
    assert list(path.parent.iterdir()) == [path]
    assert {name: rows.tolist() for name, rows in Checkpoint(path, 30.0, "key").load().items()} == {"V": [160.0, 160.0]}
    saver.remove()
    assert not path.exists()
    saver.remove()
    assert Checkpoint(path, 30.0, "key").load() == {}


def test_what_is_not_a_checkpoint_or_another_s_is_left_aside_and_said(tmp_path):
    path = tmp_path / "solve.npz"
    Checkpoint(path, 0.0, "one").save(lambda: {"V": np.zeros(1)})
    with pytest.warns(UserWarning, match="other data or other settings"):
        assert Checkpoint(path, 0.0, "two").load() == {}
    path.write_bytes(b"no archive")
    with pytest.warns(UserWarning, match="can't be read"):
        assert Checkpoint(path, 0.0, "one").load() == {}


def test_without_a_path_nothing_is_kept():
    saver = Checkpoint(None, 0.0, "key")
    saver.save(lambda: pytest.fail("nobody asked"))
    assert saver.load() == {}
    saver.remove()
