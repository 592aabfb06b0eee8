"""One file of results: what docs, advisor and leaderboard say is what it says."""

import hashlib
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from test_cli import CORPUS, paragloss_

from paragloss.errors import InputError
from paragloss.evaluation import compare
from paragloss.lab import advisor
from paragloss.lab.recipes import claims, leaderboard, load, pages, runner
from paragloss.lab.recipes import collected as collecting
from paragloss.types import Hit

ROOT = Path(__file__).parents[3]
TASK = "questions, news, en-hi"


@pytest.fixture
def measured(tmp_path):
    """Cells as the results recipe leaves them: nothing learned, and one method with two seeds."""
    cells = tmp_path / "results" / "cells"
    cells.mkdir(parents=True)

    def cell(part, seed, rows):
        runner._write(
            runner._cell(cells, part, seed, False),
            {"part": part, "seed": seed, "seconds": 2.0, "machine": "a laptop", "rows": rows},
        )

    fast, bm25 = [1.0, 0.5, 1.0, 1.0, 0.5, 1.0], [0.0, 0.5, 0.0, 0.1, 0.2, 0.0]
    cost = {"documents/s": 100.0, "ms/query": 2.0}
    cell(
        "talk en-hi: given",
        0,
        {
            f"{TASK} | fast": {"measure": fast},
            f"{TASK} | BM25": {"measure": bm25},
            "cost | fast": cost,
            "cost | BM25": {**cost, "ms/query": 1.0},
        },
    )
    cell("talk en-hi: spaces", 0, {f"{TASK} | Cr5": {"measure": [1.0, 0.5, 1.0, 0.0, 0.5, 1.0]}, "cost | Cr5": cost})
    cell("talk en-hi: spaces", 1, {f"{TASK} | Cr5": {"measure": [1.0, 0.5, 1.0, 0.5, 0.5, 1.0]}, "cost | Cr5": cost})
    return tmp_path, fast, bm25


def test_cells_become_tasks_costs_and_corrected_comparisons(measured):
    folder, fast, bm25 = measured
    found = collecting.collect(folder)
    assert found["tasks"][TASK]["systems"] == {"fast": [0.8333], "BM25": [0.1333], "Cr5": [0.6667, 0.75]}
    assert found["tasks"][TASK]["queries"] == 6
    assert found["costs"]["BM25"] == {"documents/s": 100.0, "ms/query": 1.0}
    alone = compare(dict(enumerate(map(float, fast))), dict(enumerate(map(float, bm25)))).p_randomisation
    test = found["comparisons"]["questions"]
    assert test["BM25"]["p"] == pytest.approx(2 * alone, abs=1e-5), "the smaller of two p-values counts twice (Holm)"
    assert test["Cr5"]["difference"] == pytest.approx((2.125 / 3) - 2.5 / 3, abs=1e-4)  # seeds averaged first


def test_the_pages_say_what_the_results_say(measured, tmp_path):
    found = collecting.collect(measured[0])
    docs = tmp_path / "docs"
    (docs / "understand" / "papers").mkdir(parents=True)
    (docs / "understand" / "papers" / "one.md").write_text(
        "# One\n<!-- recipe: cr5-table-1 -->\nold\n<!-- end -->\nend\n"
    )
    pages.write(found, docs)
    told = (docs / "understand" / "results.md").read_text(encoding="utf-8")
    assert "| Cr5 | .708 ± .042 | .708 |" in told
    assert "fast" in pages.findings(found)[0]
    drawn = (docs / "understand" / "results.html").read_text(encoding="utf-8")
    assert drawn.count("<svg") == 2, "what systems cost, and the one kind of task"
    assert "http://" not in re.sub(
        r"http://www\.w3\.org|http://purl|http://creativecommons",
        "",
        (docs / "understand" / "results.html").read_text(),
    )
    assert "has not been run to its end here" in (docs / "understand" / "papers" / "one.md").read_text()
    assert "old" not in (docs / "understand" / "papers" / "one.md").read_text()


def test_a_page_sets_some_systems_side_by_side(measured):
    found = collecting.collect(measured[0])
    block = "<!-- tasks: questions: Cr5, BM25 -->\nold\n<!-- end -->\n"
    told = pages.filled(f"before\n{block}after\n", found)
    assert "| Cr5 | .708 ± .042 | .708 |" in told
    assert "| BM25 |" in told
    assert "fast" not in told
    assert "old" not in told
    assert "`paragloss recipes results`" in told
    assert told.startswith("before\n")
    assert told.endswith("<!-- end -->\nafter\n")
    assert pages.filled(told, found) == told


