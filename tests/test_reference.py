"""The reference pages are built from the code (docs/build_reference.py)."""

import importlib.util
import re
from pathlib import Path

import pytest
import typer

import paragloss
from paragloss.cli.help_layout import SECTIONS

SCRIPT = Path(__file__).parents[1] / "docs" / "build_reference.py"
spec = importlib.util.spec_from_file_location("build_reference", SCRIPT)
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)


def test_the_page_of_commands_has_every_command_with_its_options():
    page = reference.build_commands_page()
    for _, name, command in reference.list_commands():
        section = page.partition(f"### {name}\n")[2].partition("\n### ")[0]
        for parameter in command.params:
            for flag in parameter.opts:
                if flag.startswith("--") and flag != "--help" and not getattr(parameter, "hidden", False):
                    assert flag in section, f"{name} {flag}"


def test_the_page_of_the_library_has_every_exported_name():
    page = reference.build_api_page()
    for name in paragloss.__all__:
        assert name.startswith("__") or f"## {name}\n" in page


def test_the_page_of_settings_has_every_method_with_type_and_default():
    page = reference.build_settings_page()
    for method in reference.load_methods():
        assert f"\n## {method}\n" in page
    assert "| `--dim` | Dimensions of the vectors. | a whole number, at least 1 and at most 10,000 | 300 |" in page
    assert "| `--dictionary` | Word pairs to learn the map from, as files such as en-fr.tsv. | files |  |" in page


def test_a_default_is_printed_as_it_is_typed():
    assert reference.format_default(True) == "yes"
    assert reference.format_default((0.2, 0.6)) == "0.2,0.6"
    assert reference.format_default(((1, 2), (3, 4))) == "1,2/3,4"
    assert reference.format_default(None) == ""


@pytest.mark.parametrize("listed", reference.list_commands(), ids=lambda listed: listed.name)
def test_a_help_text_begins_with_one_short_sentence(listed):
    first_sentence = reference.format_help(listed.command).split("\n\n")[0].split(". ")[0]
    assert len(first_sentence) < 90, first_sentence
    assert listed.section in SECTIONS[:-1], "the command has no section of the help"


def test_help_lists_common_options_first_and_others_under_headings():
    (index,) = (listed.command for listed in reference.list_commands() if listed.name == "index")
    help_text = index.get_help(typer.Context(index))
    headings = [line.rstrip(":") for line in help_text.splitlines() if re.fullmatch(r"[A-Z][\w ]+:", line)]
    assert headings == list(reference.list_options(index))
    assert headings[:2] == ["Arguments", "Options"]
    assert len(headings) > 4
    assert help_text.index("--into") < help_text.index("--scheduler")
