"""What a long solve keeps on disk: where, how often, and for whom."""

import numpy as np
import pytest

from paragloss.errors import ModelError
from paragloss.lab.solving import spectrum
from paragloss.lab.solving.spectrum import Checkpoint


def test_a_checkpoint_is_written_at_intervals_in_a_folder_that_is_created(tmp_path, monkeypatch):
    clock, saved_at = [100.0], []
    monkeypatch.setattr(spectrum.time, "monotonic", lambda: clock[0])
    path = tmp_path / "some" / "where" / "solve.npz"
    saver = Checkpoint(path, 30.0, "key")
    for clock[0] in (129.0, 130.0, 159.0, 160.0):
        saver.save(lambda: saved_at.append(clock[0]) or {"V": np.full(2, clock[0])})
    assert saved_at == [130.0, 160.0]
    assert list(path.parent.iterdir()) == [path]
    assert {name: rows.tolist() for name, rows in Checkpoint(path, 30.0, "key").load().items()} == {"V": [160.0, 160.0]}
    saver.remove()
    assert not path.exists()
    saver.remove()
    assert Checkpoint(path, 30.0, "key").load() == {}


def test_a_checkpoint_of_another_fit_is_not_used_and_stays_until_this_one_saves(tmp_path):
    path = tmp_path / "solve.npz"
    Checkpoint(path, 0.0, "one").save(lambda: {"V": np.zeros(1)})
    other_fit = Checkpoint(path, 0.0, "two")
    with pytest.warns(UserWarning, match="other data or other settings"):
        assert other_fit.load() == {}
    other_fit.remove()  # it ended before its first save
    assert list(Checkpoint(path, 0.0, "one").load()) == ["V"]
    other_fit.save(lambda: {"W": np.zeros(1)})
    other_fit.remove()
    assert not path.exists()


@pytest.mark.parametrize("content", [b"no archive", b"", b"PK\x03\x04 cut off"])
def test_a_file_that_is_no_checkpoint_is_refused_and_stays(tmp_path, content):
    path = tmp_path / "solve.npz"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="can't be read as a checkpoint"):
        Checkpoint(path, 0.0, "one").load()
    assert path.read_bytes() == content


def test_without_a_path_nothing_is_saved():
    saver = Checkpoint(None, 0.0, "key")
    saver.save(lambda: pytest.fail("nobody asked"))
    assert saver.load() == {}
    saver.remove()
