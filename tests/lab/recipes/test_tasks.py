"""What the page of results asks, from little files as the collections are published."""

import gzip
import json
import lzma
from pathlib import Path

import pytest

from paragloss.lab.recipes import page_fields, sets, tasks
from paragloss.lab.recipes.sets import share
from paragloss.lab.recipes.tables import thesis_table_5_1

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
    assert f"{pages:,} pages or {pairs:,} sentence pairs to learn from, {queries} queries, about {documents}" in page


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
