import bz2
import gzip
import tracemalloc

import pytest

from paragloss.errors import InputError
from paragloss.formats.documents import read_documents
from paragloss.formats.wikipedia import read_wikipedia_dump
from paragloss.formats.wikitext import wikitext_to_text
from paragloss.formats.xml import read_elements
from paragloss.types import Document


def make_page(number, title, text, ns=0, redirect=""):
    moved = f'<redirect title="{redirect}" />' if redirect else ""
    return (
        f"<page><title>{title}</title><ns>{ns}</ns><id>{number}</id>{moved}<revision><id>99</id>"
        f'<text bytes="1" xml:space="preserve">{text}</text></revision></page>\n'
    )


def make_dump(*pages):
    head = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="da"><siteinfo><x/></siteinfo>\n'
    return (head + "".join(pages) + "</mediawiki>").encode()


RAIN = make_page(12, "Regn", "'''Regn''' er [[vand]] &amp;amp; mere.&lt;ref&gt;Note&lt;/ref&gt;")
PAGES = make_dump(
    RAIN, make_page(13, "Nedbør", "#REDIRECT [[Regn]]", redirect="Regn"), make_page(14, "Diskussion:Regn", "snak", ns=1)
)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_articles_of_the_main_namespace_in_the_language_of_the_file_s_name(write, tmp_path, pack):
    write("dawiki-20260101-pages-articles.xml", pack(PAGES))
    assert list(read_documents(tmp_path)) == [Document("12.da", "Regn er vand & mere.", "da", "Regn")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (PAGES[:-30], ":4: not XML .*cut off"),
        (gzip.compress(PAGES)[:-9], "cut off"),
        (make_dump("<page><title>x</title></page>"), "page:1: <page> without <id> or <title>"),
        (b'<!DOCTYPE m [<!ENTITY a "b">]><mediawiki/>', "declares an entity"),
        (make_dump("<page>" + "<a>" * 200), "nested more than 100 deep"),
    ],
    ids=["cut off", "packed and cut off", "no id", "entity", "deep"],
)
def test_bad_dumps(write, data, message):
    with pytest.raises(InputError, match=message) as caught:
        list(read_wikipedia_dump(write("x.xml", data)))
    assert "\n" not in str(caught.value)


def test_a_large_dump_is_streamed(tmp_path):
    path = tmp_path / "big.xml.gz"
    body = make_page(1, "T", "word " * 20_000).encode()  # 100 kB a page, 70 MB in all, more than one page may have
    with gzip.open(path, "wb", compresslevel=1) as out:
        out.write(b"<mediawiki>")
        for _ in range(700):
            out.write(body)
        out.write(b"</mediawiki>")
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_elements(path, ("page",))) == 700
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    finally:
        tracemalloc.stop()


def test_an_endless_page_is_refused(write):
    path = write("x.xml", make_dump(make_page(1, "T", "x" * 2**26)))
    with pytest.raises(InputError, match="one element is larger than 67,108,864 characters"):
        list(read_elements(path, ("page",)))


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("'''Bold''' and ''italic''", "Bold and italic"),
        ("[[Rain]] [[Rain|wet weather]] [[Rain|]]s", "Rain wet weather s"),
        ("[[File:a.jpg|thumb|A [[cat]] here]]Text[[Category:X]] [[fr:Pluie]]", "Text"),
        ("[[:Category:X]]", "Category:X"),
        ("[[2001: A Space Odyssey]]", "2001: A Space Odyssey"),
        ("[[Alien: Covenant|film]]", "film"),
        ("a{{Infobox|x={{nested|y}}|z}}b", "ab"),
        ("before\n{| class=w\n|-\n| cell {{t}}\n{|\n| inner\n|}\n|}\nafter", "before\nafter"),
        ("x<ref name=a>note [[x]]</ref>y<ref name=a />z<ref>open\nnext", "xyz\nnext"),
        ("<!-- hidden -->shown<!-- open", "shown"),
        ("see [http://x.org the site] and [https://x.org]", "see the site and"),
        ("== Head ==\n* one\n** two\n# three\n:indented", "Head\none\ntwo\nthree\nindented"),
        ("a<br/>b <small>c</small> &lt;d&gt; e&nbsp;f", "a b c <d> e f"),
        ("__NOTOC__text <math>x^2</math>", "text"),
        ("}} stray ]] and {{open text", "stray and open text"),
        ("5 < 6 and 7 > 6", "5 < 6 and 7 > 6"),
        ("", ""),
    ],
)
def test_wikitext(markup, text):
    assert wikitext_to_text(markup) == text


@pytest.mark.parametrize("piece", ["{{", "[[", "<ref>", "<!--", "[http://", "== ", "'''", "{|\n", "<a "])
def test_open_markup_costs_one_pass(piece):
    assert isinstance(wikitext_to_text(piece * 200_000), str)
