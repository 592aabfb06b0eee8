"""Tables of word translations: learned from texts that say the same thing, looked up, pruned and stored."""

import numpy as np
import pytest
import scipy.sparse as sp
from translators import translate_best, translate_texts

from paragloss.analysis import analyzer
from paragloss.errors import InputError, LanguageError
from paragloss.lab.methods import table
from paragloss.translation.word_table import Table, TermSpellings, prune
from paragloss.types import Alternative, Concept, Query, Translator

HOUSES = [
    ("The house is red.", "La maison est rouge."),
    ("The house is big.", "La maison est grande."),
    ("Two red houses.", "Deux maisons rouges."),
    ("A big volcano.", "Un grand volcan."),
    ("The red volcano.", "Le volcan rouge."),
    ("Big volcanoes.", "Grands volcans."),
]


def make_concepts(pairs):
    """English and French texts that say the same thing."""
    return [Concept(str(i), {"en": english, "fr": french}) for i, (english, french) in enumerate(pairs)]


def make_table(english, french, rows, **settings):
    """A table en->fr of words that are spelled as they are; each row has {number of a French word: probability}."""
    cells = [(row, column, weight) for row, row_cells in enumerate(rows) for column, weight in row_cells.items()]
    row_numbers, columns, weights = zip(*cells, strict=True)
    start = np.searchsorted(row_numbers, range(len(rows) + 1))
    matrix = sp.csr_matrix((np.array(weights), np.array(columns), start), shape=(len(english), len(french)))
    words = {"en": TermSpellings(english, english), "fr": TermSpellings(french, french)}
    return Table(words, {("en", "fr"): matrix}, **settings)


def list_shares(table_of_words, term, to="fr"):
    return {a.text: pytest.approx(a.weight) for a in table_of_words.alternatives(term, "en", to)}


@pytest.fixture(scope="module")
def learned():
    return table.fit(make_concepts(HOUSES))


def test_both_directions_are_learned_and_words_are_as_written(learned):
    assert isinstance(learned, Translator)
    assert learned.pairs == [("en", "fr"), ("fr", "en")]
    best = translate_best(learned, "red volcano houses", "en", "fr") + translate_best(learned, "maisons", "fr", "en")
    expected = [("red", "fr", "rouge"), ("volcano", "fr", "volcan"), ("houses", "fr", "maison")]
    for (word, text), (source, lang, translation) in zip(best, [*expected, ("maisons", "en", "house")], strict=True):
        assert (word, analyzer(lang).terms(text)) == (source, analyzer(lang).terms(translation))
    for lang, words in learned.words.items():
        for term, surface in zip(words.terms, words.surfaces, strict=True):
            assert " ".join(analyzer(lang).terms(surface)) == term


def test_weights_are_sorted_probabilities(learned):
    for translation in learned.translate(Query("q", "red big house volcano", "en"), "fr"):
        weights = [a.weight for a in translation.alternatives]
        assert weights == sorted(weights, reverse=True)
        assert all(0 < w <= 1 for w in weights)
        assert sum(weights) == pytest.approx(1, abs=1e-5)


def test_an_unknown_word_stays_untranslated(learned):
    (only,) = learned.translate(Query("q", "Xylophonist", "en"), "fr")
    assert only.alternatives == (Alternative("Xylophonist", 1.0),)
    assert learned.translate(Query("q", "", "en"), "fr") == []


def test_a_table_knows_its_terms_and_languages(learned):
    assert [learned.has_term("hous", lang) for lang in ("en", "fr", "de")] == [True, False, False]
    assert learned.langs == ("en", "fr")
    assert learned.meta == {"translations": {f"{a}->{b}": learned.probabilities[a, b].nnz for a, b in learned.pairs}}


def test_titles_are_learned_from():
    aligned = [Concept("1", {"en": "x", "fr": "y"}, {"en": "harbour", "fr": "port"})]
    assert translate_best(table.fit(aligned), "harbours", "en", "fr") == [("harbours", "port")]


