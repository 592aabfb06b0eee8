"""Copies and near-copies are recognised by the signatures stored with documents."""

import random
from itertools import pairwise

import pytest

from paragloss.analysis import analyzer
from paragloss.analysis.duplicates import compute_signature, group_duplicates
from paragloss.collection import Collection
from paragloss.types import Document

LETTER = """The bridge over the river was closed in March because two of its pillars had moved. The council asked three
engineers for a report. They found that heavy lorries had crossed it every night, although a sign forbids them, and
that water had washed away the gravel below the northern pillar. Repairs will take until autumn and cost more than the
town has put aside for all its roads this year. Until then the ferry runs every twenty minutes without charge."""


def signature_of(text):
    return compute_signature(analyzer("en").terms(text))


def are_copies(first, second):
    return group_duplicates([first, second]) == [[0, 1]]


@pytest.mark.parametrize(
    ("first", "second", "is_copy"),
    [
        (LETTER, LETTER.upper().replace(" ", "\n\n").replace(".", " ;"), True),
        (LETTER, f"{LETTER}\nSigned: Maria Keller, mayor, 3 April", True),
        (LETTER, "Beat the eggs with sugar until they are pale. " * 9, False),
        ("libfoo: development files", "libfoo: debug files", False),  # short texts: all words must be equal
        ("libfoo: debug files", "Libfoo (debug files)", True),
        ("...", "...", False),  # no words
    ],
    ids=["other case and signs", "signed", "of another thing", "short", "short and equal", "no words"],
)
def test_copies_are_told_from_other_texts(first, second, is_copy):
    assert are_copies(signature_of(first), signature_of(second)) == is_copy


@pytest.mark.parametrize(("changed", "is_copy"), [(0.02, True), (0.05, True), (0.1, False), (0.3, False)])
def test_copies_have_three_quarters_of_their_pairs_of_terms_in_common(changed, is_copy):
    generator = random.Random(7)
    terms = [f"w{generator.randrange(5000)}" for _ in range(3000)]
    others = [f"x{i}" if generator.random() < changed else term for i, term in enumerate(terms)]
    pairs, other_pairs = set(pairwise(terms)), set(pairwise(others))
    assert (len(pairs & other_pairs) / len(pairs | other_pairs) > 0.75) == is_copy
    assert are_copies(compute_signature(terms), compute_signature(others)) == is_copy


def test_copies_are_grouped_behind_the_first_of_them():
    signatures = [signature_of(text) for text in ("one", LETTER, "two", f"{LETTER} Copy.", "One!", "")] + [b""]
    assert group_duplicates(signatures) == [[0, 4], [1, 3], [2], [5], [6]]
    # The third shares .79 of all pairs of terms with either of the others, and these .61 with each other.
    terms = [str(number) for number in range(140)]
    overlapping = [compute_signature(terms[start : start + 100]) for start in (0, 24, 12)]
    assert group_duplicates(overlapping) == [[0, 2], [1]]


def test_copies_are_shown_once_with_every_place_and_leave_room_for_other_documents(tmp_path):
    with Collection.create(str(tmp_path / "c"), meaning=False) as collection:
        copies = [Document(f"copies/{number}.txt", f"{LETTER} Copy {number}.", "en") for number in range(3)]
        collection.index([*copies, Document("ferry.txt", "The ferry crosses the river beside the bridge.", "en")])
        first, second = sorted(collection.search("bridge river", k=2).results, key=lambda result: len(result.copies))
        assert (first.id, first.copies) == ("ferry.txt", ())
        assert {second.id, *second.copies} == {"copies/0.txt", "copies/1.txt", "copies/2.txt"}


def test_groups_are_those_of_comparing_each_document_with_the_first_of_every_group():
    generator = random.Random(0)
    texts = [[f"w{generator.randrange(400)}" for _ in range(generator.choice([0, 5, 60]))] for _ in range(30)]
    texts += [[*text[: generator.randrange(40)], *text[3:]] for text in texts]  # copies, near-copies and others
    generator.shuffle(texts)
    signatures = [compute_signature(text) for text in texts]
    expected: list[list[int]] = []
    for position, signature in enumerate(signatures):
        similar = [group for group in expected if are_copies(signatures[group[0]], signature)]
        if similar:
            similar[0].append(position)
        else:
            expected.append([position])
    assert group_duplicates(signatures) == expected
    assert 1 < max(map(len, expected)) < len(texts)
