"""The page over a collection of forty languages, one over none, and titles as long as they come."""

from __future__ import annotations

import pytest
from serving_process import ServerProcess

from paragloss.collection import Collection
from paragloss.translation import default
from paragloss.types import Document, Query

LONG = "What bees do all day long, how they find their way home and whom they tell about it, " * 3
WORD = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenhersteller"
TOPICS = ("water river sea fish", "bread kitchen cook oven", "school teacher child book")


def translate_words(text: str, lang: str) -> str:
    """A few words in another language, as the model in the box has them."""
    if lang == "en":
        return text
    return " ".join(clause.alternatives[0].text for clause in default.open().translate(Query("", text, "en"), lang))


def make_documents() -> list[Document]:
    langs = default.open().langs[:40]
    translations = [
        (topic_number, lang, translate_words(topic, lang))
        for topic_number, topic in enumerate(TOPICS)
        for lang in langs
    ]
    translated = [Document(f"{topic_number}.{lang}", text, lang) for topic_number, lang, text in translations]
    return [*translated, Document("long", "The bee and its honey.", "en", LONG + WORD)]


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("many") / "c")
    with Collection.create(path) as collection:
        collection.index(make_documents())
    with ServerProcess(path) as server:
        yield server.address


def test_of_forty_languages_ten_are_shown_and_the_others_on_demand(open_results):
    window, page = open_results("/?q=water+and+fish")
    window.wait_until("document.querySelectorAll('#chips .chip').length > 5")
    assert page.locator("#chips .chip:not(.more)").count() == 10
    more_button = page.locator("#chips .more")
    assert "more languages" in more_button.inner_text()
    more_button.focus()
    page.keyboard.press("Enter")
    assert page.locator("#chips .chip:not(.more)").count() > 30
    assert page.evaluate("document.activeElement.className") == "chip more"  # the key that opened closes again
    chosen = page.locator("#chips .chip").nth(30)
    lang = chosen.get_attribute("data-lang")
    chosen.focus()
    page.keyboard.press("Enter")
    window.wait_until("location.search.includes('to=')")
    window.wait_for_results()
    window.wait_until(f"document.activeElement.dataset.lang === '{lang}'")  # drawn again, the chip keeps the focus
    page.locator("#chips .more").click()
    assert page.locator(f"#chips [data-lang={lang}]").get_attribute("aria-pressed") == "true"  # and is never put away
    page.click("#all")
    window.wait_until("!location.search.includes('to=')")
    window.wait_for_results()
    assert page.locator("#all").is_hidden()


def test_the_meter_of_the_fit_is_described_by_a_word(open_results):
    _, page = open_results("/?q=water+river+sea+fish")
    for bar in page.locator(".result [role=meter]").all():
        filled = bar.locator(".on").count()
        assert bar.get_attribute("aria-valuetext") == ("unlikely", "perhaps", "likely", "very likely")[filled - 1]
        assert (float(bar.get_attribute("aria-valuenow")) >= 0.75) == (filled == 4)


def test_a_document_without_a_title_is_listed_by_its_id(open_results):
    _, page = open_results("/?q=water&to=de")
    first = page.locator(".result").first
    assert first.locator("h2 .untitled").inner_text() == "0.de"
    assert first.locator("h2 .w").count() == 0
    assert first.locator("h2 .rendering").is_hidden()


def test_a_long_title_stays_within_three_lines_of_a_phone(open_results):
    _, page = open_results("/?q=bees+honey&to=en", viewport={"width": 390, "height": 800})
    title = page.locator(".result[data-id=long] h2 .title")
    box = title.bounding_box()
    assert box["x"] + box["width"] <= 390
    assert box["height"] < 4 * 1.35 * 1.22 * 16
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert title.get_attribute("title") == LONG + WORD


def test_an_empty_collection_says_how_to_begin(open_window, tmp_path):
    Collection.create(str(tmp_path / "c")).close()
    with ServerProcess(str(tmp_path / "c")) as server:
        begin_with_an_empty_collection(open_window(server.address))


def begin_with_an_empty_collection(window):
    page = window.open()
    assert "empty collection" in page.locator("#welcome h2").inner_text()
    page.fill("#q", "bees")
    page.keyboard.press("Enter")
    window.wait_until("document.querySelector('#results').ariaBusy === 'false'")
    assert "empty collection" in page.locator("#welcome h2").inner_text()  # nothing was found, and that is why
    page.locator("#welcome").get_by_text("Add files").click()
    assert page.locator("#file").count() == 1