def test_a_phrase_is_learned_as_one_term():
    # "hot dog" is no "chien chaud"; both words also occur alone.
    lines = [("hot dog", "saucisse"), ("hot", "chaud"), ("dog", "chien"), ("big", "gros")] * 12
    lines += [(f"filler{i % 40}", f"mot{i % 40}") for i in range(1000)]  # so that hot and dog are rare words
    aligned = make_concepts(lines)
    best = translate_best(table.fit(aligned), "big hot dog, dog", "en", "fr")
    assert best == [("big", "gros"), ("hot dog", "saucisse"), ("dog", "chien")]
    assert list(translate_texts(table.fit(aligned, phrases=False), "big hot dog", "en", "fr")) == ["big", "hot", "dog"]


@pytest.mark.parametrize(
    ("source", "target", "directions"),
    [
        ("en", "it", {("en", "it")}),
        ("en", "", {("en", "fr"), ("en", "it")}),
        ("", "fr", {("en", "fr"), ("it", "fr")}),
        ("", "", {("en", "fr"), ("fr", "en"), ("en", "it"), ("it", "en"), ("fr", "it"), ("it", "fr")}),
    ],
)
def test_a_table_has_only_the_directions_from_and_to_the_languages_given(source, target, directions):
    aligned = [Concept("1", {"en": "house", "fr": "maison", "it": "casa"})]
    assert set(table.fit(aligned, source=source, target=target).pairs) == directions


def test_learning_twice_gives_the_same_and_order_of_texts_does_not_matter(learned):
    query = Query("q", "red house volcano", "en")
    assert table.fit(make_concepts(HOUSES)).translate(query, "fr") == learned.translate(query, "fr")
    reversed_order = table.fit(make_concepts(HOUSES[::-1]))
    assert translate_best(reversed_order, query.text, "en", "fr") == translate_best(learned, query.text, "en", "fr")


def test_errors_say_what_there_is(learned):
    with pytest.raises(LanguageError, match="no table for en->sw; have en->fr, fr->en"):
        learned.translate(Query("q", "house", "en"), "sw")
    with pytest.raises(InputError, match="sw->any"):
        table.fit(make_concepts(HOUSES), source="sw")
    with pytest.raises(InputError, match="no text is in two"):
        table.fit([Concept("1", {"en": "house"}), Concept("2", {"fr": "maison"})])


def test_learning_continues_from_a_saved_table(tmp_path):
    table.fit(make_concepts((f"dog word{i}", f"chien mot{i}") for i in range(5))).save(tmp_path / "first")
    new_texts = make_concepts((f"cat thing{i}", f"chat chose{i}") for i in range(5))
    fresh, continued = table.fit(new_texts), table.fit(new_texts, start=str(tmp_path / "first"))
    assert fresh.alternatives("dog", "en", "fr") == ()
    assert continued.alternatives("dog", "en", "fr")[0].text == "chien"  # what only the start knows stays
    assert continued.alternatives("cat", "en", "fr")[0].text == "chat"  # what is new is learned


def test_the_start_decides_where_the_texts_leave_it_open(tmp_path):
    table.fit(make_concepts([("dog", "chien")] * 3)).save(tmp_path / "start")
    # Always together: from these alone nobody can tell which is the dog.
    undecided = make_concepts([("dog cat", "chat chien")] * 4)
    continued = table.fit(undecided, start=str(tmp_path / "start"), diagonal=0.0, phrases=False)
    assert translate_best(continued, "dog cat", "en", "fr") == [("dog", "chien"), ("cat", "chat")]


@pytest.mark.parametrize("weight", [0.5, 5.0])
def test_words_that_only_the_start_knows_keep_their_shares(tmp_path, weight):
    make_table(["dog"], ["chien", "chat"], [{0: 0.75, 1: 0.25}]).save(tmp_path / "start")
    settings = {"start": str(tmp_path / "start"), "start_weight": weight, "symmetric": False, "sharpness": 1}
    learned = table.fit(make_concepts([("house", "maison")]), source="en", **settings)
    assert list_shares(learned, "dog") == {"chien": 0.75, "chat": 0.25}


