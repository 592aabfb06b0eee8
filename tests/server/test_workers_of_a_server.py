"""Processes that search beside the server: the same answers, with what was added or changed a moment ago."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest

from paragloss import demo
from paragloss.collection import Collection, Deadline
from paragloss.collection.arguments import SearchOptions
from paragloss.errors import LanguageError
from paragloss.server import answers, logs
from paragloss.server.library import Library
from paragloss.server.limits import DEFAULT
from paragloss.translation.glossary import Pair
from paragloss.types import Document


def how(lang, to=None):
    return SearchOptions(lang=lang, to=to, k=5)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("readers") / "shelf"
    with Collection.create(str(folder)) as engine:
        engine.index(demo.documents())
    opened = Library.open([str(folder)], DEFAULT._replace(seconds=120), workers=2)  # however busy the machine is
    until = time.monotonic() + 120
    while not opened._workers.is_ready and time.monotonic() < until:
        time.sleep(0.05)
    assert opened._workers.is_ready
    yield opened
    opened.close()


def ask(library, work, *arguments):
    async def once():
        return await library.search("client", "shelf", work, *arguments)

    return asyncio.run(once())


def who(engine, deadline):
    return os.getpid()


def test_another_process_answers_as_this_one_does(library):
    assert ask(library, who) != os.getpid()
    for q in ("how do bees make honey", "what makes a volcano erupt"):
        assert ask(library, answers.find_documents, q, how("en")) == answers.find_documents(
            library[None], q, how("en"), Deadline(60)
        )
    assert ask(library, answers.count_documents, "honey", how("en")) == answers.count_documents(
        library[None], "honey", how("en"), Deadline(60)
    )
    texts = [("Die Biene lebt im Bienenstock.", "de")]
    assert ask(library, answers.gloss_texts, texts, "en", "") == answers.gloss_texts(
        library[None], texts, "en", "", Deadline(60)
    )


def test_what_was_added_a_moment_ago_is_found(library):
    for number in range(5):
        word = f"zyxwv{number}"
        library[None].add([Document(word, f"the {word} lantern", "en")])
        for _ in range(3):
            found = ask(library, answers.find_documents, word, how("en", ["en"]))
            assert [result["id"] for result in found["results"]] == [word]
    library[None].delete(["zyxwv0"])
    assert "zyxwv0" not in str(ask(library, answers.find_documents, "zyxwv0", how("en", ["en"]))["results"])


def test_a_glossary_that_was_changed_holds_at_once(library):
    before = ask(library, answers.find_documents, "quorble", how("en", ["de"]))
    library[None].write_glossary([Pair("en", "quorble", "de", "Biene")])
    after = ask(library, answers.find_documents, "quorble", how("en", ["de"]))
    assert before["results"] == []
    assert "bee" in after["results"][0]["id"]


def test_errors_arrive_as_they_are(library):
    def message(run):
        with pytest.raises(LanguageError) as told:
            run()
        return str(told.value)

    there = message(lambda: ask(library, answers.find_documents, "honey", how("xx")))
    assert there == message(lambda: answers.find_documents(library[None], "honey", how("xx"), Deadline(60)))


def test_when_a_reader_is_killed_the_server_answers_itself_until_others_have_begun(library, caplog):
    logs.LOGGER.propagate = True
    with caplog.at_level("INFO", "paragloss.server"):
        os.kill(ask(library, who), signal.SIGKILL)
        time.sleep(0.5)
        assert ask(library, who) == os.getpid()
        assert ask(library, answers.find_documents, "honey", how("en"))["results"]
        assert library.waiting == 0
        until = time.monotonic() + 120
        while (library._workers is None or not library._workers.is_ready) and time.monotonic() < until:
            time.sleep(0.05)
        assert ask(library, who) != os.getpid()
    assert [record.message for record in caplog.records] == ["a worker died", "workers started"]
