"""Chats as plain text, as WhatsApp exports them and Telegram copies them: a document for each day, with times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from paragloss.formats.text import PathLike, open_bytes, read_text
from paragloss.types import Document

#: The time of a message: `31/12/20, 11:59 PM`, `31.12.2020 23:59:01`, `2020. 12. 31. 오후 11:59`.
_STAMP = (
    r"(?P<date>\d{1,4}[./-] ?\d{1,2}[./-] ?\d{1,4})\.?[,،]? "
    r"(?P<half>오전|오후|上午|下午|午前|午後)? ?(?P<time>\d{1,2}[:.]\d\d(?:[:.]\d\d)?)"
    r"(?: ?(?P<am_pm>[AaPp])\.? ?[Mm]\.?)?"
)
#: The first line of a message in each kind of chat.
_FIRST_LINES = (
    re.compile(rf"{_STAMP} - (?P<text>.*)"),  # WhatsApp on Android: `31/12/2020, 23:59 - Anna: Hello`
    re.compile(rf"\[{_STAMP}\] (?P<text>.*)"),  # WhatsApp on iPhones: `[31/12/2020, 23:59:01] Anna: Hello`
    re.compile(rf"(?P<sender>[^\[\]]{{1,80}}), \[{_STAMP}\]:?(?P<text>.*)"),  # Telegram: `Anna, [31.12.2020 23:59]`
)
_AFTERNOON = frozenset({"오후", "下午", "午後", "p"})
_MORNING = frozenset({"오전", "上午", "午前", "a"})
#: Marks of direction, which are dropped, and spaces that do not break, which become plain ones.
_INVISIBLE = {0x200E: None, 0x200F: None, 0xA0: " ", 0x202F: " "}
#: Where year, month and day stand in the dates of chats.
_YEAR_FIRST, _MONTH_FIRST, _DAY_FIRST = (0, 1, 2), (2, 0, 1), (2, 1, 0)
#: Bytes in which a chat shows its first two messages.
_SAMPLE_BYTES = 1 << 16


class _Message(NamedTuple):
    """A message: the numbers of its date in their written order, its second of the day, its lines."""

    date_numbers: tuple[int, int, int]
    second: int
    lines: list[str]


def is_chat(path: PathLike) -> bool:
    """Tell whether a text file begins with a message of a chat and has a second one."""
    with open_bytes(path) as stream:
        sample = stream.read(_SAMPLE_BYTES).decode("utf-8-sig", "ignore").translate(_INVISIBLE)
    lines = sample.strip().split("\n")
    pattern = _choose_pattern(lines[0])
    return pattern is not None and any(pattern.match(line) for line in lines[1:])


def read_chat_days(path: PathLike, *, id: str = "") -> list[Document]:
    """Read a chat as one document for each day on which something was written.

    The id of a day is that of the chat with the day behind it, `chat.txt:2020-12-31`. `meta["date"]` is the day, and
    `meta["line_seconds"]` has for each line the second of the day at which its message was written.

    :param id: the id of the chat; by default the file's name
    :return: the days in the order of the chat; none if the file is no chat, or a date in it does not exist
    """
    chat_id = id or Path(path).name
    messages = _parse_messages(read_text(path).translate(_INVISIBLE))
    date_order = _choose_date_order([message.date_numbers for message in messages])
    messages_by_day: dict[str, list[_Message]] = {}
    for message in messages:
        try:
            day = _format_day(message.date_numbers, date_order)
        except ValueError:  # there is no such day: only the first lines look like a chat
            return []
        messages_by_day.setdefault(day, []).append(message)
    return [_make_day(chat_id, day, day_messages) for day, day_messages in messages_by_day.items()]


def _parse_messages(text: str) -> list[_Message]:
    """Split the text of a chat into messages.

    A line that does not begin with a time continues the message before it.

    :param text: a text that is not blank
    :return: the messages in their order; none if the first line is not that of a message
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    first_line_pattern = _choose_pattern(lines[0])
    if first_line_pattern is None:
        return []
    messages: list[_Message] = []
    for line in lines:
        match = first_line_pattern.match(line)
        if match is not None:
            messages.append(_begin_message(match))
        else:
            _continue_message(messages[-1], line)
    return messages


