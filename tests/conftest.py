"""Tests borrow from each other's files: what starts the command line, what makes small dumps. New collections have no
encoder unless a test asks for one: most are not about meaning, and encoding takes time."""

import os
import sys
import tempfile
from pathlib import Path

TESTS_FOLDER = Path(__file__).parent
sys.path[:0] = [str(TESTS_FOLDER), str(TESTS_FOLDER / "formats"), str(TESTS_FOLDER / "lab")]
os.environ["PARAGLOSS_MEANING"] = "0"
#: What the person who runs the tests has allowed must not matter, and tests must not allow anything in their name.
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="paragloss-test-config-")
