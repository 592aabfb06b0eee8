"""The reference is made from the code: every command with its options, every name of the library, the manual page.

`python tests/test_reference.py` writes the pages; a test fails when they are not what the code says.
"""

import inspect
import re
import textwrap
from pathlib import Path

import pytest
import typer.main

import paragloss
from paragloss.cli import app
from paragloss.cli.help_layout import OTHERS, SECTIONS

LOOK_UP = Path(__file__).parents[1] / "docs" / "look-up"
FAMILIES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((LOOK_UP / "commands").glob("*.md"))}
INTRODUCTION = """\
# Commands

Made from the code by `python tests/test_reference.py`.

Every command takes `--help`. `--json` prints JSON. A COLLECTION is a folder, or `http://host:port/name` on a Qdrant
server (its API key, if it has one, in `QDRANT_API_KEY`). An error is one line on standard error; `--debug` before a
command shows where it came from. Exit codes: 0 success, 1 an error you can fix, 2 wrong usage, 70 a bug, 130
interrupted.
`paragloss --install-completion` installs completion for your shell.
"""


def commands():
    """(section, name, command) in the order of the help."""
    group = typer.main.get_command(app)
    found = [(str(command.rich_help_panel or OTHERS), name, command) for name, command in group.commands.items()]
    return sorted(found, key=lambda each: SECTIONS.index(each[0]))


def options(command):
    """heading -> rows (what is typed, what it does)."""
    context = typer.Context(command)
    sections = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[0] != "--help":
            named = "Arguments" if parameter.param_type_name == "argument" else "Options"
            sections.setdefault(getattr(parameter, "rich_help_panel", None) or named, []).append(record)
    return sections


def text(command):
    """The help text, its lines joined."""
    return "\n\n".join(" ".join(part.split()) for part in inspect.cleandoc(command.help or "").split("\n\n"))


def cell(said):
    return " ".join(said.split()).replace("|", "\\|").replace("<", "&lt;")


def commands_page():
    lines, section = [INTRODUCTION], ""
    for panel, name, command in commands():
        if panel != section:
            section = panel
            lines.append(f"## {section}\n")
        family = next(stem for stem, page in FAMILIES.items() if f"## paragloss {name}\n" in page)
        lines.append(f"### {name}\n\n{text(command)} [Examples](commands/{family}.md#paragloss-{name})\n")
        for heading, rows in options(command).items():
            lines += [f"| {heading} | |", "|---|---|", *(f"| `{typed}` | {cell(does)} |" for typed, does in rows), ""]
    return "\n".join(lines).rstrip() + "\n"


def signature(thing):
    """As it is called; a type is its last name."""
    try:
        there = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    shown = [each.replace(annotation=written(each.annotation)) for each in there.parameters.values()]
    shown = [each for each in shown if each.name not in ("self", "cls")]
    said = str(there.replace(parameters=shown, return_annotation=written(there.return_annotation)))
    return re.sub(r"(?<=: )'([^']*)'|(?<=-> )'([^']*)'", lambda quoted: quoted[1] or quoted[2], said)


def written(annotation):
    if annotation is inspect.Signature.empty:
        return annotation
    said = getattr(annotation, "__forward_arg__", annotation)
    said = said if isinstance(said, str) else getattr(said, "__name__", str(said))
    return re.sub(r"\b(?:[a-z_]+\.)+([A-Z]\w*)", r"\1", said)


def described(thing):
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def api_page():
    lines = [
        "# API",
        "",
        "Made from the code by `python tests/test_reference.py`. What each is for: [library](library.md).",
        "",
    ]
    for name in sorted(each for each in paragloss.__all__ if not each.startswith("__")):
        thing = getattr(paragloss, name)
        if inspect.ismodule(thing):
            lines += [f"## {name}", "", described(thing), ""]
            members = [(each, getattr(thing, each)) for each in getattr(thing, "__all__", ())]
        else:
            alias = not (inspect.isclass(thing) or inspect.isfunction(thing)) or hasattr(thing, "__origin__")
            about = [f"The same as `{written(str(thing))}`."] if alias else [*signed(name, thing), described(thing)]
            lines += [f"## {name}", "", *about, ""]
            members = (
                [(each, value) for each, value in vars(thing).items() if not each.startswith("_")]
                if inspect.isclass(thing)
                else []
            )
        for each, value in members:
            value = getattr(value, "__func__", value)
            if inspect.isfunction(value):
                lines += [f"### {name}.{each}", "", *signed(each, value), described(value), ""]
    return "\n".join(lines).rstrip() + "\n"


def signed(name, thing):
    said = signature(thing)
    return ["```", *textwrap.wrap(f"{name}{said}", 110, subsequent_indent="    "), "```", ""] if said else []


def roff(said):
    return " ".join(said.split()).replace("\\", "\\\\").replace("-", "\\-")


def manual():
    lines = [
        f'.TH PARAGLOSS 1 "" "paragloss {paragloss.__version__}" "User Commands"',
        ".SH NAME",
        "paragloss \\- search documents in languages you don't read",
        ".SH SYNOPSIS",
        ".B paragloss",
        "COMMAND [OPTIONS] [ARGUMENTS]",
        ".SH DESCRIPTION",
        roff(typer.main.get_command(app).help or ""),
    ]
    section = ""
    for panel, name, command in commands():
        if panel != section:
            section = panel
            lines.append(f".SH {section.upper()}")
        lines += [f".SS paragloss {name}", roff(text(command))]
        for rows in options(command).values():
            for typed, does in rows:
                lines += [".TP", f".B {roff(typed)}", roff(does)]
    return (
        "\n".join(
            [*lines, ".SH EXIT STATUS", "0 success, 1 an error you can fix, 2 wrong usage, 70 a bug, 130 interrupted."]
        )
        + "\n"
    )


PAGES = {"commands.md": commands_page, "api.md": api_page, "paragloss.1": manual}


@pytest.mark.parametrize("name", PAGES)
def test_the_reference_is_what_the_code_says(name):
    assert (LOOK_UP / name).read_text(encoding="utf-8") == PAGES[name](), "run `python tests/test_reference.py`"


@pytest.mark.parametrize(
    ("panel", "name", "command"), commands(), ids=lambda each: each if isinstance(each, str) else ""
)
def test_a_help_text_begins_with_one_short_sentence(panel, name, command):
    first = text(command).split("\n\n")[0].split(". ")[0]
    assert len(first) < 90, f"{name}: {first}"
    assert panel in SECTIONS[:-1], f"{name} has no section of the help"


def test_help_lists_common_options_first_and_others_under_headings():
    (index,) = (command for _, name, command in commands() if name == "index")
    said = index.get_help(typer.Context(index))
    headings = [line.rstrip(":") for line in said.splitlines() if re.fullmatch(r"[A-Z][\w ]+:", line)]
    assert headings == list(options(index))
    assert headings[:2] == ["Arguments", "Options"]
    assert len(headings) > 4
    assert said.index("--into") < said.index("--scheduler")


if __name__ == "__main__":
    for name, made in PAGES.items():
        (LOOK_UP / name).write_text(made(), encoding="utf-8")
