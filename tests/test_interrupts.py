"""Ctrl-C at any moment of a command: one line, exit code 130, no traceback, no process left, nothing lost."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from free_ports import find_free_ports

from paragloss.collection import Collection

pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")

#: The installed command; it prints a line when it begins to import the package. Moments are counted from then on:
#: before, Python starts, whose own handler prints a traceback.
COMMAND = """
import sys, paragloss_command
class ImportReport:
    def find_spec(name, path, target=None):
        if name == "paragloss":
            print("started", flush=True)
sys.meta_path.insert(0, ImportReport)
paragloss_command.main()
"""
ROW_COUNT = 30_000
#: Seconds after which the commands are interrupted: while the package and other modules are imported, while processes
#: start and load models, and while they work.
MOMENTS = (0.0, 0.2, 0.5, 1.0, 2.0, 3.0, 4.5)


def list_interrupts(moments):
    """Interrupt once at each moment, and at every second one again a moment later."""
    return [(moment, None) for moment in moments] + [(moment, 0.25) for moment in moments[1::2]]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """More documents than two processes can index until the last moment."""
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    text = "rain falls on the hill and on the river " * 5
    with path.open("w", encoding="utf-8") as file:
        for number in range(ROW_COUNT):
            file.write(json.dumps({"id": f"r{number}", "lang": "en", "text": f"{number} {text}"}) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("served") / "collection")
    with Collection.create(path, default=False, meaning=False):
        pass
    return path


def interrupt(arguments, *, after, again_after=None):
    """Run a command in a group of its own, and send SIGINT to all of the group, as a terminal does.

    Return the exit code and the lines of standard error.
    """
    command = [sys.executable, "-c", COMMAND, *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout.readline() == "started\n"
        for pause in (after, again_after):
            if pause is not None:
                time.sleep(pause)
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGINT)
        try:
            errors = process.communicate(timeout=120)[1]
            wait_for_end_of_group(process.pid)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # only a failing test leaves anything to end
    return process.returncode, [line for line in errors.splitlines() if not is_progress(line)]


def is_progress(line):
    """Tell whether a line of standard error says how far the work is, or is one of the server's log."""
    return line.startswith(("paragloss: indexing:", "{"))


def wait_for_end_of_group(group):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("a process of the group is still there")


@pytest.mark.parametrize(("after", "again_after"), list_interrupts(MOMENTS))
def test_interrupted_indexing_ends_with_one_line_and_keeps_what_it_reported(rows, tmp_path, after, again_after):
    collection = tmp_path / "collection"
    code, lines = interrupt(["index", rows, "--into", collection, "--workers", 2], after=after, again_after=again_after)
    assert (code, len(lines)) == (130, 1), lines
    assert lines[0].startswith("paragloss: stopped; ")
    kept = re.search(r"([\d,]+) documents are kept", lines[0])
    reported_count = int(kept[1].replace(",", "")) if kept else 0
    if reported_count:
        with Collection.open(str(collection)) as opened:
            assert opened.count() >= reported_count


@pytest.mark.parametrize(("after", "again_after"), list_interrupts(MOMENTS[:-1]))
def test_an_interrupted_server_ends_with_one_line_while_its_workers_start(folder, after, again_after):
    (port,) = find_free_ports(1)
    code, lines = interrupt(["serve", folder, "--workers", 2, "--port", port], after=after, again_after=again_after)
    assert (code, len(lines)) == (130, 1), lines
