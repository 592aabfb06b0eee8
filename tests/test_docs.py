"""What the documents say is there, and what is there is in the documents."""

import itertools
import json
import re
import shlex
from contextlib import chdir, suppress
from pathlib import Path

import numpy as np
import pytest
import typer.main
from synthetic_logs import synthetic_log, write_sessions
from test_cli import CORPUS, paragloss_
from vector_files import write_vectors

from paragloss import Collection, Document
from paragloss.cli import app, main
from paragloss.methods import load_methods
from paragloss.search.parts import FEEDBACK, FUSIONS, MIX, SEARCHERS, TOGETHER, TRANSLATORS

ROOT = Path(__file__).parents[1]
PAGES = {
    name: (ROOT / "docs" / "look-up" / "commands" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("training", "collections", "searching", "evaluating")
}
COMMANDS = "\n".join(PAGES.values())
#: Pages that `make docs` builds from the code and from recorded results; they may be absent.
BUILT_PAGES = {
    ROOT / "docs" / "look-up" / "commands.md",
    ROOT / "docs" / "look-up" / "settings.md",
    ROOT / "docs" / "look-up" / "api.md",
    ROOT / "docs" / "understand" / "results.md",
}
WRITTEN_PAGES = sorted(set((ROOT / "docs").rglob("*.md")) - BUILT_PAGES)


#: Commands that go on until they are stopped: an example of them would never end.
ENDLESS = {"serve", "mcp"}


@pytest.mark.parametrize("name", sorted(typer.main.get_command(app).commands))
def test_every_command_has_a_heading_options_that_exist_and_an_example(name):
    section = COMMANDS.split(f"\n## paragloss {name}\n")[1].split("\n## ")[0]
    usage = section.split("```")[1]
    known_flags = {flag for p in typer.main.get_command(app).commands[name].params for flag in p.opts}
    assert set(re.findall(r"--[a-z][a-z-]*", usage)) <= known_flags
    has_example = re.search(rf"```sh\n(.*\n)*?paragloss {name}\b", section)
    assert has_example or name in ENDLESS, "add a block ```sh with a command that a test can run"


@pytest.mark.parametrize("method", sorted(load_methods()))
def test_every_method_is_named(method):
    assert f"`{method}`" in COMMANDS


def test_links_between_documents_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *WRITTEN_PAGES]:
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            assert target in BUILT_PAGES or target.exists(), f"{page.name} links to {link}"


def test_every_test_that_a_promise_of_security_names_exists():
    """A test belongs to the file that its row or sentence names before it, or to the one in the head of its table."""
    table_file = ""
    for line in (ROOT / "SECURITY.md").read_text(encoding="utf-8").splitlines():
        names = re.findall(r"`((?:\w+/)?test_\w+(?:\.py)?)`", line)
        if line.startswith("| promise |"):
            table_file = names[0] if names else ""
        file = table_file if line.startswith("|") else ""
        for name in names:
            if name.endswith(".py"):
                file = name
            assert (ROOT / "tests" / file).is_file(), line
            tests = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert name == file or f"def {name}(" in tests, f"{file} has no {name}"


