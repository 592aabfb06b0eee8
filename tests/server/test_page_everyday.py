"""The page in everyday use: typing, example questions, counts of filters, importing a glossary, adding files."""

from __future__ import annotations

import pytest
from serving_process import ServerProcess

from paragloss import demo
from paragloss.collection import Collection

LANGS = ("de", "en", "fr")


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("everyday") / "library")
    with Collection.create(path) as collection:
        collection.index(document for document in demo.documents() if document.lang in LANGS)
    with ServerProcess(path) as server:
        yield server.address


def test_results_appear_while_a_query_is_typed_and_leave_no_entry_in_the_history(open_page):
    window = open_page()
    page = window.open()
    entries = page.evaluate("history.length")
    page.locator("#q").press_sequentially("volcano", delay=20)
    window.wait_for_results()
    window.wait_until("location.search === '?q=volcano'")
    assert page.locator(".result").first.get_attribute("data-id").startswith("volcano.")
    assert page.evaluate("[document.activeElement.id, document.querySelector('#q').value]") == ["q", "volcano"]
    assert page.evaluate("history.length") == entries


@pytest.mark.parametrize(("locale", "lang"), [("fr-FR", "fr"), ("en-US", "en")])
def test_example_questions_are_in_the_language_of_the_reader(open_page, locale, lang):
    window = open_page(locale=locale)
    page = window.open()
    window.wait_until("document.querySelector('.ideas button')")
    titles = {document.title for document in demo.documents() if document.lang == lang}
    assert set(page.locator(".ideas button").all_inner_texts()) <= titles


def test_the_count_of_a_chosen_language_is_the_number_of_documents_that_it_shows(open_results):
    window, page = open_results("/?q=how+do+bees+make+honey&to=fr")
    chip = page.locator(".chip[data-lang=fr]")
    assert chip.get_attribute("aria-pressed") == "true"
    count = int(chip.locator(".count").inner_text())
    shown = page.locator(".result").count()
    summary = f"{shown} of {count} documents, in 1 language" if shown < count else f"{count} documents in 1 language"
    assert summary in page.locator("#status").inner_text()
    window.open_results("/?q=how+do+bees+make+honey&to=fr&k=200")
    assert page.locator(".result").count() == count


def test_grammatical_words_are_not_highlighted(open_page):
    window = open_page()

    def mark_all(answer):
        for result in answer["results"]:
            result["marks"] = [[0, len(result["snippet"])]]

    window.change_answers("search", mark_all)
    page = window.open_results("/?q=how+do+bees+make+honey&to=fr")
    window.wait_until("document.querySelector('.snippet .w')")
    marked_words = {text.lower() for text in page.locator(".snippet mark.w").all_inner_texts()}
    assert "abeille" in marked_words
    assert not marked_words & {"et", "la", "le", "les"}


def test_weak_word_links_are_not_shown(open_page):
    window = open_page()
    strong = {"query": "bees", "document": "abeille", "score": 1.0, "source": "default"}
    weak = {"query": "ties", "document": "tin", "score": 0.05, "source": "default"}
    part = {"part": "words", "score": 1.05, "pairs": [strong, weak]}
    window.page.route("**/api/why*", lambda route: route.fulfill(json={"score": 1.05, "parts": [part]}))
    page = window.open_results("/?q=how+do+bees+make+honey&to=fr")
    page.get_by_text("Why", exact=True).first.click()
    page.wait_for_selector(".because")
    assert page.locator(".because").inner_text() == "Found because “abeille” matches “bees”."
    page.locator(".why summary").first.click()
    assert page.locator(".align svg").get_attribute("aria-label") == "bees: abeille"


def test_a_glossary_is_imported_from_csv_into_the_language_of_the_reader(open_page):
    window = open_page()
    page = window.open("/?view=glossary")
    window.wait_until("document.querySelector('.pair')")
    text = 'word,lang,meaning,to\nZorbung,de,"blending, of tea",en\nzorbage,fr,blending,en\n'
    page.set_input_files("#glossary-file", {"name": "words.csv", "mimeType": "text/csv", "buffer": text.encode()})
    window.wait_until("document.querySelectorAll('.pair').length === 3")
    read_row = "(row) => ['word', 'lang', 'meaning', 'to'].map((name) => row.querySelector(`[name=${name}]`).value)"
    rows = page.locator(".pair").evaluate_all(f"rows => rows.map({read_row})")
    assert rows[:2] == [["Zorbung", "de", "blending, of tea", "en"], ["zorbage", "fr", "blending", "en"]]
    assert rows[2][0] == rows[2][2] == ""
    assert rows[2][1] != rows[2][3] == "en"  # from a foreign word to the reader's
    page.set_input_files("#glossary-file", {"name": "empty.csv", "mimeType": "text/csv", "buffer": b"one column\n"})
    window.wait_until("document.querySelector('#saved').textContent.startsWith('No pairs')")
    for _ in range(2):
        page.locator("[aria-label='Remove this pair']").first.click()
    window.wait_until("document.querySelector('#saved').textContent.includes('0 pairs')")


def test_rows_of_two_columns_go_from_the_commonest_foreign_language(open_page):
    page = open_page().open("/?view=glossary")
    rows = "Zander\\tpike-perch\\nHecht;\\tpike"
    parsed = page.evaluate(f"import('./glossary.js').then((module) => module.parsePairs('{rows}'))")
    assert [(pair["word"], pair["meaning"]) for pair in parsed] == [("Zander", "pike-perch"), ("Hecht;", "pike")]


def test_cells_of_a_csv_file_are_quoted_and_are_no_formulas(open_page):
    rows = [{"a": 'say "hi", you'}, {"a": "=1+1"}, {"a": ["x", "y"]}]
    text = open_page().open().evaluate("rows => import('./export.js').then((module) => module.csv(['a'], rows))", rows)
    assert text == '\ufeffa\r\n"say ""hi"", you"\r\n\'=1+1\r\nx; y\r\n'


def test_a_summary_of_added_files_links_to_the_new_documents_and_to_the_first_failure(open_page):
    window = open_page()
    page = window.open("/?view=files")
    text = b"The quokka is a small wallaby that seems to smile at everybody who visits."
    files = [("quokka.txt", "text/plain", text), ("broken.pdf", "application/pdf", b"%PDF-1.4 nothing")]
    page.set_input_files("#file", [{"name": name, "mimeType": kind, "buffer": data} for name, kind, data in files])
    window.wait_until("document.querySelectorAll('#added button').length === 2")
    assert page.locator("#added").inner_text() == "1 document added · 1 failed"
    page.locator("#added button").first.click()
    page.fill("#q", "a small animal")
    page.keyboard.press("Enter")
    window.wait_for_results()
    assert page.locator(".result").evaluate_all("all => all.map((result) => result.dataset.id)") == ["quokka.txt"]
    page.evaluate("fetch('api/documents/quokka.txt', {method: 'DELETE'})")


def test_the_page_says_how_many_documents_are_still_processed_and_nothing_when_all_are(open_page):
    page = open_page().open("/")
    page.evaluate("import('./names.js').then((module) => { window.names = module; })")
    for n_encoded, text in ((30, " · still processing 10 documents"), (39, " · still processing 1 document"), (40, "")):
        page.evaluate(f"names.setModels({{ meaning: {{ encoded: {n_encoded}, of: 40 }} }})")
        assert page.evaluate("names.describeUnencoded()") == text
