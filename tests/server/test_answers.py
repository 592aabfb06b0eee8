"""What is asked of a collection, answered as JSON."""

import pytest

from paragloss import demo
from paragloss.collection import Collection
from paragloss.collection.deadline import Deadline
from paragloss.errors import DeadlineError
from paragloss.server import answers


@pytest.fixture
def collection(tmp_path):
    with Collection.create(str(tmp_path / "c"), meaning=False) as collection:
        collection.index(document for document in demo.documents() if document.lang in ("de", "fr"))
        yield collection


def test_candidates_are_documents_without_their_texts(collection):
    query, candidates = collection.rank_documents("how do bees make honey", lang="en", k=50)
    assert query.lang == "en"
    assert {document.lang for document in candidates} == {"de", "fr"}
    assert not any(document.text for document in candidates)


def test_glossing_stops_between_two_texts_at_the_deadline(collection):
    deadline, texts_read = Deadline(60), []

    def iterate_texts():
        for text in ("Die Bienen.", "Der Fluss.", "Das Haus."):
            texts_read.append(text)
            if len(texts_read) == 2:
                deadline.cancel()
            yield text, "de"

    with pytest.raises(DeadlineError):
        answers.answer_glosses(collection, iterate_texts(), "en", "", deadline)
    assert texts_read == ["Die Bienen.", "Der Fluss."]
    assert len(answers.answer_glosses(collection, [("Das Haus.", "de")], "en", "", Deadline(60))["glosses"]) == 1