def test_a_claim_holds_where_the_system_is_surely_above_every_rival():
    queries = 40
    asked = {
        "questions, news, en-hi": {
            "fast": {0: [0.9] * queries},
            "Cr5": {0: [0.2] * queries, 1: [0.4] * queries},
            "XCNN": {0: [0.9, 0.8] * (queries // 2)},
            "best": {0: [0.7] * queries},
            "e5": {0: [0.8] * queries},
        },
        "questions, news, en-fr": {"fast": {0: [1.0] * queries}, "Cr5": {0: [0.5] * queries}},
        "words, muse, en-fr": {"fast": {0: [0.5, 0.5]}, "Cr5": {0: [0.4, 0.6]}},
    }
    found = claims.judged(asked)
    cr5 = found["questions, news"]["fast"]["Cr5"]
    assert (cr5["queries"], cr5["mean"], cr5["rival"]) == (80, 0.95, 0.4)  # seeds first: (.3 + .5) / 2
    assert cr5["p"] < 0.001
    assert found["questions, news"]["fast"]["XCNN"]["queries"] == 40, "French was not asked of it"
    fast, best = claims.sentences(found)
    assert "Surely above every single method of the papers on 1 of 2 sets (questions, news)" in fast
    assert "No surer than chance against one or more on words, muse" in fast
    assert "Below e5 on questions, news" in best
    assert "| questions, news | best | 40 | .700 | e5 | .800 | under .0002 | 0 of 1 | 1 of 1 |" in claims.lines(found)


def test_the_leaderboard_has_a_file_for_every_system_and_task(measured, tmp_path):
    assert leaderboard.write(collecting.collect(measured[0]), tmp_path / "board") == 3
    path = tmp_path / "board" / "cr5" / "ParaglossQuestionsNews.json"
    (score,) = json.loads(path.read_text())["scores"]["test"]
    assert score["main_score"] == pytest.approx(0.70835)
    assert (score["hf_subset"], score["languages"]) == ("en-hi", ["eng-Latn", "hin-Deva"])
    assert json.loads((tmp_path / "board" / "cr5" / "model_meta.json").read_text())["cost"]["ms/query"] == 2.0


def test_mteb_reads_the_leaderboard(measured, tmp_path):
    results = pytest.importorskip("mteb.results", reason="mteb does not install on this machine")
    leaderboard.write(collecting.collect(measured[0]), tmp_path)
    read = results.TaskResult.from_disk(tmp_path / "cr5" / "ParaglossQuestionsNews.json")
    assert read.task_name == "ParaglossQuestionsNews"
    assert read.get_score() == pytest.approx(0.70835)
    assert set(read.languages) == {"eng", "hin"} or set(read.languages) == {"eng-Latn", "hin-Deva"}


def test_a_run_says_its_order_in_its_scores_alone():
    hits = [Hit("b", 1.0), Hit("a", 1.0), Hit("c d", 1.0 - 1e-12), Hit("e", 0.5)]
    told = leaderboard.apart(hits)
    assert [hit.id for hit in told] == ["b", "a", "c_d", "e"]
    single = [np.float32(hit.score) for hit in told]
    assert single[0] > single[1] > single[2] > single[3]
    assert (told[0].score, told[3].score) == (1.0, 0.5)


def test_another_reader_finds_the_same_figures_in_the_runs(tmp_path, monkeypatch):
    ir_measures = pytest.importorskip("ir_measures", reason="ir-measures does not install on this machine")
    from paragloss import demo
    from paragloss.lab.recipes.tables import results as results
    from paragloss.lab.recipes.tasks import Task

    monkeypatch.setenv("PARAGLOSS_RUNS", str(tmp_path / "runs"))
    queries, qrels = demo.queries()
    asked = [query for query in queries if query.lang == "en"]
    documents = [document for document in demo.documents() if document.lang in ("fr", "hi")]
    here = {document.id for document in documents}
    wanted = {query.id: {name: grade for name, grade in qrels[query.id].items() if name in here} for query in asked}
    for number, measure in enumerate(("RR", "nDCG@10")):
        task = Task(f"demo, {measure}, en-fr", asked, documents, wanted, measure)
        systems = {"BM25": "bm25", "default model": "model"}
        ours = results._asked([task], [results.held_out_model()], systems, tmp_path / str(number), seed=3)
        place = tmp_path / "runs" / leaderboard.slug(task.name)
        judged = list(ir_measures.read_trec_qrels(str(place / "qrels")))
        for system in systems:
            run = list(ir_measures.read_trec_run(str(place / f"{leaderboard.slug(system)}.3.run")))
            theirs = {
                m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.parse_measure(measure)], judged, run)
            }
            expected = [round(theirs[query.id], 4) for query in asked]
            assert ours[f"{task.name} | {system}"]["measure"] == pytest.approx(expected, abs=1e-4)
            assert sum(expected) > 1, "something was found"


