"""Phrase-based translation: alignments, phrases and probabilities by hand, the beam against all there is."""

import itertools
import math

import pytest

from paragloss.lab.recipes import phrasal


def test_links_grow_from_where_both_directions_agree():
    # Both: (0, 0), (2, 2). (1, 2) touches (2, 2) and word 1 has no link; (4, 4) is free on both sides; (2, 0) is taken.
    assert phrasal.grown({(0, 0), (2, 2), (1, 2), (2, 0)}, {(0, 0), (2, 2), (4, 4)}) == {(0, 0), (2, 2), (1, 2), (4, 4)}


def test_phrases_are_those_that_no_link_leaves():
    # the(0) red(1) house(2) - la(0) maison(1) rouge(2): red and house change places; nothing starts at "the red".
    found = set(phrasal.extracted(3, 3, {(0, 0), (1, 2), (2, 1)}))
    assert found == {(0, 1, 0, 1), (1, 2, 2, 3), (2, 3, 1, 2), (1, 3, 1, 3), (0, 3, 0, 3)}
    # A target word without a link may come along on either side.
    assert set(phrasal.extracted(1, 3, {(0, 1)})) == {(0, 1, 1, 2), (0, 1, 0, 2), (0, 1, 1, 3), (0, 1, 0, 3)}


def test_the_language_model_by_hand():
    # "a b", "a c": </s>, a, b, c. Order 1: 6 tokens of 4 kinds, a 2; uniform 1/5: (2 + 4/5) / 10 = .28.
    # After <s>: a both times: (2 + 1 x .28) / 3 = .76; after <s> <s> the same again: (2 + .76) / 3 = .92.
    model = phrasal.Language([("a", "b"), ("a", "c")])
    assert math.exp(model.log(("<s>", "<s>"), "a")) == pytest.approx(0.92)
    every = [*"abc", "</s>", "another"]
    assert sum(math.exp(model.log(("<s>", "a"), word)) for word in every) == pytest.approx(1)


PAIRS = [
    ("the house", "la maison"), ("the red house", "la maison rouge"), ("the car", "la voiture"), ("red", "rouge"),
    ("the red car", "la voiture rouge"), ("the blue house", "la maison bleue"), ("blue", "bleue"), ("house", "maison"),
    ("a green door", "une porte verte"), ("the door", "la porte"), ("green", "verte"), ("a house", "une maison"),
]  # fmt: skip


def test_words_change_places_as_the_pairs_have_it():
    model = phrasal.fit(PAIRS)
    assert model.translate("The blue car!") == "la voiture bleue"
    assert model.translate("the red Zeppelin") == "la zeppelin rouge", "what no phrase has stays as it is"
    assert model.translate("") == ""


def test_words_are_learned_from_whom_they_meet():
    table = phrasal.learned([(phrasal.words(a), phrasal.words(b)) for a, b in PAIRS], 5)
    assert max(table["house"], key=table["house"].get) == "maison"
    assert phrasal.linked(table, ("the", "red", "house"), ("la", "maison", "rouge")) == [0, 2, 1]


def score(model, said, cut):
    """What a translation is worth, phrase by phrase: [(start, stop, phrase, own), ...]."""
    total, end, context = 0.0, 0, ("<s>", "<s>")
    for start, stop, phrase, own in cut:
        total += own - 0.4 * abs(start - end)
        for word in phrase:
            total += 0.6 * model.language.log(context, word) + 0.5
            context = (context[1], word)
        end = stop
    return total + 0.6 * model.language.log(context, "</s>")


def test_the_beam_finds_the_best_of_all_there_is():
    learned, said = phrasal.fit(PAIRS), ("a", "blue", "car")
    own = {("a",): ["une", "un"], ("blue",): ["bleue", "bleu"], ("car",): ["voiture", "auto"], said[1:]: ["bleue auto"]}
    model = learned._replace(
        phrases={key: [(tuple(w.split()), -n - len(key)) for n, w in enumerate(found)] for key, found in own.items()}
    )
    cuts = [[(0, 1), (1, 2), (2, 3)], [(0, 2), (2, 3)], [(0, 1), (1, 3)], [(0, 3)]]
    tried = []
    for cut in cuts:
        for order in itertools.permutations(cut):
            ways = [model._options(said).get(span, []) for span in order]
            for chosen in itertools.product(*ways):
                steps = [(*span, *one) for span, one in zip(order, chosen, strict=True)]
                tried.append((score(model, said, steps), tuple(w for _, _, phrase, _ in steps for w in phrase)))
    assert len(tried) > 20
    assert model.decode(said) == max(tried)[1]
