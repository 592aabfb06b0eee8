"""What is asked of a collection, answered as JSON."""

import pytest

from paragloss import demo
from paragloss.collection import Collection


@pytest.fixture
def engine(tmp_path):
    with Collection.create(str(tmp_path / "c"), meaning=False) as engine:
        engine.index(document for document in demo.documents() if document.lang in ("de", "fr"))
        yield engine


def test_documents_are_counted_without_reading_their_texts(engine):
    query, found = engine.candidates("how do bees make honey", lang="en", k=50)
    assert query.lang == "en"
    assert {document.lang for document in found} == {"de", "fr"}
    assert not any(document.text for document in found)