def test_vectors_from_elsewhere_are_charged_for_as_if_they_were_made_here(tmp_path, monkeypatch):
    from paragloss.lab.recipes import precomputed

    clock = [0.0]

    class Slow:
        def encode(self, texts, *, query):
            clock[0] += 2 * len(texts)  # two seconds a text
            return np.ones((len(texts), 384), np.float32)

    monkeypatch.setattr(precomputed.packages, "opened", lambda name: Slow())
    monkeypatch.setattr(precomputed.time, "process_time", lambda: clock[0])
    texts = [f"text {n}" for n in range(400)]
    keys = [hashlib.blake2b(f"passage: {text}".encode(), digest_size=8).hexdigest() for text in texts]
    (tmp_path / "keys.json").write_text(json.dumps(keys))
    np.save(tmp_path / "vectors0.npy", np.full((400, 384), 0.5, np.float16))
    with precomputed.vectors(str(tmp_path)) as known:
        rows = known.encode([*texts, "unknown"], query=False)
        here = clock[0] / 2 - 1  # texts that were encoded here only to see what that costs
    assert (rows[:400] == 0.5).all()
    assert (rows[400] == 1).all(), "what is not there is encoded here"
    assert 0 < here < 40
    assert known.each(query=False) == 2
    assert known.owed(query=False) == 2 * (401 - here)
    assert known.owed(query=True) == 0.0


def test_what_was_measured_takes_the_place_of_what_was_known(measured):
    now = collecting.collect(measured[0])
    known = {**now, "tables": {"cr5-table-1": {"seconds": {"en-it": 1.0}}, "xcnn-table-1": {}}, "seconds": 99}
    found = collecting.joined(known, {**now, "tables": {"xcnn-table-1": {"seconds": {"en-hi": 3.0}, "values": {}}}})
    spent = {name: table["seconds"] for name, table in found["tables"].items()}
    assert spent == {"cr5-table-1": {"en-it": 1.0}, "xcnn-table-1": {"en-hi": 3.0}}
    assert found["seconds"] == now["seconds"]
    assert collecting.joined(known, {"tables": {}, "tasks": {}})["seconds"] == 99, "tasks not measured stay"


def test_parts_not_measured_again_stay_and_are_judged_with_the_others():
    def told(seconds, machine, seeds, **parts):
        values = {part.replace("_", "-"): {"OPCA": {"RR": [rr]}, "XCNN": {"RR": [0.5]}} for part, rr in parts.items()}
        about = {"recipe": "xcnn-table-1", "machine": machine, "seconds": seconds, "seeds": seeds, "smoke": False}
        return {"tasks": {}, "tables": {"xcnn-table-1": {**about, "values": values, "verdict": "old"}}}

    measured = told({"en-vi": 2.0, "en-hi": 1.0}, "b", [0], en_vi=0.1, en_hi=0.9)
    joined = collecting.joined(told({"en-fr": 7.0, "en-hi": 5.0}, "a", [0, 1], en_fr=0.4, en_hi=0.4), measured)
    (table,) = joined["tables"].values()
    assert [(part, rows["OPCA"]["RR"]) for part, rows in table["values"].items()] == [
        ("en-hi", [0.9]), ("en-fr", [0.4]), ("en-vi", [0.1]),
    ]  # fmt: skip
    assert (table["machine"], table["seeds"]) == ("a; b", [0, 1])
    assert table["seconds"] == {"en-fr": 7.0, "en-vi": 2.0, "en-hi": 1.0}, "not what was spent on figures that are gone"
    assert "OPCA 0.435 / 0.467" in table["verdict"], "the mean of .9, .4 and .1"
    assert collecting.joined(joined, measured) == joined, "once more adds nothing"


