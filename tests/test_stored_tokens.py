"""A document is cut once: what is shown from the places kept with it is what is shown from its text."""

import pytest

from paragloss import demo
from paragloss.analysis import tokenization
from paragloss.analysis.passages import select_passages
from paragloss.collection import Collection
from paragloss.types import Document, Query, Record

GERMAN = "Mit diesem Befehl können Sie das Bild zuschneiden, wenn es nicht auf die Seite passt, die Sie drucken."
ENGLISH = "With this command you can flip the picture, if it does not fit onto the page that you are going to print."
LONG = "\n".join(f"Absatz {number}: {GERMAN}" for number in range(700))  # longer than anybody looks
EXTRA_DOCUMENTS = [
    Document("two", f"{GERMAN}\n\n  {ENGLISH}\n{GERMAN}", "de", "Bild zuschneiden"),
    Document("long", f"{LONG} Der Wasserfall.", "de", "Lang"),
    Document("title", "", "de", "Wasser"),
    Document("traditional", "請用這個指令裁剪圖片。圖片很大。", "zh"),
]
QUERY_TEXTS = ["water", "the picture does not fit the page", "cut the image", "bread and honey"]


@pytest.fixture(scope="module")
def documents():
    return [*demo.documents(), *EXTRA_DOCUMENTS]


@pytest.fixture(scope="module")
def library(tmp_path_factory, documents):
    location = str(tmp_path_factory.mktemp("tokenization") / "library")
    with Collection.create(location, meaning=False) as collection:
        collection.index(documents)
        yield collection


@pytest.fixture
def forgetful(library, monkeypatch):
    """The same collection as one that was made before places were kept."""
    get = library.state.store.get

    def get_without_tokens(*args, **options):
        return [record and record._replace(packed_tokens=b"") for record in get(*args, **options)]

    monkeypatch.setattr(library.state.store, "get", get_without_tokens)
    return library


def read_shown(collection):
    return [
        (answer.as_json(), [answer.why(result.id) for result in answer.results])
        for answer in (collection.search(text, lang="en") for text in QUERY_TEXTS)
    ]


def test_the_same_is_shown_from_kept_places_as_from_the_text(library, request):
    from_offsets = read_shown(library)
    assert sum(len(reasons) for _, reasons in from_offsets) > 20
    assert from_offsets == read_shown(request.getfixturevalue("forgetful"))


def test_showing_what_was_found_cuts_no_document_again(library, monkeypatch):
    cut = tokenization.tokenize_by_language
    monkeypatch.setattr(
        tokenization, "tokenize_by_language", lambda text, lang: pytest.fail("cut again") if text else cut(text, lang)
    )
    for text in QUERY_TEXTS:
        for result in library.search(text, lang="en").results:
            library.why(Query("", text, "en"), result.id)
            library.read_excerpt(library.get([result.id])[0], text, lang="en")


def describe_tokens(tokenized_texts):
    return [(t.lang, t.terms, t.spell_words(), t.token_terms(), t.starts.tolist()) for t in tokenized_texts]


def test_what_is_kept_is_what_was_cut(documents):
    for document in documents:
        tokenized = tokenization.truncate_texts(tokenization.tokenize_by_language(document.text, document.lang))
        passages = select_passages(document.text)
        unpacked = tokenization.unpack_texts(tokenization.pack_texts(tokenized, passages), document.text)
        assert describe_tokens(unpacked.tokenized) == describe_tokens(tokenized)
        assert list(unpacked.passages) == passages


def test_of_a_long_text_the_beginning_is_kept_and_passages_are_read_where_they_are_stored(documents):
    document = next(d for d in documents if d.id == "long")
    [tokenized] = tokenization.read_tokenized_texts(Record(document))
    assert tokenization.MAX_TOKENIZED_CHARACTERS - 20 < tokenized.starts[-1] < tokenization.MAX_TOKENIZED_CHARACTERS
    packed = tokenization.pack_texts(tokenization.tokenize_by_language(document.text, "de"), [(0, 5), (3, 9)])
    assert list(tokenization.read_passage_spans(Record(document, packed_tokens=packed))) == [(0, 5), (3, 9)]
    assert tokenization.read_passage_spans(Record(document)) == select_passages(document.text)


def test_another_language_is_cut_by_itself_where_it_stands():
    text = EXTRA_DOCUMENTS[0].text
    own, english = tokenization.tokenize_by_language(text, "de")
    assert (own.lang, english.lang) == ("de", "en")
    [start], [end], _ = english.select_weighted({"flip": 1.0}).offsets()
    assert text[start:end] == "flip"
    assert english.starts[0] >= text.index(ENGLISH)


def test_what_was_kept_of_another_text_is_not_believed():
    tokenized = tokenization.tokenize_by_language("rain and snow", "en")
    packed = tokenization.pack_texts(tokenized, [(0, 13)])
    half_passage = tokenization.pack_texts(tokenized, [(0, 13, 5)])
    assert tokenization.unpack_texts(packed, "rain and snow") is not None
    for data, text in (
        (packed, "rain"),
        (half_passage, "rain and snow"),
        (packed[:-5], "rain and snow"),
        (b"", "rain"),
    ):
        assert tokenization.unpack_texts(data, text) is None


def test_a_part_of_a_text_has_the_words_that_stand_in_it():
    full_text, *_ = tokenization.tokenize_by_language("red roof, blue roof, red door", "en")
    part = full_text.slice_text(10, 23)
    assert (part.text, part.spell_words(), part.terms) == ("blue roof, re", ["roof", "blue"], ["roof", "blue"])
    assert part.select_weighted({"roof": 1.0, "red": 0.5}).offsets() == ([5], [9], ["roof"])
