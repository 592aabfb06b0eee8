"""The papers' own data, in the form it is published in, is measured by the same recipes; here little of it, made up."""

import bz2
import gzip
import random

import pytest
from test_wikilinks import sql
from test_wikipedia import dump, page

from paragloss.errors import InputError
from paragloss.lab.aligned_files import read_beside
from paragloss.lab.recipes import load, originals
from paragloss.lab.recipes.runner import parts

WORDS = ["water", "fire", "house", "river", "stone", "bread", "horse", "light", "night", "school", "road", "tree"]
HINDI = ["पानी", "आग", "घर", "नदी", "पत्थर", "रोटी", "घोड़ा", "प्रकाश", "रात", "विद्यालय", "सड़क", "पेड़"]


def said(words, numbers):
    return " ".join(words[n] for n in numbers)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """WMT14, FIRE and LS-CLIR of twelve words."""
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    chance = random.Random(0)
    texts = [[chance.randrange(12) for _ in range(6)] for _ in range(400)]
    for folder in ("wmt14", "fire/hi", "lsclir"):
        (tmp_path / folder).mkdir(parents=True)
    for lang, words in (("en", WORDS), ("hi", HINDI)):
        told = "".join(f"{said(words, text)} {n}\n" for n, text in enumerate(texts))
        (tmp_path / "wmt14" / f"corpus.{lang}").write_text(told, encoding="utf-8")
        topics = "".join(f"<top><num>{n}</num><title>{said(words, texts[n][:3])}</title></top>\n" for n in range(5))
        (tmp_path / "fire" / f"topics.{lang}").write_text(topics, encoding="utf-8")
    news = "".join(f"<DOC><DOCNO>n{n}</DOCNO><TEXT>{said(HINDI, texts[n])}</TEXT></DOC>\n" for n in range(30))
    (tmp_path / "fire" / "hi" / "news.xml").write_text(news, encoding="utf-8")
    (tmp_path / "fire" / "qrels").write_text("".join(f"{n} 0 n{n} 1\n" for n in range(5)))
    rows = {"wiki_en.queries": WORDS, "wiki_fr.documents": HINDI}
    for name, words in rows.items():
        told = "".join(f"{n}\t{words[text[0]]}\t{said(words, text)}\n" for n, text in enumerate(texts[:120]))
        (tmp_path / "lsclir" / name).write_text(told, encoding="utf-8")
    (tmp_path / "lsclir" / "en2fr.rel").write_text("".join(f"{n}\t{n}\t2\n{n}\t{n - 1}\t1\n" for n in range(1, 120)))
    return tmp_path


def test_what_is_here_is_a_part_of_its_recipe(place):
    assert "wmt14 en-hi" in parts(load("xcnn-table-1"), False)
    assert "fire hi" in parts(load("xcnn-table-2"), False)
    assert "fire en-hi" in parts(load("xcnn-table-3"), False)
    assert "lsclir en-fr" in parts(load("smooth-table-2"), False)
    assert not any("europarl" in part for part in parts(load("cr5-table-3"), False))
    assert not any("dinu" in part for part in parts(load("cr5-table-4"), False))


@pytest.mark.slow
def test_sentences_beside_each_other_are_learned_from_and_found(place):
    whole = originals.sentences("wmt14", "hi")
    assert len(whole.train) + len(whole.test) == 400
    assert all(set(c.texts) == {"en", "hi"} for c in whole.test)
    rows = load("xcnn-table-1").measure("wmt14 en-hi", 0, smoke=True)
    assert {"CL-LSI", "XCNN", "MT"} <= set(rows)
    assert sum(rows["MT"]["RR"]) / len(rows["MT"]["RR"]) > 0.5, "numbers and words tell the sentences apart"


@pytest.mark.slow
def test_topics_find_news_in_their_own_and_in_another_language(place):
    within = load("xcnn-table-2").measure("fire hi", 0, smoke=True)
    assert len(within["BM25"]["nDCG@10"]) == 5
    assert sum(within["BM25, all words"]["nDCG@10"]) > 1
    assert {"MT", "XCNN"} <= set(load("xcnn-table-3").measure("fire en-hi", 0, smoke=True))


def test_graded_links_are_those_of_the_collection(place):
    judged = originals.judged("fr", 1000)
    assert judged.qrels["5"] == {"5": 2, "4": 1}
    assert set(load("smooth-table-2").measure("lsclir en-fr", 0, smoke=True)) == {"SOSL", "3-part", "MSE", "PO_S"}


def test_wikipedia_s_dumps_are_read_as_they_are_published(tmp_path, monkeypatch):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    assert not any("wikipedia" in part for part in parts(load("smooth-table-2"), False))
    place = tmp_path / "wikipedia"
    place.mkdir()
    names = [f"{WORDS[n % 12]} {n}" for n in range(60)]
    for lang, words in (("en", WORDS), ("da", HINDI)):
        told = [
            page(n + 1, f"{words[n % 12]} {n}", f"{said(words, ((n + 5) % 12, (n + 7) % 12))} {n}.") for n in range(60)
        ]
        (place / f"{lang}wiki-20260101-pages-articles.xml.bz2").write_bytes(bz2.compress(dump(*told)))
    tables = {
        "langlinks": ",".join(f"({n + 1},'en','{name}')" for n, name in enumerate(names)),
        "linktarget": ",".join(f"({n + 1},0,'{HINDI[n % 12]}_{n}')" for n in range(60)),
        "pagelinks": ",".join(f"({n},0,{n + 1}),({n + 1},0,{n})" for n in range(1, 60)),
    }
    for name, rows in tables.items():
        (place / f"dawiki-20260101-{name}.sql.gz").write_bytes(gzip.compress(sql(name, rows)))
    judged = originals.encyclopedia("da", 1000)
    assert len(judged.queries) == 60
    assert judged.qrels["house 2"] == {"house 2": 2, "fire 1": 1, "river 3": 1}
    some = originals.encyclopedia("da", 10)
    assert len(some.queries) == 10
    assert 10 < len(some.documents) <= 30, "pages that are linked with those that ask are there too"
    assert "wikipedia en-da" in parts(load("smooth-table-2"), False)
    assert "SOSL" in load("smooth-table-2").measure("wikipedia en-da", 0, smoke=True)


def test_word_pairs_to_be_found(place):
    (place / "dinu").mkdir()
    (place / "dinu" / "OPUS_en_it_europarl_test.txt").write_text("water acqua\nhouse casa\n", encoding="utf-8")
    assert [(entry.source, entry.target) for entry in originals.dinu()] == [("water", "acqua"), ("house", "casa")]
    assert "dinu en-it" in parts(load("cr5-table-4"), False)


def test_files_that_do_not_lie_beside_each_other(tmp_path):
    (tmp_path / "a.en").write_text("one\n\ntwo\nthree\n")
    (tmp_path / "a.it").write_text("uno\n\ndue\n")
    with pytest.raises(InputError, match="have not as many lines"):
        list(read_beside(tmp_path / "a.en", tmp_path / "a.it"))
    (tmp_path / "a.it").write_text("uno\nzero\ndue\n\n")
    assert list(read_beside(tmp_path / "a.en", tmp_path / "a.it")) == [("one", "uno"), ("two", "due")]
