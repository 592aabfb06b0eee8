"""Lists of results in the page: more of them, one failure that leaves the others alone, deleting, keys, phones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from serving_process import ServerProcess

import paragloss
from paragloss import demo
from paragloss.collection import Collection
from paragloss.types import Document

PAGE = Path(paragloss.__file__).parent / "page"
LONG = Document("long", "Les abeilles font du miel.", "fr", "Abeille et miel " * 6250)  # 100,000 characters

LAGOON = "The turbine in the wall of the tidal lagoon turns with every tide and feeds the lamps of the harbour."
KITE = Document("kite.txt", "The kite maker of the valley glues paper on two crossed sticks.", "en", "Kite maker")
COPIES = [Document(id, LAGOON, "en", "Tidal lagoon") for id in ("lagoon.txt", "backup/lagoon.txt")]


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("lists") / "c")
    with Collection.create(path) as collection:
        collection.index([*demo.documents(), LONG, KITE, *COPIES])
    with ServerProcess(path) as server:
        yield server.address


@pytest.fixture
def locked_address(browser, tmp_path):
    """The address of a server with a key to read and a key to write."""
    (tmp_path / "keys").write_text(f"read {'r' * 32}\nwrite {'w' * 32}\n")
    with Collection.create(str(tmp_path / "c")) as collection:
        collection.index(demo.documents()[:24])
    with ServerProcess(str(tmp_path / "c"), "--keys", str(tmp_path / "keys")) as server:
        yield server.address


def test_a_meaning_that_fails_leaves_the_results_and_more_are_put_behind(open_page):
    window = open_page()
    window.may_complain = True

    def fail_for_some(route):
        if any(text["lang"] in ("de", "es", "fr", "it") for text in json.loads(route.request.post_data)["texts"]):
            route.fulfill(status=422, json={"error": "texts: 101,152 characters; at most 20,000"})
        else:
            route.continue_()

    window.page.route("**/api/gloss*", fail_for_some)
    page = window.open_results("/?q=how+do+bees+make+honey")
    failed = page.locator(".result", has=page.locator(".failed")).first
    assert "Meanings could not be loaded" in failed.locator(".failed").inner_text()
    assert page.locator(".rendering:visible").count() > 0
    first = page.locator(".result").first.element_handle()
    page.unroute("**/api/gloss*")
    id = failed.get_attribute("data-id")
    failed.locator(".failed button").click()
    window.wait_until(f"document.querySelector('.result[data-id=\"{id}\"] .rendering:not([hidden])')")
    page.click("#more")
    window.wait_until("document.querySelectorAll('.result').length > 10")
    assert "k=30" in page.url
    assert first.evaluate("e => e.isConnected")  # what was there stayed
    eleventh = page.locator(".result").nth(10).get_attribute("data-id")
    assert page.evaluate("document.activeElement.dataset.id") == eleventh


def test_two_hundred_results_are_one_page_and_the_last_key_brings_more(open_results):
    window, page = open_results("/?q=how+do+bees+make+honey&k=180")
    assert page.locator(".result").count() == 180
    assert "180 of at least 200 documents, in 12 languages" in page.locator("#status").inner_text()
    page.locator(".result").last.focus()
    page.keyboard.press("ArrowDown")
    window.wait_until("document.querySelectorAll('.result').length === 200")
    window.wait_until("document.activeElement === document.querySelectorAll('.result')[180]")
    assert page.locator("#more").is_hidden()
    window.wait_until("document.querySelectorAll('.result')[199].querySelector('.w')")
    under = page.locator("h2 .rendering:visible").evaluate_all("all => all.map((one) => one.clientHeight)")
    assert max(under) < 40  # one line, however long


def test_deleting_can_be_undone_and_is_done_when_one_goes_on(open_results):
    window, page = open_results("/?q=Abeille+et+miel&to=fr")
    window.may_complain = True  # of the document that is gone
    long = page.locator(".result[data-id=long]")
    assert len(long.locator("h2 .title").inner_text()) <= 1000
    long.locator(".menu summary").click()
    long.get_by_text("Delete").click()
    page.get_by_text("Undo").click()
    assert long.is_visible()
    long.locator(".menu summary").click()
    long.get_by_text("Delete").click()
    page.fill("#q", "miel")
    page.keyboard.press("Enter")
    window.wait_until("location.search.includes('q=miel')")
    window.wait_for_results()
    assert long.count() == 0
    assert page.evaluate("fetch('api/documents/long').then((answer) => answer.status)") == 404


def test_a_wrong_key_says_so_escape_leaves_and_readers_are_offered_no_deleting(open_window, locked_address):
    window = open_window(locked_address)
    window.may_complain = True  # of the answers to requests without a key
    page = window.page
    page.goto(f"{locked_address}/?q=bees")
    page.wait_for_selector("#key[open]")
    page.fill("#key-value", "wrong")
    page.keyboard.press("Enter")
    page.wait_for_selector("#key-wrong:has-text('Unknown key')")
    page.keyboard.press("Escape")
    page.wait_for_selector("#trouble:has-text('only with a key')")
    assert page.locator("#key").is_hidden()
    page.click("#trouble button")
    page.wait_for_selector("#key[open]")
    page.fill("#key-value", "r" * 32)
    page.keyboard.press("Enter")
    window.wait_for_results()
    window.wait_until("document.querySelector('#holds').textContent")
    assert not page.get_by_text("Delete").first.is_visible()
    assert page.locator("[data-view=files]").is_hidden()


def test_on_a_phone_results_are_in_the_first_screen_and_nobody_waits_for_the_collection(open_page):
    window = open_page(viewport={"width": 390, "height": 800})
    page = window.page
    page.add_init_script("localStorage.setItem('filters', 'no')")
    page.route("**/api/collections*", lambda route: None)  # never answered
    page.goto(f"{window.address}/?q=how+do+bees+make+honey")
    window.wait_for_results()
    box = page.locator(".result .snippet").first.bounding_box()
    assert box["y"] + box["height"] < 800
    assert page.locator("#lang").is_hidden()
    page.click("#options")
    assert page.locator("#lang").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_filters_on_a_phone_cover_the_end_of_the_list_and_say_how_many_are_used(open_results):
    window, page = open_results("/?q=how+do+bees+make+honey", viewport={"width": 390, "height": 844}, has_touch=True)
    button, first = page.locator("#options"), page.locator(".result").first
    assert [button.inner_text(), button.get_attribute("aria-expanded")] == ["Filters", "false"]
    top = first.bounding_box()["y"]
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    panel = page.locator("#panel").bounding_box()
    assert first.bounding_box()["y"] == top < panel["y"]
    assert panel["y"] + panel["height"] <= 844
    page.click(".chip[data-lang=fr]")
    page.check("#each")
    window.wait_until("document.querySelector('#options').textContent === 'Filters (2)'")
    window.wait_for_results()
    assert page.locator("#panel h2").is_visible()
    done = page.get_by_text("Show results").bounding_box()
    assert done["y"] + done["height"] <= 844 - 12
    page.get_by_text("Show results").click()
    assert page.locator("#panel").is_hidden()
    button.click()
    page.click("#panel-close")
    assert page.locator("#panel").is_hidden()
    assert [button.inner_text(), button.get_attribute("aria-expanded")] == ["Filters (2)", "false"]
    button.click()
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()
    assert page.evaluate("document.activeElement.id") == "options"


def test_a_title_is_a_link_that_opens_here_or_in_a_new_tab(open_results):
    _, page = open_results("/?q=how+do+bees+make+honey&to=fr")
    link = page.locator(".result[data-id='honey-bee.fr'] h2").get_by_role("link")
    assert link.locator(".rendering").is_visible()  # the meaning is a part of the link
    with page.context.expect_page() as opened:
        link.click(modifiers=["Control"])
    opened.value.wait_for_selector("#text .said-so")
    assert "view=read" in opened.value.url
    assert "doc=honey-bee.fr" in opened.value.url
    assert page.locator("#search-view").is_visible()
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#text .said-so")
    assert page.locator("#read-title .title").inner_text() == "Abeille"


def test_matches_are_marked_in_what_the_reader_can_read(open_page):
    window = open_page()
    for lang in ("ar", "fr", "ru"):
        page = window.open_results(f"/?q=how+do+bees+make+honey&to={lang}")
        page.wait_for_selector(f".result[data-id='honey-bee.{lang}'] .snippet + .rendering mark")
        result = page.locator(f".result[data-id='honey-bee.{lang}']")
        marked = {text.lower() for text in result.locator(".snippet + .rendering mark").all_inner_texts()}
        assert marked & {"bee", "bees", "honey"}, lang
        assert not marked & {"and", "in", "the", "of"}, lang
    assert page.locator("h2 mark").count() == 0


def test_a_rendering_shows_guesses_matches_and_untranslated_words(open_page):
    window = open_page()

    def rewrite(answer):
        kinds = [
            ("word", "~wild bee", True),
            ("word", "gathers", True),
            ("unknown", "tectonic", False),
            ("name", "Rome", False),
            ("other", "1450", False),
        ]
        for gloss in answer["glosses"]:
            words, rendering = [], ""
            for word, (kind, text, has_meaning) in zip(gloss["words"], kinds, strict=False):
                meanings = [{"text": text, "weight": 1, "source": "table", "kind": ""}] if has_meaning else []
                rendered = [len(rendering), len(rendering) + len(text)]
                fields = {"text": text, "kind": kind, "meanings": meanings, "sure": False, "rendered": rendered}
                words.append({**word, **fields})
                rendering += f"{text} "
            gloss.update(words=words, rendering=rendering)

    window.change_answers("search", lambda answer: [result.update(marks=[[0, 4]]) for result in answer["results"]])
    window.change_answers("gloss", rewrite)
    page = window.open_results("/?q=how+do+bees+make+honey&to=fr")
    rendering = page.locator(".snippet + .rendering:has(.unknown)").first
    guess = rendering.locator("mark .guess")
    assert guess.text_content() == "~wild bee"  # a match and a guess
    assert "dotted" in guess.evaluate("e => getComputedStyle(e).textDecoration")
    assert rendering.locator(".unknown").all_text_contents() == ["tectonic"]
    color = "e => getComputedStyle(e).color"
    assert rendering.locator(".unknown").evaluate(color) != rendering.evaluate(color)


def test_dotted_underlines_are_explained_once_above_the_list(open_results):
    window, page = open_results("/?q=how+do+bees+make+honey&to=en")
    legend = page.locator("#search-view .legend")
    assert legend.is_hidden()  # nothing is rendered
    window.open_results("/?q=how+do+bees+make+honey")
    assert legend.inner_text() == "≈ Rough meaning · dotted: a guess · grey: not translated"
    assert "dotted" in legend.locator(".guess").evaluate("e => getComputedStyle(e).textDecoration")
    assert legend.bounding_box()["y"] < page.locator(".result").first.bounding_box()["y"]


@pytest.mark.parametrize("width", [1280, 390])
def test_texts_that_are_cut_show_whole_lines_of_whole_pixels(open_results, width):
    _, page = open_results("/?q=how+do+bees+make+honey&k=60", viewport={"width": width, "height": 844})
    measure = """(all) => all.filter((text) => text.getClientRects().length && text.textContent).map((text) =>
        [text.getBoundingClientRect().height, parseFloat(getComputedStyle(text).lineHeight)])"""
    for swap in range(2):
        if swap:
            page.evaluate("document.querySelector('#original-first').click()")
        rows = page.locator(".result :is(.title, .snippet, .rendering)").evaluate_all(measure)
        assert len(rows) > 100
        for height, line in rows:
            assert line == int(line)
            assert height in (line, 2 * line, 3 * line)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_borders_of_fields_can_be_seen(open_results, scheme):
    _, page = open_results("/?q=how+do+bees+make+honey", color_scheme=scheme)
    colours = """(element) => {
        const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
        const rgb = (colour) => {
            canvas.fillStyle = colour;
            canvas.fillRect(0, 0, 1, 1);
            return [...canvas.getImageData(0, 0, 1, 1).data];
        };
        return [rgb(getComputedStyle(element).borderBottomColor), rgb(getComputedStyle(document.body).backgroundColor)];
    }"""
    for selector in ("#q", "#lang", "#reader", "#sort", "#options", "#many-terms"):
        if selector == "#many-terms":
            page.click("[data-view=many]")
        assert compute_contrast(*page.locator(selector).evaluate(colours)) >= 3, selector


def compute_contrast(*colours: list[int]) -> float:
    """The contrast ratio of two colours as WCAG 2 defines it."""
    luminances = []
    for colour in colours:
        linear = [part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour[:3]]
        luminances.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(luminances) + 0.05) / (min(luminances) + 0.05)


def test_the_page_says_match_quality_and_saved(open_results):
    _, page = open_results("/?q=how+do+bees+make+honey")
    assert page.locator(".result [role=meter]").first.get_attribute("aria-label") == "match quality"
    assert page.locator("#sort option").first.inner_text() == "best match"
    assert page.locator("[data-view=kept]").inner_text() == "Saved"
    for path in (PAGE / "strings").glob("en.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r": .*\b([Kk]ept|[Ff]it|before any match)\b", text)


def test_did_you_mean_and_guesses_are_shown_where_the_server_tells_them(open_page):
    window = open_page()

    def doubt(answer):
        for gloss in answer["glosses"]:
            gloss["words"] = [{**word, "sure": False, "rendered": None} for word in gloss["words"]]
            gloss["rendering"] = "a ~wild bee"

    window.change_answers("search", lambda answer: answer["query"].update(suggestion="honey bee"))
    window.change_answers("gloss", doubt)
    page = window.open_results("/?q=hony+bee&to=fr")
    assert page.locator(".w.guess").first.get_attribute("title") == "a guess"
    guess = page.locator(".rendering .guess").first
    assert guess.text_content() == "~wild"
    assert guess.locator(".hidden").bounding_box()["width"] <= 1  # "~" is for those who copy the text
    page.click("#meant button")
    window.wait_until("document.querySelector('#q').value === 'honey bee'")
    window.wait_for_results()


@pytest.mark.parametrize(
    ("locale", "dir", "search", "best_match"),
    [("de-AT", "ltr", "Suchen", "bester Treffer"), ("ar", "rtl", "بحث", "أفضل مطابقة")],
)
def test_the_page_speaks_the_language_of_the_browser(open_page, locale, dir, search, best_match):
    window = open_page(locale=locale)
    page = window.open()
    assert page.locator("[data-view=search]").inner_text() == search
    assert page.locator("#sort option").first.text_content() == best_match
    assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == [locale[:2], dir]


def read_strings(path: Path) -> dict[str, set[str]]:
    """The keys of a language's file with the names in braces that their sentences hold."""
    rows = re.findall(r'^  "([^"]+)": (.+),$', path.read_text(encoding="utf-8"), re.MULTILINE)
    return {key: set(re.findall(r"\{(\w+)\}", value)) for key, value in rows}


