"""A document is cut once: what is shown from the places kept with it is what is shown from its text."""

import pytest

from paragloss import demo
from paragloss.analysis import tokenization
from paragloss.collection import Collection
from paragloss.types import Document, Query, Record

GERMAN = "Mit diesem Befehl können Sie das Bild zuschneiden, wenn es nicht auf die Seite passt, die Sie drucken."
ENGLISH = "With this command you can flip the picture, if it does not fit onto the page that you are going to print."
LONG = "\n".join(f"Absatz {number}: {GERMAN}" for number in range(700))  # longer than anybody looks
MORE = [
    Document("two", f"{GERMAN}\n\n  {ENGLISH}\n{GERMAN}", "de", "Bild zuschneiden"),
    Document("long", f"{LONG} Der Wasserfall.", "de", "Lang"),
    Document("title", "", "de", "Wasser"),
    Document("traditional", "請用這個指令裁剪圖片。圖片很大。", "zh"),
]
ASKED = ["water", "the picture does not fit the page", "cut the image", "bread and honey"]


@pytest.fixture(scope="module")
def documents():
    return [*demo.documents(), *MORE]


@pytest.fixture(scope="module")
def library(tmp_path_factory, documents):
    place = str(tmp_path_factory.mktemp("tokenization") / "library")
    with Collection.create(place, meaning=False) as engine:
        engine.index(documents)
        yield engine


@pytest.fixture
def forgetful(library, monkeypatch):
    """The same collection as one that was made before places were kept."""
    get = library.state.store.get
    without = lambda *args, **how: [record and record._replace(packed_tokens=b"") for record in get(*args, **how)]  # noqa: E731
    monkeypatch.setattr(library.state.store, "get", without)
    return library


def shown(engine):
    return [
        (answer.as_json(), [answer.why(found.id) for found in answer.results])
        for answer in (engine.search(text, lang="en") for text in ASKED)
    ]


def test_the_same_is_shown_from_kept_places_as_from_the_text(library, request):
    kept = shown(library)
    assert sum(len(reasons) for _, reasons in kept) > 20
    assert kept == shown(request.getfixturevalue("forgetful"))


def test_showing_what_was_found_cuts_no_document_again(library, monkeypatch):
    cut = tokenization.tokenize_by_language
    monkeypatch.setattr(
        tokenization, "tokenize_by_language", lambda text, lang: pytest.fail("cut again") if text else cut(text, lang)
    )
    for text in ASKED:
        for found in library.search(text, lang="en").results:
            library.why(Query("", text, "en"), found.id)
            library.piece(library.get([found.id])[0], text, lang="en")


def test_what_is_kept_is_what_was_cut(documents):
    for document in documents:
        each = tokenization.truncate_texts(tokenization.tokenize_by_language(document.text, document.lang))
        again = tokenization.unpack_texts(tokenization.pack_texts(each), document.text)
        assert [(c.lang, c.terms, c.spell_words(), c.token_terms(), c.starts.tolist()) for c in again] == [
            (c.lang, c.terms, c.spell_words(), c.token_terms(), c.starts.tolist()) for c in each
        ]


def test_only_the_beginning_of_a_long_text_is_kept(documents):
    (long,) = tokenization.read_tokenized_texts(Record(next(d for d in documents if d.id == "long")))
    assert tokenization.MAX_TOKENIZED_CHARACTERS - 20 < long.starts[-1] < tokenization.MAX_TOKENIZED_CHARACTERS


def test_another_language_is_cut_by_itself_where_it_stands():
    text = MORE[0].text
    own, english = tokenization.tokenize_by_language(text, "de")
    assert (own.lang, english.lang) == ("de", "en")
    (start,), (end,), _ = english.select_weighted({"flip": 1.0}).offsets()
    assert text[start:end] == "flip"
    assert english.starts[0] >= text.index(ENGLISH)


def test_what_was_kept_of_another_text_is_not_believed():
    packed = tokenization.pack_texts(tokenization.tokenize_by_language("rain and snow", "en"))
    assert tokenization.unpack_texts(packed, "rain and snow") is not None
    assert tokenization.unpack_texts(packed, "rain") is None
    assert (
        tokenization.unpack_texts(packed[:-5], "rain and snow")
        is tokenization.unpack_texts(b"", "rain and snow")
        is None
    )


def test_a_part_of_a_text_has_the_words_that_stand_in_it():
    whole, *_ = tokenization.tokenize_by_language("red roof, blue roof, red door", "en")
    part = whole.slice_text(10, 23)  # "blue roof, re"
    assert part.text == "blue roof, re"
    assert list(zip(part.spell_words(), part.terms, strict=True)) == [
        ("", "red"),
        ("roof", "roof"),
        ("blue", "blue"),
        ("", "door"),
    ]
    assert part.select_weighted({"roof": 1.0, "red": 0.5}).offsets() == ([5], [9], ["roof"])
