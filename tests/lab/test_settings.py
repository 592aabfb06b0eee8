"""Every setting of every method: within reach of the command line, explained, and refused when it makes no sense."""

import inspect
import json
import math
from pathlib import Path

import numpy as np
import pytest
from test_cli import CORPUS, paragloss_, read_json, run_line
from vector_files import write_vectors

from paragloss.errors import ModelError
from paragloss.lab.commands.flags import PYTHON_ONLY, list_flags
from paragloss.lab.methods import alignment, cr5, opca, ordinal, xcnn
from paragloss.lab.settings import find_problem, find_series, read_options, union_members
from paragloss.methods import load_method, load_methods

#: What can be learned in a moment, whatever else is set; a method takes those it knows.
QUICK_VALUES = {
    "dim": "4", "epochs": "1", "hub_epochs": "1", "pretraining_epochs": "1", "steps": "1", "hidden": "4", "rounds": "1",
    "reduced": "4", "max_terms": "50", "iterations": "1", "folds": "2", "queries": "4", "depth": "4", "negatives": "2",
}  # fmt: skip
BAD_VALUES = {
    int: ("many", "0", "-1", "nan", "inf", str(10**12)),
    float: ("much", "0", "-1", "nan", "inf", "1e300"),
    bool: ("perhaps",),
    str: ("no-such-thing",),
}


def list_functions():
    """Every function the command line takes settings for, by what one types."""
    for method in sorted(load_methods()):
        module = load_method(method)
        for name in ("fit", "fit_judged", "tune", "add_language"):
            if hasattr(module, name):
                yield pytest.param(method, getattr(module, name), id=f"{method}.{name}")


@pytest.mark.parametrize(("method", "function"), list_functions())
def test_every_keyword_is_a_flag_with_an_explanation_and_a_valid_default(method, function):
    option_by_flag, option_by_name = list_flags(function), read_options(function)
    assert {option.name for option in option_by_flag.values()} == option_by_name.keys() - PYTHON_ONLY.keys()
    silent = [flag for flag, option in option_by_flag.items() if not option.setting.help]
    assert not silent, f"{method}: annotate {silent} with Setting('what it is for', ...) as lab/settings.py shows"
    for option in option_by_name.values():
        assert option.default is inspect.Parameter.empty or not find_problem(option, option.default), option.name


