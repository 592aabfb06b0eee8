"""What the words of a foreign text mean."""

import json

import numpy as np
import pytest
from translators import FixedTranslator

from paragloss.analysis.sentences import split_sentences
from paragloss.gloss import gloss, glosses, lexicon, senses, sentence_glosses
from paragloss.gloss.identifiers import find_code_words, is_software_identifier
from paragloss.gloss.word_associations import ASSOCIATION_STRENGTH, WordAssociations
from paragloss.translation import default
from paragloss.translation.glossary import CorrectedTranslator, Pair, UserGlossary

BUILT_IN = {"default": default.open(), "lexicon": lexicon.open()}


def make_translator(words, parts=None):
    """A translator into English with a few words, {word: {meaning: weight}}, and perhaps parts of compounds."""
    return FixedTranslator(words, parts=parts, targets=["en"])


GERMAN = make_translator(
    {"bank": {"bank": 0.6, "bench": 0.4}, "park": {"park": 1.0}, "zug": {"train": 0.9}, "verspätung": {"delay": 0.8}},
    parts={"zugverspätung": ["zug", "verspätung"]},
)


def best_meanings(glossed):
    return {word.text: word.meanings[0].text for word in glossed.words if word.meanings}


def test_content_words_get_meanings_with_places_and_shares():
    text = "Die Bank steht im Park."
    glossed = gloss(text, "de", "en", {"table": GERMAN})
    word = next(word for word in glossed.words if word.text == "Bank")
    assert text[word.start : word.end] == "Bank"
    meanings = [(meaning.text, round(meaning.weight, 2), meaning.source) for meaning in word.meanings]
    assert meanings == [("bank", 0.6, "table"), ("bench", 0.4, "table")]
    assert {w.text: w.kind for w in glossed.words}["Die"] == "stop"


@pytest.mark.parametrize(
    ("query", "meaning"), [("", "bank"), ("wooden bench", "bench"), ("bee", "bank"), ("a shore", "bank")]
)
def test_what_the_reader_asked_for_decides_between_likely_senses(query, meaning):
    spanish = make_translator({"banco": {"bank": 0.5, "bench": 0.4, "bee": 0.1}})
    assert best_meanings(gloss("un banco", "es", "en", {"t": spanish}, query=query)) == {"banco": meaning}


def test_a_glossary_outweighs_other_sources():
    sources = {
        "table": make_translator({"banco": {"bank": 1.0}}),
        "glossary": make_translator({"banco": {"shoal": 1.0}}),
    }
    glossed = gloss("un banco", "es", "en", sources)
    assert best_meanings(glossed) == {"banco": "shoal"}
    assert glossed.words[-1].meanings[0].source == "glossary"


def test_parts_of_a_compound_are_said_together():
    glossed = gloss("Wegen der Zugverspätung kam niemand.", "de", "en", {"default": GERMAN})
    assert best_meanings(glossed)["Zugverspätung"] == "train delay"


def test_names_and_unknown_words_are_romanised_and_not_translated():
    glossed = gloss("Вчера Чайковский пришёл", "ru", "en", {"t": make_translator({"вчера": {"yesterday": 1.0}})})
    name = next(word for word in glossed.words if word.text == "Чайковский")
    assert (name.kind, name.romanised, name.meanings) == ("name", "Chaykovskiy", ())


def test_the_rendering_follows_the_text():
    meanings = {"perro": "dog", "duerme": "sleeps", "gato": "cat", "come": "eats"}
    spanish = make_translator({word: {meaning: 1.0} for word, meaning in meanings.items()})
    assert gloss("El perro duerme. El gato come.", "es", "en", {"t": spanish}).rendering == "dog sleeps. cat eats."


def test_a_source_without_the_languages_is_passed_over():
    glossed = gloss("El perro", "es", "fr", {"t": GERMAN})
    assert all(not word.meanings for word in glossed.words)


