"""What the page of results asks, from little files as the collections are published."""

import gzip
import hashlib
import json
import lzma
from pathlib import Path

import pytest

from paragloss.lab.recipes import page_fields, sets, tasks
from paragloss.lab.recipes.sets import share
from paragloss.lab.recipes.tables import thesis_table_5_1
from paragloss.types import Concept, Query

ROWS = [(f"the river number{i}", f"der fluss nummer{i}") for i in range(400)]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    for name in ("tatoeba", "muse", "mdn", "open/text"):
        (tmp_path / name).mkdir(parents=True)
    with gzip.open(tmp_path / "tatoeba" / "en-de.tsv.gz", "wt") as file:
        file.writelines(f"{a}\t{b}\tmore\n" for a, b in [*ROWS, ROWS[0], ("the river number0", "other")])
    with gzip.open(tmp_path / "muse" / "en-de.tsv.gz", "wt") as file:
        file.writelines(
            f"{a}\t{b}\n" for a, b in (("house", "haus"), ("house", "heim"), ("tree", "baum"), ("ok", "OK"))
        )
    for name in ("ntrex", "tico19"):
        with lzma.open(tmp_path / "open" / "text" / f"{name}.jsonl.xz", "wt") as file:
            said = ({"en": f"{name} {i}", "de": f"{name} {i}", "fr": "x", "xx": "y"} for i in range(200))
            file.writelines(json.dumps({"texts": texts}) + "\n" for texts in said)
    for cached in (tasks.pairs, tasks.rows):
        cached.cache_clear()
    yield tmp_path
    for cached in (tasks.pairs, tasks.rows):
        cached.cache_clear()


def test_test_sentences_are_never_learned_from(place, monkeypatch):
    monkeypatch.setattr(tasks, "TALK", ("de",))
    found = tasks.pairs("de")
    assert [(c.texts["en"], c.texts["de"]) for c in found] == ROWS, "each sentence once, in their order"
    task = tasks.sentences("de", tasks.Sizes(0, 0, 5, 12))
    assert (len(task.queries), len(task.documents)) == (5, 12)
    assert all(share(d.text.replace("der fluss nummer", "the river number"), 1) == "test" for d in task.documents)
    assert task.qrels == {query.id: {query.id: 1} for query in task.queries}
    learned = tasks.talk("de", 90, 0)
    everyday = [c for c in learned if c.id.startswith("t")]
    assert (len(everyday), len(learned)) == (60, 90), "two thirds from Tatoeba"
    assert all(share(c.texts["en"].lower(), 1) == "train" for c in everyday)
    news = [c.id.split(":") for c in learned if not c.id.startswith("t")]
    assert all(tasks.run_part(name, int(number)) == "train" for _, name, number in news)
    assert {name for _, name, _ in news} == {"ntrex", "tico19"}
    monkeypatch.setattr(tasks, "FULL", tasks.Sizes(90, 60, 8, 20))
    assert tasks.learned_from("talk en-de", 0, smoke=False) == learned


def test_sizes_are_those_the_page_says():
    pairs, pages, queries, documents = tasks.FULL
    page = " ".join((Path(__file__).parents[3] / "docs" / "do" / "recipes.md").read_text(encoding="utf-8").split())
    assert f"{pages:,} training pages or {pairs:,} sentence pairs, {queries} queries, about {documents}" in page


def test_sentences_are_split_by_their_english(place):
    whole = sets.sentences("de", tenths=3)
    assert [
        (c.texts["en"], c.texts["de"]) for c in sorted(whole.train + whole.test, key=lambda c: int(c.id[1:]))
    ] == ROWS
    assert all((sets.digest(c.texts["en"]) % 10 < 3) == (c in whole.test) for c in (*whole.train, *whole.test))
    assert 80 < len(whole.test) < 160


def test_words_find_any_of_their_translations(place):
    task = tasks.words("de", tasks.Sizes(0, 0, 10, 20))
    assert task.qrels == {"house": {"haus": 1, "heim": 1}, "tree": {"baum": 1}}, "ok is spelled alike"
    assert [(d.id, d.lang) for d in task.documents] == [("baum", "de"), ("haus", "de"), ("heim", "de")]
    assert task.name == "words, muse, en-de"


def test_runs_of_twenty_lines_are_held_out_together(place):
    parts = [tasks.run_part("ntrex", number) for number in range(400)]
    assert all(len(set(parts[i : i + 20])) == 1 for i in range(0, 400, 20))
    assert {"test", "train"} <= set(parts)
    found = list(tasks.passages(["en", "fr"]))
    assert all(len(passage) == 4 for passage in found), "runs of twenty make five of four"
    assert all(set(row) == {"en", "fr"} for passage in found for row in passage), "other languages are left out"
    assert {row["en"] for passage in found for row in passage} == {
        f"{name} {i}" for name in ("ntrex", "tico19") for i in range(200) if tasks.run_part(name, i) == "test"
    }


