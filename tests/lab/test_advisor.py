"""The advisor recommends a pipeline for the documents and the machine it is shown."""

import json
import shlex

import pytest
from test_cli import CORPUS, paragloss_

from paragloss.lab import advisor


def make_machine(*installed):
    return advisor.MachineSummary(16_000_000_000, 4, False, installed)


def make_figures(**costs):
    systems = {"fast": 0.8, "best": 0.9, "BM25": 0.2, "fast with own table and Cr5": 0.85}
    half = {name: score / 2 for name, score in systems.items()}
    return {"tasks": {"questions, news, en-fr": systems, "questions, news, en-he": half}, "costs": costs}


def test_a_laptop_with_nothing_installed_gets_the_default_model_and_commands_that_work(tmp_path):
    advice = advisor.advise([str(CORPUS)], make_figures(), machine=make_machine())
    assert advice.pipeline == "bm25+default"
    assert (advice.corpus.langs["fr"], advice.corpus.aligned["en-fr"]) == (60, 60)
    fast = next(row for row in advice.expected if row.system == "fast")
    assert fast.quality == pytest.approx(0.8), "French was measured, Hebrew is not in this corpus"
    assert "paragloss[encoder]" in advice.suggestions[0]
    for command in advice.commands:
        run = paragloss_(*shlex.split(command.replace("...", "how do bees make honey"))[1:], cwd=tmp_path)
    assert "honey-bee" in run.stdout


def test_an_encoder_and_aligned_texts_add_parts_to_the_pipeline(tmp_path):
    pairs = tmp_path / "en-fr.tsv"
    pairs.write_text("".join(f"the house number {i} is red\tla maison {i} est rouge\n" for i in range(400)))
    machine = make_machine("e5 (encoder)", "training (train)")
    advice = advisor.advise([str(CORPUS), str(pairs)], make_figures(), machine=machine)
    assert advice.pipeline == "bm25+default+table+cr5+e5"
    assert advice.expected[0].system == "best"
    assert any("train table" in command for command in advice.commands)
    assert "en-fr.tsv" not in advice.commands[-2], "aligned texts are learned from, not indexed"
    assert advice.corpus.aligned["en-fr"] == 460


@pytest.mark.parametrize(("for_pages", "quality"), [(True, 0.75), (False, 0.5)])
def test_long_documents_are_compared_with_pages_and_short_ones_with_sentences(for_pages, quality):
    scores = {"documents, ddtp, en-fr": 0.9, "sentences, tatoeba, en-fr": 0.4, "questions, news, en-fr": 0.6}
    figures = {"tasks": {name: {"fast": score} for name, score in scores.items()}, "costs": {}}
    (row,) = advisor.estimate_quality(figures, ["fr"], ["fast"], for_pages=for_pages)
    assert (row.quality, row.tasks) == (pytest.approx(quality), 2)


def test_a_language_that_the_default_model_does_not_know_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "a", "lang": "qu", "text": "Kay simiqa runasimi sutiyuq"}\n')
    advice = advisor.advise([str(tmp_path / "a.jsonl")], make_figures(), machine=make_machine())
    assert "en-qu" in advice.suggestions[0]
    assert advice.pipeline == "bm25"
    assert "--no-default" in advice.commands[-2]


def test_an_encoder_that_would_take_days_is_not_recommended(tmp_path):
    rows = [{"id": str(n), "lang": "fr" if n % 2 else "de", "text": "un petit texte"} for n in range(6000)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    figures = make_figures(e5={"documents/s": 0.01, "ms/query": 60.0})
    advice = advisor.advise([str(tmp_path / "a.jsonl")], figures, machine=make_machine("e5 (encoder)"))
    assert (advice.corpus.documents, advice.corpus.langs) == (6000, {"de": 3000, "fr": 3000})
    assert "e5" not in advice.pipeline
    assert "e5 is installed, but encoding 6,000 documents would take 42 hours here" in advice.reasons
    assert any("GPU" in suggestion for suggestion in advice.suggestions)


def test_a_file_that_does_not_exist_is_reported(tmp_path):
    assert "there is no such file" in paragloss_("advise", "nothing.txt", cwd=tmp_path, code=1).stderr
