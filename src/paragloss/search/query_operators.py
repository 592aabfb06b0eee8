"""Operators that people type into a query.

They are `"exact phrase"`, `+word`, `-word`, `lang:de`, `file:*.pdf`, `after:2020-01-31` and `before:2021`. Parsing
never fails. What can't be used is left out or read as words, and a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import product
from typing import NamedTuple, TypeAlias

from paragloss import languages
from paragloss.errors import LanguageError
from paragloss.types import Range, Where

#: Phrases and words of one query that are checked in documents; further ones are searched as plain words.
MAX_CHECKED_TERMS = 10
#: Characters without which a query has no operators.
_SIGNS = frozenset('"“”„«»+-:')
_QUOTES = r"\"“”„«»"
_OPERATOR = re.compile(
    rf"""(?<!\S)(?:
    (?P<sign>[+-]?)[{_QUOTES}](?P<phrase>[^{_QUOTES}]*)[{_QUOTES}]
    | (?P<word_sign>[+-])(?P<word>(?![\d.,]+(?!\S))\w[^\s{_QUOTES}]*)
    | (?P<name>(?i:lang|file|after|before)):(?:"(?P<quoted_value>[^"]*)"|(?P<value>[^\s"]*))
    )(?![^\s,.;:!?)\]])""",
    re.VERBOSE,
)
_FILTER_EXAMPLES = {"lang": "lang:de", "file": "file:*.pdf", "after": "after:2020-01-31", "before": "before:2021"}
_EXTENSION_PATTERN = re.compile(r"\*\.(\w{1,10})")
_DAY = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")

#: An allowed value of a filter.
Value: TypeAlias = str | int | float | bool | Range


class QueryOperators(NamedTuple):
    """A query split into the words that are searched and the conditions that documents must meet."""

    #: The query without operators: its words with those of phrases and required words.
    text: str
    #: What a document must have: words that stand next to each other, or single words.
    required: tuple[str, ...] = ()
    #: What a document must not have.
    excluded: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    #: Glob patterns, one of which the file's name or path must match.
    file_patterns: tuple[str, ...] = ()
    days: Range = Range()
    #: What could not be used, for the reader.
    notes: tuple[str, ...] = ()

    @property
    def has_conditions(self) -> bool:
        """Whether documents must meet any condition."""
        has_lists = self.required or self.excluded or self.languages or self.file_patterns
        return bool(has_lists) or self.days != Range()

    @property
    def extensions(self) -> list[str]:
        """The file extensions that are allowed, if every file pattern is `*.EXTENSION`; else none."""
        matches = [_EXTENSION_PATTERN.fullmatch(pattern) for pattern in self.file_patterns]
        return [match[1].lower() for match in matches if match] if all(matches) else []


def parse_operators(query: str) -> QueryOperators:
    """Split a query into its words and the conditions that its operators set.

    Nothing is raised: operators that can't be used are left out or searched as words, and notes for the reader say so.
    """
    if _SIGNS.isdisjoint(query):
        return QueryOperators(query)
    parser = _Parser()
    text = " ".join(_OPERATOR.sub(parser.replace_operator, query).split())
    if not (parser.operators or parser.notes):
        return QueryOperators(query, notes=_note_open_quote(query))
    if not _has_letters(text):
        note = "There is nothing to look for beside the operators, so they were searched as words."
        return QueryOperators(query, notes=(*parser.notes, note))
    return parser.build(text)


class _Parser:
    """Collects the operators of one query, in the order in which they are written."""

    def __init__(self) -> None:
        self.operators: list[tuple[str, str]] = []  # kind and value
        self.notes: list[str] = []

    def replace_operator(self, match: re.Match[str]) -> str:
        """Record an operator, and return the words that replace it in the text of the query.

        :param match: a match of `_OPERATOR`: a filter such as `lang:de`, or a phrase or a word with a sign.
        :return: the words of a required phrase or word, which are searched; "" for a filter or what is excluded.
        """
        if match["name"]:
            self._record_filter(match["name"].lower(), match["quoted_value"] or match["value"])
            return ""
        term = " ".join((match["phrase"] or match["word"] or "").split())
        if not _has_letters(term):
            return term
        sign = match["sign"] or match["word_sign"]
        if sign == "-":
            self._record_term("excluded", term)
            return ""
        self._record_term("required", term)
        return term

    def build(self, text: str) -> QueryOperators:
        """Return the recorded operators with the text of the query, which is left when they are taken out of it."""
        return QueryOperators(
            text,
            required=self._list_values("required"),
            excluded=self._list_values("excluded"),
            languages=tuple(_parse_language(value) for value in self._list_values("lang")),
            file_patterns=self._list_values("file"),
            days=self._intersect_days(),
            notes=tuple(self.notes),
        )

    def _intersect_days(self) -> Range:
        """Return the days that all recorded dates allow, all days if there are no dates."""
        days = Range()
        for kind in ("after", "before"):
            for value in self._list_values(kind):
                days = _narrow_days(days, kind, value)
        return days

    def _record_term(self, kind: str, term: str) -> None:
        """Record a required or an excluded term; a note if there are too many already."""
        n_checked_terms = len(self._list_values("required")) + len(self._list_values("excluded"))
        if n_checked_terms < MAX_CHECKED_TERMS:
            self.operators.append((kind, term))
        else:
            self._note(f"Only {MAX_CHECKED_TERMS} phrases and signed words can be checked; the others count as words.")

    def _record_filter(self, name: str, value: str) -> None:
        """Record a filter such as `lang:de,fr`, and a note for each of its values that can't be used.

        :param name: "lang", which takes several values, "file", "after" or "before".
        """
        values = [value]
        if name == "lang":
            codes = [code for code in value.split(",") if code]
            values = codes or [""]  # a filter without a language gets a note, too
        for single_value in values:
            note = _check_filter(name, single_value)
            if note:
                self._note(note)
            else:
                self.operators.append((name, single_value))

    def _note(self, note: str) -> None:
        if note not in self.notes and len(self.notes) < MAX_CHECKED_TERMS:
            self.notes.append(note)

    def _list_values(self, kind: str) -> tuple[str, ...]:
        """Return the values of the recorded operators of a kind: "required", "excluded" or the name of a filter."""
        return tuple(value for operator, value in self.operators if operator == kind)


def _has_letters(text: str) -> bool:
    """Return whether a text has letters or digits."""
    return any(char.isalnum() for char in text)


def _check_filter(name: str, value: str) -> str:
    """Return a note on a filter that can't be used, or "" for one that can."""
    if not value:
        return f"{name}: was left out: write its value right behind it, as in {_FILTER_EXAMPLES[name]}."
    if name == "lang" and not _parse_language(value):
        return f"lang:{value} was left out: no language is called that; write a code or an English name, as in lang:de."
    if name in ("after", "before") and _parse_day(value) is None:
        return f"{name}:{value} was left out: it is no date; write one as in {name}:2020-01-31."
    return ""


