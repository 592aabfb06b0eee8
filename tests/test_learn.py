"""A collection that holds its pages in two languages learns its own words from them."""

import io
from contextlib import redirect_stdout

import pytest
from collection_copies import copy_collection

from paragloss.cli import app
from paragloss.collection import Collection, learned, pairing
from paragloss.errors import InputError
from paragloss.formats.html import parse_html
from paragloss.translation import default
from paragloss.types import Document

#: The tools of a manual whose words nobody else has.
TOOLS = ["snarf", "blivet", "quux", "frob", "grault", "plugh", "thud", "wibble", "corge", "waldo", "zork", "xyzzy"]


def make_word(n):
    return TOOLS[n % 12] + TOOLS[(n // 12 + n) % 12]


def make_manual():
    for n in range(60):
        other, tool = make_word(n + 1), make_word(n)
        yield Document(
            f"en/tool-{n}.html",
            f"The {tool} changes the picture.\nSee also the {other}, page {n}.\nYou can undo it.",
            "en",
            f"Using the {tool}",
        )
        yield Document(
            f"de/tool-{n}.html",
            f"Der {tool[::-1]} ändert das Bild.\nSiehe auch den {other[::-1]}, Seite {n}.\nMan kann es zurücknehmen.",
            "de",
            f"Den {tool[::-1]} verwenden",
        )


@pytest.fixture(scope="module")
def learned_collection(tmp_path_factory):
    """Where a collection lies that has learned its words, which nobody opens but to copy it, and what that printed."""
    location = str(tmp_path_factory.mktemp("learned") / "c")
    with Collection.create(location) as engine:
        engine.index(make_manual())
    with redirect_stdout(io.StringIO()) as output:
        app(["learn", location], standalone_mode=False)
    return location, output.getvalue()


@pytest.fixture
def collection(learned_collection, tmp_path):
    return copy_collection(learned_collection[0], tmp_path / "c")


@pytest.mark.parametrize(
    ("key", "pages"),
    [
        ("help/*/a.html", {"de": "help/de/a.html", "en": "help/en/a.html"}),
        ("guide-*/a.html", {"de": "guide-de/a.html", "en": "guide-en/a.html"}),
        ("doc-*/a.html", {"de": "doc-de/a.html", "en": "doc-en/a.html"}),  # `doc` and `api` are as long as a code
        ("api_*/a.html", {"de": "api_de/a.html", "en": "api_en/a.html"}),
        ("my-*.pdf", {"de": "my-de.pdf", "en": "my-en.pdf"}),
        ("*/a.html", {"de": "de_DE/a.html", "en": "en_GB/a.html", "zh": "zh-Hans/a.html"}),
        ("*/a.html", {"de": "de-at/a.html", "en": "en-us/a.html"}),
        ("*/a.html", {"de": "DE/a.html", "en": "EN/a.html"}),
        ("*/a.html", {"de": "Deutsch/a.html", "en": "English/a.html", "fr": "Français/a.html", "zh": "中文/a.html"}),
        ("*/a.html", {"de": "German/a.html", "fr": "francais/a.html"}),
        ("manual.*/a.html", {"de": "manual.de/a.html", "en": "manual.en/a.html"}),
        ("x.*.html", {"de": "x.de.html", "en": "x.en.html"}),
        ("v2/x1_*.md", {"de": "v2/x1_de.md", "en": "v2/x1_en.md"}),
        ("index.*.html", {"pt": "index.pt_BR.html", "fr": "index.fr.html"}),
        ("*/id.html", {"de": "de/id.html"}),  # `id` is a language, and not this page's
    ],
)
def test_paths_that_differ_by_the_name_of_a_language_are_one_page(key, pages):
    assert {pairing.make_page_key(path, lang) for lang, path in pages.items()} == {key}


def test_the_pages_of_a_manual_are_found_by_their_paths():
    pages = pairing.group_pages(make_manual())
    assert len(pages) == 60
    assert all(set(page.documents) == {"en", "de"} for page in pages)


def test_pages_that_name_their_translations_are_one_page():
    def page(id, lang, *links):
        return Document(id, "x", lang, "x", meta={"translations": list(links)} if links else {})

    home = "https://example.org/"
    documents = [
        page("startseite.html", "de", "welcome.html"),  # beside it
        page("welcome.html", "en"),
        page("a/drucken.html", "de", "https://example.org/print", "https://example.org/drucken"),
        page("b/imprimer.html", "fr", "https://example.org/print"),
        page("c/sonstiges.html", "de", home),  # the address of the site is named by two pages of a language
        page("c/autre.html", "fr", home),
        page("c/weiteres.html", "de", home),
    ]
    pages = [{document.id for document in page.documents.values()} for page in pairing.group_pages(documents)]
    assert sorted(map(sorted, pages)) == [["a/drucken.html", "b/imprimer.html"], ["startseite.html", "welcome.html"]]


def test_pages_in_many_languages_keep_links_in_common():
    def page(own):
        links = [
            f'<link rel="alternate" hreflang="x" href="https://example.org/{code}/print">'
            for code in codes
            if code != own
        ]
        head = f"<head>{''.join(links)}</head>"
        return parse_html(f'<html lang="{own}">{head}<body><p>Text</p></body></html>', id=f"{own}-page")

    codes = ["de", "en", "es", "fr", "it", "nl", "pl", "pt", "ru", "sv", "tr", "uk", "vi"]
    documents = [page(own) for own in codes]
    kept_links = [len(document.meta["translations"]) for document in documents]
    assert max(kept_links) < len(codes) - 1  # not all of them are kept
    [found] = pairing.group_pages(documents)
    assert set(found.documents) == set(codes)


def test_pages_that_no_path_and_no_link_joins_are_paired_if_they_find_each_other(tmp_path):
    names = {"en": ["honey and bees", "lava and ash", "snow in winter"]}
    names["de"] = ["Honig und Bienen", "Lava und Asche", "Schnee im Winter"]
    documents = [Document(f"{lang}{n}", title, lang, title) for lang in names for n, title in enumerate(names[lang])]
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index(documents)
        pages = learned.find_page_pairs(engine.state)
    assert [{lang: page.documents[lang].id for lang in names} for page in pages] == [
        {"en": f"en{n}", "de": f"de{n}"} for n in range(3)
    ]


def test_blocks_are_paired_by_words_and_order():
    left = ["The printer is broken.", "There is no paper.", "Water is wet in 1999.", "Call the police."]
    right = ["Der Drucker ist kaputt.", "Wasser ist 1999 nass.", "Rufen Sie die Polizei."]
    assert pairing._align_blocks(left, right, "en", "de", default.open()) == [(0, 0), (2, 1), (3, 2)]


def test_a_collection_learns_its_own_words(learned_collection, collection):
    _, output = learned_collection
    assert "60 pages in two languages" in output
    assert "kept: " in output
    with Collection.open(collection) as engine:
        assert engine.state.models["learned"].alternatives(make_word(3), "en", "de")[0].text == make_word(3)[::-1]
        assert engine.search(f"using the {make_word(7)}", lang="en", to=["de"]).results[0].id == "de/tool-7.html"
        terms = learned.list_learned_terms(engine.state, 500)
        assert (make_word(3), make_word(3)[::-1]) in {(t.word, t.meaning) for t in terms if t.lang == "en"}
        assert learned.remove_translation(engine.state, make_word(3), make_word(3)[::-1]) >= 2
        remaining = engine.state.models["learned"].alternatives(make_word(3), "en", "de")
        assert make_word(3)[::-1] not in [alternative.text for alternative in remaining]
        assert learned.copy_to_glossary(engine.state, terms[:5]) == 5


def test_a_number_before_a_title_is_not_asked_for(tmp_path):
    numbered = (d._replace(title=f"{d.id[8:-5]}. {d.title}", text=f"{d.id[8:-5]}\n{d.text}") for d in make_manual())
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index(numbered)
        gains = learned.learn_from_pages(engine.state).gains
    assert max(gain.before for gain in gains) < 0.3  # nobody knows the words, and everybody the numbers


def test_a_compound_of_learned_words_is_found_where_only_documents_have_it(collection):
    first, second = make_word(3), make_word(9)
    with Collection.open(collection) as engine:
        parts = f"Der {first[::-1]} und der {second[::-1]} sind hier."
        compound = f"Die {first[::-1]}{second[::-1]} ist neu."
        engine.index([Document("parts", parts, "de", "Teile"), Document("compound", compound, "de", "Ganzes")])
        ids = [hit.id for hit in engine.search(f"{first} {second}", lang="en", to=["de"]).results]
    assert {"parts", "compound"} <= set(ids)


def test_where_nothing_is_in_two_languages_nothing_is_learned(tmp_path):
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index(document for document in make_manual() if document.lang == "en")
        with pytest.raises(InputError, match="learning needs 10"):
            learned.learn_from_pages(engine.state)
        with pytest.raises(InputError, match="nothing has been learned"):
            learned.list_learned_terms(engine.state)


def test_a_folder_whose_pages_link_to_their_translations_is_noticed(tmp_path, capsys):
    for n in range(10):
        for lang, name, text in (("en", "tool", "You can open and print the picture here."),
                                 ("de", "werkzeug", "Hier kann man das Bild öffnen und drucken.")):  # fmt: skip
            links = (
                f'<link rel="alternate" hreflang="en" href="tool{n}.html"><link rel="alternate" hreflang="de" '
                f'href="werkzeug{n}.html"><link rel="alternate" hreflang="x-default" href="../index.html">'
            )
            head = f"<head><title>{name} {n}</title>{links}</head>"
            page = f'<html lang="{lang}">{head}<body><p>{text * 3}</p></body></html>'
            (tmp_path / "site").mkdir(exist_ok=True)
            (tmp_path / "site" / f"{name}{n}.html").write_text(page)
    app(["index", str(tmp_path / "site"), "--into", str(tmp_path / "c"), "--no-meaning"], standalone_mode=False)
    assert "10 pages in two languages" in capsys.readouterr().out