def test_what_is_said_can_be_written_as_json():
    written = gloss("Вчера 12 котов", "ru", "en", {"t": make_translator({"котов": {"cats": 1.0}})}).as_json()
    assert [word["kind"] for word in json.loads(json.dumps(written))["words"]] == ["unknown", "other", "word"]


RUCHE, APFEL = "La ruche est là. L'abeille vit dans une maison blanche.", "Er hat einen alten Apfel gegessen."


@pytest.mark.parametrize(
    ("lang", "text", "word", "meaning"),
    [
        ("fr", RUCHE, "blanche", "white"),
        ("fr", RUCHE, "maison", "house"),
        ("de", APFEL, "gegessen", "eaten"),
        ("de", APFEL, "Apfel", "apple"),
        ("ru", "пчёлы превращают нектар в мёд", "мёд", "honey"),
    ],
)
def test_each_word_says_where_its_meaning_stands_in_the_rendering(lang, text, word, meaning):
    written = gloss(text, lang, "en", BUILT_IN).as_json()
    (row,) = [row for row in written["words"] if row["text"] == word]
    assert written["rendering"][slice(*row["rendered"])] == meaning


def test_what_is_not_rendered_has_no_place_in_the_rendering():
    words = make_translator({"chat": {"cat": 1.0}, "minou": {"cat": 1.0}})
    written = gloss("chat minou", "fr", "en", {"t": words}).as_json()
    assert written["rendering"] == "cat"
    assert [row.get("rendered") for row in written["words"]] == [[0, 3], None]


def test_a_sentence_is_glossed_once_although_each_request_has_its_own_glossary_translator():
    glossary = UserGlossary([Pair("da", "hus", "en", "house")])

    def gloss_sentence():
        sources = {**BUILT_IN, "default": CorrectedTranslator(BUILT_IN["default"], glossary)}
        return gloss("Das Haus am Seeufer.", "de", "en", sources).sentences[0][1]

    assert gloss_sentence() is gloss_sentence()


def test_texts_are_glossed_together_and_again_as_they_are_one_by_one():
    texts = [
        ('Die Bank am Fluss ist alt. Der Zug nach "Wien" fährt ab.', "de"),
        ('Der Zug nach "Wien" fährt ab. Die Bank am Fluss ist alt.', "de"),
        ("La banque est fermée.", "fr"),
        ("The bank is closed.", "en"),
    ]
    for query in ("", "bank", "river bench", "bank"):
        sentence_glosses.gloss_by_built_in_sources.cache_clear()
        senses.describe_word_by_built_in_sources.cache_clear()
        one_by_one = [gloss(text, lang, "en", BUILT_IN, query=query).as_json() for text, lang in texts]
        for _ in range(2):  # as they are remembered, too
            assert [glossed.as_json() for glossed in glosses(texts, "en", BUILT_IN, query=query)] == one_by_one
    for (text, _), glossed in zip(texts, one_by_one, strict=True):
        assert all(text[word["start"] : word["end"]] == word["text"] for word in glossed["words"])
    assert not any(word["meanings"] for word in one_by_one[-1]["words"])


def test_what_was_asked_before_does_not_stay_with_a_sentence():
    glosses_in_turn = [
        gloss("Das Schloss", "de", "en", BUILT_IN, query=query) for query in ("", "castle", "lock", "", "castle")
    ]
    expected = ("castle", "castle", "lock", "castle", "castle")
    assert [glossed.rendering for glossed in glosses_in_turn] == [f"the {word}" for word in expected]
    assert glosses_in_turn[0].words == glosses_in_turn[3].words != glosses_in_turn[2].words


@pytest.mark.parametrize(
    ("lang", "text", "count"),
    [
        ("en", "One. Two? Three!", 3),
        ("zh", "第一句。第二句！", 2),
        ("hi", "पहला वाक्य। दूसरा वाक्य।", 2),
        ("ar", "هل هذا؟ نعم.", 2),
    ],
)
def test_sentences_end_in_every_script(lang, text, count):
    glossed = [*split_sentences(text, lang)]
    assert len(glossed) == count
    assert "".join(text[start:end] for start, end in glossed) == text


