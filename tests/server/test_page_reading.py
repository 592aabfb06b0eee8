"""Reading in the page: a view with an address of its own, over short texts, pages with headings and a book of 2 MB."""

from __future__ import annotations

import pytest
from serving_process import ServerProcess

from paragloss import demo
from paragloss.collection import Collection
from paragloss.types import Document

QUESTION = "how+do+bees+make+honey"


def make_book() -> Document:
    """Two million characters; bees are spoken of once in every round of paragraphs."""
    round_ = "\n\n".join(document.text for document in demo.documents() if document.lang == "de") + "\n\n"
    return Document("book", round_ * (2_000_000 // len(round_)), "de", "Das dicke Buch")


def make_chapters() -> Document:
    french = [document for document in demo.documents() if document.lang == "fr"]
    text = "\n\n".join(f"{document.title}\n\n{document.text}" for document in french)
    headings = {"headings": "\n".join(document.title for document in french)}
    return Document("chapters", text, "fr", "Le monde", headings, {"path": "shelf/le monde.md", "date": "2020-05-12"})


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("reading") / "library")
    with Collection.create(path) as collection:
        collection.index([*demo.documents(), make_book(), make_chapters()])
    with ServerProcess(path) as server:
        yield server.address


def open_reading_view(window, id: str, question: str = QUESTION):
    page = window.page
    page.goto(f"{window.address}/?view=read&doc={id}&q={question}")
    window.wait_until("document.querySelector('#text .said-so')")
    return page


def test_a_document_is_read_by_paragraphs_with_the_best_in_sight(open_page):
    window = open_page()
    page = open_reading_view(window, "chapters")
    window.wait_until("document.querySelector('.rough')")
    mark = page.locator("#text mark").first
    box = mark.bounding_box()
    assert 0 < box["y"] < 860
    assert page.locator("#read-title .title").inner_text() == "Le monde"
    about = page.locator("#read-about").inner_text()
    assert about == "French Wrong language? · le monde.md · shelf · MD · May 12, 2020"
    bees = page.locator(".paragraph", has=page.locator("mark", has_text="abeille")).first
    bees.locator(".w", has_text="abeille").first.hover()
    assert "bee" in page.locator("#gloss").inner_text()
    assert "bee" in bees.locator(".rough p").inner_text()
    bees.locator(".rough summary").click()
    assert bees.locator(".rough p").is_hidden()
    window.take_screenshot("reading")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_toolbar_is_one_row_and_renderings_are_indented(open_page, width, height):
    window = open_page(viewport={"width": width, "height": height})
    page = open_reading_view(window, "chapters")
    window.wait_until("document.querySelector('.rough[open] p')")
    buttons = [button.bounding_box() for button in page.locator("#read-tools button:visible").all()]
    assert max(box["y"] for box in buttons) < min(box["y"] + box["height"] for box in buttons)
    assert page.locator("#read-swap").inner_text() == ("original text first" if width > 1000 else "⇅")
    assert width > 1000 or min(min(box["width"], box["height"]) for box in buttons) >= 32  # for fingers
    assert page.evaluate(
        "document.querySelector('#read-tools').scrollWidth <= document.querySelector('#read-tools').clientWidth"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    paragraph = page.locator(".paragraph", has=page.locator(".rough[open]")).first
    text, sign = (paragraph.locator(part).bounding_box()["x"] for part in (".rough p", ".rough summary"))
    assert text > sign  # lines stand behind the sign that begins them
    page.click("#read-swap")
    original, rendering = (paragraph.locator(part).bounding_box()["x"] for part in (".said-so", ".rough p"))
    assert rendering > original


def test_the_meaning_stands_first_and_large_until_the_reader_puts_the_original_first(open_page):
    window = open_page()
    page = open_reading_view(window, "honey-bee.ru")
    window.wait_until("document.querySelector('.rough[open] p') && document.querySelector('#read-title .rendering')")
    title, paragraph = page.locator("#read-title"), page.locator(".paragraph", has=page.locator(".rough[open]")).first

    def measure(box, *parts):
        tops = [box.locator(part).bounding_box()["y"] for part in parts]
        sizes = [box.locator(part).evaluate("e => parseFloat(getComputedStyle(e).fontSize)") for part in parts]
        return tops, sizes

    for box, parts in ((title, (".rendering", ".title")), (paragraph, (".rough p", ".said-so"))):
        tops, sizes = measure(box, *parts)
        assert tops[0] < tops[1]
        assert sizes[0] > sizes[1]
    assert "bee" in title.locator(".rendering").inner_text()
    assert "bee" in page.title()
    page.click("#read-swap")
    for box, parts in ((title, (".rendering", ".title")), (paragraph, (".rough p", ".said-so"))):
        tops, sizes = measure(box, *parts)
        assert tops[0] > tops[1]
        assert sizes[0] < sizes[1]
    page = window.open_results(f"/?q={QUESTION}")
    assert page.locator("#original-first").is_checked()  # one setting for both views


def test_a_match_is_outlined_in_the_original_and_in_its_meaning(open_page):
    window = open_page()
    page = open_reading_view(window, "honey-bee.ru")
    window.wait_until("document.querySelector('.rough mark') && document.querySelector('.said-so mark.w')")
    assert "bees" in page.locator(".rough mark").all_inner_texts()
    page.keyboard.press("p")
    window.wait_until("document.querySelectorAll('mark.now').length === 2")
    words = page.locator("mark.now").evaluate_all("marks => marks.map((mark) => mark.dataset.word)")
    assert words[0] == words[1]
    assert page.locator("#read-view .legend .guess").is_visible()


def test_dates_are_written_in_the_language_of_the_page(open_page):
    window = open_page(locale="ar")
    page = open_reading_view(window, "chapters")
    assert "مايو" in page.locator("#read-about").inner_text()


def test_matches_words_and_sizes_by_keys_and_buttons(open_page):
    window = open_page()
    page = open_reading_view(window, "chapters")
    window.wait_until("document.querySelector('.rough')")
    page.keyboard.press("n")
    window.wait_until("document.querySelector('mark.now')")
    first = page.evaluate("document.querySelector('mark.now').getBoundingClientRect().top + scrollY")
    page.click("#read-next")
    window.wait_until(f"document.querySelector('mark.now').getBoundingClientRect().top + scrollY >= {first}")
    page.keyboard.press("ArrowRight")
    assert page.locator("#gloss").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#gloss").is_hidden()
    size = "parseFloat(getComputedStyle(document.querySelector('#text')).fontSize)"
    before = page.evaluate(size)
    page.click("#read-larger")
    assert page.evaluate(size) > before
    page.click("#read-rough")
    assert page.locator(".rough").first.is_hidden()


def test_headings_make_an_outline(open_page):
    window = open_page()
    page = open_reading_view(window, "chapters", "")
    page.click("#outline summary")
    last = page.locator("#outline-list button").last
    heading = last.inner_text()
    last.click()
    window.wait_until("scrollY > 500")
    box = page.locator("#text h2", has_text=heading).last.bounding_box()
    assert 0 <= box["y"] < 860


def test_a_book_comes_in_pieces_and_goes_on_as_one_scrolls(open_page):
    window = open_page()
    with window.page.expect_response("**/api/reading*") as answer:
        page = open_reading_view(window, "book")
    assert len(answer.value.body()) < 60_000
    count = "document.querySelectorAll('.paragraph').length"
    before = page.evaluate(count)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    window.wait_until(f"{count} > {before}")
    last = page.evaluate("Number([...document.querySelectorAll('.paragraph')].at(-1).dataset.start)")
    for _ in range(40):  # to a match that is in no piece that is here
        page.keyboard.press("n")
        page.wait_for_timeout(100)
        if page.evaluate("Number(document.querySelector('mark.now')?.closest('.paragraph').dataset.start)") > last:
            break
    else:
        raise AssertionError("the next match never came")
    starts = page.evaluate("[...document.querySelectorAll('.paragraph')].map((one) => Number(one.dataset.start))")
    assert starts == sorted(set(starts))  # every piece once, in order


def test_the_way_back_leads_to_the_same_place_in_the_list(open_results):
    window, page = open_results(f"/?q={QUESTION}&k=30")
    eighth = page.locator(".result").nth(8)
    eighth.scroll_into_view_if_needed()
    top, id = page.evaluate("scrollY"), eighth.get_attribute("data-id")
    searches_before = sum("api/search" in url for url in window.requests)
    eighth.get_by_text("Read", exact=True).click()
    window.wait_until("document.querySelector('#text .said-so')")
    assert f"doc={id}" in page.url
    page.click("#read-back")
    window.wait_until("!document.querySelector('#search-view').hidden")
    assert page.evaluate("scrollY") == top
    assert page.evaluate("document.activeElement.dataset.id") == id
    assert sum("api/search" in url for url in window.requests) == searches_before  # the list was kept


def test_meanings_that_fail_say_so_in_their_place(open_page):
    window = open_page()
    window.may_complain = True
    window.page.route("**/api/gloss*", lambda route: route.fulfill(status=503, json={"error": "busy"}))
    page = open_reading_view(window, "chapters")
    page.wait_for_selector(".paragraph .failed")
    assert page.locator("#text mark").count() > 0
    page.unroute("**/api/gloss*")
    page.locator(".paragraph .failed button").first.click()
    page.wait_for_selector(".rough")


def test_what_is_gone_says_so(open_page):
    window = open_page()
    window.may_complain = True
    window.page.goto(f"{window.address}/?view=read&doc=nope")
    window.page.wait_for_selector("#read-failed p:has-text('no longer exists')")
