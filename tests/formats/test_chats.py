"""Chats as plain text: a document for each day, in which every line has its time."""

import pytest

from paragloss.collection import Collection
from paragloss.formats.subtitles import find_time_code

ANDROID = """31/12/2020, 23:58 - Messages and calls are end-to-end encrypted.
31/12/2020, 23:58 - Anna: Guten Rutsch!
Der Vulkan ist ausgebrochen.

Komm schnell.
01/01/2021, 00:03 - Bernd Müller: Frohes neues Jahr
"""
IPHONE = (
    "\u200e[12/31/20, 11:58:07\u202fPM] Anna: Guten Rutsch!\r\n"
    "\u200e[1/1/21, 12:03:00\u202fAM] Bernd: Frohes neues Jahr\r\n"
)
TELEGRAM = """Anna, [31.12.2020 23:58]
Guten Rutsch!
Der Vulkan ist ausgebrochen.

Bernd Müller, [01.01.2021 00:03]
Frohes neues Jahr
"""
KOREAN = "2020. 12. 31. 오후 11:58 - 안나: 안녕\n2021. 1. 1. 오전 12:03 - 민수: 새해 복 많이 받으세요\n"
ARABIC = "٣١/١٢/٢٠٢٠، ٢٣:٥٨ - آنا: مرحبا\n٠١/٠١/٢٠٢١، ٠٠:٠٣ - بدر: سنة سعيدة\n"


def list_times(document):
    """Return the time of each line of a document."""
    starts = [0, *(i + 1 for i, char in enumerate(document.text) if char == "\n")]
    return [find_time_code(document.text, document.meta, start) for start in starts]


@pytest.mark.parametrize(
    ("chat", "text", "times"),
    [
        (
            ANDROID,
            "Messages and calls are end-to-end encrypted.\n"
            "Anna: Guten Rutsch!\nDer Vulkan ist ausgebrochen.\nKomm schnell.",
            ["23:58:00"] * 4,
        ),
        (IPHONE, "Anna: Guten Rutsch!", ["23:58:07"]),
        (TELEGRAM, "Anna: Guten Rutsch!\nDer Vulkan ist ausgebrochen.", ["23:58:00"] * 2),
        (KOREAN, "안나: 안녕", ["23:58:00"]),
        (ARABIC, "آنا: مرحبا", ["23:58:00"]),
    ],
)
def test_a_chat_is_a_document_for_each_day_with_the_time_of_each_line(read, chat, text, times):
    first, second = read("chat.txt", chat)
    assert [first.id, second.id] == ["chat.txt:2020-12-31", "chat.txt:2021-01-01"]
    assert [first.meta["date"], second.meta["date"]] == ["2020-12-31", "2021-01-01"]
    assert first.text == text
    assert list_times(first) == times
    assert find_time_code(second.text, second.meta, 0) == "0:03:00"
    assert first.meta["path"].endswith("/chat.txt")


@pytest.mark.parametrize(
    ("dates", "days"),
    [
        (["1/2/20", "1/13/20"], ["2020-01-02", "2020-01-13"]),  # a month 13 does not exist
        (["1/2/20", "13/2/20"], ["2020-02-01", "2020-02-13"]),
        (["2/9/20", "3/1/20"], ["2020-02-09", "2020-03-01"]),  # else the second would be eight months earlier
        (["1/2/20", "2/3/20"], ["2020-02-01", "2020-03-02"]),  # either may be meant
    ],
)
def test_the_order_of_day_and_month_is_that_of_the_whole_chat(read, dates, days):
    chat = "".join(f"{written}, 10:00 - Anna: Hallo\n" for written in dates)
    assert [document.meta["date"] for document in read("chat.txt", chat)] == days


@pytest.mark.parametrize(
    "text",
    [
        "31/12/2020, 23:58 - a single line\nand nothing more\n",
        "A note first.\n31/12/2020, 23:58 - Anna: Hallo\n31/12/2020, 23:59 - Bernd: Hallo\n",
        "31/12/2020, 23:58 - Anna: Hallo\n32/12/2020, 23:59 - Bernd: no such day\n",
    ],
)
def test_what_is_no_chat_is_read_as_text(read, text):
    (document,) = read("chat.txt", text)
    assert (document.id, document.text) == ("chat.txt", text.strip())


def test_the_path_of_a_chat_may_name_its_language(read):
    assert {document.lang for document in read("family.de.txt", ANDROID)} == {"de"}


def test_a_message_is_found_with_its_time_and_days_can_be_chosen(write, tmp_path):
    with Collection.create(str(tmp_path / "c"), meaning=False) as engine:
        engine.index_files([str(write("family.de.txt", ANDROID))])
        (result,) = engine.search("volcano", lang="en").results
        assert (result.meta["date"], result.meta["time"]) == ("2020-12-31", "23:58:00")
        assert engine.search("volcano after:2021-01-01", lang="en").results == []
        piece = engine.read_excerpt(engine.get([result.id])[0], "volcano", lang="en")
        start, _ = piece["best"]
    assert [row["time"] for row in piece["paragraphs"]] == ["23:58:00"] * 4
    assert [row["text"] for row in piece["paragraphs"] if row["start"] <= start][-1] == "Der Vulkan ist ausgebrochen."
