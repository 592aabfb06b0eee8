"""The code on the page on translation runs."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "do" / "translation.md"


def test_the_examples_on_the_page_run_in_their_order():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 3
    exec(compile("\n".join(blocks), PAGE.name, "exec"), {})
