"""Documents in the query's own language are ranked by their words, as BM25 ranks them, whatever else is searched."""

import pytest

from paragloss import demo
from paragloss.collection import Collection


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    with Collection.create(str(tmp_path_factory.mktemp("own") / "c")) as made:
        made.index(demo.documents())
        yield made


@pytest.mark.parametrize("lang", sorted({document.lang for document in demo.documents()}))
def test_asked_in_its_own_language_nothing_is_lost(engine, lang):
    asked = [query for query in demo.queries()[0] if query.lang == lang][::6]
    alone = engine.rank(asked, k=20, to=[lang], pipeline="bm25")
    for pipeline in (None, "default"):
        for words, all_ in zip(alone, engine.rank(asked, k=200, pipeline=pipeline), strict=True):
            own = [hit.id for hit in all_ if hit.id.endswith(f".{lang}")]
            best = [hit.id for hit in words][: len(own)]
            assert best
            assert own[: len(best)] == best
