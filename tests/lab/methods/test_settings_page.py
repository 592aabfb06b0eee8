"""docs/look-up/settings.md says of every setting what it does, takes and is by default: a default that changes, changes
there.

`python tests/lab/methods/test_settings_page.py > docs/look-up/settings.md` writes the page.
"""

import inspect
import sys
from pathlib import Path

import pytest

from paragloss.lab.commands import data_files
from paragloss.lab.commands.flags import flags
from paragloss.lab.settings import expected
from paragloss.methods import method as module_of
from paragloss.methods import methods

PAGE = Path(__file__).parents[3] / "docs" / "look-up" / "settings.md"
HEAD = """# Settings of every method

The flags of `paragloss train METHOD`, `paragloss tune METHOD` and of `train cr5 --add-language`; from Python they are
keywords of the function of that name. What is typed for each is in [commands.md](commands.md). A test holds this page
against the code.
"""
#: The functions that take settings.
FUNCTIONS = ("fit", "fit_judged", "tune", "add_language")


def written(default):
    """A default as it is typed."""
    if default in (None, "", ()) or default is inspect.Parameter.empty:
        return ""
    if isinstance(default, tuple):
        return ("/" if isinstance(default[0], tuple) else ",").join(map(written, default))
    return {True: "yes", False: "no"}[default] if isinstance(default, bool) else str(default)


def takes(option):
    return "files" if data_files.reader(option.type) is not None else expected(option)


def section(method):
    """What the page says of a method."""
    lines = [f"## {method}", ""]
    for name in FUNCTIONS:
        function = getattr(module_of(method), name, None)
        if function is None:
            continue
        lines += [f"`{method}.{name}`", "", "| flag | what it does | takes | default |", "|---|---|---|---|"]
        lines += [
            f"| `{flag}` | {option.setting.help} | {takes(option)} | {written(option.default)} |"
            for flag, option in flags(function).items()
        ]
        lines.append("")
    return "\n".join(lines)


@pytest.mark.parametrize("method", sorted(methods()))
def test_the_page_says_what_the_code_does(method):
    said = PAGE.read_text(encoding="utf-8").partition(f"## {method}\n")[2].partition("\n## ")[0]
    assert f"## {method}\n{said}".splitlines() == section(method).splitlines()


if __name__ == "__main__":
    sys.stdout.write("\n".join([HEAD, *map(section, sorted(methods()))]))