def test_help_lists_methods_and_explains_settings(tmp_path):
    listed = run_line("train --help", tmp_path).stdout
    assert all(f"\n  {method} " in listed for method in load_methods())
    help_text = run_line("train cr5 --help", tmp_path).stdout
    for flag, option in list_flags(cr5.fit).items():
        (line,) = [line for line in help_text.splitlines() if line.startswith((f"  {flag} ", f"  {flag},"))]
        assert option.setting.help in line
    assert "--thresholds" in run_line("tune ordinal --help", tmp_path).stdout


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Twelve concepts in two languages."""
    path = tmp_path_factory.mktemp("settings") / "few.jsonl"
    rows = [json.loads(line) for line in Path(CORPUS).read_text(encoding="utf-8").splitlines()]
    bilingual_rows = [row for row in rows if row["lang"] in ("en", "fr")][:24]
    path.write_text("".join(json.dumps({**row, "text": row["text"][:300]}) + "\n" for row in bilingual_rows))
    return path


def list_wrong_words(option):
    """What may be typed for a setting by mistake."""
    series = find_series(option.type)
    if series is not None:
        return [",".join([word] * (series.length or 1)) for word in BAD_VALUES[series.kind]]
    kinds = [kind for kind in union_members(option.type) if kind in BAD_VALUES]
    return BAD_VALUES[kinds[0]] if kinds else ("no-such-file.tsv", "")


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted(load_methods()))
def test_no_value_that_can_be_typed_is_an_internal_error(method, corpus):
    """A value is refused in one line that names the setting, or it trains."""
    fit = load_method(method).fit
    option_by_flag = list_flags(fit)
    quick = {f: QUICK_VALUES[o.name] for f, o in option_by_flag.items() if o.name in QUICK_VALUES and o.type is int}
    for flag, option in option_by_flag.items():
        for word in list_wrong_words(option):
            argument = f"--no-{flag[2:]}" if option.type is bool and word == "" else f"{flag}={word}"
            others = [f"{quick_flag}={value}" for quick_flag, value in quick.items() if quick_flag != flag]
            run = paragloss_(
                "train", method, corpus.name, "--out", "m", *others, argument, cwd=corpus.parent, code=None
            )
            if run.code == 0:
                assert is_within_bounds(option, word), f"{argument} was taken: {run}"
            else:
                lines = [line for line in run.stderr.splitlines() if "warning:" not in line]
                assert (run.code, len(lines)) == (1, 1), (argument, run)
                assert lines[0].startswith("paragloss: error: "), lines


def is_within_bounds(option, word):
    """What trained must be within what was declared."""
    try:
        value = float(word)
    except ValueError:
        return option.type is not bool and not option.setting.words
    return math.isfinite(value) and not find_problem(option, int(value) if value == int(value) else value)


@pytest.mark.parametrize(
    ("fit", "settings", "message"),
    [
        (cr5.fit, {"dim": 0}, "dim 0: expected a whole number, at least 1 and at most 10,000"),
        (cr5.fit, {"dim": True}, "dim True: expected a whole number"),
        (cr5.fit, {"lambda_": math.nan}, "lambda_ nan: expected a number, above 0"),
        (cr5.fit, {"lengths": (9, 2)}, r"lengths \(9, 2\): expected 2 ascending whole numbers, at least 1"),
        (cr5.fit, {"solver": "magic"}, "solver 'magic': expected one of auto, closed-form, early"),
        (cr5.fit, {"device": "abacus"}, "device 'abacus': expected cpu, cuda or numpy"),
        (opca.fit, {"gamma": 0}, "gamma 0: expected a number, above 0"),
        (ordinal.fit, {"epochs": 0}, "epochs 0: expected a whole number, at least 1"),
        (ordinal.fit, {"epsilon": -1.0}, "epsilon -1.0: expected a number, above 0"),
        (ordinal.fit, {"thresholds": (0.7, 0.2)}, "expected ascending numbers, above -1 and below 1"),
        (xcnn.fit, {"layers": 0}, "layers 0: expected a whole number, at least 1"),
        (xcnn.fit, {"negatives": 0}, "negatives 0: expected a whole number, at least 1"),
        (alignment.fit, {"trainer": "magic"}, "trainer 'magic': expected one of ppmi, word2vec, fasttext"),
    ],
)
def test_python_gets_the_same_bounds(fit, settings, message):
    with pytest.raises(ModelError, match=message):
        fit([], **settings)


def test_numbers_of_numpy_are_accepted():
    assert not find_problem(read_options(cr5.fit)["dim"], np.int64(8))
    assert not find_problem(read_options(cr5.fit)["lambda_"], np.float32(0.5))


@pytest.mark.parametrize(
    ("options", "used"),
    [
        ("--solver early --device numpy", ("early", "numpy")),
        ("--solver one-pass --device numpy", ("one-pass", "numpy")),
        ("--solver converged --device numpy", ("converged", "numpy")),
        ("", ("closed-form", None)),  # few documents are solved exactly
    ],
)
def test_the_requested_solver_is_used(corpus, options, used):
    run_line(f"train cr5 {corpus.name} --out solved --dim 4 {options}", corpus.parent)
    about = read_json("info solved", corpus.parent)
    assert (about["solver"], about.get("device")) == used


def test_a_language_is_added_to_a_model(tmp_path):
    run_line(f"train cr5 {CORPUS} --langs en,fr --dim 20 --out two", tmp_path)
    run = run_line(f"train cr5 {CORPUS} --add-language da --to two --out three", tmp_path)
    assert "added da" in run.stdout
    assert read_json("info three", tmp_path)["languages"] == ["en", "fr", "da"]
    run_line(f"index {CORPUS} --into library --model three", tmp_path)
    answer = read_json("search --in library volcano --lang en --to da --pipeline three:csls", tmp_path)
    assert answer["results"][0]["id"] == "volcano.da"
    refused_run = run_line(f"train lsi {CORPUS} --add-language da --to two", tmp_path, code=1)
    assert "lsi can't add a language" in refused_run.stderr


def test_tuning_lists_results_best_first_and_plots_them(corpus):
    rows = read_json(f"tune cr5 {corpus.name} --lambdas 0.5,1 --dim 4 --plot plot.svg", corpus.parent)
    assert {row["lambda"] for row in rows} == {"0.5", "1"}
    assert rows[0]["P@1"] >= rows[1]["P@1"]
    assert "<svg" in (corpus.parent / "plot.svg").read_text()


@pytest.fixture
def judged(tmp_path):
    """Judgments as LS-CLIR has them: titles of the demonstration ask for its French texts."""
    rows = [json.loads(line) for line in Path(CORPUS).read_text(encoding="utf-8").splitlines()]
    english = [row for row in rows if row["lang"] == "en"][:20]
    french = [row for row in rows if row["lang"] == "fr"][:30]
    ids = {row["concept"] for row in french}
    lines = {
        "wiki_en.queries": [(row["concept"], row["title"], row["title"]) for row in english],
        "wiki_fr.documents": [(row["concept"], row["title"], row["text"]) for row in french],
        "en2fr.rel": [(row["concept"], row["concept"], "2") for row in english if row["concept"] in ids],
    }
    for name, table in lines.items():
        (tmp_path / name).write_text("".join("\t".join(row) + "\n" for row in table), encoding="utf-8")
    return tmp_path


def test_lsclir_files_are_trained_on_indexed_searched_and_measured(judged):
    quick = "--dim 8 --epochs 2 --negatives 5 --thresholds 0.1,0.6"
    run = run_line(f"train ordinal wiki_fr.documents en2fr.rel wiki_en.queries --out m {quick}", judged)
    assert "trained ordinal on 20 queries" in run.stdout
    assert read_json("info m", judged)["thresholds"] == [0.1, 0.6]
    run_line("index wiki_fr.documents --into library --model m", judged)
    run_line("search --in library --queries wiki_en.queries --run run.trec", judged)
    assert read_json("eval run.trec en2fr.rel --measures RR", judged)["mean"]["RR"] > 0.1


def test_ordinal_is_tuned_on_judgments(judged):
    settings = "--thresholds 0,0.5/0.2,0.7 --epsilons 0.5 --folds 2 --dim 4 --epochs 1 --negatives 3 --plot o.svg"
    rows = read_json(f"tune ordinal --judged wiki_en.queries,wiki_fr.documents,en2fr.rel {settings}", judged)
    assert {tuple(row["thresholds"]) for row in rows} == {(0.0, 0.5), (0.2, 0.7)}
    assert (judged / "o.svg").is_file()


SPACES = "joint_28_en.txt.gz,joint_28_fr.txt.gz"


@pytest.fixture
def spaces(tmp_path):
    """Published word vectors in one space, named as Cr5's are: a word and its translation have one vector."""
    rows = np.eye(3, dtype=np.float32)
    for lang, words in {"en": ["volcano", "Bread", "bee"], "fr": ["volcan", "pain", "abeille"]}.items():
        write_vectors(tmp_path / f"joint_28_{lang}.txt.gz", words, rows, format="glove")
    return tmp_path


