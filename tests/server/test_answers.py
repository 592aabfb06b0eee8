"""What is asked of a collection, answered as JSON."""

import pytest

from paragloss import demo
from paragloss.collection import Collection
from paragloss.collection.deadline import Deadline
from paragloss.errors import DeadlineError
from paragloss.server import answers


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


def test_glosses_end_between_two_texts_when_nobody_waits_any_more(engine):
    late, given = Deadline(60), []

    def texts():
        for text in ("Die Bienen.", "Der Fluss.", "Das Haus."):
            given.append(text)
            if len(given) == 2:
                late.cancel()
            yield text, "de"

    with pytest.raises(DeadlineError):
        answers.gloss_texts(engine, texts(), "en", "", late)
    assert given == ["Die Bienen.", "Der Fluss."]
    assert len(answers.gloss_texts(engine, [("Das Haus.", "de")], "en", "", Deadline(60))["glosses"]) == 1
