"""The page over a folder of mixed files: filters, originals, kept words and searches, files to take along, adding."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

import pytest
from json_servers import run_shouting_engine
from serving_process import ServerProcess

from paragloss.collection import Collection
from paragloss.types import Document

BEES = "Les abeilles font du miel dans la ruche. Elles volent vers les fleurs."
#: What distinguishes the documents: copies of one text are shown once.
DISTINCT_TEXTS = {
    "notes/miel.txt": "Ce pot doré vient du marché de la petite ville voisine, où un vieil homme vend ses produits.",
    "notes/ruche.md": "Une caisse de bois avec des cadres protège la colonie pendant les longs mois froids.",
    "pages/fleurs.html": "Le trèfle, le tilleul et la lavande donnent au printemps beaucoup de nectar parfumé.",
    "paper": "Étude statistique sur douze années, avec des tableaux, une méthode et des résultats.",
    "new": "Un enfant goûte une cuillère sucrée au petit déjeuner avant de partir pour l'école.",
}
QUESTION = "/?q=bees+make+honey&lang=en"


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("keeping")
    for name, text, year in (
        ("notes/miel.txt", BEES, 2021),
        ("notes/ruche.md", f"# La ruche\n\n{BEES}\n\n- cire\n- miel\n", 2024),
        ("pages/fleurs.html", f"<html lang=fr><title>Fleurs</title><body><p>{BEES}</p></body></html>", 2024),
    ):
        path = root / "shelf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(BEES, f"{BEES} {DISTINCT_TEXTS[name]}"))
        os.utime(path, (datetime(year, 5, 4).timestamp(),) * 2)
    with run_shouting_engine() as engine:
        with Collection.create(str(root / "c"), machine=engine, meaning=False) as collection:
            collection.index_files([str(root / "shelf")], lang="fr")
            paper = {"author": ["Ada Roe", "Bo Li"], "journal": "Apis & Co", "year": 1999, "doi": "10.1/bee"}
            collection.index(
                [Document("paper", f"{BEES} {DISTINCT_TEXTS['paper']}", "fr", "Étude des abeilles", meta=paper)]
            )
            leaves = "Un chien court.\n\n\fLe loup habite une grande montagne."
            (root / "shelf" / "animals.pdf").write_bytes(b"%PDF-1.4 as it was")
            wolf = {"path": str(root / "shelf" / "animals.pdf"), "pages": 2}
            collection.index([Document("animals", leaves, "fr", "Animaux", meta=wolf)])
        with ServerProcess(str(root / "c")) as server:
            yield server.address


def ids(page) -> list[str]:
    return page.locator(".result").evaluate_all("all => all.map((one) => one.dataset.id)")


def test_results_are_counted_filtered_and_sorted_and_the_address_says_how(open_results):
    window, page = open_results(QUESTION)
    assert "4 documents in" in page.locator("#status").inner_text()
    assert (
        "miel.txt · notes · TXT · May 4, 2021" in page.locator(".result[data-id='notes/miel.txt'] .place").inner_text()
    )
    assert page.locator("[data-field=folder] option").all_inner_texts() == ["all", "notes (2)", "pages (1)"]
    page.select_option("[data-field=folder]", "notes")
    window.wait_until("location.search.includes('folder')")
    window.wait_until("document.querySelectorAll('.result').length === 2")
    window.wait_for_results()
    page.select_option("[data-field=dated]", "2024")
    window.wait_until("document.querySelectorAll('.result').length === 1")
    page.reload()
    window.wait_for_results()
    assert ids(page) == ["notes/ruche.md"]
    assert page.locator("[data-field=dated]").input_value() == "2024"
    page.goto(f"{window.address}{QUESTION}&sort=date")
    window.wait_for_results()
    assert ids(page)[2:] == ["notes/miel.txt", "paper"]
    assert page.locator("#sort").input_value() == "date"


def test_the_original_file_is_offered_and_similar_documents_are_found(open_results):
    window, page = open_results(QUESTION)
    result = page.locator(".result[data-id='pages/fleurs.html']")
    link = result.get_by_text("Open the file").get_attribute("href")
    assert BEES in page.evaluate(f"fetch({json.dumps(link)}).then((answer) => answer.text())")
    assert page.locator(".result[data-id=paper]").get_by_text("Open the file").count() == 0
    result.locator(".menu summary").click()
    result.get_by_text("More like this").click()
    window.wait_until("location.search.includes('lang=fr')")
    window.wait_for_results()
    assert page.input_value("#q").startswith("Fleurs Les abeilles")


def test_a_file_with_pages_opens_at_the_matching_page(open_results):
    window, page = open_results("/?q=wolf+mountain&lang=en")
    first = page.locator(".result[data-id=animals]")
    assert "animals.pdf · page 2" in first.locator(".place").inner_text()
    assert first.get_by_text("Open the file").get_attribute("href").endswith("#page=2")
    first.get_by_text("Read", exact=True).click()
    window.wait_until("!document.querySelector('#read-original').hidden")
    assert page.locator("#read-original").get_attribute("href").endswith("#page=2")
    assert page.locator(".leaf").all_inner_texts() == ["page 1", "page 2"]


def test_words_and_phrases_are_kept_with_their_sentence(open_results):
    window, page = open_results(QUESTION)
    snippet = page.locator(".result[data-id='notes/miel.txt'] .snippet")
    page.locator(".result[data-id='notes/miel.txt']").focus()
    page.keyboard.press("ArrowRight")
    window.wait_until("document.querySelector('.w.on')")
    while page.locator(".w.on").inner_text() != "fleurs":
        page.keyboard.press("ArrowRight")
    page.keyboard.press("s")
    assert page.locator("#gloss .star").get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    start, end = (
        snippet.locator(".w", has_text="miel").bounding_box(),
        snippet.locator(".w", has_text="ruche").bounding_box(),
    )
    page.mouse.move(start["x"] + 1, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] - 1, end["y"] + 8, steps=4)
    page.mouse.up()
    page.click("#gloss .star")
    page.click("[data-view=kept]")
    kept_words = page.locator("#kept-words li").all_inner_texts()
    assert [text.split("\n")[0] for text in kept_words] == ["fleurs", "miel dans la ruche"]
    assert "Elles volent vers les fleurs." in kept_words[0]
    with page.expect_download() as download:
        page.click("#words-csv")
    rows = Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert rows[0] == "word,meaning,sentence,lang,to,doc,when"
    assert rows[1].startswith("fleurs,flower")
    with page.expect_download() as download:
        page.click("#words-anki")
    cards = Path(download.value.path()).read_text(encoding="utf-8")
    assert cards.startswith("#separator:tab\n#html:false\n#columns:word\tmeaning\tsentence")
    assert "miel dans la ruche\t" in cards
    window.take_screenshot("kept")
    page.locator("#kept-words [aria-label=Remove]").first.click()
    assert page.locator("#kept-words li").count() == 1


def test_a_kept_search_says_what_is_new(open_results):
    window, page = open_results(QUESTION)
    page.click("#save-search")
    page.click("#kept-searches .rename")
    page.fill("#kept-searches input", "Bees")
    page.keyboard.press("Enter")
    page.wait_for_selector("#kept-searches >> text=nothing new")
    page.wait_for_timeout(1100)  # moments are told in seconds
    text = f"{BEES} {DISTINCT_TEXTS['new']}"
    page.evaluate(
        "fetch('api/documents/new', {method: 'PUT', headers: {'Content-Type': 'application/json'},"
        f" body: JSON.stringify({{text: {json.dumps(text)}, lang: 'fr'}})}})"
    )
    page.reload()
    assert page.locator("#kept-searches a.name").inner_text() == "Bees"
    page.click("text=1 new document")
    window.wait_until("location.search.includes('added')")
    window.wait_for_results()
    assert ids(page) == ["new"]
    page.click("[data-field=added]")
    window.wait_until("document.querySelectorAll('.result').length === 5")
    page.click("[data-view=kept]")
    page.click("#kept-searches a.name")
    window.wait_for_results()
    assert len(ids(page)) == 5
    page.click("[data-view=kept]")
    feed = page.get_by_text("Feed").get_attribute("href")
    assert "<entry>" in page.evaluate(f"fetch({json.dumps(feed)}).then((answer) => answer.text())")
    page.evaluate("fetch('api/documents/new', {method: 'DELETE'})")


def test_results_are_exported_and_printed(open_results):
    _, page = open_results(QUESTION)
    with page.expect_download() as download:
        page.click("#as-csv")
    rows = Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert rows[0].startswith("title,meaning,language,fit")
    assert len(rows) == 5
    with page.expect_download() as download:
        page.click("#as-bibtex")
    entry = Path(download.value.path()).read_text(encoding="utf-8")
    assert entry.startswith("@article{paper,\n  title = {Étude des abeilles},")
    assert "author = {Ada Roe and Bo Li}" in entry
    assert r"journal = {Apis \& Co}" in entry
    page.emulate_media(media="print")
    assert page.locator("#ask").is_hidden()
    assert "abeilles: bee" in page.locator(".result[data-id='notes/miel.txt'] .glossed").inner_text()


def test_a_meaning_that_would_not_help_is_folded_and_an_engine_is_offered(open_page):
    window = open_page()
    window.page.add_init_script("Object.defineProperty(navigator, 'languages', {value: ['en', 'fr']})")
    page = window.open_results(QUESTION)
    fold = page.locator(".result[data-id='notes/miel.txt'] .snippet + .rendering .fold")
    assert fold.inner_text() == "Rough meaning"
    fold.click()
    assert "bee" in page.locator(".result[data-id='notes/miel.txt'] .snippet + .rendering").inner_text()
    page.goto(f"{window.address}/?view=read&doc=notes/ruche.md&q=bees&lang=en")
    window.wait_until("document.querySelector('.rough')")
    assert page.locator("#text ul li").all_inner_texts() == ["• cire", "• miel"]
    rough = page.locator(".paragraph", has_text="abeilles").first.locator(".rough")
    assert rough.locator("p").is_hidden()  # the reader also reads French
    rough.locator("summary").click()
    rough.get_by_text("Translate with").click()
    page.wait_for_selector(".rough p:has-text('LES ABEILLES')")
    assert "translated by" in rough.inner_text()
    assert page.locator("#read-original").is_visible()


def test_a_folder_is_added_file_by_file_and_can_be_stopped(open_page, tmp_path):
    (tmp_path / "trip" / "day").mkdir(parents=True)
    for name in ("a.txt", "day/a.txt", "day/b.txt", "bad.pdf", ".hidden"):
        (tmp_path / "trip" / name).write_text(f"Le voyage en train vers la mer, {name}, fut long et beau.")
    window = open_page()
    page = window.open("/?view=files")
    held_routes = []
    page.route("**/api/files*", lambda route: held_routes.append(route))
    page.set_input_files("#folder", tmp_path / "trip")
    window.wait_until("document.querySelectorAll('#uploads li').length === 4")
    page.click("#stop")
    while not held_routes:
        page.wait_for_timeout(20)
    held_routes[0].continue_()
    page.unroute("**/api/files*")
    window.wait_until("document.querySelectorAll('#uploads li')[0].textContent.match(/added|could not/)")
    assert page.locator("#uploads", has_text="waiting").count() == 1
    page.locator("#stop").click()
    window.wait_until("!document.querySelector('#uploads').textContent.includes('waiting')")
    window.wait_until("document.querySelectorAll('#uploads .bad').length === 1")
    window.wait_until(
        "(document.querySelector('#uploads').textContent.match(/1 document added · TXT · French/g) || []).length === 3"
    )
    assert page.evaluate("fetch('api/documents/trip/day/a.txt').then((answer) => answer.status)") == 200
    for name in ("a.txt", "day/a.txt", "day/b.txt"):
        page.evaluate(f"fetch('api/documents/trip/{name}', {{method: 'DELETE'}})")
    assert not window.complaints


STATUSES = {
    400: "can't be used", 403: "allows reading", 404: "no longer exists", 408: "took too long", 413: "too large",
    422: "can't be used", 429: "wrong keys", 500: "went wrong", 501: "does not support", 503: "Too many people",
    504: "took too long",
}  # fmt: skip


def test_every_error_is_said_in_the_words_of_the_page(open_page):
    window = open_page()
    page = window.open()
    window.may_complain = True
    answers = []  # the last is what the next search gets; one route for all, so that none is asked between two
    page.route("**/api/search*", lambda route: answers[-1](route))
    page.fill("#q", "bees")
    for status, message in STATUSES.items():
        answers.append(lambda route, status=status: route.fulfill(status=status, json={"error": "E --x()"}))
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#trouble:has-text({json.dumps(message)})")
        assert page.locator("#trouble .detail p").is_hidden()  # what the server said waits for who wants it
        page.evaluate("document.querySelector('#trouble').hidden = true")
    answers.append(lambda route: route.abort())
    page.keyboard.press("Enter")
    page.wait_for_selector("#trouble:has-text('does not answer')")


def test_every_message_can_be_said_in_every_language(open_page):
    """Each sentence with numbers of every kind of plural and names in its braces, as the page would say it."""
    page = open_page().open()
    langs = page.evaluate("import('./strings.js').then((module) => module.INTERFACE_LANGUAGES)")
    assert langs == ["ar", "de", "en", "es", "fr", "hi", "pt", "ru", "vi", "zh"]
    messages = page.evaluate(
        """async (langs) => {
          const out = [];
          for (const lang of langs) {
            const own = (await import(`./strings/${lang}.js`)).default, plurals = new Intl.PluralRules(lang);
            for (const [key, found] of Object.entries(own)) for (const n of [0, 1, 2, 3, 5, 11, 21, 100]) {
              const text = typeof found === "string" ? found : found[plurals.select(n)] ?? found.other;
              out.push([lang, key, n, text?.replace(/\\{n\\}/g, n.toLocaleString(lang)).replace(/\\{\\w+\\}/g, "X")]);
            }
          }
          return out;
        }""",
        langs,
    )
    for lang, key, n, text in messages:
        assert text, (lang, key, n)
        assert text.strip() == text, (lang, key, n)
        assert not set("{}<>`|") & set(text), (lang, key, n)
        assert len(text) < 220, (lang, key)
    own = {(lang, key): text for lang, key, n, text in messages if n == 1}
    same = [pair for pair in own if pair[0] != "en" and len(own[pair]) > 25 and own[pair] == own["en", pair[1]]]
    assert not same  # nothing was left in English
