"""Reading in the page: a view with an address of its own, over short texts, pages with headings and a book of 2 MB."""

from __future__ import annotations

import pytest
from serving_process import Process

from paragloss import demo
from paragloss.collection import Collection
from paragloss.types import Document

QUESTION = "how+do+bees+make+honey"


def book() -> Document:
    """Two million characters; bees are spoken of once in every round of paragraphs."""
    round_ = "\n\n".join(document.text for document in demo.documents() if document.lang == "de") + "\n\n"
    return Document("book", round_ * (2_000_000 // len(round_)), "de", "Das dicke Buch")


def chapters() -> Document:
    some = [document for document in demo.documents() if document.lang == "fr"]
    text = "\n\n".join(f"{document.title}\n\n{document.text}" for document in some)
    headings = {"headings": "\n".join(document.title for document in some)}
    return Document("chapters", text, "fr", "Le monde", headings, {"path": "shelf/le monde.md", "date": "2020-05-12"})


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("reading") / "library")
    with Collection.create(path) as engine:
        engine.index([*demo.documents(), book(), chapters()])
    running = Process(path).wait()
    yield running.address
    running.stop()


def read(seen, id: str, question: str = QUESTION):
    page = seen.page
    page.goto(f"{seen.address}/?view=read&doc={id}&q={question}")
    seen.until("document.querySelector('#text .said-so')")
    return page


def test_a_document_is_read_by_paragraphs_with_the_best_in_sight(look, address):
    seen = look(address)
    page = read(seen, "chapters")
    seen.until("document.querySelector('.rough')")
    mark = page.locator("#text mark").first
    box = mark.bounding_box()
    assert 0 < box["y"] < 860
    assert page.locator("#read-title").inner_text() == "Le monde"
    about = page.locator("#read-about").inner_text()
    assert about == "French · le monde.md · shelf · MD · May 12, 2020"
    bees = page.locator(".paragraph", has=page.locator("mark", has_text="abeille")).first
    bees.locator(".w", has_text="abeille").first.hover()
    assert "bee" in page.locator("#gloss").inner_text()
    assert "bee" in bees.locator(".rough p").inner_text()
    bees.locator(".rough summary").click()
    assert bees.locator(".rough p").is_hidden()
    seen.snap("reading")
    seen.fine()


def test_matches_words_and_sizes_by_keys_and_buttons(look, address):
    seen = look(address)
    page = read(seen, "chapters")
    seen.until("document.querySelector('.rough')")
    page.keyboard.press("n")
    seen.until("document.querySelector('mark.now')")
    first = page.evaluate("document.querySelector('mark.now').getBoundingClientRect().top + scrollY")
    page.click("#read-next")
    seen.until(f"document.querySelector('mark.now').getBoundingClientRect().top + scrollY >= {first}")
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
    seen.fine()


def test_headings_make_an_outline(look, address):
    seen = look(address)
    page = read(seen, "chapters", "")
    page.click("#outline summary")
    last = page.locator("#outline-list button").last
    heading = last.inner_text()
    last.click()
    seen.until("scrollY > 500")
    found = page.locator("#text h2", has_text=heading).last.bounding_box()
    assert 0 <= found["y"] < 860
    seen.fine()


def test_a_book_comes_in_pieces_and_goes_on_as_one_scrolls(look, address):
    seen = look(address)
    with seen.page.expect_response("**/api/reading*") as answer:
        page = read(seen, "book")
    assert len(answer.value.body()) < 60_000
    count = "document.querySelectorAll('.paragraph').length"
    before = page.evaluate(count)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    seen.until(f"{count} > {before}")
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
    seen.fine()


def test_the_way_back_leads_to_the_same_place_in_the_list(look, address):
    seen = look(address)
    page = seen.open(f"/?q={QUESTION}&k=30")
    seen.settled()
    eighth = page.locator(".result").nth(8)
    eighth.scroll_into_view_if_needed()
    top, id = page.evaluate("scrollY"), eighth.get_attribute("data-id")
    asked = sum("api/search" in url for url in seen.requests)
    eighth.get_by_text("Read", exact=True).click()
    seen.until("document.querySelector('#text .said-so')")
    assert f"doc={id}" in page.url
    page.click("#read-back")
    seen.until("!document.querySelector('#search-view').hidden")
    assert page.evaluate("scrollY") == top
    assert page.evaluate("document.activeElement.dataset.id") == id
    assert sum("api/search" in url for url in seen.requests) == asked  # the list was kept
    seen.fine()


def test_meanings_that_fail_say_so_in_their_place(look, address):
    seen = look(address)
    seen.page.route("**/api/gloss*", lambda route: route.fulfill(status=503, json={"error": "busy"}))
    page = read(seen, "chapters")
    page.wait_for_selector(".paragraph .failed")
    assert page.locator("#text mark").count() > 0
    page.unroute("**/api/gloss*")
    page.locator(".paragraph .failed button").first.click()
    page.wait_for_selector(".rough")


def test_what_is_gone_says_so(look, address):
    seen = look(address)
    seen.page.goto(f"{address}/?view=read&doc=nope")
    seen.page.wait_for_selector("#read-failed p:has-text('not here any more')")
