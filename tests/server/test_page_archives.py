"""The page for people with foreign archives: operators, many terms, support of languages, places inside files."""

import pytest
from serving_process import ServerProcess

from paragloss.collection import Collection
from paragloss.types import Document

SUBTITLES = """1
00:00:05,000 --> 00:00:07,000
Guten Morgen, meine Damen und Herren.

2
00:01:23,000 --> 00:01:25,000
Der Vulkan ist heute ausgebrochen.
"""
CHAT = """30/12/2020, 08:15 - Anna: Guten Morgen
31/12/2020, 23:58 - Anna: Guten Rutsch!
31/12/2020, 23:59 - Bernd: Ich habe das Kraftwerk gesehen.
"""
PAGES = [
    Document("fr", "Les Nations unies ont adopté une résolution.", "fr", "ONU"),
    Document("en", "The United Nations met in Geneva.", "en", "UN"),
    Document("af", "Die hond slaap in die huis.", "af", "Hond"),
    Document("tn", "Ngwana o bala buka kwa sekolong.", "tn", "Buka"),
    Document("lg", "Omwana asoma ekitabo mu ssomero.", "lg", "Ekitabo"),
    Document("ja", "篠原さんは昨日、東京で大臣に会った。", "ja"),
]


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("archives")
    (folder / "files").mkdir()
    (folder / "files" / "news.de.srt").write_text(SUBTITLES, encoding="utf-8")
    (folder / "files" / "ships.csv").write_text("title,text,lang\nTitanic,sank in the Atlantic,en\n", encoding="utf-8")
    (folder / "files" / "fleet.csv").write_text("Ship,Year\nOlympic,1911\nLusitania,1915\n", encoding="utf-8")
    (folder / "files" / "family.de.txt").write_text(CHAT, encoding="utf-8")
    with Collection.create(str(folder / "c")) as collection:
        collection.index_files([str(folder / "files")])
        collection.index(PAGES)
    with ServerProcess(str(folder / "c")) as server:
        yield server.address


def test_operators_are_obeyed_and_explained(open_results):
    _, page = open_results("/?q=%22united+nations%22+-geneva+before:never&lang=en")
    assert page.locator(".result").count() == 1
    assert page.locator(".result").get_attribute("data-id") == "fr"
    assert "before:never was left out" in page.locator("#notes").inner_text()
    page.locator("#operators summary").click()
    assert page.locator("#operators dd").first.inner_text() == "words next to each other, also translated"


def test_a_switch_searches_names_as_typed_until_the_page_goes_home(open_results):
    window, page = open_results("/?q=Shinohara&lang=en")
    assert page.locator(".result").get_attribute("data-id") == "ja"
    page.check("#as-typed")
    window.wait_until("document.querySelector('#results').textContent.includes('No results')")
    assert page.url.endswith("typed=1")
    assert page.locator("#options").inner_text() == "Filters (1)"
    page.get_by_text("also search for other spellings of names").click()
    window.wait_for_results()
    assert not page.locator("#as-typed").is_checked()
    page.check("#as-typed")
    window.wait_until("location.search.includes('typed=1')")
    page.click("#home")
    window.wait_until("document.querySelector('#welcome .names')")
    assert page.url == f"{window.address}/"
    assert not page.locator("#as-typed").is_checked()
    window.search("Shinohara")
    assert page.locator(".result").get_attribute("data-id") == "ja"


def test_a_search_as_typed_is_saved_explained_and_counted_as_typed(open_results):
    window, page = open_results("/?q=dog&lang=en&typed=1")
    page.get_by_text("Why", exact=True).first.click()
    page.wait_for_selector(".because")
    page.click("#save-search")
    window.wait_until("document.querySelector('#kept-searches button.link:not([hidden])')")
    assert "variants=false" in page.get_by_text("Feed").get_attribute("href")
    for path in ("search", "counts", "why"):
        addresses = [url for url in window.requests if f"/api/{path}?" in url]
        assert addresses, path
        assert all("variants=false" in address for address in addresses), path


@pytest.mark.parametrize(
    ("query", "place", "leaves", "text"),
    [
        ("volcano", "0:01:23", ["0:00:05", "0:01:23"], "Der Vulkan ist heute ausgebrochen."),
        ("power+plant", "family.de.txt · TXT · Dec 31, 2020 · 23:59:00", ["23:58:00", "23:59:00"], "Kraftwerk"),
        ("Atlantic", "row 2", [], "sank in the Atlantic"),  # as a spreadsheet counts
        ("Lusitania", "row 3", [], "Year: 1915"),  # a row without a text of its own
    ],
)
def test_a_result_says_where_in_a_file_it_is_and_opens_there(open_results, query, place, leaves, text):
    window, page = open_results(f"/?q={query}&lang=en")
    shown = page.locator(".result .place").first.inner_text()
    assert all(part in shown for part in place.split(" · "))
    page.locator(".result h2 a").first.click()
    window.wait_until("document.querySelector('#text mark')")
    assert page.locator(".leaf").all_inner_texts() == leaves
    assert text in page.locator("#text").inner_text()


def test_the_first_view_says_how_well_each_language_is_supported(open_page):
    window = open_page()
    page = window.open()
    window.wait_until("document.querySelector('#welcome .names')")
    names = " ".join(page.locator("#welcome .names").inner_text().split())
    assert "Afrikaans 1 (through a related language)" in names
    assert "Tswana 1 (names only)" in names
    assert "Ganda 1 (names only)" in names
    assert "French 1 (" not in names  # found in every way
    assert page.locator("#welcome .names [title^='full']").count() == 4  # de en fr ja


def test_many_terms_become_a_table_with_links_and_a_file(open_page):
    window = open_page()
    page = window.open("/?view=many")
    page.locator("#many-terms").fill("United Nations\n\nunicorn\nbefore:never dog\nUnited Nations")
    page.locator("#many button[type=submit]").click()
    window.wait_until("!document.querySelector('#many-csv').hidden")
    cells = [row.split("\t")[:3] for row in page.locator("#many-rows > tr").all_inner_texts()]
    assert [cell[0] for cell in cells] == ["United Nations", "unicorn", "before:never dog"]
    assert [cell[1:] for cell in cells][:2] == [["2", "2"], ["0", "0"]]
    assert page.locator("#many-status").inner_text() == "3 of 3 looked up"
    with page.expect_download() as download:
        page.locator("#many-csv").click()
    table = download.value.path().read_text(encoding="utf-8-sig")
    assert table.startswith("term,hits,documents,")
    page.locator("#many-rows a").first.click()
    window.wait_until("document.querySelector('#text mark')")


def test_many_terms_can_be_looked_up_as_typed(open_page):
    window = open_page()
    page = window.open("/?view=many")
    page.locator("#many-terms").fill("Shinohara")
    documents = []
    for as_typed in (False, True):
        page.set_checked("#many-as-typed", as_typed)
        page.locator("#many button[type=submit]").click()
        window.wait_until("document.querySelector('#many-stop').hidden")
        documents.append(page.locator("#many-rows td:nth-child(3)").inner_text())
    assert documents == ["1", "0"]
