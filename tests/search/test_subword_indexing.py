"""What a document holds inside its words, as it is indexed: names by sound, in other scripts as they are written."""

from paragloss.analysis import analyzer
from paragloss.index import terms
from paragloss.types import Document


def spy_subword_request(document, monkeypatch):
    """How many terms are looked into, in which language, and how they are written where that counts."""
    requests = []
    monkeypatch.setattr(
        terms, "list_subword_terms", lambda terms, *arguments: requests.append((len(terms), *arguments)) or ["held"]
    )
    terms_by_field = {field: analyzer(document.lang).terms(getattr(document, field)) for field in ("title", "text")}
    tokenized = analyzer(document.lang).tokenize(document.text)
    assert terms._list_subwords(document, terms_by_field, tokenized, analyzer) == ["held"]
    return requests[0]


def test_names_in_another_script_are_indexed_by_sound_as_they_are_written(monkeypatch):
    document = Document("1", "битва под Сталинградом", "ru", "Москвы")
    count, lang, written = spy_subword_request(document, monkeypatch)
    assert (count, lang, written) == (len(written), "ru", ["Москвы", "битва", "Сталинградом"])


def test_names_in_latin_letters_are_indexed_by_their_stems(monkeypatch):
    assert spy_subword_request(Document("1", "Wien und Berlin", "de", "Städte"), monkeypatch) == (3, "de")
