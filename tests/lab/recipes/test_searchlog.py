"""The log the thesis' recipes learn from, made of forty packages; and what plots draw."""

import gzip
import json
import random
from types import SimpleNamespace

import numpy as np
import pytest

from paragloss.lab.recipes import plots, searchlog, sets
from paragloss.lab.recipes.runner import Results
from paragloss.lab.recipes.tables import results, thesis_table_6_2, thesis_table_6_3
from paragloss.lab.recipes.tasks import Task
from paragloss.types import Document, Hit, Query

DE = [
    "wasser",
    "feuer",
    "haus",
    "fluss",
    "stein",
    "brot",
    "pferd",
    "licht",
    "nacht",
    "schule",
    "weg",
    "baum",
    "berg",
    "wolke",
    "stern",
]


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    (tmp_path / "ddtp").mkdir()
    chance = random.Random(0)
    texts = [[chance.randrange(15) for _ in range(60)] for _ in range(40)]
    for lang in ("de", "en"):
        with gzip.open(tmp_path / "ddtp" / f"{lang}.jsonl.gz", "wt", encoding="utf-8") as file:
            for number, text in enumerate(texts):
                words = [f"{'' if lang == 'de' else 'x'}{DE[i]}{i * number % 7}" for i in text]
                row = {"concept": f"p{number}:1", "lang": lang, "title": " ".join(words[:3]), "text": " ".join(words)}
                file.write(json.dumps(row) + "\n")
    searchlog.log.cache_clear()
    yield searchlog.log(searchlog.Size(12, 5))
    searchlog.log.cache_clear()


def test_readers_open_what_bm25_shows_of_native_descriptions(made):
    split = sets.split("ddtp", ["en", "de"])
    assert len(made.test) == 5
    assert set(made.test) <= {c.id for c in split.test}
    assert len(made.train.queries) == 12
    assert {c.id for c in made.learned} == {c.id for c in split.train}
    assert all(len(document.text) <= 300 and document.lang == "de" for document in made.documents.values())
    assert all(0 < len(names) <= searchlog.SHOWN for names in made.shown.values())
    assert sum(names[0] == id for id, names in made.shown.items()) > 12, "BM25 finds a package by its own words"
    grades = [grade for found in made.train.qrels.values() for grade in found.values()]
    assert set(grades) == {0, 1, 2, 3}
    assert 0.3 < np.mean(np.array(grades) == 0) < 0.75, "six tenths have no grade"
    assert all(set(labels) <= set(made.test) and labels for labels in made.labels)
    assert all(len(found) == 1 for found in made.labels.raw.values())
    best = [max(found, key=found.get) == id for id, found in made.scored.qrels.items()]
    assert np.mean(best) > 0.8, "the package asked for is opened most"
    assert made.native[made.test[0]].lang == "de"
    assert made.english[made.test[0]].text.startswith("x")


def test_readers_want_their_package_and_are_half_content_with_its_like():
    documents = {
        name: Document(name, text, "de") for name, text in (("a", "rot haus"), ("b", "rot haus"), ("c", "blau"))
    }
    found = searchlog.wanted({"a": ["a", "b", "c"], "c": []}, documents, "de")
    # b says the same (cosine 1), c nothing of it (0): .05 + .6, .05; .1 + .5, .1.
    assert found.attraction == {"a": {"a": 0.9, "b": pytest.approx(0.65), "c": 0.05}}
    assert found.satisfaction == {"a": {"a": 0.8, "b": pytest.approx(0.6), "c": 0.1}}
    sessions = searchlog.readers({"a": ["a", "b", "c"], "c": []}, found, "de", {"a": 7})
    assert [session.query for session in sessions] == ["a"] * 7
    assert searchlog.readers({"a": ["a", "b", "c"]}, found, "de", {"a": 7}) == sessions, "the same readers every time"


def asked(monkeypatch, module, made):
    """Which model reranks which queries."""
    said = []
    monkeypatch.setattr(module, "log", lambda size, lang="de": said.append(size.train) or made)
    monkeypatch.setattr(module, "train", lambda judged, **how: (judged.queries[0].lang, *sorted(how)))
    monkeypatch.setattr(module, "rerank", lambda made, model, queries: (model, queries[made.test[0]].lang))
    monkeypatch.setattr(module, "measured", lambda made, run: run)
    return said


