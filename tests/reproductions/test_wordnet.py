"""Synonyms from WordNet's files: a small database in their format, and the real one where it is installed."""

from pathlib import Path

import pytest

from papers import wordnet
from papers.wordnet import WordNet
from paragloss.errors import InputError, LanguageError
from paragloss.types import Query, Translator


def synset(*words):
    return f"03 n {len(words):02x} {' '.join(f'{w} 0' for w in words)} 000 | a gloss  \n"


@pytest.fixture
def small(tmp_path):
    """car: (car, automobile), (car, railway_car); mouse: (mouse, Mus(ip)); glass: (glass, tumbler); glasses:
    (glasses, spectacles)."""
    place, offsets, text = 0, [], ""
    words = (("car", "automobile"), ("car", "railway_car"), ("mouse", "Mus(ip)"), ("glass", "tumbler"),
             ("glasses", "spectacles"))  # fmt: skip
    for body in (synset(*some) for some in words):
        line = f"{place:08d} {body}"
        offsets.append(f"{place:08d}")
        text += line
        place += len(line)
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


def test_the_most_frequent_sense_comes_first(small):
    assert WordNet(small).synonyms("car") == ["automobile"]
    assert WordNet(small, senses=2).synonyms("car") == ["automobile", "railway car"]
    assert WordNet(small, senses=5, max_synonyms=1).synonyms("car") == ["automobile"]


def test_inflected_words_are_found_by_rule_or_exception(small):
    wordnet = WordNet(small)
    assert wordnet.synonyms("Cars") == ["automobile"]
    assert wordnet.synonyms("mice") == ["Mus"]
    assert wordnet.synonyms("zebra") == []
    assert wordnet.synonyms("cart") == []  # no ending that stands for anything
    assert wordnet.synonyms("glasses") == ["spectacles"]  # an entry of its own before its ending is taken off


def test_a_query_is_its_words_and_their_synonyms(small):
    wordnet = WordNet(small, senses=2, weight=0.4)
    assert isinstance(wordnet, Translator)
    car, zebra = wordnet.translate(Query("q", "cars zebra", "en"), "en")
    assert [a[:2] for a in car.alternatives] == [("cars", 1.0), ("automobile", 0.2), ("railway car", 0.2)]
    assert [a[:2] for a in zebra.alternatives] == [("zebra", 1.0)]


def test_it_speaks_english_only(small):
    with pytest.raises(LanguageError, match="can't take en->de"):
        WordNet(small).translate(Query("q", "car", "en"), "de")


def test_a_folder_without_the_files_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no WordNet database: .*index\.noun is missing"):
        WordNet(tmp_path)


def test_it_is_looked_for_where_the_environment_says(small, monkeypatch):
    monkeypatch.setattr(wordnet, "_FOLDERS", ())
    monkeypatch.setenv("WNSEARCHDIR", str(small))
    assert WordNet().path == small
    monkeypatch.setenv("WNSEARCHDIR", str(small / "nowhere"))
    with pytest.raises(InputError, match="no WordNet on this machine"):
        WordNet()


def test_five_synonyms_of_the_first_sense_share_three_tenths_unless_told(small):
    many = [f"big{i}" for i in range(8)]
    line = synset("large", *many)
    (small / "data.adj").write_text(f"{0:08d} {line}")
    (small / "index.adj").write_text(f"large a 1 1 @ 1 1 {0:08d}  \n")
    (found,) = WordNet(small).translate(Query("q", "larger", "en"), "en")
    assert found.alternatives[0][:2] == ("larger", 1.0)
    assert [(a.text, a.weight) for a in found.alternatives[1:]] == [(word, pytest.approx(0.06)) for word in many[:5]]
    assert WordNet(small, max_synonyms=9).synonyms("largest") == many


def test_an_ending_alone_is_no_word(small):
    with (small / "index.noun").open("a") as out:
        out.write(" \n".lstrip())
        out.write("y n 1 1 @ 1 1 00000000  \n")
    assert WordNet(small).synonyms("ies") == [], "nothing is before it"
    assert WordNet(small).synonyms("y") == ["car", "automobile"]


@pytest.mark.skipif(not Path("/usr/share/wordnet/index.noun").is_file(), reason="WordNet is not at /usr/share/wordnet")
def test_the_real_one():
    wordnet = WordNet(senses=3)
    assert {"auto", "automobile"} <= set(wordnet.synonyms("cars"))
    assert "United States of America" in wordnet.synonyms("United States")
    assert wordnet.synonyms("children") == wordnet.synonyms("child")
