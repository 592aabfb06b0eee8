"""Documents of files have titles that say what they are about."""

import pytest

from paragloss.formats.documents import read_documents
from paragloss.formats.title_choice import choose_title
from paragloss.types import Document

TEXT = "Bridge closed\nThe bridge was closed in March."


@pytest.mark.parametrize(
    "title",
    ["", "  ", "scan_0001", "Scan 12", "IMG_2034", "DSC00012.JPG", "untitled", "Untitled-3", "index", "Document1",
     "Microsoft Word - Document1.doc", "Microsoft Word - scan0001.docx", "PowerPoint Presentation", "12/2003",
     "no subject", "5f3a9c0e1b2d", "Untitled Document", "New Page 1", "Neues Dokument"],
)  # fmt: skip
def test_a_title_that_says_nothing_is_replaced_by_the_first_line(title):
    assert choose_title(Document("a", TEXT, "", title), "a.pdf") == "Bridge closed"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Microsoft Word - Annual report.doc", "Annual report"),
        *[
            (title, title)
            for title in ("Annual report", "Index of names", "橋", "Scanning the sky", "Documentary film")
        ],
    ],
)
def test_a_title_that_says_something_stays(title, expected):
    assert choose_title(Document("a", TEXT, "", title), "a.pdf") == expected


def test_the_first_heading_comes_before_the_first_line_and_the_name_of_the_file_is_the_last_resort():
    document = Document("a", TEXT, "", "index", {"headings": "Traffic\nDetours"})
    assert choose_title(document, "index.html") == "Traffic"
    assert choose_title(Document("a", "12\n34", ""), "minutes/Council_2019-05.txt") == "Council 2019 05"


def test_a_long_first_line_is_cut_at_its_first_sentence_or_between_words():
    sentence = "The council met on Tuesday. "
    assert choose_title(Document("a", sentence + "word " * 50, ""), "a.txt") == sentence.strip()
    title = choose_title(Document("a", "word " * 50, ""), "a.txt")
    assert title.endswith("word …")
    assert len(title) <= 102


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Der_Kanal.2012.de.srt", "Der Kanal 2012"),
        ("a-short_walk.fr.srt", "a short walk"),
        ("Report de.srt", "Report de"),
        ("0001.srt", "Hello?"),
        ("A.srt", "Hello?"),  # one letter says nothing
        ("水.srt", "水"),
    ],
)
def test_subtitles_are_named_by_their_file_without_separators_suffix_and_language(name, title):
    assert choose_title(Document("a", "Hello?\nWho is there?", ""), name, ".srt") == title


def test_mail_and_subtitles_in_a_folder_have_titles(write, tmp_path):
    write("letter.eml", "From: a@example.org\nSubject:\n\nThe pump is broken again.\n\nAnna\n")
    write("Night_Train.en.srt", "1\n00:00:01,000 --> 00:00:02,000\nHello?\n")
    assert {document.title for document in read_documents(tmp_path)} == {"The pump is broken again.", "Night Train"}