@pytest.mark.parametrize("text", ["", " ", "?!", "\u200b"])
def test_a_text_without_words_has_no_gloss(text):
    assert gloss(text, "de", "en", {"says": make_translator({})}).words == ()


SPANISH = {
    "banco": {"bank": 0.55, "bench": 0.45}, "dinero": {"money": 1.0}, "cuenta": {"account": 1.0},
    "árbol": {"tree": 1.0}, "jardín": {"garden": 1.0},
}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "text", "meaning"),
    [
        ("default", "dinero y cuenta del banco", "bank"),
        ("default", "un banco bajo el árbol del jardín", "bench"),
        ("default", "Un banco. Un árbol.", "bank"),  # words of another sentence do not count
        ("table", "un banco bajo el árbol del jardín", "bank"),  # a collection's own models are not swayed
    ],
)
def test_the_other_words_of_the_sentence_decide_between_senses_of_the_default_model(source, text, meaning):
    glossed = gloss(text, "es", "en", {source: make_translator(SPANISH)})
    assert best_meanings(glossed)["banco"] == meaning
    word = next(word for word in glossed.words if word.text == "banco")
    assert sum(meaning.weight for meaning in word.meanings) == pytest.approx(1)
    assert word.confidence <= word.meanings[0].weight


def test_the_other_words_do_not_overrule_the_glossary():
    sources = {"default": make_translator(SPANISH), "glossary": make_translator({"banco": {"bank": 1.0}})}
    assert best_meanings(gloss("un banco bajo el árbol", "es", "en", sources))["banco"] == "bank"


def test_a_meaning_is_rated_by_the_other_words_of_the_sentence_only():
    vectors = np.array([[127, 0], [0, 127], [0, 127]], np.int8)
    associations = WordAssociations(["bank", "bench", "tree"], vectors, np.ones(3, np.float32))
    factors = associations.rate_meanings(["bank", "bench", "tree"], np.array([0.5, 0.5, 1.0]), np.array([0, 2]))
    # The context of "banco" is (0, 1), that of "árbol" (1/2, 1/2).
    assert np.log(factors) / ASSOCIATION_STRENGTH == pytest.approx([0, 1, 0.5**0.5], abs=1e-6)


def test_a_word_that_is_english_but_for_its_ending_has_a_meaning():
    glossed = best_meanings(gloss("documentos y protocolos", "es", "en", {"default": BUILT_IN["default"]}))
    assert (glossed["documentos"].lower()[:8], glossed["protocolos"].lower()[:8]) == ("document", "protocol")


def test_an_unknown_form_is_read_without_its_ending_and_said_to_be_a_guess():
    word = gloss("digitálnych", "sk", "en", {"default": BUILT_IN["default"]}).words[0]
    assert word.meanings[0].text.startswith("digit")
    assert word.confidence <= 0.5


@pytest.mark.parametrize(
    ("lang", "foreign"),
    [("vi", "Bạn có thể đọc trang này."), ("de", "Der Zug fährt ab."), ("ja", "蜂は蜜を作ります。")],
)
def test_a_sentence_in_the_readers_language_is_not_glossed_and_its_neighbours_are(lang, foreign):
    english = "The event is fired when a policy is violated. "
    glossed = gloss(english + foreign, lang, "en", BUILT_IN)
    assert glossed.rendering.startswith(english.strip())
    assert min(word.start for word in glossed.words) >= len(english)
    assert any(word.meanings for word in glossed.words)


