"""Remembers what each distinct token became, so that normalising and stemming happen once per distinct token."""

from __future__ import annotations

from collections.abc import Callable

#: Distinct tokens kept per analyzer: about 100 MB at worst; when full the memo starts over.
_MOST_TOKENS = 500_000
#: Longer tokens (encoded data, for the most part) are unlikely to return and not worth their memory.
_LONGEST_TOKEN = 64


class Memo(dict[str, str]):
    """token -> term, worked out by `work_out` on first sight. Looking up a seen token never leaves C.

    Safe to share between threads: entries are pure functions of their key, so a race only repeats work.
    """

    def __init__(self, work_out: Callable[[str], str]) -> None:
        super().__init__()
        self._work_out = work_out

    def __missing__(self, token: str) -> str:
        term = self._work_out(token)
        if len(token) <= _LONGEST_TOKEN:
            if len(self) >= _MOST_TOKENS:
                self.clear()
            self[token] = term
        return term
