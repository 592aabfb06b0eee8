"""What is asked of a collection, answered as JSON."""

import pytest

from paragloss import demo
from paragloss.collection import Collection, Deadline, SearchOptions
from paragloss.server import answers
from paragloss.types import Query


@pytest.fixture
def engine(tmp_path):
    with Collection.create(str(tmp_path / "c"), meaning=False) as engine:
        engine.index(document for document in demo.documents() if document.lang in ("de", "fr"))
        yield engine


def test_who_asks_why_after_a_search_is_told_the_same_without_another(engine, monkeypatch):
    question, options = "how do bees make honey", SearchOptions("en")
    found = answers.found(engine, question, options, Deadline(30))["results"]
    again = [engine.why(Query("", question, "en"), row["id"], options) for row in found]
    with monkeypatch.context() as patched:
        patched.setattr(engine, "why", None)
        told = [answers.why(engine, question, row["id"], options, Deadline(30)) for row in found]
    assert [(one["id"], one["parts"]) for one in told] == [(one["id"], one["parts"]) for one in again]


def test_once_a_document_has_changed_why_is_searched_for_again(engine):
    question, options = "how do bees make honey", SearchOptions("en")
    first = answers.found(engine, question, options, Deadline(30))["results"][0]
    before = answers.why(engine, question, first["id"], options, Deadline(30))
    (document,) = engine.get([first["id"]])
    engine.add([document._replace(text=document.text + " " + document.title)])
    after = answers.why(engine, question, first["id"], options, Deadline(30))
    assert after["score"] != before["score"]
    assert after == engine.why(Query("", question, "en"), first["id"], options)


def test_documents_are_counted_without_reading_their_texts(engine):
    query, found = engine.candidates("how do bees make honey", lang="en", k=50)
    assert query.lang == "en"
    assert {document.lang for document in found} == {"de", "fr"}
    assert not any(document.text for document in found)
