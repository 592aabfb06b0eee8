"""Copies and near-copies are recognised by the signatures stored with documents."""

import random
from itertools import pairwise

import pytest

from paragloss.analysis import analyzer
from paragloss.analysis.duplicates import MIN_SIMILARITY, compute_signature, estimate_similarity, group_duplicates
from paragloss.collection import Collection
from paragloss.types import Document

LETTER = """The bridge over the river was closed in March because two of its pillars had moved. The council asked three
engineers for a report. They found that heavy lorries had crossed it every night, although a sign forbids them, and
that water had washed away the gravel below the northern pillar. Repairs will take until autumn and cost more than the
town has put aside for all its roads this year. Until then the ferry runs every twenty minutes without charge."""


def signature_of(text):
    return compute_signature(analyzer("en").terms(text))


def similarity(first, second):
    return estimate_similarity(signature_of(first), signature_of(second))


def jaccard(first, second):
    first_pairs, second_pairs = set(pairwise(first)), set(pairwise(second))
    return len(first_pairs & second_pairs) / len(first_pairs | second_pairs)


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        (LETTER, LETTER.upper().replace(" ", "\n\n").replace(".", " ;"), 1.0, 1.0),
        (LETTER, f"{LETTER}\nSigned: Maria Keller, mayor, 3 April", 0.8, 0.99),
        (LETTER, "Beat the eggs with sugar until they are pale. " * 9, 0.0, 0.1),
        ("libfoo: development files", "libfoo: debug files", 0.0, 0.0),  # short texts: all words must be equal
        ("libfoo: debug files", "Libfoo (debug files)", 1.0, 1.0),
        ("...", "...", 0.0, 0.0),  # no words
    ],
    ids=["other case and signs", "signed", "of another thing", "short", "short and equal", "no words"],
)
def test_copies_are_similar_and_other_texts_are_not(first, second, low, high):
    assert low <= similarity(first, second) <= high


@pytest.mark.parametrize("changed", [0.02, 0.1, 0.3, 0.7])
def test_similarity_is_the_share_of_pairs_of_terms_in_common(changed):
    generator = random.Random(7)
    terms = [f"w{generator.randrange(5000)}" for _ in range(3000)]
    other = [f"x{i}" if generator.random() < changed else term for i, term in enumerate(terms)]
    assert estimate_similarity(compute_signature(terms), compute_signature(other)) == pytest.approx(
        jaccard(terms, other), abs=0.13
    )


def test_copies_are_grouped_behind_the_first_of_them():
    signatures = [signature_of(text) for text in ("one", LETTER, "two", f"{LETTER} Copy.", "One!", "")] + [b""]
    assert group_duplicates(signatures) == [[0, 4], [1, 3], [2], [5], [6]]
    # The third shares two thirds of all pairs of terms with either of the others, and these .43 with each other.
    terms = [str(number) for number in range(140)]
    overlapping = [compute_signature(terms[start : start + 100]) for start in (0, 40, 20)]
    assert group_duplicates(overlapping, min_similarity=0.55) == [[0, 2], [1]]


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
        similar = [g for g in expected if estimate_similarity(signatures[g[0]], signature) >= MIN_SIMILARITY]
        if similar:
            similar[0].append(position)
        else:
            expected.append([position])
    assert group_duplicates(signatures) == expected
    assert 1 < max(map(len, expected)) < len(texts)
