"""From the dumps of two small Wikipedias to graded judgments, as Sasaki et al. and Liu et al. built theirs."""

import bz2
import gzip

import pytest
from test_wikipedia import make_dump, make_page

from papers.wikilinks import concept_links, read_article_texts, read_langlinks, read_pagelinks, read_table
from paragloss.errors import InputError
from paragloss.formats.rows import group_by_concept
from paragloss.lab import judgments

HEAD = "-- MySQL dump 10.19\nDROP TABLE IF EXISTS `{0}`;\nCREATE TABLE `{0}` (\n  `a` int\n);\n"


def make_sql(table, *inserts):
    return (HEAD.format(table) + "".join(f"INSERT INTO `{table}` VALUES {rows};\n" for rows in inserts)).encode()


@pytest.fixture
def wikipedias(tmp_path):
    """English: Rain, Cloud, Sun. Danish: the same and one of its own; Regn and Sky link to each other."""
    (tmp_path / "enwiki-x.xml.bz2").write_bytes(
        bz2.compress(
            make_dump(
                make_page(1, "Rain", "Rain is water that falls from a cloud."),
                make_page(2, "Cloud", "A cloud is water in the air."),
                make_page(3, "Sun", "The sun is a star."),
            )
        )
    )
    (tmp_path / "dawiki-x.xml.bz2").write_bytes(
        bz2.compress(
            make_dump(
                make_page(11, "Regn", "Regn er vand fra en sky."),
                make_page(12, "Sky", "En sky er vand i luften."),
                make_page(13, "Sol's lys", "Solen er en stjerne."),
                make_page(14, "Hygge", "Det findes kun her."),
            )
        )
    )
    links = make_sql("langlinks", r"(11,'en','Rain'),(11,'fr','Pluie'),(12,'en','Cloud')", r"(13,'en','Sun')")
    (tmp_path / "dawiki-langlinks.sql.gz").write_bytes(gzip.compress(links))
    targets = make_sql("linktarget", r"(1,0,'Regn'),(2,0,'Sky'),(3,0,'Sol\'s_lys'),(4,10,'Skabelon'),(5,0,'Hygge')")
    (tmp_path / "dawiki-linktarget.sql.gz").write_bytes(gzip.compress(targets))
    linked = make_sql("pagelinks", "(11,0,2),(12,0,1),(13,0,1),(11,0,4),(11,0,5),(14,0,1)")
    (tmp_path / "dawiki-pagelinks.sql.gz").write_bytes(gzip.compress(linked))
    return tmp_path


def test_languages_are_joined_by_language_links(wikipedias):
    english = read_article_texts(wikipedias / "enwiki-x.xml.bz2")
    danish = read_article_texts(wikipedias / "dawiki-x.xml.bz2", wikipedias / "dawiki-langlinks.sql.gz")
    concepts = group_by_concept([*english, *danish])
    assert {c.id: sorted(c.texts) for c in concepts} == {
        "Rain": ["da", "en"],
        "Cloud": ["da", "en"],
        "Sun": ["da", "en"],
    }
    assert concepts[2].titles == {"en": "Sun", "da": "Sol's lys"}


def test_pages_that_link_to_each_other_are_partly_relevant(wikipedias):
    danish = (wikipedias / "dawiki-x.xml.bz2", wikipedias / "dawiki-langlinks.sql.gz")
    pairs = concept_links(
        danish[0], wikipedias / "dawiki-pagelinks.sql.gz", danish[1], linktarget=wikipedias / "dawiki-linktarget.sql.gz"
    )
    links = judgments.find_mutual_links(pairs)
    assert links == {"Rain": {"Cloud"}, "Cloud": {"Rain"}}, "the sun's link to rain is not returned"
    concepts = group_by_concept([*read_article_texts(wikipedias / "enwiki-x.xml.bz2"), *read_article_texts(*danish)])
    judged = judgments.from_aligned(concepts, source="en", target="da", links=links)
    assert judged.qrels == {"Rain": {"Cloud": 1, "Rain": 2}, "Cloud": {"Rain": 1, "Cloud": 2}, "Sun": {"Sun": 2}}


def test_dumps_from_before_2024_name_the_title(tmp_path):
    path = tmp_path / "pagelinks.sql"
    path.write_bytes(make_sql("pagelinks", "(11,0,'Sky_over_byen',0),(11,10,'Skabelon',0),(12,0,'Regn',4)"))
    assert list(read_pagelinks(path)) == [(11, "Sky over byen")]


def test_quotes_and_escapes(tmp_path):
    path = tmp_path / "langlinks.sql"
    path.write_bytes(make_sql("langlinks", r"(1,'en','It\'s (a), \"b\"; c\\d'),(2,'fr','L''eau')"))
    assert list(read_langlinks(path)) == [(1, "en", 'It\'s (a), "b"; c\\d'), (2, "fr", "L'eau")]


def test_a_damaged_dump_is_an_error(tmp_path):
    path = tmp_path / "x.sql"
    path.write_bytes(make_sql("langlinks", "(1,'en','cut o")[:-3])
    with pytest.raises(InputError, match="not a row of values at column"):
        list(read_langlinks(path))
    path.write_bytes(make_sql("page", "(1,0,'A')"))
    with pytest.raises(InputError, match="a dump of page, expected one of langlinks"):
        list(read_table(path, "langlinks"))
    path.write_bytes(make_sql("pagelinks", "(11,0,2)"))
    with pytest.raises(InputError, match="give the linktarget dump"):
        list(read_pagelinks(path))
