"""Choosing translations by what the query's best parallel texts say."""

import math

import pytest

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


class Fixed:
    def knows(self, source, target):
        return True

    def translate(self, query, to):
        words = {"bank": (("Bank", 0.75), ("Ufer", 0.25)), "odd": (("Foo", 0.5), ("Bar", 0.5))}
        return [
            Translation(w, tuple(Alternative(*a) for a in words.get(w, ((w, 1.0),)))) for w in query.text.split()
        ]  # fmt: skip


def chosen(text, *, one, **settings):
    translator = ReweightedTranslator(Fixed(), parallel.fit(PAIRS, **settings), best_only=one)
    return {t.source: dict(a[:2] for a in t.alternatives) for t in translator.translate(Query("q", text, "en"), "de")}


def test_the_best_texts_other_sides_decide():
    assert chosen("river bank", one=True, texts=2)["bank"] == {"Ufer": 1.0}
    assert chosen("money bank", one=True, texts=1)["bank"] == {"Bank": 1.0}


def test_a_word_that_they_don_t_speak_of_keeps_all_its_translations():
    assert chosen("river odd", one=True, texts=2)["odd"] == {"Foo": 0.5, "Bar": 0.5}
    assert chosen("nothing odd", one=True)["odd"] == {"Foo": 0.5, "Bar": 0.5}
    assert chosen("money bank", one=True, texts=1, terms=1)["bank"] == {"Bank": 0.75, "Ufer": 0.25}  # Geld is heavier


def test_weights_by_hand():
    # All four texts have "bank". Bank is in 2 of 4 texts, Ufer in 3: idf ln(1 + 2.5 / 2.5) and ln(1 + 1.5 / 3.5).
    bank, ufer = 2 * math.log(2), 3 * math.log(10 / 7)
    weights = parallel.fit(PAIRS).weights(Query("q", "bank", "en"), "de")
    assert weights["bank"] == pytest.approx(bank)
    assert weights["ufer"] == pytest.approx(ufer)
    shares = chosen("bank", one=False)["bank"]
    assert shares["Bank"] == pytest.approx(0.75 * bank / (0.75 * bank + 0.25 * ufer))
    assert sum(shares.values()) == pytest.approx(1)


def test_the_likeliest_translation_comes_first():
    clause = Translation("bank", (Alternative("Bank", 0.5), Alternative("Ufer", 0.5)))
    (only,) = parallel.fit(PAIRS, texts=3).choose(Query("q", "river bank", "en"), [clause], "de")
    # Ufer twice in three texts, Bank once: 2 ln(10/7) against ln 2.
    assert [a.text for a in only.alternatives] == ["Ufer", "Bank"]


def test_texts_are_looked_at_in_the_order_of_bm25():
    # Okapi with k1 = 1.2 and b = 0.75, each term's idf over the five texts, lengths against their mean of 3.
    english = ["river", "river stone sand moss", "river river sand", "boat", "river boat moss sand stone wind"]
    german = ["eins", "zwei", "drei", "vier", "fünf"]
    concepts = [Concept(d, {"en": e, "de": d}) for e, d in zip(english, german, strict=True)]

    def score(text, asked):
        words, total = text.split(), 0.0
        for term in asked:
            tf, df = words.count(term), sum(term in other.split() for other in english)
            idf = math.log(1 + (5 - df + 0.5) / (df + 0.5))
            total += idf * tf / (tf + 1.2 * (0.25 + 0.75 * len(words) / 3))
        return total

    for asked in (["river"], ["river", "boat"], ["boat", "sand"]):
        right = sorted((-score(e, asked), i) for i, e in enumerate(english) if score(e, asked))
        found = []
        for texts in range(1, len(right) + 1):
            known = parallel.fit(concepts, texts=texts).weights(Query("q", " ".join(asked), "en"), "de")
            found += [i for i, d in enumerate(german) if parallel_term(d) in known and i not in found]
        assert found == [i for _, i in right]


def parallel_term(word):
    (term,) = analyzer("de", stop=False).terms(word)
    return term


def test_texts_without_the_other_language_are_passed_over():
    # Without the fifth, which is the best for "river" and has no German, Ufer would not be found.
    concepts = [*PAIRS[:4], Concept("5", {"en": "river river river", "fr": "fleuve"})]
    made = parallel.fit(concepts, texts=1)
    assert "ufer" in made.weights(Query("q", "river", "en"), "de")
    assert made.weights(Query("q", "river", "en"), "fr") == {"fleuv": pytest.approx(math.log(4 / 3))}


def test_a_phrase_weighs_what_its_lightest_word_does():
    made = parallel.fit(PAIRS, texts=1)
    clause = Translation("x", (Alternative("Bank Xylophon", 0.5), Alternative("Geld Bank", 0.5)))
    (only,) = made.choose(Query("q", "money", "en"), [clause], "de")
    assert [a.text for a in only.alternatives] == ["Geld Bank"]


def test_titles_are_read_too():
    made = parallel.fit([Concept("1", {"en": "a", "de": "b"}, {"en": "river", "de": "Fluss"}), *PAIRS[2:4]])
    assert "fluss" in made.weights(Query("q", "river", "en"), "de")


def test_saved_and_loaded_it_chooses_the_same(tmp_path):
    made = parallel.fit(PAIRS, texts=2, terms=7)
    made.save(tmp_path / "pairs")
    again = Parallel.load(tmp_path / "pairs")
    assert (again.texts, again.terms, again.langs, again.meta) == (2, 7, ("de", "en"), made.meta)
    query = Query("q", "river bank", "en")
    assert again.weights(query, "de") == made.weights(query, "de")
    assert made.meta == {"texts": {"de": 4, "en": 4}}


def test_what_can_t_be_chosen_by_is_said():
    with pytest.raises(InputError, match="no text is in two languages"):
        parallel.fit(PAIRS[4:])
    with pytest.raises(LanguageError, match=r"no parallel texts in 'fr'; there are some in de, en"):
        parallel.fit(PAIRS).weights(Query("q", "bank", "en"), "fr")