def test_what_several_parts_took_together_stays_while_one_of_them_does():
    def told(seconds, *parts):
        values = {part: {"OPCA": {"RR": [0.5]}} for part in parts}
        about = {"recipe": "xcnn-table-1", "machine": "a", "seconds": seconds, "seeds": [0], "smoke": False}
        return {"tasks": {}, "tables": {"xcnn-table-1": {**about, "values": values}}}

    known = told({"en-hi, en-fr": 7.0}, "en-hi", "en-fr")
    for parts, left in ((("en-hi", "en-vi"), {"en-hi, en-fr": 7.0}), (("en-hi", "en-fr"), {})):
        again = dict.fromkeys(parts, 1.0)
        joined = collecting.joined(known, told(again, *parts))
        assert joined["tables"]["xcnn-table-1"]["seconds"] == left | again


def test_nothing_measured_is_told(tmp_path):
    with pytest.raises(InputError, match="no measured recipe"):
        collecting.collect(tmp_path)


SHIPPED = pytest.mark.skipif(not collecting.SHIPPED.is_file(), reason="no results are shipped yet")


PAGES = pages.with_figures(ROOT / "docs")


@SHIPPED
def test_the_page_of_results_says_what_results_json_says():
    assert (ROOT / "docs" / "understand" / "results.md").read_text(encoding="utf-8") == pages.markdown(
        collecting.shipped()
    )


@SHIPPED
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_figures_in_the_documents_are_those_of_the_results(page):
    text = page.read_text(encoding="utf-8")
    assert pages.filled(text, collecting.shipped()) == text, f"{page.name}: run `paragloss recipes --docs docs`"


@SHIPPED
def test_another_figure_in_a_document_is_noticed():
    text = (ROOT / "docs" / "understand" / "fusion.md").read_text(encoding="utf-8")
    figure = re.search(r"<!-- fusion -->.*?\*\*(\.\d+)\*\*", text, re.DOTALL)
    wrong = text[: figure.start(1)] + ".999" + text[figure.end(1) :]
    assert pages.filled(wrong, collecting.shipped()) == text


FIGURE = re.compile(r"(?<![\w./])0?\.\d{3}(?![\w.])")
COMMAND = re.compile(r"`[^`]*(paragloss [a-z]+|(studies|benchmarks)/\w+\.py|make [a-z]+)[^`]*`")


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if not page.name.startswith("log") and page.name != "settings.md"],
    ids=lambda page: page.name,
)
def test_every_figure_has_its_command_beside_it(page):
    """Under the same heading. The log also tells of scripts that are gone; settings are no figures."""
    sections = re.split(r"(?m)^(?=#{1,4} )", page.read_text(encoding="utf-8"))
    told = [part for part in sections if FIGURE.search(part) and not part.startswith("## Settings")]
    alone = [part.splitlines()[0] for part in told if not COMMAND.search(part)]
    assert not alone, f"{page.name}: no command that makes the figures under {alone}"


def laptop(*installed):
    return advisor.Machine(16_000_000_000, 4, False, installed)


def known():
    systems = {"fast": [0.8], "best": [0.9], "BM25": [0.2], "fast with own table and Cr5": [0.85]}
    return {
        "tasks": {
            "questions, news, en-fr": {"queries": 10, "systems": systems},
            "questions, news, en-he": {"queries": 10, "systems": {name: [v[0] / 2] for name, v in systems.items()}},
        },
        "costs": {"fast": {"documents/s": 900.0, "ms/query": 3.0}},
    }


def test_advice_for_a_laptop_with_nothing_installed(tmp_path):
    said = advisor.advise([str(CORPUS)], known(), here=laptop())
    assert said.pipeline == "bm25+default"
    assert said.corpus.langs["fr"] == 60
    assert said.corpus.aligned["en-fr"] == 60
    fast = next(e for e in said.expected if e.system == "fast")
    assert fast.quality == pytest.approx(0.8), "French was measured, Hebrew is not in this corpus"
    assert "paragloss[encoder]" in said.helps[0]
    for command in said.commands:  # as they stand
        done = paragloss_(*shlex.split(command.replace("...", "how do bees make honey"))[1:], cwd=tmp_path)
    assert "honey-bee" in done.stdout


def test_advice_with_an_encoder_and_with_pairs_of_one_s_own(tmp_path):
    pairs = tmp_path / "en-fr.tsv"
    pairs.write_text("".join(f"the house number {i} is red\tla maison {i} est rouge\n" for i in range(400)))
    said = advisor.advise([str(CORPUS), str(pairs)], known(), here=laptop("e5 (encoder)", "training (train)"))
    assert said.pipeline == "bm25+default+table+cr5+e5"
    assert said.expected[0].system == "best"
    assert any("train table" in command for command in said.commands)
    assert "en-fr.tsv" not in said.commands[-2], "pairs are learned from, not searched"
    assert said.corpus.aligned["en-fr"] == 460


