"""Phrase-based translation: alignments, phrases and probabilities by hand, the beam against all there is."""

import itertools
import math

import pytest

from papers import phrase_translation as phrasal


def test_links_grow_from_where_both_directions_agree():
    # Both: (0, 0), (2, 2). (1, 2) touches (2, 2) and word 1 has no link; (4, 4) is free on both sides; (2, 0) is taken.
    assert phrasal.grow_alignment({(0, 0), (2, 2), (1, 2), (2, 0)}, {(0, 0), (2, 2), (4, 4)}) == {
        (0, 0),
        (2, 2),
        (1, 2),
        (4, 4),
    }


def test_phrases_are_those_that_no_link_leaves():
    # the(0) red(1) house(2) - la(0) maison(1) rouge(2): red and house change places; nothing starts at "the red".
    spans = set(phrasal.extract_phrases(3, 3, {(0, 0), (1, 2), (2, 1)}))
    assert spans == {(0, 1, 0, 1), (1, 2, 2, 3), (2, 3, 1, 2), (1, 3, 1, 3), (0, 3, 0, 3)}
    # A target word without a link may come along on either side.
    assert set(phrasal.extract_phrases(1, 3, {(0, 1)})) == {(0, 1, 1, 2), (0, 1, 0, 2), (0, 1, 1, 3), (0, 1, 0, 3)}


def test_the_language_model_by_hand():
    # "a b", "a c": </s>, a, b, c. Order 1: 6 tokens of 4 kinds, a 2; uniform 1/5: (2 + 4/5) / 10 = .28.
    # After <s>: a both times: (2 + 1 x .28) / 3 = .76; after <s> <s> the same again: (2 + .76) / 3 = .92.
    model = phrasal.TrigramModel([("a", "b"), ("a", "c")])
    assert math.exp(model.log_probability(("<s>", "<s>"), "a")) == pytest.approx(0.92)
    all_words = [*"abc", "</s>", "another"]
    assert sum(math.exp(model.log_probability(("<s>", "a"), word)) for word in all_words) == pytest.approx(1)


PAIRS = [
    ("the house", "la maison"), ("the red house", "la maison rouge"), ("the car", "la voiture"), ("red", "rouge"),
    ("the red car", "la voiture rouge"), ("the blue house", "la maison bleue"), ("blue", "bleue"), ("house", "maison"),
    ("a green door", "une porte verte"), ("the door", "la porte"), ("green", "verte"), ("a house", "une maison"),
]  # fmt: skip


def test_words_change_places_as_the_pairs_have_it():
    model = phrasal.fit_phrases(PAIRS)
    assert model.translate("The blue car!") == "la voiture bleue"
    assert model.translate("the red Zeppelin") == "la zeppelin rouge", "what no phrase has stays as it is"
    assert model.translate("") == ""


def test_the_word_table_learns_from_aligned_sentences():
    table = phrasal.fit_word_table([(phrasal.split_words(a), phrasal.split_words(b)) for a, b in PAIRS], 5)
    assert max(table["house"], key=table["house"].get) == "maison"
    assert phrasal.align_words(table, ("the", "red", "house"), ("la", "maison", "rouge")) == [0, 2, 1]


def score_translation(model, source, steps):
    """What a translation is worth, phrase by phrase: [(start, stop, phrase, own), ...]."""
    total, end, context = 0.0, 0, ("<s>", "<s>")
    for start, stop, phrase, own in steps:
        total += own - 0.4 * abs(start - end)
        for word in phrase:
            total += 0.6 * model.language_model.log_probability(context, word) + 0.5
            context = (context[1], word)
        end = stop
    return total + 0.6 * model.language_model.log_probability(context, "</s>")


def test_the_beam_finds_the_best_of_all_translations():
    fitted, source = phrasal.fit_phrases(PAIRS), ("a", "blue", "car")
    own = {
        ("a",): ["une", "un"],
        ("blue",): ["bleue", "bleu"],
        ("car",): ["voiture", "auto"],
        source[1:]: ["bleue auto"],
    }
    model = fitted._replace(
        phrases={
            key: [(tuple(w.split()), -n - len(key)) for n, w in enumerate(phrases)] for key, phrases in own.items()
        }
    )
    segmentations = [[(0, 1), (1, 2), (2, 3)], [(0, 2), (2, 3)], [(0, 1), (1, 3)], [(0, 3)]]
    candidates = []
    for spans in segmentations:
        for order in itertools.permutations(spans):
            options_of_spans = [model._find_options(source).get(span, []) for span in order]
            for chosen in itertools.product(*options_of_spans):
                steps = [(*span, *option) for span, option in zip(order, chosen, strict=True)]
                candidates.append(
                    (score_translation(model, source, steps), tuple(w for _, _, phrase, _ in steps for w in phrase))
                )
    assert len(candidates) > 20
    assert model.decode(source) == max(candidates)[1]


