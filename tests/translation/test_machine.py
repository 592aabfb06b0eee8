"""Machine translation of queries and documents, with engines that are written into the test."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragloss.errors import LanguageError
from paragloss.translation.machine import MachineTranslator, TranslationCache, split_into_segments, translate_documents
from paragloss.types import Alternative, Document, Query, Translator


class UppercaseEngine:
    """Shouts, and counts what it is asked."""

    def __init__(self, name="upper", fail_after=10**9):
        self.name, self.texts_seen, self.fail_after = name, [], fail_after

    def knows(self, source, target):
        return True

    def translate_texts(self, texts, source, target):
        if len(self.texts_seen) + len(texts) > self.fail_after:
            raise RuntimeError("the power went out")
        self.texts_seen += texts
        return [text.upper() for text in texts]


def test_every_word_of_the_answer_is_a_clause():
    clauses = MachineTranslator(UppercaseEngine()).translate(Query("q", "the red house", "en"), "de")
    assert [t.alternatives for t in clauses] == [(Alternative(word, 1.0),) for word in ("THE", "RED", "HOUSE")]
    assert {t.source for t in clauses} == {"the red house"}
    assert isinstance(MachineTranslator(UppercaseEngine()), Translator)


def test_stop_words_of_the_target_are_left_out():
    clauses = MachineTranslator(UppercaseEngine()).translate(Query("q", "das the haus", "de"), "en")
    assert [t.alternatives[0].text for t in clauses] == ["DAS", "HAUS"]


def test_a_blank_query_is_not_sent():
    engine = UppercaseEngine()
    assert MachineTranslator(engine).translate(Query("q", "  ", "en"), "de") == []
    assert engine.texts_seen == []


@pytest.mark.parametrize("text", ["", "house"])
def test_unknown_languages_are_refused_even_for_an_empty_query(text):
    class RefusingEngine(UppercaseEngine):
        def translate_texts(self, texts, source, target):
            raise LanguageError(f"no {source}->{target}")

    with pytest.raises(LanguageError, match="no en->de"):
        MachineTranslator(RefusingEngine()).translate(Query("q", text, "en"), "de")


DOCUMENTS = [
    Document("1", "one. two", "en", "title", {"notes": "a note"}, {"year": 2026}),
    Document("2", "schon deutsch", "de"),
    Document("3", "trois", "fr"),
]


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_documents_are_translated_in_order_with_all_their_parts(batch):
    first, second, third = translate_documents(DOCUMENTS, UppercaseEngine(), "de", batch=batch)
    meta = {"year": 2026, "translated_from": "en"}
    assert first == Document("1", "ONE. TWO", "de", "TITLE", {"notes": "A NOTE"}, meta)
    assert second == DOCUMENTS[1]
    assert (third.text, third.lang, third.meta) == ("TROIS", "de", {"translated_from": "fr"})


def test_translations_are_cached_in_a_plain_database_that_is_closed_after_use(tmp_path):
    engine, path = UppercaseEngine(), tmp_path / "new" / "folder" / "memory.db"
    for _ in range(2):
        with TranslationCache(path, engine) as cache:
            assert cache.name == "upper"
            assert cache.translate_texts(["a", "b", "a"], "en", "de") == ["A", "B", "A"]
    assert engine.texts_seen == ["a", "b"]
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        cache.translate_texts(["a"], "en", "de")
    assert sorted(sqlite3.connect(path).execute("SELECT text FROM translations")) == [("A",), ("B",)]


def test_the_cache_distinguishes_engines_and_languages(tmp_path):
    first, second = UppercaseEngine("one"), UppercaseEngine("two")
    for engine, target in ((first, "de"), (first, "fr"), (second, "de")):
        with TranslationCache(tmp_path / "memory.db", engine) as memory:
            memory.translate_texts(["a"], "en", target)
    assert (first.texts_seen, second.texts_seen) == (["a", "a"], ["a"])


def test_an_interrupted_run_continues_where_it_stopped(tmp_path):
    documents = [Document(str(i), f"text {i}", "en") for i in range(10)]
    with TranslationCache(tmp_path / "memory.db", UppercaseEngine(fail_after=6)) as memory, pytest.raises(RuntimeError):
        list(translate_documents(documents, memory, "de", batch=2))
    engine = UppercaseEngine()
    with TranslationCache(tmp_path / "memory.db", engine) as memory:
        translated = list(translate_documents(documents, memory, "de", batch=2))
    assert [d.text for d in translated] == [f"TEXT {i}" for i in range(10)]
    assert engine.texts_seen == [f"text {i}" for i in range(6, 10)]


@pytest.mark.parametrize(("text", "segments"), [
    ("a" * 600, ["a" * 600]),
    ("a" * 300 + " " + "b" * 299, ["a" * 300 + " " + "b" * 299]),
    ("a" * 700, ["a" * 600, "a" * 100]),
    ("a " + "b" * 700, ["a", "b" * 600, "b" * 100]),
    ("c" * 500 + " " + "d" * 200, ["c" * 500, "d" * 200]),
    ("One. Two!\n\nThree? 四。五", ["One.", "Two!", "Three?", "四。", "五"]),
    ("  ", []),
])  # fmt: skip
def test_long_texts_are_cut_at_sentences_and_these_at_a_space_or_anywhere(text, segments):
    assert split_into_segments(text) == segments


@given(st.text(alphabet="ab .。\n", max_size=3000))
def test_pieces_are_short_and_lose_no_letter(text):
    pieces = split_into_segments(text)
    assert all(0 < len(piece) <= 600 for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
