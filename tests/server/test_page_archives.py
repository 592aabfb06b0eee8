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
PAGES = [
    Document("fr", "Les Nations unies ont adopté une résolution.", "fr", "ONU"),
    Document("en", "The United Nations met in Geneva.", "en", "UN"),
    Document("af", "Die hond slaap in die huis.", "af", "Hond"),
]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("archives")
    (folder / "files").mkdir()
    (folder / "files" / "news.de.srt").write_text(SUBTITLES, encoding="utf-8")
    (folder / "files" / "ships.csv").write_text("title,text,lang\nTitanic,sank in the Atlantic,en\n", encoding="utf-8")
    with Collection.create(str(folder / "c")) as collection:
        collection.index_files([str(folder / "files")])
        collection.index(PAGES)
    server = ServerProcess(str(folder / "c")).wait()
    yield server.address
    server.stop()


def test_operators_are_obeyed_and_explained(open_window, running):
    window = open_window(running)
    page = window.open("/?q=%22united+nations%22+-geneva+before:never&lang=en")
    window.wait_for_results()
    assert page.locator(".result").count() == 1
    assert page.locator(".result").get_attribute("data-id") == "fr"
    assert "before:never was left out" in page.locator("#notes").inner_text()
    page.locator("#operators summary").click()
    assert page.locator("#operators dd").first.inner_text() == "words next to each other, also translated"
    window.assert_no_complaints()


def test_results_say_where_in_a_file_they_are_and_open_there(open_window, running):
    window = open_window(running)
    page = window.open("/?q=volcano&lang=en")
    window.wait_for_results()
    assert "0:01:23" in page.locator(".result .place").first.inner_text()
    page.locator(".result h2 a").first.click()
    window.wait_until("document.querySelector('#text mark')")
    assert page.locator(".leaf").all_inner_texts() == ["0:00:05", "0:01:23"]
    page = window.open("/?q=Titanic&lang=en")
    window.wait_for_results()
    assert "row 2" in page.locator(".result .place").first.inner_text()  # as a spreadsheet counts
    window.assert_no_complaints()


def test_the_first_view_says_how_well_each_language_is_supported(open_window, running):
    window = open_window(running)
    page = window.open()
    window.wait_until("document.querySelector('#welcome .names')")
    names = page.locator("#welcome .names").inner_text()
    assert "Afrikaans 1 (through a related language)" in " ".join(names.split())
    assert "French 1 (" not in " ".join(names.split())


def test_many_terms_become_a_table_with_links_and_a_file(open_window, running):
    window = open_window(running)
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
    window.assert_no_complaints()