def test_one_round_of_learning_by_hand():
    # Words at .25 and .75 of their sentences: the other one is exp(-4 x .5) as near. Nobody says one in twenty.
    table = phrasal.fit_word_table([(("a", "b"), ("x", "y"))], 1)
    nearness = 1 / (1 + math.exp(-2))
    assert table["a"] == pytest.approx({"x": nearness, "y": 1 - nearness})
    assert table["b"] == pytest.approx({"x": 1 - nearness, "y": nearness})
    assert table[""] == pytest.approx({"x": 0.5, "y": 0.5})
    assert phrasal._alignment_weights({}, ("a", "b"), "x", 0.25) == pytest.approx(
        [0.95 * nearness, 0.95 * (1 - nearness), 0.05]
    )
    assert phrasal._alignment_weights(table, ("a",), "y", 0.5) == pytest.approx([0.95 * (1 - nearness), 0.05 * 0.5])


def test_phrases_count_as_often_as_they_meet_less_one_half():
    pairs = [("red", "rouge")] * 3 + [("red", "vermeil"), ("rose", "rouge")]
    scores = dict(phrasal.fit_phrases(pairs).phrases["red",])
    assert scores["rouge",] == pytest.approx(0.5 * (math.log(2.5 / 4) + math.log(2.5 / 4)))
    assert scores["vermeil",] == pytest.approx(0.5 * (math.log(0.5 / 4) + math.log(0.5 / 1)))
    assert list(scores) == [("rouge",), ("vermeil",)], "the best first"
    many_phrases = phrasal.fit_phrases([("red", f"rouge{i}") for i in range(9)])
    assert len(many_phrases.phrases["red",]) == phrasal.TRANSLATIONS_PER_PHRASE == 5


def test_future_scores_are_those_of_the_best_phrases_of_uncovered_spans():
    options = {(0, 1): [(("x",), -1.0)], (1, 2): [(("y",), -2.0), (("z",), -4.0)], (0, 2): [(("w",), -2.5)]}
    options[2, 3] = [(("v",), -5.0)]
    ahead = phrasal.estimate_future_scores(options, 3)
    assert [ahead[0][1], ahead[1][2], ahead[0][2], ahead[1][3], ahead[0][3]] == [-1, -2, -2.5, -7, -7.5]
    assert [phrasal._score_uncovered(covered, ahead, 3) for covered in (0b000, 0b010, 0b001, 0b111)] == [
        -7.5,
        -6,
        -7,
        0,
    ]


def test_unknown_words_are_aligned_by_position():
    # Words lie at .25 and .75, at 1/6, 1/2 and 5/6 of their sentences; of two as near the first is taken.
    assert phrasal.align_words({}, ("a", "b"), ("x", "y")) == [0, 1]
    assert phrasal.align_words({}, ("a", "b", "c"), ("x", "y")) == [0, 2]
    table = {"a": {"x": 0.01, "y": 0.9}, "b": {"y": 0.1}, "": {"x": 0.9}}  # .9 at exp(-2) is more than .1
    assert phrasal.align_words(table, ("a", "b"), ("x", "y")) == [None, 0]


def test_a_phrase_has_four_words_at_most_on_either_side():
    # One word linked to the first of six: those without a link come along up to four words.
    assert set(phrasal.extract_phrases(1, 6, {(0, 0)})) == {(0, 1, 0, high) for high in (1, 2, 3, 4)}
    assert set(phrasal.extract_phrases(1, 6, {(0, 5)})) == {(0, 1, low, 6) for low in (2, 3, 4, 5)}
    straight = {(i, i) for i in range(6)}
    assert {stop - start for start, stop, _, _ in phrasal.extract_phrases(6, 6, straight)} == {1, 2, 3, 4}
    assert len(list(phrasal.extract_phrases(6, 6, straight))) == 6 + 5 + 4 + 3


@pytest.mark.parametrize("x", [-1, 0, 1])
@pytest.mark.parametrize("y", [-1, 1])
def test_links_grow_into_every_neighbour_and_on_from_there(x, y):
    # The second is no neighbour of (5, 5), and once the first is in, its source word is linked: it comes by growing.
    links = {(5, 5), (5 + x, 5 + y), (5 + x, 5 + 2 * y)}
    assert phrasal.grow_alignment(links, {(5, 5)}) == links
    reversed_links = {(j, i) for i, j in links}
    assert phrasal.grow_alignment({(5, 5)}, reversed_links) == reversed_links


def test_a_word_left_over_is_linked_once():
    # Nothing is agreed on: the first of those that share a word is taken.
    assert phrasal.grow_alignment({(0, 4), (1, 4)}, {(0, 6), (2, 8)}) == {(0, 4), (2, 8)}


#: Says nothing about any word: every logarithm is 0.
SILENT = phrasal.TrigramModel([])


def make_letter_translator(source, language, own=-1.0):
    """Each word is said by its capital."""
    return phrasal.PhraseTranslator({(word,): [((word.upper(),), own)] for word in source}, language)


def test_three_words_may_be_jumped_over_and_no_more():
    source = tuple("abcde")
    for wanted_order, reached in (("DABCE", True), ("EABCD", False), ("BACDE", True), ("ABCED", True)):
        translation = make_letter_translator(source, phrasal.TrigramModel([tuple(wanted_order)] * 1000)).decode(source)
        assert (translation == tuple(wanted_order)) == reached, wanted_order
        assert sorted(translation) == list("ABCDE")


