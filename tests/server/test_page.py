"""The page in a real browser: what a person does with it, and that nothing leaves the machine meanwhile."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from collection_copies import copy_collection
from serving_process import ServerProcess


@pytest.fixture(scope="module")
def address(browser, indexed_demo, tmp_path_factory):
    with ServerProcess(copy_collection(indexed_demo, tmp_path_factory.mktemp("page") / "library")) as server:
        yield server.address


def test_a_question_finds_documents_in_many_languages_and_says_what_they_mean(open_page):
    window = open_page()
    page = window.open()
    assert "languages" in page.locator("#welcome h2").inner_text()
    window.take_screenshot("welcome")
    window.search("how do bees make honey")
    assert page.locator("#lang option:checked").inner_text() == "English (detected)"
    hindi = page.locator(".result[data-id='honey-bee.hi']")
    assert hindi.locator("h2 .title").inner_text() == "मधुमक्खी"
    assert "bee" in hindi.locator(".rendering").first.inner_text()
    assert hindi.locator("mark").count() > 0
    fit = float(hindi.locator("[role=meter]").get_attribute("aria-valuenow"))
    assert 0 < fit <= 1
    assert "10 of at least 200 documents, in 10 languages" in page.locator("#status").inner_text()
    window.take_screenshot("search")


def test_every_word_has_a_gloss_by_mouse_and_by_keyboard(open_results):
    _, page = open_results("/?q=how+do+bees+make+honey")
    french = page.locator(".result[data-id='honey-bee.fr']")
    french.locator(".snippet .w", has_text="abeille").first.hover()
    assert "bee" in page.locator("#gloss").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#gloss").is_hidden()
    french.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator("#gloss").is_visible()
    assert page.locator(".w.on").count() == 1


def test_why_shows_matching_words_and_scores_that_add_up(open_results):
    window, page = open_results("/?q=how+do+bees+make+honey")
    french = page.locator(".result[data-id='honey-bee.fr']")
    french.get_by_text("Why", exact=True).click()
    page.wait_for_selector(".because:has-text('matches')")
    french.locator(".why summary").click()
    page.wait_for_selector(".align")
    pairs = french.locator(".align svg").get_attribute("aria-label")
    assert "bees: Abeille" in pairs
    urls = [urlsplit(url) for url in window.requests]
    search, why = (parse_qs(url.query) for path in ("search", "why") for url in urls if url.path == f"/api/{path}")
    assert why.pop("id") == ["honey-bee.fr"]
    assert {"q", "k", "reader"} <= why.keys()
    assert why == {name: search[name] for name in why}  # as the search was asked
    parts = [float(text) for text in french.locator(".parts .points").all_inner_texts()]
    total = float(french.locator(".sum").inner_text().split()[0])
    assert sum(parts) == pytest.approx(total, abs=0.02)
    names = french.locator(".parts dt").all_inner_texts()
    assert {"matching words", "close in meaning"} <= set(names)
    assert "base score" in names  # plain words for what the scoring model calls its intercept
    french.scroll_into_view_if_needed()
    window.take_screenshot("why")
    french.focus()
    page.keyboard.press("Escape")
    assert french.locator(".why").is_hidden()


def test_languages_filter_and_the_address_carries_it_all(open_page, open_results):
    window, page = open_results("/?q=how+do+bees+make+honey")
    page.click(".chip[data-lang=hi]")
    window.wait_until("location.search.includes('to=hi')")
    window.wait_for_results()
    assert {text.split()[-1] for text in page.locator(".result .lang").all_inner_texts()} == {"Hindi"}
    assert "to=hi" in page.url
    page.go_back()
    window.wait_until("new Set([...document.querySelectorAll('.result .lang')].map(e => e.textContent)).size > 2")
    page.check("#each")
    window.wait_until("location.search.includes('each=1')")
    window.wait_for_results()
    shared = page.url
    second_window = open_page()
    second_window.page.goto(shared)
    second_window.wait_for_results()
    assert second_window.page.input_value("#q") == "how do bees make honey"
    langs = set(second_window.page.locator(".result .lang").all_inner_texts())
    assert len(langs) == 12


def test_the_language_of_the_question_can_be_corrected(open_results):
    window, page = open_results("/?q=ape")
    page.select_option("#lang", "it")
    window.wait_until("location.search.includes('lang=it')")
    window.wait_until("document.querySelector('.result')?.dataset.id === 'honey-bee.it'")


def test_keys_go_through_results_and_open_one(open_results):
    window, page = open_results("/?q=lava+and+ash")
    page.locator("body").press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    focused = page.evaluate("document.activeElement.dataset.id")
    assert focused == page.locator(".result").nth(1).get_attribute("data-id")
    page.keyboard.press("Enter")
    window.wait_until("document.querySelector('#text').textContent.length > 100")
    page.keyboard.press("Escape")
    window.wait_until("document.querySelector('#read-view').hidden")
    assert page.evaluate("document.activeElement.dataset.id") == focused
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "q"


def test_a_file_is_indexed_and_found(open_page, tmp_path):
    window = open_page()
    page = window.open("/?view=files")
    (tmp_path / "quokka.txt").write_text("The quokka is a small wallaby that seems to smile at everybody who visits.")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    page.set_input_files("#file", [tmp_path / "quokka.txt", tmp_path / "broken.pdf"])
    window.wait_until("document.querySelectorAll('#uploads progress').length === 1")
    window.wait_until("document.querySelector('#uploads li').textContent.includes('1 document added')")
    assert "broken.pdf" in page.locator("#uploads .bad").inner_text()
    page.click("[data-view=search]")
    window.search("quokka")
    assert page.locator(".result").first.get_attribute("data-id") == "quokka.txt"


def test_a_view_that_is_not_there_is_the_search(open_page):
    window = open_page()
    page = window.open("/?view=nope")
    assert page.locator("#search-view").is_visible()


def test_two_windows_change_the_glossary_and_lose_nothing(open_page):
    windows = [open_page(), open_page()]
    rows = [window.open("/?view=glossary").locator(".pair").first for window in windows]
    for number, (window, row) in enumerate(zip(windows, rows, strict=True), start=1):
        row.locator("[name=word]").fill(f"zorb{number}")
        row.locator("[name=meaning]").fill("vulkan")
        row.locator("[name=meaning]").press("Tab")
        window.wait_until(f"document.querySelector('#saved').textContent.startsWith('{number} pair')")
    page = windows[0].open("/?view=glossary")
    assert [page.locator("[name=word]").nth(number).input_value() for number in (0, 1)] == ["zorb1", "zorb2"]
    for left in (1, 0):
        page.locator("[aria-label='Remove this pair']").first.click()
        windows[0].wait_until(f"document.querySelector('#saved').textContent.startsWith('{left} pair')")


def test_the_glossary_is_edited_in_place_and_counts_at_once(open_page):
    window = open_page()
    page = window.open("/?view=glossary")
    row = page.locator(".pair").first
    row.locator("[name=lang]").select_option("en")
    row.locator("[name=to]").select_option("da")
    row.locator("[name=word]").fill("zorb")
    row.locator("[name=meaning]").fill("vulkan")
    row.locator("[name=meaning]").press("Tab")
    window.wait_until("document.querySelector('#saved').textContent.includes('1 pair saved')")
    window.take_screenshot("glossary")
    page.click("[data-view=search]")
    page.fill("#q", "zorb")
    page.keyboard.press("Enter")
    page.wait_for_selector(".result, .ghost p")
    page.select_option("#lang", "en")
    window.wait_until("document.querySelector('.result')?.dataset.id === 'volcano.da'")
    page.click("[data-view=glossary]")
    page.locator("[aria-label='Remove this pair']").first.click()
    window.wait_until("document.querySelector('#saved').textContent.includes('0 pairs')")


def test_arabic_runs_from_right_to_left(open_results):
    window, page = open_results("/?q=النحلة+والعسل&to=ar,en", locale="ar")
    assert page.evaluate("getComputedStyle(document.querySelector('#q')).direction") == "rtl"
    bee = page.locator(".result[data-id='honey-bee.ar']")
    for part in ("h2 .title", ".snippet"):
        assert bee.locator(part).evaluate("e => getComputedStyle(e).direction") == "rtl"
    english = page.locator(".result[data-id='honey-bee.en'] .snippet")
    if english.count():
        assert english.evaluate("e => getComputedStyle(e).direction") == "ltr"
    window.take_screenshot("arabic")


def test_a_phone_in_the_dark(open_page):
    window = open_page(
        viewport={"width": 390, "height": 800}, color_scheme="dark", has_touch=True, device_scale_factor=1
    )
    page = window.open_results("/?q=how+do+bees+make+honey")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".result[data-id='honey-bee.fr'] .snippet .w", has_text="abeille").first.tap()
    assert "bee" in page.locator("#gloss").inner_text()
    for view in ("glossary", "many", "kept", "files"):
        page.click(f"[data-view={view}]")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
    page.click("[data-view=search]")
    window.wait_for_results()
    window.take_screenshot("phone")


@pytest.mark.parametrize(("width", "height", "min_results"), [(1280, 800, 5), (390, 844, 3)])
def test_several_results_fit_on_a_screen_and_each_shows_what_it_means_first(open_results, width, height, min_results):
    window, page = open_results("/?q=how+do+bees+make+honey", viewport={"width": width, "height": height})
    page.evaluate("localStorage.setItem('filters', 'no')")
    page.reload()
    window.wait_for_results()
    assert page.locator("#filters").is_hidden()
    bottoms = [result.bounding_box() for result in page.locator(".result").all()]
    assert sum(box["y"] + box["height"] <= height for box in bottoms) >= min_results
    foreign = page.locator(".result.rendered").first
    meaning, original = foreign.locator(".snippet + .rendering"), foreign.locator(".snippet")
    assert meaning.bounding_box()["y"] < original.bounding_box()["y"]
    page.click("#options")
    page.check("#original-first")
    assert meaning.bounding_box()["y"] > original.bounding_box()["y"]


def test_nothing_found_slow_and_broken_are_designed(open_page):
    window = open_page()
    window.may_complain = True  # of the 503
    page = window.open()
    page.fill("#q", "xyzzyplugh")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=No results for")
    held_routes = []
    page.route("**/api/search*", lambda route: held_routes.append(route))
    page.fill("#q", "volcano")
    page.keyboard.press("Enter")
    page.wait_for_selector(".ghost i")
    window.wait_until("document.querySelector('#status').textContent.includes('earching')")
    held_routes[0].fulfill(status=503, content_type="application/json", body='{"error": "too many are waiting"}')
    page.wait_for_selector("#trouble:has-text('too many are waiting')")
    page.unroute("**/api/search*")
    page.click("#trouble button:has-text('Try again')")
    window.wait_for_results()
    assert all("503" in complaint for complaint in window.complaints)


@pytest.mark.parametrize(("scheme", "locale"), [("light", "en-US"), ("dark", "en-US"), ("light", "ar")])
def test_axe_finds_nothing_to_complain_about(open_results, scheme, locale, tmp_path_factory):
    source = fetch_axe(tmp_path_factory)
    window, page = open_results("/?q=how+do+bees+make+honey", color_scheme=scheme, locale=locale, bypass_csp=True)
    bees = page.locator(".result[data-id='honey-bee.fr']")
    bees.locator(".foot [aria-expanded]").click()
    bees.locator(".why summary").click()
    page.wait_for_selector(".align")
    bees.locator(".snippet .w", has_text="abeille").first.hover()
    page.click("#gloss .star")
    page.click("#save-search")
    for view in ("search", "glossary", "kept", "files", "read"):
        if view == "read":
            page.goto(f"{window.address}/?view=read&doc=honey-bee.fr&q=how+do+bees+make+honey")
            window.wait_until("document.querySelector('.rough')")
        else:
            page.click(f"[data-view={view}]")
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(400)  # what arrives fades in
        page.add_script_tag(content=source)
        report = page.evaluate(
            "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']})"
        )
        problems = [
            f"{view}: {rule['id']}: {node['html'][:120]} {node['failureSummary'][:200]}"
            for rule in report["violations"]
            for node in rule["nodes"]
        ]
        assert not problems
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        # Right to left, everything begins on the right.
        sides = "getComputedStyle(document.querySelector('nav')).direction, document.querySelector('.brand').offsetLeft"
        assert page.evaluate(f"[{sides} > innerWidth / 2]") == (["rtl", True] if locale == "ar" else ["ltr", False])


def fetch_axe(tmp_path_factory) -> str:
    """axe-core from the npm registry, for these tests only."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed: it fetches axe-core for this test")
    folder = tmp_path_factory.mktemp("axe")
    run = subprocess.run(
        ["npm", "pack", "axe-core@4.10.3", "--silent"], cwd=folder, capture_output=True, text=True, check=False
    )
    if run.returncode:
        pytest.skip(f"axe-core can't be had from npm: {run.stderr.strip()[-200:]}")
    with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()
