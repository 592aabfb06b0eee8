"""Processes side by side."""

import os
import subprocess
import sys

import pytest

from paragloss import errors, processes

SCRIPT = """
from paragloss import errors, processes
print(list(processes.run_in_order(2, str, "", len, ["a", "bb", "ccc"], errors.ParaglossError("died"))))
"""


def test_a_script_needs_no_guard_against_being_run_again(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    results = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=120)
    assert (results.stdout, results.stderr) == ("[1, 2, 3]\n", "")


def _shared(jobs):
    died = errors.ParaglossError("died")
    return processes.run_in_order(1, str, "", len, jobs, died, max_inline=2, run_inline=lambda job: -len(job))


def test_few_jobs_are_done_here_and_of_more_the_first():
    assert list(_shared(["a", "bb"])) == [-1, -2]
    assert list(_shared(["a", "bb", "ccc", "dddd"])) == [-1, 2, 3, 4]


def test_jobs_that_were_read_before_reading_failed_are_done():
    def failing():
        yield from ["a", "bb"]
        raise errors.InputError("no more")

    results = _shared(failing())
    assert [next(results), next(results)] == [-1, -2]
    with pytest.raises(errors.InputError, match="no more"):
        next(results)


INTERRUPTED = """
import os, signal, threading, time
from paragloss import errors, processes
threading.Timer({delay}, lambda: os.killpg(0, signal.SIGINT)).start()
try:
    list(processes.run_in_order(2, str, "", time.sleep, [1.0] * 8, errors.ParaglossError("died")))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_an_interrupt_while_processes_start_prints_no_traceback(tmp_path):
    """A terminal sends the interrupt to all of them; those that are still importing must not answer it."""
    (tmp_path / "script.py").write_text(INTERRUPTED.format(delay=0.3))
    results = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=120, start_new_session=True
    )
    assert (results.stdout, results.stderr) == ("interrupted\n", "")
