"""Weights of a fusion from judgments: chosen by some queries, measured on others."""

import json

import pytest
from test_cli import paragloss_

from paragloss import demo
from paragloss.collection import Collection, train
from paragloss.errors import InputError
from paragloss.lab import tuning
from paragloss.lab.methods import cr5, table
from paragloss.types import Query


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The demonstration in English and French with a table and Cr5; a query's title finds its page."""
    place, concepts = tmp_path_factory.mktemp("tuning"), demo.concepts()
    table.fit(concepts).save(place / "table")
    train(cr5.fit, concepts).save(place / "cr5")
    models = [str(place / "table"), str(place / "cr5")]
    with Collection.create(str(place / "library"), models=models, default=False) as engine:
        engine.index([document for document in demo.documents() if document.lang == "fr"])
    queries = [Query(c.id, c.titles["en"], "en") for c in concepts]
    return place, queries, {c.id: {f"{c.id}.fr": 1} for c in concepts}


def test_a_part_that_misleads_counts_less(library, monkeypatch):
    place, queries, _ = library
    with Collection.open(str(place / "library")) as engine:
        # What the table alone finds first is said to be right: the others can only stand in the way.
        found = engine.rank(queries, k=10, to=["fr"], pipeline="table")
        qrels = {query.id: {ranking[0].id: 1} for query, ranking in zip(queries, found, strict=True) if ranking}
        monkeypatch.setattr(tuning, "WEIGHTS", (0.0, 1.0, 3.0))
        tuned = tuning.tune(engine, queries, qrels, to=["fr"])
        assert tuned.parts == ("bm25", "table", "cr5")
        assert tuned.after[1] == tuned.before[1] == 1.0
        run = engine.rank(queries, k=10, to=["fr"], pipeline=tuned.pipeline)
    first = [ranking[0].id in qrels.get(query.id, {}) for query, ranking in zip(queries, run, strict=True)]
    before = tuned.test.first
    assert sum(first) / len(first) >= before
    assert tuned.test.second >= before - 0.02
    assert tuned.queries == len(qrels)


def test_weights_are_chosen_by_one_half_and_measured_on_the_other(library, monkeypatch):
    place, queries, qrels = library
    asked = []
    real = tuning._best
    monkeypatch.setattr(
        tuning, "_best", lambda weights, score: asked.append(set(score(weights))) or real(weights, score)
    )
    monkeypatch.setattr(tuning, "WEIGHTS", (1.0,))
    with Collection.open(str(place / "library")) as engine:
        tuning.tune(engine, queries, qrels, to=["fr"])
    one, other, everyone = asked
    assert one | other == everyone == {query.id for query in queries}
    assert not one & other


def test_too_few_judgments_and_too_many_languages_are_refused(library):
    place, queries, qrels = library
    with Collection.open(str(place / "library")) as engine:
        with pytest.raises(InputError, match="5 of 60 queries have a relevant document; at least 20 must"):
            tuning.tune(engine, queries, dict(list(qrels.items())[:5]))
        mixed = [*queries[:30], *(query._replace(lang="fr") for query in queries[30:])]
        with pytest.raises(InputError, match="the queries are in en, fr"):
            tuning.tune(engine, mixed, qrels)


def test_the_command_says_weights_what_they_give_and_what_to_type(library):
    place, queries, qrels = library
    rows = [{"id": query.id, "lang": query.lang, "text": query.text} for query in queries]
    (place / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "qrels").write_text("".join(f"{q} 0 {d} 1\n" for q, right in qrels.items() for d in right))
    given = ["--in", "library", "--queries", "queries.jsonl", "--qrels", "qrels", "--to", "fr"]
    out = paragloss_("tune", "fusion", *given, cwd=place).stdout
    assert "without judgments" in out
    assert "RR of 60 queries" in out
    pipeline = out.split("--pipeline ")[1].strip().strip("'")
    said = json.loads(paragloss_("tune", "fusion", *given, "--json", cwd=place).stdout)
    assert said["pipeline"] == pipeline
    asked = ["--lang", "en", "--pipeline", pipeline, "--json"]
    found = json.loads(paragloss_("search", "--in", "library", "volcano", *asked, cwd=place).stdout)
    assert found["results"][0]["id"] == "volcano.fr"
    assert "no --qrels given" in paragloss_("tune", "fusion", *given[:4], cwd=place, code=1).stderr
    assert "tune fusion --in" in paragloss_("tune", "fusion", "--help", cwd=place).stdout
