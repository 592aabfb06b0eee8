"""What the recipes of Liu's thesis make of pages, logs and translations."""

import gzip
import json

from paragloss.lab.recipes import page_fields, sets
from paragloss.lab.recipes.tables.thesis_table_6_9 import with_first_words
from paragloss.lab.recipes.tables.thesis_table_6_12 import category
from paragloss.types import Concept, Document, Judged, Query


def test_headings_and_strong_words_of_a_page_are_not_those_of_its_code():
    page = "# Mapas\nUn **mapa** grande.\n```sh\n# no heading **nor strong**\n```\n## Uso\nTexto **muy\nlargo**.\n"
    assert page_fields.marks(page) == {"heading": "Mapas Uso", "strong": "mapa"}
    assert page_fields.marks("nada") == {}


def test_what_was_opened_for_a_description_was_opened_for_its_first_word():
    queries = [Query("a", "Spiel, schnell", "de"), Query("b", "Spiel mit Karten", "de"), Query("c", "Brett", "de")]
    documents = {name: Document(name, "", "de") for name in "xyz"}
    judged = Judged(queries, documents, {"a": {"x": 2, "y": 0}, "b": {"y": 1}, "c": {"z": 3}})
    made = with_first_words(judged)
    assert [query.text for query in made.queries[3:]] == ["Spiel", "Brett"]
    assert made.qrels["word Spiel"] == {"x": 2, "y": 1}, "the better grade counts"
    assert made.qrels["word Brett"] == {"z": 3}


def test_a_translation_is_as_good_as_the_share_of_words_it_has():
    said = "A fast game of cards"
    assert category("Ein schnelles Kartenspiel", "fast card games", said) == "Good"
    assert category("Ein schnelles Kartenspiel", "fast cards thing", said) == "Imperfect"
    assert category("Ein schnelles Kartenspiel", "quick card thing", said) == "Bad"
    assert category("Ein schnelles Kartenspiel", "quick thing", said) == "Not correct"
    assert category("Tetris", "Tetris", "The block puzzle") == "Untranslatable"


def test_headings_of_a_spanish_page_are_read_where_its_markdown_is(monkeypatch, tmp_path):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    place = tmp_path / "translated-content" / "files" / "es" / "web" / "map"
    place.mkdir(parents=True)
    (place / "index.md").write_text("## Mapas\n\nUn **mapa**.", encoding="utf-8")
    page = Concept("web/map", {"en": "A map.", "es": "Un mapa."}, {"en": "Maps", "es": "Mapas"})
    url = {"url": "web map"}
    english = Document("en:web/map", "A map.", "en", "Maps", url)
    marked = {**url, "heading": "Mapas", "strong": "mapa"}
    for asked, told in ((True, marked), (False, url)):
        assert list(page_fields._documents(page, asked)) == [
            Document("web/map", "Un mapa.", "es", "Mapas", told),
            english,
        ]


def test_the_beginning_of_each_file_can_be_read_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    (tmp_path / "set").mkdir()
    for lang in ("en", "es"):
        with gzip.open(tmp_path / "set" / f"{lang}.jsonl.gz", "wt") as file:
            file.writelines(
                json.dumps({"concept": f"c{i}", "lang": lang, "text": f"{lang} {i}"}) + "\n" for i in range(9)
            )
    for lines, count in ((4, 4), (None, 9)):
        parts = sets.split("set", ["en", "es"], lines=lines)
        assert sorted(c.id for part in parts for c in part) == [f"c{i}" for i in range(count)]
