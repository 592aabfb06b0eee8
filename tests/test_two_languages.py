"""Documents in two languages, as half-translated manuals have them: found by their words in each."""

import pytest

from paragloss.analysis.blocks import find_foreign_blocks as places
from paragloss.collection import Collection
from paragloss.collection.document_languages import assign_languages
from paragloss.types import Document, Query

GERMAN = "Mit diesem Befehl können Sie das Bild zuschneiden, wenn es nicht auf die Seite passt, die Sie drucken."
ENGLISH = "With this command you can flip the picture, if it does not fit onto the page that you are going to print."
TITLES = ["Bild zuschneiden", "Ebene verschieben", "Seite drucken", "Farben abgleichen", "Auswahl schärfen"]


def make_manual(number=30):
    """Pages in German, every third with an English block; and one in English."""
    for i in range(number):
        title = f"{TITLES[i % 5]} und Werkzeuge öffnen"
        text = f"{GERMAN}\n{ENGLISH}\n{GERMAN}" if i % 3 == 0 else GERMAN
        yield Document(f"{i:02}", f"{text} ({i})", "", title, {"headings": title})
    yield Document("english", f"{ENGLISH} Undo it.", "", "How to flip a picture", {"headings": "How to flip a picture"})


def foreign_texts(text, lang):
    return {other: "\n".join(text[a:b] for a, b in blocks) for other, blocks in places(text, lang).items()}


def test_blocks_in_another_language():
    assert foreign_texts(GERMAN, "de") == foreign_texts(ENGLISH, "en") == {}
    assert foreign_texts(f"{GERMAN}\n{ENGLISH}\n{GERMAN}", "de") == {"en": ENGLISH}
    assert foreign_texts(f"{GERMAN}\n{ENGLISH}", "en") == {"de": GERMAN}
    japanese = "このコマンドは画像を反転します。印刷するページに収まらないときに使います。"
    assert foreign_texts(f"{ENGLISH}\n{japanese}\n", "en") == {"ja": japanese}
    assert foreign_texts(f"{japanese}\n{ENGLISH}", "ja") == {"en": ENGLISH}
    assert foreign_texts(f"{GERMAN}\nFattal et al. 2002, Fattal et al. 2002, of the font 3D", "de") == {}  # too little


def test_a_page_is_in_the_language_of_its_body_whatever_its_title():
    assert [document.lang for document in assign_languages(list(make_manual()))] == ["de"] * 30 + ["en"]
    assert assign_languages([Document("a", f"{ENGLISH} {ENGLISH}", "", TITLES[0])])[0].lang == "en"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    with Collection.create(str(tmp_path_factory.mktemp("manual") / "c")) as engine:
        engine.index(make_manual())
        engine.index(
            [Document("both", f"{GERMAN}\nSaddle the horses before you ride out with them in the morning.", "de")]
        )
        yield engine


QUERIES = [("saddled horse", "en"), ("cheval", "fr"), ("zuschneiden morning", "de")]


@pytest.mark.parametrize(("text", "lang"), QUERIES)
def test_a_document_is_found_by_its_words_in_each_language(pages, text, lang):
    assert pages.langs == ("de", "en")
    assert pages.info()["languages beside"] == {"en": 11}
    for to in (None, ["de"]):
        (ranking,) = pages.rank([Query("q", text, lang)], k=5, to=to)
        assert ranking[0].id == "both", (to, ranking)


@pytest.mark.parametrize("pipeline", ["default", "default:synonyms"])
@pytest.mark.parametrize(("text", "lang"), QUERIES)
def test_a_pipeline_finds_a_document_by_its_words_in_each_language(pages, text, lang, pipeline):
    (ranking,) = pages.rank([Query("q", text, lang)], k=5, pipeline=pipeline)
    assert ranking[0].id == "both"


def test_what_holds_two_languages_is_shown_and_accounted_for_once(pages):
    answer = pages.search("saddled horses", lang="en")
    assert [result.id for result in answer.results].count("both") == 1
    assert "horses" in answer.results[0].snippet
    first = answer.results[0]
    marked = {first.snippet[start:end].lower() for start, end in first.marks}
    assert {"saddle", "horses"} <= marked


def test_its_terms_are_counted_out_again(tmp_path):
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index(make_manual())
        assert engine.info()["languages beside"] == {"en": 10}
        engine.delete([f"{i:02}" for i in range(0, 27, 3)])
        assert engine.info()["languages beside"] == {"en": 1}
        engine.delete(["27"])
        assert engine.info()["languages beside"] == {}


def test_a_word_that_no_document_has_finds_nothing_among_documents_in_two_languages(tmp_path):
    with Collection.create(str(tmp_path / "c"), meaning=False) as engine:
        engine.index(list(make_manual()))
        assert engine.state.index.statistics.secondary_languages
        assert engine.search("Barcelona", to=["de", "ja"]).results == []
        assert engine.search("Barcelona", lang="en").results == []


def test_what_is_said_in_a_language_is_asked_for_once(tmp_path, monkeypatch):
    """Words of a language that some documents hold beside their own used to be asked for with those of every other:
    most of the work, and documents of that language took the place of the others among the candidates."""
    with Collection.create(str(tmp_path / "c"), meaning=False) as collection:
        bilingual = Document("both", f"{GERMAN}\n{ENGLISH}\n{GERMAN}", "de")
        collection.index([bilingual, Document("de", GERMAN, "de"), Document("en", ENGLISH, "en")])
        assert list(collection.state.index.statistics.secondary_languages) == ["en"]
        requests, search_and_read = [], collection.state.store.search_and_read
        monkeypatch.setattr(
            collection.state.store, "search_and_read", lambda *a, **b: requests.append(a[1]) or search_and_read(*a, **b)
        )
        (ranking,) = collection.rank([Query("q", "flip the picture", "en")], k=10)
        assert {hit.id for hit in ranking} == {"both", "de", "en"}
        terms = [id for vectors in requests for vector in vectors for id in vector.indices.tolist()]
        assert len(terms) == len(set(terms)) > 0


def test_a_document_that_holds_two_of_the_languages_asked_for_is_found_once(tmp_path):
    french = "Avec cette commande vous pouvez retourner une image, si elle ne tient pas dans la page que vous imprimez."
    with Collection.create(str(tmp_path / "c"), meaning=False) as collection:
        three = Document("three", f"{GERMAN}\n{ENGLISH}\n{french}\n{GERMAN}", "de")
        collection.index([three, Document("en", ENGLISH, "en"), Document("fr", french, "fr")])
        assert sorted(collection.state.index.statistics.secondary_languages) == ["en", "fr"]
        query = Query("q", "page picture", "en")
        for pipeline in (None, "default"):
            (ranking,) = collection.rank([query], k=10, pipeline=pipeline)
            assert sorted(hit.id for hit in ranking) == ["en", "fr", "three"]
        # The default search restricts documents by their own language, and finds them by words of any.
        assert [hit.id for hit in collection.rank([query], k=10, to=["de"])[0]] == ["three"]
        assert sorted(hit.id for hit in collection.rank([query], k=10, to=["en", "fr"])[0]) == ["en", "fr"]
