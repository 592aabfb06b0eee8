"""Tests borrow from each other's files: what starts the command line, what makes small dumps."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "formats"), str(HERE / "lab")]
