"""Synonyms from WordNet's files: a small database in their format, and the real one where it is installed."""

from pathlib import Path

import pytest

from papers import wordnet
from papers.wordnet import WordNet
from paragloss.errors import InputError, LanguageError
from paragloss.types import Query, Translator


def make_synset(*words):
    return f"03 n {len(words):02x} {' '.join(f'{w} 0' for w in words)} 000 | a gloss  \n"


@pytest.fixture
def small_database(tmp_path):
    """car: (car, automobile), (car, railway_car); mouse: (mouse, Mus(ip)); glass: (glass, tumbler); glasses:
    (glasses, spectacles)."""
    offset, offsets, text = 0, [], ""
    words = (("car", "automobile"), ("car", "railway_car"), ("mouse", "Mus(ip)"), ("glass", "tumbler"),
             ("glasses", "spectacles"))  # fmt: skip
    for body in (make_synset(*words_of_synset) for words_of_synset in words):
        line = f"{offset:08d} {body}"
        offsets.append(f"{offset:08d}")
        text += line
        offset += len(line)
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / f"data.{part}").write_text(text if part == "noun" else "")
        (tmp_path / f"index.{part}").write_text("  1 a licence  \n")
        (tmp_path / f"{part}.exc").write_text("mice mouse\n" if part == "noun" else "")
    with (tmp_path / "index.noun").open("a") as out:
        out.write(f"car n 2 1 @ 2 1 {offsets[0]} {offsets[1]}  \n")
        out.write(f"mouse n 1 2 @ ~ 1 1 {offsets[2]}  \n")
        out.write(f"glass n 1 1 @ 1 1 {offsets[3]}  \n")
        out.write(f"glasses n 1 1 @ 1 1 {offsets[4]}  \n")
    return tmp_path


def test_inflected_words_are_found_by_rule_or_exception(small_database):
    wordnet = WordNet(small_database)
    assert wordnet.synonyms("Cars") == ["automobile"]
    assert wordnet.synonyms("mice") == ["Mus"]
    assert wordnet.synonyms("zebra") == []
    assert wordnet.synonyms("cart") == []  # no ending that stands for anything
    assert wordnet.synonyms("glasses") == ["spectacles"]  # an entry of its own before its ending is taken off


def test_a_query_is_its_words_and_five_synonyms_of_their_first_sense_that_share_three_tenths(small_database):
    synonyms = [f"big{i}" for i in range(8)]
    (small_database / "data.adj").write_text(f"{0:08d} {make_synset('large', *synonyms)}")
    (small_database / "index.adj").write_text(f"large a 1 1 @ 1 1 {0:08d}  \n")
    wordnet = WordNet(small_database)
    assert isinstance(wordnet, Translator)
    car, zebra, larger = wordnet.translate(Query("q", "cars zebra larger", "en"), "en")
    assert [a[:2] for a in car.alternatives] == [("cars", 1.0), ("automobile", pytest.approx(0.3))]
    assert [a[:2] for a in zebra.alternatives] == [("zebra", 1.0)]
    assert [a[:2] for a in larger.alternatives] == [
        ("larger", 1.0),
        *((word, pytest.approx(0.06)) for word in synonyms[:5]),
    ]


def test_other_languages_than_english_are_refused(small_database):
    with pytest.raises(LanguageError, match="can't take en->de"):
        WordNet(small_database).translate(Query("q", "car", "en"), "de")


def test_a_folder_without_the_files_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no WordNet database: .*index\.noun is missing"):
        WordNet(tmp_path)


def test_the_database_is_searched_where_the_environment_says(small_database, monkeypatch):
    monkeypatch.setattr(wordnet, "_FOLDERS", ())
    monkeypatch.setenv("WNSEARCHDIR", str(small_database))
    assert WordNet().path == small_database
    monkeypatch.setenv("WNSEARCHDIR", str(small_database / "nowhere"))
    with pytest.raises(InputError, match="no WordNet on this machine"):
        WordNet()


def test_an_ending_alone_is_no_word(small_database):
    with (small_database / "index.noun").open("a") as out:
        out.write(" \n".lstrip())
        out.write("y n 1 1 @ 1 1 00000000  \n")
    assert WordNet(small_database).synonyms("ies") == [], "nothing is before it"
    assert WordNet(small_database).synonyms("y") == ["car", "automobile"]


@pytest.mark.skipif(not Path("/usr/share/wordnet/index.noun").is_file(), reason="WordNet is not at /usr/share/wordnet")
def test_the_installed_database_works():
    wordnet = WordNet()
    assert {"auto", "automobile"} <= set(wordnet.synonyms("cars"))
    assert "United States of America" in wordnet.synonyms("United States")
    assert wordnet.synonyms("children") == wordnet.synonyms("child")