def test_ties_between_orders_go_to_the_monotone_one():
    assert make_letter_translator("abcd", SILENT).decode(tuple("abcd")) == tuple("ABCD")


def test_an_untranslated_word_costs_nine():
    # Half a point for a word said: two words as they are stand at 2 (-9 + .5), a phrase of three at its own + 1.5.
    for own, expected in ((-18.4, ("X", "Y", "Z")), (-18.6, ("a", "b"))):
        assert phrasal.PhraseTranslator({("a", "b"): [(("X", "Y", "Z"), own)]}, SILENT).decode(("a", "b")) == expected


def test_phrases_of_up_to_four_words_are_looked_up():
    source = tuple("abcdef")
    spans = [source[i:k] for i in range(6) for k in range(i + 1, 7)]
    model = phrasal.PhraseTranslator({span: [(span, 0.0)] for span in spans}, SILENT)
    assert set(model._find_options(source)) == {(i, k) for i in range(6) for k in range(i + 1, 7) if k - i <= 4}
    assert all(phrases == [(source[i:k], 0.0)] for (i, k), phrases in model._find_options(source).items())


def test_a_narrow_beam_uses_future_scores(monkeypatch):
    # "a" is cheap and "b" is dear whichever comes first; the language wants "B A". By what was said so far alone, "A"
    # would be the one hypothesis that is kept.
    monkeypatch.setattr(phrasal, "BEAM_SIZE", 1)
    model = phrasal.PhraseTranslator(
        {("a",): [(("A",), -1.0)], ("b",): [(("B",), -8.0)]}, phrasal.TrigramModel([("B", "A")] * 50)
    )
    assert model.decode(("a", "b")) == ("B", "A")


def test_the_beam_finds_the_best_of_all_orders_of_four_words():
    source = tuple("abcd")
    for wanted_order in ("BADC", "CABD", "ADBC", "DCBA"):
        language = phrasal.TrigramModel([tuple(wanted_order), tuple("ABCD"), tuple("BA")])
        model = make_letter_translator(source, language)
        scored = {}
        for order in itertools.permutations(range(4)):
            steps = [(i, i + 1, (source[i].upper(),), -1.0) for i in order]
            scored[tuple("ABCD"[i] for i in order)] = score_translation(model, source, steps)
        assert model.decode(source) == max(scored, key=scored.get)


def test_what_a_phrase_adds_and_how_orders_back_off_by_hand():
    model = phrasal.TrigramModel([("a", "b"), ("a", "c")])
    # After "<s> a": b and c once each, two kinds: (1 + 2 p(b|a)) / 4; after "a" the same of p(b) = (1 + 4/5) / 10.
    unigram = (1 + 4 / 5) / 10
    bigram = (1 + 2 * unigram) / 4
    trigram = (1 + 2 * bigram) / 4
    assert math.exp(model.log_probability(("<s>", "a"), "b")) == pytest.approx(trigram)
    assert math.exp(model.log_probability(("x", "a"), "b")) == pytest.approx(bigram), (
        "a context never seen says nothing"
    )
    assert math.exp(model.log_probability(("x", "y"), "b")) == pytest.approx(unigram)
    end = (1 + ((1 + (2 + 4 / 5) / 10) / 2)) / 2  # after "a b" and after "b": the end, the only time
    assert math.exp(model.log_probability(("a", "b"), "</s>")) == pytest.approx(end)
    assert model.score_phrase(("<s>", "a"), ("b", "a")) == pytest.approx(
        0.6 * (math.log(trigram) + model.log_probability(("a", "b"), "a")) + 2 * 0.5
    )


def test_the_word_table_has_five_iterations_by_default(monkeypatch):
    rounds = []
    monkeypatch.setattr(
        phrasal, "fit_word_table", lambda pairs, iterations: rounds.append((pairs[0], iterations)) or {}
    )
    phrasal.fit_phrases([("a b", "X"), ("", "Y"), ("c", "")])
    assert rounds == [((("a", "b"), ("x",)), 5), ((("x",), ("a", "b")), 5)]


def test_an_unseen_pair_of_words_is_nearly_impossible():
    table = {"a": {"x": 0.5}, "": {"x": 0.25}}
    assert phrasal._alignment_weights(table, ("a", "b"), "x", 0.25)[1] == pytest.approx(
        0.95 * math.exp(-2) / (1 + math.exp(-2)) * 1e-9
    )
    assert phrasal._alignment_weights(table, ("a",), "y", 0.5) == pytest.approx([0.95e-9, 0.05e-9])


def test_future_scores_of_two_uncovered_spans_are_added():
    ahead = [[0.0] * 6 for _ in range(6)]
    for i, j, value in ((0, 1, -1), (2, 4, -10), (4, 5, -100), (3, 5, -1000), (2, 3, -5000)):
        ahead[i][j] = value
    assert phrasal._score_uncovered(0b10010, ahead, 5) == -11
    assert phrasal._score_uncovered(0b01010, ahead, 5) == -1 - 5000 - 100
    assert phrasal._score_uncovered(0b00111, ahead, 5) == -1000
