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
    folder, concepts = tmp_path_factory.mktemp("tuning"), demo.concepts()
    table.fit(concepts).save(folder / "table")
    train(cr5.fit, concepts).save(folder / "cr5")
    models = [str(folder / "table"), str(folder / "cr5")]
    with Collection.create(str(folder / "library"), models=models, default=False) as collection:
        collection.index([document for document in demo.documents() if document.lang == "fr"])
    queries = [Query(c.id, c.titles["en"], "en") for c in concepts]
    return folder, queries, {c.id: {f"{c.id}.fr": 1} for c in concepts}


def test_a_misleading_part_gets_a_smaller_weight(library, monkeypatch):
    folder, queries, _ = library
    with Collection.open(str(folder / "library")) as collection:
        # What the table alone finds first is said to be right: the others can only stand in the way.
        rankings = collection.rank(queries, k=10, to=["fr"], pipeline="table")
        qrels = {query.id: {ranking[0].id: 1} for query, ranking in zip(queries, rankings, strict=True) if ranking}
        monkeypatch.setattr(tuning, "WEIGHTS", (0.0, 1.0, 3.0))
        tuned = tuning.tune(collection, queries, qrels, to=["fr"])
        assert tuned.parts == ("bm25", "table", "cr5")
        assert tuned.after[1] == tuned.before[1] == 1.0
        run = collection.rank(queries, k=10, to=["fr"], pipeline=tuned.pipeline)
    first = [ranking[0].id in qrels.get(query.id, {}) for query, ranking in zip(queries, run, strict=True)]
    before = tuned.test.first
    assert sum(first) / len(first) >= before
    assert tuned.test.second >= before - 0.02
    assert tuned.queries == len(qrels)


def test_weights_are_chosen_by_one_half_and_measured_on_the_other(library, monkeypatch):
    folder, queries, qrels = library
    scored_ids = []
    choose_best = tuning._choose_weights
    monkeypatch.setattr(
        tuning,
        "_choose_weights",
        lambda weights, score: scored_ids.append(set(score(weights))) or choose_best(weights, score),
    )
    monkeypatch.setattr(tuning, "WEIGHTS", (1.0,))
    with Collection.open(str(folder / "library")) as collection:
        tuning.tune(collection, queries, qrels, to=["fr"])
    first_half, second_half, all_ids = scored_ids
    assert first_half | second_half == all_ids == {query.id for query in queries}
    assert not first_half & second_half


def test_too_few_judgments_and_too_many_languages_are_refused(library):
    folder, queries, qrels = library
    with Collection.open(str(folder / "library")) as collection:
        with pytest.raises(InputError, match="5 of 60 queries have a relevant document; at least 20 must"):
            tuning.tune(collection, queries, dict(list(qrels.items())[:5]))
        mixed = [*queries[:30], *(query._replace(lang="fr") for query in queries[30:])]
        with pytest.raises(InputError, match="the queries are in en, fr"):
            tuning.tune(collection, mixed, qrels)


def test_the_command_prints_weights_their_figures_and_the_pipeline_to_use(library):
    folder, queries, qrels = library
    rows = [{"id": query.id, "lang": query.lang, "text": query.text} for query in queries]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "qrels").write_text("".join(f"{q} 0 {d} 1\n" for q, right in qrels.items() for d in right))
    options = ["--in", "library", "--queries", "queries.jsonl", "--qrels", "qrels", "--to", "fr"]
    out = paragloss_("tune", "fusion", *options, cwd=folder).stdout
    assert "without judgments" in out
    assert "RR of 60 queries" in out
    pipeline = out.split("--pipeline ")[1].strip().strip("'")
    report = json.loads(paragloss_("tune", "fusion", *options, "--json", cwd=folder).stdout)
    assert report["pipeline"] == pipeline
    search_options = ["--lang", "en", "--pipeline", pipeline, "--json"]
    answer = json.loads(paragloss_("search", "--in", "library", "volcano", *search_options, cwd=folder).stdout)
    assert answer["results"][0]["id"] == "volcano.fr"
    assert "no --qrels given" in paragloss_("tune", "fusion", *options[:4], cwd=folder, code=1).stderr
    assert "tune fusion --in" in paragloss_("tune", "fusion", "--help", cwd=folder).stdout