def _choose_pattern(line: str) -> re.Pattern[str] | None:
    """Return the pattern of the kind of chat that has such a first line."""
    return next((pattern for pattern in _FIRST_LINES if pattern.match(line)), None)


def _begin_message(match: re.Match[str]) -> _Message:
    """Return the message that a first line begins; what Telegram writes below the sender is added later."""
    parts = match.groupdict()
    first, second, third = (int(number) for number in re.findall(r"\d+", parts["date"]))
    text = parts["text"].strip()
    if parts.get("sender"):
        text = f"{parts['sender']}: {text}".rstrip()
    return _Message((first, second, third), _count_seconds(parts), [text])


def _continue_message(message: _Message, line: str) -> None:
    """Add a line to a message; the first one stands behind the sender if there is only the sender yet."""
    if len(message.lines) == 1 and message.lines[0].endswith(":"):
        message.lines[0] += f" {line}"
    else:
        message.lines.append(line)


def _count_seconds(parts: dict[str, str | None]) -> int:
    """Return the second of the day at which a message was written, by a clock of 12 or 24 hours.

    :param parts: the named parts of its first line: `time` is the time, `11:59` or `11:59:01`; `half` (in East Asian
        languages) or `am_pm` (a letter) is the half of the day, None where it is not told
    """
    hours, minutes, *seconds = [int(number) for number in re.findall(r"\d+", parts["time"] or "")]
    half_of_day = (parts["half"] or parts["am_pm"] or "").lower()
    if half_of_day in _AFTERNOON and hours < 12:
        hours += 12
    elif half_of_day in _MORNING and hours == 12:
        hours = 0
    return 3600 * hours + 60 * minutes + sum(seconds)  # the seconds are often missing


def _choose_date_order(dates: Sequence[tuple[int, int, int]]) -> tuple[int, int, int]:
    """Tell by the numbers of a chat's dates whether they begin with the year, the month or the day.

    A number above 31 must be a year, and one above 12 a day. If the dates may be read in two ways, that one is chosen
    in which they never go back in time, else the day is first.

    :param dates: the three numbers of each date, in their written order
    :return: the positions of year, month and day among the numbers: (2, 1, 0) for 31.12.2020
    """
    if any(first > 31 for first, _, _ in dates):
        return _YEAR_FIRST
    if any(second > 12 for _, second, _ in dates):
        return _MONTH_FIRST
    if any(first > 12 for first, _, _ in dates):
        return _DAY_FIRST
    if _are_dates_sorted(dates, _MONTH_FIRST) and not _are_dates_sorted(dates, _DAY_FIRST):
        return _MONTH_FIRST
    return _DAY_FIRST


def _are_dates_sorted(dates: Sequence[tuple[int, int, int]], order: tuple[int, int, int]) -> bool:
    """Tell whether dates never go back if year, month and day stand in this order."""
    keys = [tuple(numbers[position] for position in order) for numbers in dates]
    return keys == sorted(keys)


def _format_day(date_numbers: tuple[int, int, int], order: tuple[int, int, int]) -> str:
    """Return a date as `2020-12-31`; years of two digits are of this century.

    :raises ValueError: if there is no such day.
    """
    year, month, day = (date_numbers[position] for position in order)
    return date(year + 2000 if year < 100 else year, month, day).isoformat()


def _make_day(name: str, day: str, messages: Sequence[_Message]) -> Document:
    """Join the messages of a day into a document."""
    lines = [(message.second, line) for message in messages for line in message.lines if line]
    meta = {"date": day, "line_seconds": [second for second, _ in lines]}
    return Document(f"{name}:{day}", "\n".join(line for _, line in lines), "", "", {}, meta)