def test_the_exact_kernel_is_off_in_one_row(made, monkeypatch):
    said = asked(monkeypatch, thesis_table_6_3, made)
    assert thesis_table_6_3.measure("de", 0, smoke=False) == {
        "Monolingual baseline": (("de", "seed"), "de"),
        "Exact match off": (("de", "off", "seed"), "de"),
    }
    assert said == [2000]


def test_who_is_trained_on_what_and_asked_in_which_language(made, monkeypatch, tmp_path):
    (tmp_path / "muse").mkdir()
    with gzip.open(tmp_path / "muse" / "en-de.tsv.gz", "wt") as file:
        file.write("xwasser0\twasser0\n")
    said = asked(monkeypatch, thesis_table_6_2, made)
    monkeypatch.setattr(thesis_table_6_2, "shared_vectors", lambda made: {})
    found = thesis_table_6_2.measure("en-de", 0, smoke=False)
    assert said == [4000]
    shown = found.pop("As shown (BM25)")
    assert {id: [hit.id for hit in hits] for id, hits in shown.items()} == {id: made.shown[id] for id in made.test}
    assert all(hits == sorted(hits, key=lambda hit: -hit.score) for hits in shown.values())
    assert found == {
        "Monolingual baseline": (("de", "seed"), "de"),
        "Monolingual, pairs by difference of score": (("de", "difference", "seed"), "de"),
        "Dictionary translation": (("de", "seed"), "de"),
        "Machine translation": (("de", "seed"), "de"),
        "Bilingual baseline": (("en", "seed"), "en"),
        "Bilingual, started from Cr5": (("en", "seed", "vectors"), "en"),
        "Bilingual, both changes": (("en", "difference", "seed", "vectors"), "en"),
    }


VALUES = {
    "en-fr": {"epsilon 0": {"P@1": [0.1, 0.3], "MAP": [0.5, 0.5]}, "epsilon 2": {"P@1": [0.4, 0.4], "MAP": [0.6, 1]}}
}


def test_lines_are_means_over_seeds_and_bands_their_range():
    made = Results("r", "t", ("P@1", "MAP"), (0, 1), False, "m", 1.0, VALUES)
    for figure, at, means, band in (
        (plots.lines(made, "x", [1, 2]), [1, 2], [0.2, 0.5], (0.1, 0.5)),  # the row epsilon 0 over both columns
        (plots.by_row(made, "x", ["P@1"]), [0, 2], [0.2, 0.4], (0.1, 0.4)),  # one column over both rows
    ):
        (panel,) = figure.axes
        line = panel.lines[0]
        assert (list(line.get_xdata()), list(line.get_ydata())) == (at, pytest.approx(means))
        drawn = panel.collections[0].get_paths()[0].vertices[:, 1]
        assert (drawn.min(), drawn.max()) == pytest.approx(band)
        assert (panel.get_title(), panel.get_xlabel()) == ("en-fr", "x")
        assert tuple(figure.get_size_inches()) == (4, 3)


def test_a_task_s_measure_query_by_query():
    task = Task("t", [Query("a", "", "en"), Query("b", "", "en")], [], {"a": {"x": 1}, "b": {"x": 1}})
    rankings = [[Hit("y", 3.0), Hit("z", 2.0), Hit("x", 1.0)], [Hit("x", 1.0)]]
    assert results._scores(task, rankings) == [0.3333, 1.0]
    known = SimpleNamespace(owed=lambda query: 3.0, each=lambda query: 0.002)
    tasks = [task._replace(documents=[Document(str(i), "", "fr") for i in range(10)])]
    cost = results._encoded({"documents/s": 10.0, "ms/query": 5.0}, known, tasks)
    assert cost == {"documents/s": 2.5, "ms/query": 7.0}, "ten in 1 + 3 seconds; 5 + 2 milliseconds"


def test_thirty_readers_of_each_query_look_at_most_results_in_an_order_that_changes(monkeypatch):
    told = []
    monkeypatch.setattr(searchlog.clicks, "simulate", lambda *said, **how: told.append((said, how)) or [])
    habits = searchlog.Wanted({"a": {"a": 0.9}}, {"a": {"a": 0.8}})
    searchlog.readers({"a": ["a"], "b": []}, habits, "fr")
    assert told == [(({"a": ["a"]}, *habits), {"sessions": 30, "lang": "fr", "depth": 0.95, "swaps": 8, "seed": 1})]


def test_processor_time_is_that_of_the_program_and_of_those_it_called(monkeypatch):
    spent = SimpleNamespace(user=1.0, system=2.0, children_user=4.0, children_system=8.0)
    monkeypatch.setattr(results.os, "times", lambda: spent)
    assert results._processor() == 15
