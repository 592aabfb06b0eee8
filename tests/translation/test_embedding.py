"""Translation by nearest words in a shared space."""

import numpy as np
import pytest
from translators import translate_texts, translate_weights

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


def make_space(**words_by_lang):
    return BagEncoder({lang: make_tower(lang, words) for lang, words in words_by_lang.items()}, weighting="mean")


# Two directions: machines and weapons; "machine" lies between, a little closer to the gun.
SPACE = make_space(
    en={"virtual": (1.0, 0.0), "machine": (0.66, 0.75), "soldier": (0.1, 1.0), "the": (1.0, 1.0)},
    de={"rechner": (1.0, 0.1), "gewehr": (0.4, 0.9), "und": (0.7, 0.7)},
)


def find_nearest(text, **options):
    return translate_texts(EmbeddingTranslator(SPACE, **options), text)


@pytest.mark.parametrize(("text", "options", "nearest"), [
    ("machine", {"top": 1}, {"machine": ["gewehr"]}),
    ("virtual machine", {"top": 1, "context": 0}, {"virtual": ["rechner"], "machine": ["gewehr"]}),
    # The context weighs a tenth by default: gewehr 0.95 + 0.1 * 0.41, rechner 0.73 + 0.1 * 0.99.
    ("virtual machine", {"top": 1}, {"virtual": ["rechner"], "machine": ["gewehr"]}),
    ("virtual machine", {"top": 1, "context": 0.5}, {"virtual": ["rechner"], "machine": ["rechner"]}),
    ("machine soldier", {"top": 1, "context": 0.5}, {"machine": ["gewehr"], "soldier": ["gewehr"]}),
    ("the machine", {"top": 3}, {"machine": ["gewehr", "rechner"]}),  # no stop words, asked or answered
    ("machine Zürich", {"top": 1}, {"machine": ["gewehr"], "Zürich": ["Zürich"]}),  # an unknown word stays
    ("soldier", {"top": 3, "limit": 1}, {"soldier": ["rechner"]}),  # only frequent words are answers
])  # fmt: skip
def test_words_are_translated_by_the_nearest_ones_and_the_rest_of_the_query(text, options, nearest):
    assert find_nearest(text, **options) == nearest


def test_a_word_without_a_vector_is_no_answer():
    space = make_space(en={"left": (1.0, 0.0)}, de={"leer": (0.0, 0.0), "links": (1.0, 0.1)})
    assert translate_texts(EmbeddingTranslator(space), "left") == {"left": ["links"]}


def test_weights_follow_equation_5_2():
    words = {"virtual": (1, 0), "machine": (0.66, 0.75), "rechner": (1, 0.1), "gewehr": (0.4, 0.9)}
    unit = {word: np.array(v) / np.linalg.norm(v) for word, v in words.items()}
    expected = {t: unit["machine"] @ unit[t] + 0.3 * unit["virtual"] @ unit[t] for t in ("rechner", "gewehr")}
    translator = EmbeddingTranslator(SPACE, top=2, context=0.3)
    _, machine = translator.translate(Query("q", "virtual machine", "en"), "de")
    for alternative in machine.alternatives:
        assert alternative.weight == pytest.approx(expected[alternative.text] / sum(expected.values()), rel=1e-5)


def test_further_alternatives_weigh_less():
    translator = EmbeddingTranslator(SPACE, top=5)
    assert isinstance(translator, Translator)
    weights = list(translate_weights(translator, "soldier")["soldier"].values())
    assert len(weights) == 2
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1)


def test_csls_holds_back_a_word_that_is_near_everything():
    # "hub" is the nearest of every source word; the others are each near one.
    def around(angle):
        return (np.cos(angle), np.sin(angle))

    space = make_space(
        en={"left": around(0.75), "right": around(0.81)}, de={"hub": around(0.78), "links": around(0.715)}
    )
    assert translate_texts(EmbeddingTranslator(space, top=1), "left") == {"left": ["hub"]}
    # 2 cos(a, b) less b's mean cosine with the two words of the other language
    csls = {
        word: 2 * np.cos(angle - 0.75) - (np.cos(angle - 0.75) + np.cos(angle - 0.81)) / 2
        for word, angle in (("links", 0.715), ("hub", 0.78))
    }
    weights = translate_weights(EmbeddingTranslator(space, top=2, csls=True), "left")["left"]
    assert list(weights) == ["links", "hub"]
    assert weights == {word: pytest.approx(score / sum(csls.values()), abs=2e-6) for word, score in csls.items()}


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


def test_unknown_languages_are_refused():
    with pytest.raises(LanguageError, match="does not know 'fr'; it knows en, de"):
        EmbeddingTranslator(SPACE).translate(Query("q", "machine", "en"), "fr")