def test_what_a_group_is_asked(place, monkeypatch):
    seen = []
    for name in ("titles", "graded", "sentences", "words", "questions"):
        monkeypatch.setattr(tasks, name, lambda *said, name=name: seen.append((name, said[0], *said[1:2])) or name)
    assert tasks.tasks("ddtp en-fr", smoke=False) == ["titles"]
    assert tasks.tasks("mdn en-fr", smoke=False) == ["titles", "graded"]
    assert tasks.tasks("talk en-fr", smoke=False) == ["sentences", "words", "questions"]
    assert seen == [
        *(("titles", name, "fr") for name in ("ddtp", "mdn")),
        *((name, "fr", tasks.FULL) for name in ("graded", "sentences", "words")),
        ("questions", "en", ["fr"]),
    ]
    assert tasks.tasks("talk en-hi", smoke=False) == ["sentences", "words", "questions", "questions"]
    assert seen[-1] == ("questions", "hi", ["en"])
    assert tasks.tasks("talk da-vi", smoke=False) == ["questions"]
    assert seen[-1] == ("questions", "da", ["vi"])
    assert tasks.tasks("talk mixed", smoke=False) == ["questions"]
    assert seen[-1] == ("questions", "en", tasks.TALK)


def test_titles_find_linked_pages_by_field(place):
    for lang, word in (("en", "page"), ("es", "hoja")):
        with gzip.open(place / "mdn" / f"{lang}.jsonl.gz", "wt") as file:
            for i in range(12):
                said = {"title": f"{word} tema{i // 2}", "text": f"{word} cuerpo{i} tema{i // 2 if i % 2 else 99}"}
                file.write(json.dumps({"concept": f"Web/Part_{i}", "lang": lang, **said}) + "\n")
    with gzip.open(place / "mdn" / "mutual_links.tsv.gz", "wt") as file:
        file.writelines(f"Web/Part_{i}\tWeb/Part_{i + 1}\n" for i in range(0, 10, 2))
    with page_fields.opened(smoke=False) as pages:
        assert [query.text for query in pages.queries["es"]] == [f"hoja tema{i // 2}" for i in range(10)]
        assert pages.qrels["Web/Part_3"] == {"Web/Part_2": 1}
        assert pages.documents["Web/Part_3"].fields == {"url": "Web Part 3"}
        assert (len(pages.documents), pages.fields) == (24, ("title", "text", "url"))
        assert pages.idf("es", "cuerpo3") > pages.idf("es", "tema99") > 0
        assert pages.idf("es", "nada") == 0
    rows = thesis_table_5_1.measure("es", 0, smoke=False)
    assert list(rows) == ["All fields", "Body", "Title", "URL"]
    assert rows["Title"]["nDCG@10"] == [1.0] * 10, "the other page of its theme, and never itself"
    assert sum(rows["Body"]["nDCG@10"]) < 10


def number(text):
    """The first four bytes of a hash, the lowest first."""
    return sum(byte << 8 * i for i, byte in enumerate(hashlib.blake2b(text.encode(), digest_size=4).digest()))


def test_what_is_drawn_has_the_lowest_hashes_in_its_own_order():
    items = [Query(str(i), "", "en") for i in range(30)]
    for most in (0, 1, 7, 29, 30, 31):
        lowest = sorted(items, key=lambda item: number(f"5:{item.id}"))[:most]
        assert sets.drawn(items, most, 5) == [item for item in items if item in lowest]


def test_so_many_twentieths_are_for_test_and_as_many_for_validation():
    places = {number(str(i)) % 20: str(i) for i in range(500)}
    assert sorted(places) == list(range(20))
    for twentieths in (1, 4):
        parts = [sets.share(places[place], twentieths) for place in range(20)]
        assert parts == ["test"] * twentieths + ["valid"] * twentieths + ["train"] * (20 - 2 * twentieths)


@pytest.mark.parametrize(("given", "tenths"), [({}, 2), ({"tenths": 5}, 5)])
def test_two_tenths_of_a_collection_and_one_of_sentences_are_held_out_unless_told(monkeypatch, given, tenths):
    concepts = [Concept(f"p{i}-data:1", {"en": f"p{i}"}) for i in range(100)]
    monkeypatch.setattr(sets, "read", lambda name, langs, lines: concepts)
    made = sets.split("ddtp", ["en"], **given)
    assert made.test == [c for c in concepts if number(c.texts["en"]) % 10 < tenths], "by the source's name"
    assert made.train == [c for c in concepts if c not in made.test]
    whole = sets.split("mdn", ["en"], **given)
    assert whole.test == [c for c in concepts if number(c.id) % 10 < tenths]
    rows = [(f"s{i}", f"t{i}") for i in range(100)]
    some = sets.divided(rows, "it", **given)
    assert [c.texts["en"] for c in some.test] == [a for a, _ in rows if number(a) % 10 < given.get("tenths", 1)]