def test_published_vectors_are_a_model(spaces):
    documents = [{"id": word, "lang": "fr", "text": f"un {word}"} for word in ("volcan", "pain", "abeille")]
    (spaces / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents))
    run_line(f"index docs.jsonl --into library --model {SPACES}", spaces)
    answer = read_json("search --in library bread --lang en --pipeline joint_28", spaces)
    assert answer["results"][0]["id"] == "pain"
    assert "abeille" in run_line(f"translate bee --with {SPACES} --lang en --to fr", spaces).stdout


def test_a_reranker_can_start_from_published_vectors(spaces):
    words = {"en": ["volcano", "bread", "bee"], "fr": ["volcan", "pain", "abeille"]}
    rows = [
        {"concept": f"c{i}", "lang": lang, "title": titles[i % 3], "text": f"{titles[i % 3]} {i}"}
        for lang, titles in words.items()
        for i in range(30)
    ]
    (spaces / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run_line(f"train knrm pages.jsonl --out knrm --start {SPACES}", spaces)
    assert read_json("info knrm", spaces)["start"] == SPACES


def test_vectors_and_a_dictionary_are_given_as_files(spaces):
    rows = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    for lang, words in {"en": ["volcano", "bread", "water", "city"], "fr": ["volcan", "pain", "eau", "ville"]}.items():
        write_vectors(spaces / f"{lang}.vec", words, rows)
    (spaces / "en-fr.tsv").write_text("volcano\tvolcan\nbread\tpain\nwater\teau\ncity\tville\n")
    files = "--vectors en.vec,fr.vec --dictionary en-fr.tsv"
    run_line(f"train alignment {CORPUS} --langs en,fr --out mapped --method orthogonal {files}", spaces)
    about = read_json("info mapped", spaces)
    assert (about["dimensions"], next(iter(about["maps"].values()))["pairs"]) == (6, 4)
