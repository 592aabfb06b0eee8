"""What a document holds inside its words, as it is indexed: names by sound, in other scripts as they are written."""

from paragloss.analysis import analyzer
from paragloss.index import terms
from paragloss.types import Document


def held(document, monkeypatch):
    """How many terms are looked into, in which language, and how they are written where that counts."""
    seen = []
    monkeypatch.setattr(terms, "list_subword_terms", lambda terms, *said: seen.append((len(terms), *said)) or ["held"])
    found = {field: analyzer(document.lang).terms(getattr(document, field)) for field in ("title", "text")}
    cut = analyzer(document.lang).tokenize(document.text)
    assert terms._list_subwords(document, found, cut, analyzer) == ["held"]
    return seen[0]


def test_names_in_another_script_are_heard_as_they_are_written(monkeypatch):
    document = Document("1", "битва под Сталинградом", "ru", "Москвы")
    count, lang, written = held(document, monkeypatch)
    assert (count, lang, written) == (len(written), "ru", ["Москвы", "битва", "Сталинградом"])


def test_names_in_latin_letters_are_their_stems(monkeypatch):
    assert held(Document("1", "Wien und Berlin", "de", "Städte"), monkeypatch) == (3, "de")