def test_the_beginning_of_each_file_is_read(place):
    for lang in ("en", "it"):
        with gzip.open(place / "mdn" / f"{lang}.jsonl.gz", "wt") as file:
            for i in range(5):
                file.write(json.dumps({"concept": str(i), "lang": lang, "title": "", "text": f"{lang}{i}"}) + "\n")
    assert [dict(c.texts) for c in sets.read("mdn", ["en", "it"], lines=2)] == [
        {"en": f"en{i}", "it": f"it{i}"} for i in range(2)
    ]
    assert len(sets.read("mdn", ["en", "it"])) == 5


def test_pages_in_both_languages_are_learned_from_and_talk_in_many_is_shared_out(monkeypatch):
    pages = [Concept(str(i), {"en": "a", "fr": "b"} if i % 2 else {"en": "a"}) for i in range(40)]
    asked = []
    monkeypatch.setattr(
        tasks, "split", lambda name, langs, lines: asked.append((name, langs, lines)) or sets.Split(pages, [])
    )
    monkeypatch.setattr(tasks, "FULL", tasks.Sizes(81, 7, 0, 0))
    assert tasks.learned_from("mdn en-fr", 3, smoke=False) == sets.drawn(pages[1::2], 7, 3)
    assert tasks.learned_from("mdn en-fr", 3, smoke=True) == pages[1::2]
    assert asked == [("mdn", ["en", "fr"], None), ("mdn", ["en", "fr"], 300)]
    monkeypatch.setattr(tasks, "talk", lambda lang, most, seed: [(lang, most, seed)])
    assert tasks.learned_from("talk en-it", 3, smoke=False) == [("it", 81, 3)]
    assert tasks.learned_from("talk da-vi", 3, smoke=False) == [("da", 40, 3), ("vi", 40, 3)]
    assert tasks.learned_from("talk mixed", 3, smoke=False) == [(lang, 20, 3) for lang in tasks.TALK], "a quarter each"


def test_few_words_ask_from_any_place_of_a_sentence():
    text = "alpha beta gamma delta epsilon zeta eta"
    every = text.split()
    for most, count in ((5, 3), (7, 1), (9, 1)):
        found = {tasks.neighbours(text, "en", most, str(key)) for key in range(100)}
        assert found == {" ".join(every[i : i + most]) for i in range(count)}
    assert tasks.neighbours("alpha beta gamma", "en", 5, "0") == "alpha beta gamma", "three are enough"


def test_in_a_mixed_list_a_question_wants_its_passage_in_every_language(monkeypatch):
    said = [{lang: f"{lang}{i} b c d" for lang in ("en", "fr", "it")} for i in range(5)]
    monkeypatch.setattr(tasks, "passages", lambda langs: [said[:4], said[4:]] if langs == ["en", "fr", "it"] else None)
    task = tasks.questions("en", ["fr", "it"], tasks.Sizes(0, 0, 3, 0))
    assert (task.name, task.targets, task.measure) == ("questions, news, mixed list", ["fr", "it"], "RR")
    assert [(d.id, d.lang) for d in task.documents] == [("0.fr", "fr"), ("0.it", "it"), ("1.fr", "fr"), ("1.it", "it")]
    assert task.documents[1].text == " ".join(f"it{i} b c d" for i in range(4))
    every = [Query(id, "", "en") for id in ("0.0", "0.1", "0.2", "0.3", "1.0")]
    assert list(task.qrels) == [query.id for query in task.queries] == [q.id for q in sets.drawn(every, 3, 1)]
    assert all(grades == {f"{id[0]}.fr": 1, f"{id[0]}.it": 1} for id, grades in task.qrels.items())


def test_half_as_many_words_as_documents_ask_and_the_same_are_drawn_each_time(place):
    with gzip.open(place / "muse" / "en-de.tsv.gz", "wt") as file:
        file.writelines(f"word{i:04}\twort{i:04}\n" for i in range(5100))
    task = tasks.words("de", tasks.Sizes(0, 0, 4, 40))
    first = sets.drawn([Query(f"word{i:04}", "", "en") for i in range(5000)], 20, 0)
    assert [d.id for d in task.documents] == [query.id.replace("word", "wort") for query in first]
    assert [q.id for q in task.queries] == [q.id for q in sets.drawn(first, 4, 1)]
