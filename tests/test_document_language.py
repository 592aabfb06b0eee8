"""The language of a document is that of most of its body; titles, paths and metadata count where the body is short."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragloss.collection.document_languages import assign_languages
from paragloss.formats.documents import read_documents
from paragloss.languages import UNKNOWN, identify_document
from paragloss.types import Document

GERMAN = "Mit diesem Befehl können Sie das Bild zuschneiden, wenn es nicht auf die Seite passt, die Sie drucken. "
ENGLISH = "With this command you can flip the picture, if it does not fit onto the page that you are going to print. "
JAPANESE = "このコマンドは画像を反転します。印刷するページに収まらないときに使います。"
LICENSE = "Permission is granted to copy, distribute and modify this document under the terms of the license. "
DOCUMENTS = [
    Document("a", 4 * GERMAN, "", "scan_0001"),
    Document("b", 4 * ENGLISH, "", "Bild zuschneiden"),
    Document("c", JAPANESE, "", "Microsoft Word - x.doc"),
    Document("d", "Guten Morgen, wie geht es dir?", ""),
    Document("e", 6 * LICENSE, "", "License"),
    Document("f", "12 + 34", "", ""),
]


@pytest.mark.parametrize("title", ["", "scan_0001", "Microsoft Word - report.doc", "index", "The quick brown fox"])
@pytest.mark.parametrize(("text", "lang"), [(8 * JAPANESE, "ja"), (3 * GERMAN, "de"), (3 * LICENSE, "en")])
def test_a_long_body_decides_whatever_the_title_says(text, lang, title):
    assert identify_document(text, title) == lang


@pytest.mark.parametrize("declared", ["en", "it", "no", "hu"])
def test_a_long_body_decides_whatever_the_file_declares(declared):
    assert identify_document(3 * GERMAN, "", declared) == "de"
    assert identify_document(8 * JAPANESE, "", declared) == "ja"


CODE = "const picture_list = document.getElementById('x'); https://example.org/en/page?id=3\n" * 20
ARABIC = ["أعلن مجلس المدينة اليوم", "تغيير المنطقة الزمنية للحاوية", "عرض قائمة الملفات في المجلد"]
COMMANDS = ["docker update container", "sudo systemctl enable service", "git push origin branch"]
MIXED_LINES = [line for pair in zip(ARABIC, COMMANDS, strict=True) for line in pair]
HINDI = "जब आप FastAPI path operation बनाते हैं, तो आप उससे कोई भी data return कर सकते हैं, एक dict, list या Pydantic model. "
HALF_AND_HALF = "\n".join([8 * GERMAN, 8 * ENGLISH])


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        # most of the body decides, block by block
        (f"{3 * GERMAN}\n{12 * ENGLISH}", "en"),
        (f"{3 * ENGLISH}\n{12 * GERMAN}", "de"),
        # code and addresses have no language
        (f"{CODE}\n{3 * GERMAN}", "de"),
        # commands between the lines of a text in another script do not decide
        ("\n\n".join(MIXED_LINES * 5), "ar"),
        # a text that borrows most of its words is in the language of its sentences
        (HINDI, "hi"),
        (6 * HINDI, "hi"),
        # a page that quotes another script stays in its language
        ("\n".join([4 * ENGLISH, JAPANESE, 4 * LICENSE]), "en"),
        ("12 + 34", None),
    ],
)
def test_the_sentences_of_the_body_decide(text, lang):
    assert identify_document(text) == lang


@pytest.mark.parametrize(
    ("text", "title", "declared", "langs"),
    [
        # a declaration decides where two languages have about half of the body each
        (HALF_AND_HALF, "", "de", {"de"}),
        (HALF_AND_HALF, "", "en", {"en"}),
        (HALF_AND_HALF, "", "fr", {"de", "en"}),
        # and for words that several languages share
        ("gamle broer", "", "da", {"da"}),
        ("gamle broer", "", "no", {"no"}),
        ("Guten Morgen, wie geht es dir heute?", "", "it", {"de"}),
        ("12 + 34", "", "de", {"de"}),
        # the title is read with a short body
        ("OK", "Wie man das Bild zuschneidet und druckt", "", {"de"}),
        (f"{ARABIC[0]}\n{COMMANDS[0]}", "docker", "", {"ar"}),
    ],
)
def test_a_declaration_or_a_title_decides_where_the_body_is_short_or_in_doubt(text, title, declared, langs):
    assert identify_document(text, title, declared) in langs


def test_languages_that_documents_say_themselves_stay():
    documents = [Document("a", GERMAN, "fr"), Document("b", GERMAN, "pt-BR"), Document("c", GERMAN, "")]
    assert [document.lang for document in assign_languages(documents, "nl")] == ["fr", "pt", "nl"]
    assert assign_languages([Document("a", "12 + 34", "")])[0].lang == UNKNOWN


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=8))
def test_no_label_depends_on_the_other_documents(documents):
    in_batch = assign_languages(documents)
    one_by_one = [assign_languages([document])[0] for document in documents]
    assert in_batch == one_by_one


def test_what_a_page_or_path_declares_is_checked_against_its_text(tmp_path):
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "backup.txt").write_text(4 * ENGLISH)
    page = f"<html lang='en'><title>Seite</title><body><p>{4 * GERMAN}</p></body></html>"
    (tmp_path / "page.html").write_text(page)
    (tmp_path / "it" / "ciao.txt").write_text("Buongiorno a tutti, come state?")
    assert {document.id: document.lang for document in read_documents(tmp_path)} == {
        "it/backup.txt": "en",
        "it/ciao.txt": "it",
        "page.html": "de",
    }
