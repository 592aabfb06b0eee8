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


def test_most_of_the_body_decides_block_by_block():
    assert identify_document(f"{3 * GERMAN}\n{12 * ENGLISH}") == "en"
    assert identify_document(f"{3 * ENGLISH}\n{12 * GERMAN}") == "de"


def test_a_declaration_decides_where_two_languages_have_about_half_of_the_body_each():
    half_and_half = "\n".join([8 * GERMAN, 8 * ENGLISH])
    assert identify_document(half_and_half, declared="de") == "de"
    assert identify_document(half_and_half, declared="en") == "en"
    assert identify_document(half_and_half, declared="fr") in {"de", "en"}


def test_a_declaration_decides_for_words_that_several_languages_share():
    assert identify_document("gamle broer", declared="da") == "da"
    assert identify_document("gamle broer", declared="no") == "no"
    assert identify_document("Guten Morgen, wie geht es dir heute?", declared="it") == "de"


def test_the_title_is_read_with_a_short_body():
    assert identify_document("OK", "Wie man das Bild zuschneidet und druckt") == "de"


def test_code_and_addresses_have_no_language():
    code = "const picture_list = document.getElementById('x'); https://example.org/en/page?id=3\n" * 20
    assert identify_document(f"{code}\n{3 * GERMAN}") == "de"


def test_commands_between_the_lines_of_a_text_in_another_script_do_not_decide():
    explanations = ["أعلن مجلس المدينة اليوم", "تغيير المنطقة الزمنية للحاوية", "عرض قائمة الملفات في المجلد"]
    commands = ["docker update container", "sudo systemctl enable service", "git push origin branch"]
    lines = [line for pair in zip(explanations, commands, strict=True) for line in pair]
    assert identify_document("\n\n".join(lines * 5)) == "ar"
    assert identify_document(f"{explanations[0]}\n{commands[0]}", "docker") == "ar"


def test_a_text_that_borrows_most_of_its_words_is_in_the_language_of_its_sentences():
    sentence = (
        "जब आप FastAPI path operation बनाते हैं, तो आप उससे कोई भी data return कर सकते हैं, एक dict, list या Pydantic model. "
    )
    assert identify_document(6 * sentence) == identify_document(sentence) == "hi"


def test_an_english_page_that_quotes_another_script_is_english():
    assert identify_document("\n".join([4 * ENGLISH, JAPANESE, 4 * LICENSE])) == "en"


def test_a_document_without_letters_is_of_unknown_language():
    assert identify_document("12 + 34") is None
    assert identify_document("12 + 34", declared="de") == "de"
    assert assign_languages([Document("a", "12 + 34", "")])[0].lang == UNKNOWN


def test_languages_that_documents_say_themselves_stay():
    documents = [Document("a", GERMAN, "fr"), Document("b", GERMAN, "pt-BR"), Document("c", GERMAN, "")]
    assert [document.lang for document in assign_languages(documents, "nl")] == ["fr", "pt", "nl"]


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
