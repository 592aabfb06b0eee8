"""Translation by nearest words in a shared space."""

import numpy as np
import pytest

from paragloss.analysis import analyzer
from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import LanguageError
from paragloss.translation.embedding import EmbeddingTranslator
from paragloss.translation.term_spellings import list_spellings
from paragloss.types import Query, Translator
from paragloss.vocabulary import Vocabulary


def make_tower(lang, words, *, stem=False):
    terms = list(words)
    table = np.array([words[t] for t in terms], np.float32)
    return Tower(Vocabulary(lang, terms, np.ones(len(terms)), 1, stem=stem), table)


# Two directions: machines and weapons; "machine" lies between, a little closer to the gun.
SPACE = BagEncoder(
    {
        "en": make_tower(
            "en", {"virtual": (1.0, 0.0), "machine": (0.66, 0.75), "soldier": (0.1, 1.0), "the": (1.0, 1.0)}
        ),
        "de": make_tower("de", {"Rechner".lower(): (1.0, 0.1), "gewehr": (0.4, 0.9), "und": (0.7, 0.7)}),
    },
    weighting="mean",
)


def find_nearest(text, **options):
    translator = EmbeddingTranslator(SPACE, **options)
    return {t.source: [a.text for a in t.alternatives] for t in translator.translate(Query("q", text, "en"), "de")}


def test_an_embedding_translator_is_a_translator():
    assert isinstance(EmbeddingTranslator(SPACE), Translator)


def test_without_context_each_word_is_translated_by_itself():
    assert find_nearest("machine", top=1) == {"machine": ["gewehr"]}
    assert find_nearest("virtual machine", top=1, context=0) == {"virtual": ["rechner"], "machine": ["gewehr"]}


def test_context_weighs_a_tenth_by_default():
    # machine: gewehr 0.95 + 0.1 * 0.41, rechner 0.73 + 0.1 * 0.99
    assert find_nearest("virtual machine", top=1) == {"virtual": ["rechner"], "machine": ["gewehr"]}


def test_a_word_without_a_vector_is_no_answer():
    space = BagEncoder(
        {
            "en": make_tower("en", {"left": (1.0, 0.0)}),
            "de": make_tower("de", {"leer": (0.0, 0.0), "links": (1.0, 0.1)}),
        },
        weighting="mean",
    )
    (only,) = EmbeddingTranslator(space).translate(Query("q", "left", "en"), "de")
    assert [a.text for a in only.alternatives] == ["links"]


def test_the_rest_of_the_query_decides_between_meanings():
    assert find_nearest("virtual machine", top=1, context=0.5) == {"virtual": ["rechner"], "machine": ["rechner"]}
    assert find_nearest("machine soldier", top=1, context=0.5) == {"machine": ["gewehr"], "soldier": ["gewehr"]}


def test_weights_follow_equation_5_2():
    words = {"virtual": (1, 0), "machine": (0.66, 0.75), "rechner": (1, 0.1), "gewehr": (0.4, 0.9)}
    unit = {word: np.array(v) / np.linalg.norm(v) for word, v in words.items()}
    expected = {t: unit["machine"] @ unit[t] + 0.3 * unit["virtual"] @ unit[t] for t in ("rechner", "gewehr")}
    translator = EmbeddingTranslator(SPACE, top=2, context=0.3)
    _, machine = translator.translate(Query("q", "virtual machine", "en"), "de")
    for alternative in machine.alternatives:
        assert alternative.weight == pytest.approx(expected[alternative.text] / sum(expected.values()), rel=1e-5)


def test_stop_words_are_neither_asked_nor_answered():
    assert find_nearest("the machine", top=3) == {"machine": ["gewehr", "rechner"]}


def test_an_unknown_word_stays_untranslated():
    assert find_nearest("machine Zürich", top=1)["Zürich"] == ["Zürich"]


def test_further_alternatives_weigh_less():
    (only,) = EmbeddingTranslator(SPACE, top=5).translate(Query("q", "soldier", "en"), "de")
    weights = [a.weight for a in only.alternatives]
    assert len(weights) == 2
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1)


def test_csls_holds_back_a_word_that_is_near_everything():
    # "hub" is the nearest of every source word; the others are each near one.
    def around(angle):
        return (np.cos(angle), np.sin(angle))

    space = BagEncoder(
        {
            "en": make_tower("en", {"left": around(0.75), "right": around(0.81)}),
            "de": make_tower("de", {"hub": around(0.78), "links": around(0.715)}),
        },
        weighting="mean",
    )
    query = Query("q", "left", "en")
    assert EmbeddingTranslator(space, top=1).translate(query, "de")[0].alternatives[0].text == "hub"
    assert EmbeddingTranslator(space, top=1, csls=True).translate(query, "de")[0].alternatives[0].text == "links"
    # 2 cos(a, b) less b's mean cosine with the two words of the other language
    csls = {
        word: 2 * np.cos(angle - 0.75) - (np.cos(angle - 0.75) + np.cos(angle - 0.81)) / 2
        for word, angle in (("hub", 0.78), ("links", 0.715))
    }
    (clause,) = EmbeddingTranslator(space, top=2, csls=True).translate(query, "de")
    expected = {word: pytest.approx(score / sum(csls.values()), abs=1e-6) for word, score in csls.items()}
    assert {a.text: a.weight for a in clause.alternatives} == expected


def test_a_translated_stem_is_written_so_that_it_is_tokenized_into_that_stem():
    tokenize = analyzer("en").terms
    text = "organisations communities universities happily generously"
    stems = tokenize(text)
    unstable = [stem for stem in stems if tokenize(stem) != [stem]]
    assert unstable, "the example needs a stem that is not stemmed to itself"
    angles = np.linspace(0, 1, len(stems))
    space = BagEncoder(
        {
            "de": make_tower("de", {f"wort{i}": (np.cos(a), np.sin(a)) for i, a in enumerate(angles)}),
            "en": make_tower("en", {s: (np.cos(a), np.sin(a)) for s, a in zip(stems, angles, strict=True)}, stem=True),
        },
        weighting="mean",
    )
    query = Query("q", " ".join(f"wort{i}" for i in range(len(stems))), "de")

    def answers(**options):
        return [
            tokenize(t.alternatives[0].text)
            for t in EmbeddingTranslator(space, top=1, context=0, **options).translate(query, "en")
        ]

    assert answers(written={"en": list_spellings([text], "en")}) == [[stem] for stem in stems]
    assert all(len(a) == 1 and a[0] in stems and a[0] not in unstable for a in answers())


def test_only_frequent_words_are_answers():
    assert find_nearest("soldier", top=3, limit=1) == {"soldier": ["rechner"]}


def test_unknown_languages_are_refused():
    with pytest.raises(LanguageError, match="does not know 'fr'; it knows en, de"):
        EmbeddingTranslator(SPACE).translate(Query("q", "machine", "en"), "fr")