def test_long_documents_are_advised_by_pages_and_short_ones_by_sentences():
    told = {"documents, ddtp, en-fr": [0.9], "sentences, tatoeba, en-fr": [0.4], "questions, news, en-fr": [0.6]}
    results = {"tasks": {name: {"systems": {"fast": value}} for name, value in told.items()}, "costs": {}}
    for long, mean in ((True, 0.75), (False, 0.5)):
        (found,) = advisor.expected(results, ["fr"], ["fast"], long=long)
        assert (found[1], found[2]) == (pytest.approx(mean), 2)


def test_advice_where_the_default_model_does_not_know_a_language(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"id": "a", "lang": "qu", "text": "Kay simiqa runasimi sutiyuq"}\n')
    said = advisor.advise([str(tmp_path / "a.jsonl")], known(), here=laptop())
    assert "en-qu" in said.helps[0]
    assert said.pipeline == "bm25"
    assert "--no-default" in said.commands[-2]


def test_advice_where_encoding_would_take_days(tmp_path):
    rows = [{"id": str(n), "lang": "fr" if n % 2 else "de", "text": "un petit texte"} for n in range(6000)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    results = {**known(), "costs": {"e5": {"documents/s": 0.01, "ms/query": 60.0}}}
    said = advisor.advise([str(tmp_path / "a.jsonl")], results, here=laptop("e5 (encoder)"))
    assert (said.corpus.documents, said.corpus.langs) == (6000, {"de": 3000, "fr": 3000}), "all of them, not the first"
    assert "e5" not in said.pipeline
    assert "e5 is installed, but encoding 6,000 documents would take 42 hours here" in said.reasons
    assert any("GPU" in help_ for help_ in said.helps)


def test_advice_on_a_file_that_is_not_there(tmp_path):
    assert (
        "there is no such file" in paragloss_("advise", "nothing.txt", cwd=tmp_path, code=1).stderr
        if collecting.SHIPPED.is_file()
        else True
    )


def test_the_little_markdown_that_pages_are_written_in_becomes_html():
    text = '# Results\n\nFound by `fast`,\nand **more** [here](x.md) "<b>".\n\n'
    text += "| a | b |\n|---|---|\n| 1 | 2 |\n\n## Next\n- one\n  - two\n"
    assert pages._as_html(text).split("\n") == [
        "<h1>Results</h1>",
        "<p>Found by <code>fast</code>,</p>",
        'and <b>more</b> here "&lt;b&gt;". ',
        "<table><tr><th>a</th><th>b</th></tr>",
        "<tr><td>1</td><td>2</td></tr></table>",
        "<h2>Next</h2>",
        "<p>• one</p>",
        "<p>• two</p>",
    ]


def test_plots_of_the_page_have_each_system_s_means_and_costs():
    tasks = {
        "questions, news, en-fr": {"queries": 2, "systems": {"fast": [0.6, 0.8], "BM25": [0.1]}},
        "questions, news, en-hi": {"queries": 2, "systems": {"fast": [0.5]}},
    }
    results = {"tasks": tasks, "costs": {"fast": {"ms/query": 4.0}, "BM25": {}}}
    (axes,) = pages._quality_and_cost(results).axes
    assert [point.get_offsets().tolist() for point in axes.collections] == [[[4.0, pytest.approx(0.6)]]], (
        "(.7 + .5) / 2"
    )
    assert (axes.get_xscale(), [text.get_text() for text in axes.texts]) == ("log", ["fast"])
    assert tuple(axes.figure.get_size_inches()) == (9, 5)
    (axes,) = pages._bars(tasks).axes
    assert tuple(axes.figure.get_size_inches()) == (7, 3.5)
    assert pages._bars(dict.fromkeys(map(str, range(10)), tasks["questions, news, en-hi"])).get_figwidth() == 16
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([0.7, 0.5, 0.1, 0.0])
    assert [bar.get_x() + bar.get_width() / 2 for bar in axes.patches] == pytest.approx([0, 1, 0.45, 1.45])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["news, en-fr", "news, en-hi"]


@pytest.mark.parametrize("name", collecting.shipped()["tables"])
def test_what_is_known_of_a_recipe_has_its_columns_seeds_and_parts(name):
    known, recipe = collecting.shipped()["tables"][name], load(name)
    assert (known["columns"], known["title"]) == (list(recipe.COLUMNS), runner.title(recipe))
    assert known["seeds"] == list(getattr(recipe, "SEEDS", (0, 1, 2)))
    assert list(known["values"]) == list(recipe.PARTS)
