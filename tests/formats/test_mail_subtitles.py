"""Mailboxes and subtitles."""

import mailbox

import pytest

from paragloss.errors import InputError
from paragloss.formats.documents import read_documents

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


def test_a_bad_letter_is_reported_and_the_others_are_read(read, tmp_path):
    errors = []
    letters = read("in.mbox", f"From x\n\nFrom y\n{LETTER.format('Snow', 'It snows.')}\n", on_error=errors.append)
    assert [letter.title for letter in letters] == ["Snow"]
    assert [str(error) for error in errors] == [f"{tmp_path}/in.mbox:1: no text in the message; give one that has some"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("in.mbox", "Dear all,\n", "does not begin with a line `From"),
        ("a.srt", "Good morning\n", "no line with times"),
    ],
)
def test_what_is_no_mbox_and_what_has_no_times_is_refused(read, name, data, message):
    with pytest.raises(InputError, match=message):
        read(name, data)


def test_the_letters_of_a_maildir_have_no_suffix(tmp_path):
    box = mailbox.Maildir(tmp_path / "mail")
    box.add(LETTER.format("Rain", "It rains.").encode())
    (letter,) = read_documents(tmp_path / "mail")
    assert (letter.title, letter.text) == ("Rain", "It rains.")


SRT = (
    "1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>Guten Morgen!</i>\r\n{\\an8}Wie geht's?\r\n\r\n"
    "2\r\n01:02:03,500 --> 01:02:04,000\r\n42\r\n"
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


def test_subtitles_are_what_is_said_with_the_times_at_which_it_is(read):
    (film,) = read("film.de.srt", SRT)
    assert (film.lang, film.text) == ("de", "Guten Morgen!\nWie geht's?\n42")
    assert film.meta["line_seconds"] == [1, 1, 3723]
    (talk,) = read("talk.vtt", VTT)
    assert talk.text == "Good & bad\nnews today"