def test_the_readme_s_python_runs(tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert "火山" in capsys.readouterr().out


def test_the_notebook_runs(capsys):
    """Its cells, one after another in one place, as a notebook would."""
    cells = json.loads((ROOT / "docs" / "start" / "first-search.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {}
    for number, cell in enumerate(cell for cell in cells if cell["cell_type"] == "code"):
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)
    out = capsys.readouterr().out
    assert "asked in en" in out
    assert "fr Abeille" in out
    assert "pairs sum to the score: True" in out
    assert out.endswith("Vulkan\n")


@pytest.fixture(scope="module")
def pipelines(tmp_path_factory):
    """The page on pipelines, and a place where its Python has run."""
    text, folder = (
        (ROOT / "docs" / "look-up" / "pipelines.md").read_text(encoding="utf-8"),
        tmp_path_factory.mktemp("pipelines"),
    )
    names: dict[str, object] = {}
    with chdir(folder):
        for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(code, "docs/look-up/pipelines.md", "exec"), names)
    return text, folder


def test_the_commands_on_the_page_on_pipelines_print_what_it_says(pipelines, capsys, monkeypatch):
    text, folder = pipelines
    monkeypatch.chdir(folder)
    blocks = re.findall(r"```\n\$ paragloss (.*?)\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    for command, expected in blocks:
        monkeypatch.setattr("sys.argv", ["paragloss", *shlex.split(command)])
        with suppress(SystemExit):
            main()
        output = capsys.readouterr()
        pattern = ".*".join(re.escape(part) for part in expected.split("..."))
        assert re.fullmatch(pattern, output.out + output.err, re.DOTALL), output


def test_every_part_that_can_be_said_is_on_the_page_on_pipelines(pipelines):
    for name in [*SEARCHERS, *TRANSLATORS, *FUSIONS, FEEDBACK, TOGETHER, MIX]:
        assert re.search(rf"`{name}\b", pipelines[0]), name


@pytest.fixture
def prepared(tmp_path):
    """What the examples of docs/look-up/commands speak of."""
    corpus = CORPUS.read_bytes().splitlines(keepends=True)[: 20 * 12]  # twenty concepts in twelve languages
    (tmp_path / "pages.jsonl").write_bytes(b"".join(corpus))
    (tmp_path / "queries.jsonl").write_text('{"id": "q1", "lang": "en", "text": "volcano lava"}\n')
    (tmp_path / "letter.de.txt").write_text("Der Zug hat wegen Schnee eine Stunde Verspätung.", encoding="utf-8")
    (tmp_path / "names.csv").write_text("volcano\nhoney bee\n")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "one.txt").write_text("A letter about a train that was late.")
    (tmp_path / "qrels").write_text("q1 0 volcano.zh 2\nq1 0 volcano.da 1\n")
    (tmp_path / "en-fr.tsv").write_text("volcano\tvolcan\nbread\tpain\nwater\teau\ncity\tville\n")
    (tmp_path / "zh-en.tsv").write_text("火山\tVolcano\n蜜蜂\tVolcano\n", encoding="utf-8")
    (tmp_path / "clicked.tsv").write_text("volcano\tlava and ash of a volcano\nbread\tbread is baked\n")
    opened = [("火山", "volcano.zh")] * 5 + [("火山", "bread.zh"), ("蜜蜂", "honey-bee.zh")]
    lines = [f"00:00:0{n}\tu{n}\t[{query}]\t1 1\t{url}\n" for n, (query, url) in enumerate(opened)]
    (tmp_path / "sogou.txt").write_text("".join(lines), encoding="utf-8")
    write_sessions(tmp_path / "log.jsonl", synthetic_log(queries=6, documents=5, sessions=40).sessions)
    rows = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    for lang, words in {"en": ["volcano", "bread", "water", "city"], "fr": ["volcan", "pain", "eau", "ville"]}.items():
        write_vectors(tmp_path / f"{lang}.vec", words, rows)
        write_vectors(tmp_path / f"joint_28_{lang}.txt.gz", words, rows, format="glove")
    pages = [json.loads(line) for line in corpus]
    french = {page["concept"]: page for page in pages if page["lang"] == "fr"}
    english = [page for page in pages if page["lang"] == "en"]
    lsclir = {
        "wiki_en.queries": [(page["concept"], page["title"], page["title"]) for page in english],
        "wiki_fr.documents": [(concept, page["title"], page["text"]) for concept, page in french.items()],
        "en2fr.rel": [(page["concept"], page["concept"], "2") for page in english],
    }
    for name, table in lsclir.items():
        (tmp_path / name).write_text("".join("\t".join(row) + "\n" for row in table), encoding="utf-8")
    return tmp_path


def list_examples(*pages):
    return [
        line
        for name in pages
        for block in re.findall(r"```sh\n(.*?)```", PAGES[name], re.S)
        for line in block.splitlines()
    ]


#: Pages whose examples run in one folder, the examples of earlier pages that they build on (how each begins), and
#: what a file holds that they leave.
FOLDERS = [
    (["training"], [], ("lambda.svg", "<svg")),
    (["collections"], ["train cr5", "train table", "dictionary"], ("french.csv", "volcano.fr")),
    (
        ["searching", "evaluating"],
        ["train cr5", "train table", "train knrm", "dictionary", "index pages.jsonl"],
        ("sogou/qrels", "q1 0 volcano.zh"),
    ),
]


@pytest.mark.parametrize(("pages", "needed", "left"), FOLDERS, ids=["training", "collections", "searching"])
def test_the_examples_run_in_their_order(prepared, pages, needed, left):
    earlier = list_examples(*itertools.takewhile(lambda name: name != pages[0], PAGES))
    before = [line for line in earlier if any(line.startswith(f"paragloss {start}") for start in needed)]
    for line in before + list_examples(*pages):
        if line.startswith("paragloss demo "):
            continue  # takes long; test_cli runs it
        program, *arguments = shlex.split(line)
        assert program == "paragloss"
        paragloss_(*arguments, cwd=prepared)
    name, text = left
    assert text in (prepared / name).read_text(encoding="utf-8")


def test_the_examples_of_every_page_are_run():
    assert [name for pages, *_ in FOLDERS for name in pages] == list(PAGES)


@pytest.mark.parametrize("page", WRITTEN_PAGES, ids=lambda page: page.name)
def test_a_page_can_be_read_in_one_go(page):
    """Under 1,500 words beside code and tables; and the site's contents name it."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(
        r"<!-- (recipe|tasks|fusion|first).*?<!-- end -->|```.*?```|^\|.*?$", "", text, flags=re.DOTALL | re.MULTILINE
    )
    assert len(text.split()) < 1500
    site_contents = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert page.relative_to(ROOT / "docs").as_posix() in site_contents


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "do").glob("*.md")), ids=lambda page: page.name)
def test_a_page_that_says_how_to_do_something_is_short(page):
    """Under 800 words, with code and tables."""
    assert len(page.read_text(encoding="utf-8").split()) < 800


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) < 600


PAGES_WITH_PYTHON = [
    page
    for page in WRITTEN_PAGES
    if "```python" in page.read_text(encoding="utf-8")
    and page.name not in ("pipelines.md", "translation.md", "model.md")
]


@pytest.mark.parametrize("page", PAGES_WITH_PYTHON, ids=lambda page: page.name)
def test_python_on_other_pages_runs(page, tmp_path, monkeypatch):
    """Pages with tests of their own are left out here."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    if any('Collection.open("library")' in code for code in blocks):
        with Collection.create("library", meaning=False) as library:
            library.index([Document("data", "Qui peut voir mes données ?", "fr")])
    names: dict[str, object] = {}
    for code in blocks:
        exec(compile(code, page.name, "exec"), names)
