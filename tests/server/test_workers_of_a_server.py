"""Processes that search beside the server: the same answers, with what was added or changed a moment ago."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest

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
    end = time.monotonic() + 120
    while not served_library._workers.is_ready and time.monotonic() < end:
        time.sleep(0.05)
    assert served_library._workers.is_ready
    yield served_library
    served_library.close()


def run_in_library(library, work, *arguments):
    async def search_once():
        return await library.search("client", "library", work, *arguments)

    return asyncio.run(search_once())


def get_process_id(collection, deadline):
    return os.getpid()


def test_workers_answer_as_the_server_process_does(library):
    assert run_in_library(library, get_process_id) != os.getpid()
    for q in ("how do bees make honey", "what makes a volcano erupt"):
        assert run_in_library(library, answers.find_documents, q, make_options("en")) == answers.find_documents(
            library[None], q, make_options("en"), Deadline(60)
        )
    assert run_in_library(
        library, answers.count_matching_documents, "honey", make_options("en")
    ) == answers.count_matching_documents(library[None], "honey", make_options("en"), Deadline(60))
    texts = [("Die Biene lebt im Bienenstock.", "de")]
    assert run_in_library(library, answers.answer_glosses, texts, "en", "") == answers.answer_glosses(
        library[None], texts, "en", "", Deadline(60)
    )


def test_workers_find_what_was_just_added(library):
    for number in range(5):
        word = f"zyxwv{number}"
        library[None].add([Document(word, f"the {word} lantern", "en")])
        for _ in range(3):
            answer = run_in_library(library, answers.find_documents, word, make_options("en", ["en"]))
            assert [result["id"] for result in answer["results"]] == [word]
    library[None].delete(["zyxwv0"])
    assert "zyxwv0" not in str(
        run_in_library(library, answers.find_documents, "zyxwv0", make_options("en", ["en"]))["results"]
    )


def test_workers_use_a_changed_glossary_at_once(library):
    before = run_in_library(library, answers.find_documents, "quorble", make_options("en", ["de"]))
    library[None].write_glossary([Pair("en", "quorble", "de", "Biene")])
    after = run_in_library(library, answers.find_documents, "quorble", make_options("en", ["de"]))
    assert before["results"] == []
    assert "bee" in after["results"][0]["id"]


def test_errors_of_workers_arrive_unchanged(library):
    def message(run):
        with pytest.raises(LanguageError) as caught:
            run()
        return str(caught.value)

    message_of_worker = message(lambda: run_in_library(library, answers.find_documents, "honey", make_options("xx")))
    assert message_of_worker == message(
        lambda: answers.find_documents(library[None], "honey", make_options("xx"), Deadline(60))
    )


def test_the_server_answers_by_itself_after_a_worker_is_killed_until_others_have_started(library, caplog):
    logs.LOGGER.propagate = True
    with caplog.at_level("INFO", "paragloss.server"):
        os.kill(run_in_library(library, get_process_id), signal.SIGKILL)
        time.sleep(0.5)
        assert run_in_library(library, get_process_id) == os.getpid()
        assert run_in_library(library, answers.find_documents, "honey", make_options("en"))["results"]
        assert library.waiting == 0
        end = time.monotonic() + 120
        while (library._workers is None or not library._workers.is_ready) and time.monotonic() < end:
            time.sleep(0.05)
        assert run_in_library(library, get_process_id) != os.getpid()
    assert [record.message for record in caplog.records] == ["a worker died", "workers started"]