def test_the_weight_of_the_start_counts_as_occurrences(tmp_path):
    # The start has met chaumière three times, half a time more for being a candidate: P(maison) = 0.5 / 4 at first. Of
    # the text's one maison, house explains 0.92 * 0.125 = 0.115, no word 0.08 / 2 = 0.04: it counts 0.115 / 0.155.
    make_table(["hous"], ["chaumi"], [{0: 1.0}]).save(tmp_path / "start")
    settings = {"start": str(tmp_path / "start"), "start_weight": 3.0, "iterations": 1, "sharpness": 1}
    learned = table.fit(make_concepts([("house", "maison")]), source="en", symmetric=False, **settings)
    one_count = 0.115 / 0.155
    assert list_shares(learned, "hous") == {"chaumi": 3 / (3 + one_count), "maison": one_count / (3 + one_count)}


def test_a_start_may_lack_a_language(tmp_path):
    make_table(["dog"], ["chien"], [{0: 1.0}]).save(tmp_path / "start")
    concepts = [Concept("1", {"en": "house", "fr": "maison", "de": "Haus"})]
    learned = table.fit(concepts, start=str(tmp_path / "start"), source="en", symmetric=False)
    assert translate_best(learned, "house", "en", "de") == [("house", "Haus")]
    assert list_shares(learned, "dog") == {"chien": 1.0}
    assert learned.alternatives("dog", "en", "de") == ()


def test_pruning_by_hand():
    # Rows sum to one, then what is less than 0.2 or no longer among the two best goes, and the rest sums to one again.
    weights = sp.csr_matrix(np.array([[1.0, 4.0, 3.0, 2.0], [0.0, 1.0, 9.0, 0.0], [0.0, 0.0, 0.0, 0.0]]))
    pruned = prune(weights, min_probability=0.2, most=2)
    assert pruned.toarray() == pytest.approx(np.array([[0, 4 / 7, 3 / 7, 0], [0, 0, 1, 0], [0, 0, 0, 0]]))
    assert pruned.indices.tolist() == [1, 2, 2]  # best first
    assert prune(weights, min_probability=0.3, most=9).indices.tolist() == [1, 2, 2]  # 0.3 is enough
    stored_zeros = sp.csr_matrix((np.zeros(2), ([0, 1], [0, 1])), shape=(2, 2))
    assert prune(stored_zeros, min_probability=0.0, most=5).toarray().tolist() == [[0, 0], [0, 0]]


def test_without_a_translation_the_others_stay_best_first():
    full = make_table(["cat"], ["lait", "chat", "félin"], [{1: 0.5, 2: 0.4, 0: 0.1}], max_alternatives=1)
    unchanged, n_removed = full.without("dog", "chien")
    assert (n_removed, unchanged.alternatives("cat", "en", "fr")[0].text) == (0, "chat")
    reduced, n_removed = full.without("Cat", "Chat")
    assert (n_removed, reduced.alternatives("cat", "en", "fr")[0].text) == (1, "félin")


def test_a_saved_table_is_sharpened_when_it_is_looked_up(tmp_path):
    probabilities = {0: 0.75, 1: 0.2, 2: 0.05}
    full = make_table(["cat"], ["chat", "félin", "lait"], [probabilities], max_alternatives=2, trust=2.0, sharpness=2)
    full.save(tmp_path / "table")
    sharp = Table.load(tmp_path / "table")
    # .5625 .04 .0025: the last is .004 of them; the others sum to .6025
    assert list_shares(sharp, "cat") == {"chat": 0.5625 / 0.6025, "félin": 0.04 / 0.6025}
    assert (sharp.pairs, sharp.max_alternatives, sharp.trust) == ([("en", "fr")], 2, 2.0)
    assert sharp.probabilities["en", "fr"].toarray()[0] == pytest.approx([0.75, 0.2, 0.05])  # to learn on from


def test_probabilities_are_sharpened_by_default_and_as_many_kept_as_wanted():
    concepts = make_concepts([*[("bank", "banque")] * 3, ("bank", "rive"), ("water", "eau")])
    plain = [alternative.weight for alternative in table.fit(concepts, sharpness=1).alternatives("bank", "en", "fr")]
    sharp = [alternative.weight for alternative in table.fit(concepts).alternatives("bank", "en", "fr")]
    assert sharp[0] / sharp[1] == pytest.approx((plain[0] / plain[1]) ** 2, rel=1e-3)
    assert len(table.fit(concepts, max_alternatives=1).alternatives("bank", "en", "fr")) == 1