def test_every_language_has_words_for_everything_the_page_can_say():
    english = read_strings(PAGE / "strings" / "en.js")
    code = {path.name: path.read_text(encoding="utf-8") for path in [*PAGE.glob("*.js"), PAGE / "index.html"]}
    used = {
        key
        for text in code.values()
        for key in re.findall(r"""["'`]([a-z][A-Za-z]*(?:\.[\w]+)+|[a-z]+[A-Z]?\w*)["'`]""", text)
    }
    assert english.keys() <= used | {f"fit.{step}" for step in range(4)}  # no sentence that nobody says
    requested_keys = {
        key for text in code.values() for key in re.findall(r'\bt\("([^"]+)"[,)]|data-t(?:-[a-z-]+)?="([^"]+)"', text)
    }
    assert {a or b for a, b in requested_keys} <= english.keys()
    for path in (PAGE / "strings").glob("*.js"):
        assert read_strings(path) == english, path.name
    assert (
        f"INTERFACE_LANGUAGES = {json.dumps(sorted(path.stem for path in (PAGE / 'strings').glob('*.js')))}"
        in code["strings.js"]
    )


def test_no_message_of_the_page_speaks_of_commands_or_code():
    for path in (PAGE / "strings").glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"--\w|paragloss\.|\(\)|`|JSON|HTTP|\b[45]\d\d\b", text.split("\n", 1)[1]), path.name
    for path in PAGE.glob("*.js"):  # and every error that is shown is one of these sentences
        code = path.read_text(encoding="utf-8")
        assert "content.error" not in code.replace("sentence(path, answer.status), content.error", "")


def test_copies_are_one_result_that_names_every_place(open_results):
    _, page = open_results("/?q=tidal+lagoon+turbine")
    first = page.locator(".result").first
    assert "2 copies" in first.locator(".copies").inner_text()
    assert sorted(first.locator(".copies li").all_inner_texts()) == ["backup/lagoon.txt", "lagoon.txt"]


def test_a_wrong_language_is_corrected_in_the_list_and_stored(open_results):
    window, page = open_results("/?q=kite+maker+of+the+valley")
    first = page.locator(".result").first
    id = first.get_attribute("data-id")
    assert first.locator(".head .lang").inner_text().split() == ["EN", "English"]
    first.locator(".menu summary").click()
    first.get_by_text("Wrong language?").click()
    first.get_by_label("Language of this document").select_option("nl")
    window.wait_until("document.querySelector('.result .head .lang').textContent === 'NLDutch'")
    assert page.evaluate(f"fetch('api/documents/{id}').then((answer) => answer.json())")["lang"] == "nl"
