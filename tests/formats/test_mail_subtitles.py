"""Mailboxes and subtitles."""

import mailbox

import pytest

from paragloss.errors import InputError
from paragloss.formats.documents import read_documents
from paragloss.formats.subtitles import find_time_code

LETTER = "From: a@b.org\nSubject: {0}\nContent-Type: text/plain; charset=utf-8\n\n{1}\n"


def test_an_mbox_is_a_document_per_letter(tmp_path):
    box = mailbox.mbox(tmp_path / "in.mbox")
    for subject, text in (("Rain", "It rains.\nFrom here to the sea."), ("Snow", "It snows.")):
        box.add(LETTER.format(subject, text).encode())
    box.close()
    rain, snow = read_documents(tmp_path / "in.mbox")
    assert (rain.id, rain.title, rain.text) == ("in.mbox:1", "Rain", "It rains.\nFrom here to the sea.")
    assert (snow.id, snow.title, snow.text) == ("in.mbox:2", "Snow", "It snows.")
    assert rain.meta["from"] == "a@b.org"


def test_a_bad_letter_is_reported_and_the_others_are_read(tmp_path):
    (tmp_path / "in.mbox").write_text(
        "From x\n\nFrom y\n" + LETTER.format("Snow", "It snows.") + "\n", encoding="utf-8"
    )
    errors = []
    assert [letter.title for letter in read_documents(tmp_path / "in.mbox", on_error=errors.append)] == ["Snow"]
    assert [str(error) for error in errors] == [f"{tmp_path}/in.mbox:1: no text in the message; give one that has some"]


def test_what_is_no_mbox_is_refused(tmp_path):
    (tmp_path / "in.mbox").write_text("Dear all,\n")
    with pytest.raises(InputError, match="does not begin with a line `From"):
        list(read_documents(tmp_path / "in.mbox"))


def test_the_letters_of_a_maildir_have_no_suffix(tmp_path):
    box = mailbox.Maildir(tmp_path / "mail")
    box.add(LETTER.format("Rain", "It rains.").encode())
    (letter,) = read_documents(tmp_path / "mail")
    assert (letter.title, letter.text) == ("Rain", "It rains.")


SRT = (
    "1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>Guten Morgen!</i>\r\n{\\an8}Wie geht's?\r\n\r\n"
    "2\r\n00:00:03,000 --> 00:00:04,000\r\n42\r\n"
)
VTT = """WEBVTT - a talk

NOTE nobody sees this

intro
00:01.000 --> 00:03.000 align:start
<v Anna>Good &amp; bad

00:03.000 --> 00:05.000
Good &amp; bad
news today
"""


def test_subtitles_are_what_is_said(tmp_path):
    (tmp_path / "film.de.srt").write_text(SRT, encoding="utf-8", newline="")
    (tmp_path / "talk.vtt").write_text(VTT)
    film, talk = read_documents(tmp_path)
    assert (film.lang, film.text) == ("de", "Guten Morgen!\nWie geht's?\n42")
    assert talk.text == "Good & bad\nnews today"


def test_a_file_without_times_is_no_subtitles(tmp_path):
    (tmp_path / "a.srt").write_text("Good morning\n")
    with pytest.raises(InputError, match="no line with times"):
        list(read_documents(tmp_path / "a.srt"))


def test_a_passage_of_subtitles_has_its_time_code(tmp_path):
    cues = "1\n00:00:05,000 --> 00:00:07,000\nGood morning\n\n2\n01:02:03,500 --> 01:02:06,000\n<i>It is\nraining</i>\n"
    (tmp_path / "a.srt").write_text(cues)
    (document,) = read_documents(tmp_path / "a.srt")
    assert document.text == "Good morning\nIt is\nraining"
    assert document.meta["line_seconds"] == [5, 3723, 3723]
    codes = [find_time_code(document.text, document.meta, document.text.index(word)) for word in ("morning", "raining")]
    assert codes == ["0:00:05", "1:02:03"]


def test_results_and_paragraphs_of_subtitles_have_their_time(tmp_path):
    from paragloss.collection import Collection

    cues = "1\n00:00:05,000 --> 00:00:06,000\nGood morning.\n\n2\n01:02:03,500 --> 01:02:04,000\nThe volcano erupted.\n"
    (tmp_path / "news.en.srt").write_text(cues, encoding="utf-8")
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index_files([str(tmp_path / "news.en.srt")])
        (result,) = engine.search("volcano", lang="en").results
        assert result.meta["time"] == "1:02:03"
        piece = engine.read_excerpt(engine.get([result.id])[0], "volcano", lang="en")
    assert [row["time"] for row in piece["paragraphs"]] == ["0:00:05", "1:02:03"]
