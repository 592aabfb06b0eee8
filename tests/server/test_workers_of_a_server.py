"""Processes that search beside the server: the same answers, with what was added or changed a moment ago."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest
from serving_process import wait_for

from paragloss.collection import Deadline
from paragloss.collection.arguments import SearchOptions
from paragloss.errors import LanguageError
from paragloss.server import answers, logs
from paragloss.server.library import Library
from paragloss.server.limits import DEFAULT
from paragloss.translation.glossary import Pair
from paragloss.types import Document


def make_options(lang, to=None):
    return SearchOptions(lang=lang, to=to, k=5)


@pytest.fixture(scope="module")
def library(demo_location):
    served_library = Library.open([demo_location], DEFAULT._replace(seconds=120), workers=2)  # the machine may be busy
    wait_for(lambda: served_library._workers.is_ready, 120)
    yield served_library
    served_library.close()


def run_in_library(library, work, *arguments):
    async def search_once():
        return await library.search("client", "library", work, *arguments)

    return asyncio.run(search_once())


def get_process_id(collection, deadline):
    return os.getpid()


@pytest.mark.parametrize(
    ("work", "arguments"),
    [
        (answers.find_documents, ("how do bees make honey", make_options("en"))),
        (answers.find_documents, ("what makes a volcano erupt", make_options("en"))),
        (answers.count_matching_documents, ("honey", make_options("en"))),
        (answers.answer_glosses, ([("Die Biene lebt im Bienenstock.", "de")], "en", "")),
    ],
)
def test_workers_answer_as_the_server_process_does(library, work, arguments):
    assert run_in_library(library, get_process_id) != os.getpid()
    assert run_in_library(library, work, *arguments) == work(library[None], *arguments, Deadline(60))


def test_workers_find_what_was_just_added(library):
    for number in range(5):
        word = f"zyxwv{number}"
        library[None].add([Document(word, f"the {word} lantern", "en")])
        for _ in range(3):
            answer = run_in_library(library, answers.find_documents, word, make_options("en", ["en"]))
            assert [result["id"] for result in answer["results"]] == [word]
    library[None].delete(["zyxwv0"])
    answer = run_in_library(library, answers.find_documents, "zyxwv0", make_options("en", ["en"]))
    assert "zyxwv0" not in str(answer["results"])


def test_workers_use_a_changed_glossary_at_once(library):
    before = run_in_library(library, answers.find_documents, "quorble", make_options("en", ["de"]))
    library[None].write_glossary([Pair("en", "quorble", "de", "Biene")])
    after = run_in_library(library, answers.find_documents, "quorble", make_options("en", ["de"]))
    assert before["results"] == []
    assert "bee" in after["results"][0]["id"]


def test_errors_of_workers_arrive_unchanged(library):
    with pytest.raises(LanguageError) as expected:
        answers.find_documents(library[None], "honey", make_options("xx"), Deadline(60))
    with pytest.raises(LanguageError) as caught:
        run_in_library(library, answers.find_documents, "honey", make_options("xx"))
    assert str(caught.value) == str(expected.value)


def test_the_server_answers_by_itself_after_a_worker_is_killed_until_others_have_started(library, caplog):
    logs.LOGGER.propagate = True
    with caplog.at_level("INFO", "paragloss.server"):
        os.kill(run_in_library(library, get_process_id), signal.SIGKILL)
        time.sleep(0.5)
        assert run_in_library(library, get_process_id) == os.getpid()
        assert run_in_library(library, answers.find_documents, "honey", make_options("en"))["results"]
        assert library.waiting == 0
        wait_for(lambda: library._workers is not None and library._workers.is_ready, 120)
        assert run_in_library(library, get_process_id) != os.getpid()
    assert [record.message for record in caplog.records] == ["a worker died", "workers started"]