def _parse_language(value: str) -> str:
    """Return the code of a language that is given by its code or its English name; "" if there is none."""
    try:
        return languages.normalise(value)
    except LanguageError:
        code_by_name = {languages.language_name(code).lower(): code for code in languages.known_codes()}
        return code_by_name.get(value.lower(), "")


def _parse_day(value: str) -> int | None:
    """Return the first day of a date, a month or a year, counted from the year 1; None for anything else."""
    match = _DAY.fullmatch(value)
    if match is None:
        return None
    year, month, day = [int(part or 1) for part in match.groups()]
    try:
        return date(year, month, day).toordinal()
    except ValueError:
        return None


def _narrow_days(days: Range, kind: str, value: str) -> Range:
    """Return the part of a range of days that is after or before a date.

    :param kind: "after", which includes the first day of the date, or "before".
    """
    day = float(_parse_day(value) or 0)
    if kind == "after":
        return days._replace(low=max(day, days.low or day))
    return days._replace(high=min(day, days.high or day), high_open=True)


def _note_open_quote(query: str) -> tuple[str, ...]:
    """Return a note if a query has one quotation mark at the edge of a word and nothing closes it."""
    if len(re.findall(rf"[{_QUOTES}]", query)) == 1 and re.search(rf"(?<!\S)[+-]?[{_QUOTES}]\w", query):
        return ("The quotation mark is not closed, so the words were not searched as a phrase.",)
    return ()


def intersect_filters(first: Where, second: Where) -> Where:
    """Return a filter for the documents that pass both filters: of each field, what both allow."""
    shared = {**first, **second}
    for field in first.keys() & second.keys():
        shared[field] = _intersect_values(first[field], second[field])
    return shared


def _intersect_values(first: Sequence[Value], second: Sequence[Value]) -> list[Value]:
    """Return the values that two filters of one field allow; of two ranges their overlap."""
    values: list[Value] = []
    for first_value, second_value in product(first, second):
        if isinstance(first_value, Range) and isinstance(second_value, Range):
            values.append(_intersect_ranges(first_value, second_value))
        elif first_value == second_value:
            values.append(first_value)
    return values


def _intersect_ranges(first: Range, second: Range) -> Range:
    """Return the overlap of two ranges: the higher of their lower ends and the lower of their upper ends."""
    lows = [(bound.low, bound.low_open) for bound in (first, second) if bound.low is not None]
    highs = [(bound.high, not bound.high_open) for bound in (first, second) if bound.high is not None]
    low, low_open = max(lows, default=(None, False))
    high, high_closed = min(highs, default=(None, True))
    return Range(low, high, low_open, not high_closed)
