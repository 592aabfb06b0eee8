"""Processes side by side."""

import subprocess
import sys

SCRIPT = """
from paragloss import errors, processes
print(list(processes.in_order(2, str, "", len, ["a", "bb", "ccc"], errors.ParaglossError("died"))))
"""


def test_a_script_needs_no_guard_against_being_run_again(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("[1, 2, 3]\n", "")