@pytest.mark.parametrize(
    ("to", "sentence"),
    [
        ("es", "Los macedonios acuden a las urnas para votar un referendo sobre el cambio de nombre del país."),
        ("fa", "این کتاب را از کتابخانه شهر گرفته است و فردا پس می‌دهد."),
        ("ja", "この本は図書館で借りて、明日返します。"),
        ("zh", "这本书是从图书馆借来的，明天要还。"),
    ],
)
def test_readers_of_any_language_find_their_own_as_it_is(to, sentence):
    glossed = gloss(f"Der Zug fährt ab. {sentence}", "de", to, BUILT_IN)
    assert glossed.rendering.endswith(sentence)
    assert [word.text for word in glossed.words if word.start > len("Der Zug fährt ab.")] == []


@pytest.mark.parametrize("heading", ["Browser compatibility", "Security policy violations"])
def test_an_english_heading_of_a_foreign_page_is_not_glossed(heading):
    assert gloss(f"{heading}\nBạn có thể đọc trang này.", "vi", "en", BUILT_IN).rendering.startswith(heading)


@pytest.mark.parametrize(
    ("lang", "text"),
    [("de", "Der Zug. Problem gelöst."), ("fr", "Une table."), ("ms", "Grand Prix Hungaria 2009."), ("fr", "Orange.")],
)
def test_short_foreign_sentences_are_not_taken_for_the_readers_language(lang, text):
    assert all(sentence.words for _, sentence in gloss(text, lang, "en", BUILT_IN).sentences)


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("ko", "이 글은 Gecko에서 XSLT/JavaScript binding을 다룬다."),
        ("zh", "典型例子有 Amazon Web Services、Google Compute Engine。"),
        ("ru", "Термин происходит от a specific MIME content transfer encoding."),
    ],
)
def test_a_foreign_sentence_full_of_english_names_is_glossed(lang, text):
    assert any(word.meanings for word in gloss(text, lang, "en", BUILT_IN).words)


def test_a_word_of_the_readers_language_inside_a_foreign_sentence_stands_for_itself():
    glossed = gloss("Sự kiện này dùng policy khi violated.", "vi", "en", BUILT_IN)
    assert {word.text: word.meanings for word in glossed.words if word.text.isascii()}["policy"] == ()
    assert "policy" in glossed.rendering
    assert "~" not in glossed.rendering


GERMAN_LEXICON = lexicon.pack_lexicon({"de": {"der": [lexicon.LexiconEntry("the", 1.0, "hand", True)]}})


@pytest.mark.parametrize("identifier", ["bgra8unorm", "addEventListener", "24px", "onsecuritypolicyviolation", "xhp"])
def test_an_identifier_of_software_is_no_meaning(identifier):
    sources = {"default": make_translator({"zzykl": {identifier: 1.0}}), "lexicon": lexicon.open()}
    word = gloss("zzykl", "de", "en", sources).words[0]
    assert (word.kind, word.meanings) == ("unknown", ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("press addEventListener, then snake_case", ["addEventListener", "snake_case"]),
        ("bgra8unorm CO2 foo() <tag> std::vector", ["bgra8unorm", "CO2", "foo()", "<tag>", "std::vector"]),
        ("the 21st of 1980s at 3pm, 9x19mm (-ing) person(s) Covid-19 HTML 20-year-old", []),
    ],
)
def test_words_written_as_code_are_found_and_numbers_with_units_are_not(text, words):
    assert find_code_words(text) == words


def test_english_words_are_no_identifiers():
    words = ["playwrights", "scourges", "1970s", "15th", "McDonald's", "supermarket", "HTML", "understandable"]
    assert not [word for word in words if is_software_identifier(word, lexicon.open())]


def test_a_word_with_only_unlikely_guesses_is_unknown():
    def gloss_word(share):
        sources = {"default": make_translator({"vorrat": {"stash": share, "store": share}}), "lexicon": GERMAN_LEXICON}
        return gloss("vorrat", "de", "en", sources).words[0]

    assert (gloss_word(0.25).kind, gloss_word(0.25).meanings) == ("unknown", ())
    assert (gloss_word(0.35).kind, gloss_word(0.35).sure) == ("word", False)
