"""From a folder to a real server and back: the same collection to the last bit, and the same answers; a score may
differ in its last bit, since the two engines add up in different orders."""

import uuid

import pytest

from paragloss import demo
from paragloss.engine import Engine, train
from paragloss.engine.moving import copy, digest
from paragloss.models import cr5


def records(engine):
    return {r.document.id: digest(r) for r in engine.sample(1000)}


def test_to_a_server_and_back(server, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    train(cr5.fit, demo.concepts(), dim=20).save(tmp_path / "cr5")
    here, there, back = str(tmp_path / "here"), f"{server}/moved-{uuid.uuid4().hex[:8]}", str(tmp_path / "back")
    with Engine.create(here, models=[str(tmp_path / "cr5")]) as engine:
        engine.index(demo.documents())
    assert copy(here, there) == copy(there, back) == 420
    asked = [q for q in demo.queries()[0] if q.lang == "en"][:10]
    with Engine.open(here) as one, Engine.open(there) as two, Engine.open(back) as three:
        assert records(one) == records(two) == records(three)
        for pipeline in ("bm25", "default", "cr5", None):
            first, second, third = (e.rank(asked, k=20, pipeline=pipeline) for e in (one, two, three))
            assert first == third
            for a, b in zip(first, second, strict=True):
                assert [hit.id for hit in a] == [hit.id for hit in b]
                assert [hit.score for hit in a] == pytest.approx([hit.score for hit in b], rel=1e-6)
