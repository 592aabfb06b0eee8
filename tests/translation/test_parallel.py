"""Choosing translations by what the query's best parallel texts say."""

import math

import pytest
from translators import FixedTranslator, translate_weights

from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError
from paragloss.lab.methods import parallel
from paragloss.translation.parallel_texts import Parallel, ReweightedTranslator
from paragloss.types import Alternative, Concept, Query, Translation

PAIRS = [
    Concept("1", {"en": "river bank boat", "de": "Fluss Ufer Boot"}),
    Concept("2", {"en": "river bank water", "de": "Fluss Ufer Wasser"}),
    Concept("3", {"en": "bank money", "de": "Bank Geld"}),
    Concept("4", {"en": "bank credit", "de": "Bank Kredit Ufer"}),
    Concept("5", {"en": "river river river"}),
]


TRANSLATOR = FixedTranslator({"bank": {"Bank": 0.75, "Ufer": 0.25}, "odd": {"Foo": 0.5, "Bar": 0.5}})


def choose_weights(text, *, best_only, **settings):
    return translate_weights(
        ReweightedTranslator(TRANSLATOR, parallel.fit(PAIRS, **settings), best_only=best_only), text
    )


@pytest.mark.parametrize(("text", "settings", "word", "weights"), [
    ("river bank", {"texts": 2}, "bank", {"Ufer": 1.0}),
    ("money bank", {"texts": 1}, "bank", {"Bank": 1.0}),
    ("river odd", {"texts": 2}, "odd", {"Foo": 0.5, "Bar": 0.5}),  # a word that the texts lack keeps all
    ("nothing odd", {}, "odd", {"Foo": 0.5, "Bar": 0.5}),
    ("money bank", {"texts": 1, "terms": 1}, "bank", {"Bank": 0.75, "Ufer": 0.25}),  # Geld is heavier
])  # fmt: skip
def test_translations_are_chosen_by_the_other_sides_of_the_best_texts(text, settings, word, weights):
    assert choose_weights(text, best_only=True, **settings)[word] == weights


def test_weights_by_hand():
    # All four texts have "bank". Bank is in 2 of 4 texts, Ufer in 3: idf ln(1 + 2.5 / 2.5) and ln(1 + 1.5 / 3.5).
    bank, ufer = 2 * math.log(2), 3 * math.log(10 / 7)
    weights = parallel.fit(PAIRS).weights(Query("q", "bank", "en"), "de")
    assert weights["bank"] == pytest.approx(bank)
    assert weights["ufer"] == pytest.approx(ufer)
    shares = choose_weights("bank", best_only=False)["bank"]
    assert shares["Bank"] == pytest.approx(0.75 * bank / (0.75 * bank + 0.25 * ufer), abs=1e-6)
    assert sum(shares.values()) == pytest.approx(1)


def test_the_likeliest_translation_comes_first():
    clause = Translation("bank", (Alternative("Bank", 0.5), Alternative("Ufer", 0.5)))
    (only,) = parallel.fit(PAIRS, texts=3).choose(Query("q", "river bank", "en"), [clause], "de")
    # Ufer twice in three texts, Bank once: 2 ln(10/7) against ln 2.
    assert [a.text for a in only.alternatives] == ["Ufer", "Bank"]


def test_texts_are_used_in_the_order_of_bm25():
    # Okapi with k1 = 1.2 and b = 0.75, each term's idf over the five texts, lengths against their mean of 3.
    english = ["river", "river stone sand moss", "river river sand", "boat", "river boat moss sand stone wind"]
    german = ["eins", "zwei", "drei", "vier", "fünf"]
    concepts = [Concept(d, {"en": e, "de": d}) for e, d in zip(english, german, strict=True)]

    def score(text, terms):
        words, total = text.split(), 0.0
        for term in terms:
            tf, df = words.count(term), sum(term in other.split() for other in english)
            idf = math.log(1 + (5 - df + 0.5) / (df + 0.5))
            total += idf * tf / (tf + 1.2 * (0.25 + 0.75 * len(words) / 3))
        return total

    for query_terms in (["river"], ["river", "boat"], ["boat", "sand"]):
        expected = sorted((-score(e, query_terms), i) for i, e in enumerate(english) if score(e, query_terms))
        order = []
        for texts in range(1, len(expected) + 1):
            weights = parallel.fit(concepts, texts=texts).weights(Query("q", " ".join(query_terms), "en"), "de")
            terms = {i: analyzer("de", stop=False).terms(word)[0] for i, word in enumerate(german)}
            order += [i for i, term in terms.items() if term in weights and i not in order]
        assert order == [i for _, i in expected]


def test_texts_without_the_other_language_are_skipped():
    # Without the fifth, which is the best for "river" and has no German, Ufer would not be found.
    concepts = [*PAIRS[:4], Concept("5", {"en": "river river river", "fr": "fleuve"})]
    model = parallel.fit(concepts, texts=1)
    assert "ufer" in model.weights(Query("q", "river", "en"), "de")
    assert model.weights(Query("q", "river", "en"), "fr") == {"fleuv": pytest.approx(math.log(4 / 3))}


def test_a_phrase_weighs_what_its_lightest_word_does():
    model = parallel.fit(PAIRS, texts=1)
    clause = Translation("x", (Alternative("Bank Xylophon", 0.5), Alternative("Geld Bank", 0.5)))
    (only,) = model.choose(Query("q", "money", "en"), [clause], "de")
    assert [a.text for a in only.alternatives] == ["Geld Bank"]


def test_titles_are_read_too():
    model = parallel.fit([Concept("1", {"en": "a", "de": "b"}, {"en": "river", "de": "Fluss"}), *PAIRS[2:4]])
    assert "fluss" in model.weights(Query("q", "river", "en"), "de")


def test_saved_and_loaded_it_chooses_the_same(tmp_path):
    model = parallel.fit(PAIRS, texts=2, terms=7)
    model.save(tmp_path / "pairs")
    loaded = Parallel.load(tmp_path / "pairs")
    assert (loaded.texts, loaded.terms, loaded.langs, loaded.meta) == (2, 7, ("de", "en"), model.meta)
    query = Query("q", "river bank", "en")
    assert loaded.weights(query, "de") == model.weights(query, "de")
    assert model.meta == {"texts": {"de": 4, "en": 4}}


def test_texts_in_a_single_or_unknown_language_are_errors():
    with pytest.raises(InputError, match="no text is in two languages"):
        parallel.fit(PAIRS[4:])
    with pytest.raises(LanguageError, match=r"no parallel texts in 'fr'; there are some in de, en"):
        parallel.fit(PAIRS).weights(Query("q", "bank", "en"), "fr")
