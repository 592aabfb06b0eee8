import gzip

import numpy as np
import pytest

from paragloss.errors import InputError
from paragloss.lab import judgments
from paragloss.types import Concept, JudgedCollection, Query

CONCEPTS = [
    Concept("sun", {"en": "The Sun is a star. It shines.", "fr": "Le Soleil est une étoile."}, {"en": "Sun"}),
    Concept("moon", {"en": "The Moon orbits Earth.", "fr": "La Lune tourne."}, {"en": "Moon"}),
    Concept("mars", {"fr": "Mars est rouge."}),
    Concept("rain", {"en": "Rain falls.", "ja": "雨が降る。"}, {"en": "Rain"}),
]
LINKS = {"sun": {"mars", "rain", "nowhere"}}


def test_the_same_concept_is_relevant_and_a_linked_one_partly():
    judged = judgments.from_aligned(CONCEPTS, source="en", target="fr", links=LINKS, query_kind="title")
    assert [(query.id, query.text, query.lang) for query in judged.queries] == [
        ("sun", "Sun", "en"),
        ("moon", "Moon", "en"),
    ]
    assert list(judged.documents) == ["sun", "moon", "mars"]  # rain has no French, mars can't ask but can be found
    assert judged.qrels == {"sun": {"mars": 1, "sun": 2}, "moon": {"moon": 2}}


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("The Sun is a star. It shines.", "The  is a star"),  # without the word of the title
        ("雨が降る。風が吹く。", "雨が降る"),
        ("वर्षा होती है। हवा", "वर्षा होती है"),
        ("Version 2.5 is out", "Version 2.5 is out"),
    ],
)
def test_a_query_is_the_first_sentence_in_every_script_without_the_words_of_the_title(text, first):
    aligned = [Concept("x", {"aa": text, "bb": "something"}, {"aa": "Sun"})]
    assert judgments.from_aligned(aligned, source="aa", target="bb").queries[0].text == first


def test_unknown_languages_and_kinds_of_queries_are_refused():
    with pytest.raises(InputError, match="'sw'"):
        judgments.from_aligned(CONCEPTS, source="en", target="sw")
    with pytest.raises(InputError, match=r"'summary'.*title, first-sentence, text"):
        judgments.from_aligned(CONCEPTS, source="en", target="fr", query_kind="summary")


def test_links_are_read_both_ways(tmp_path):
    path = tmp_path / "links.tsv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("a\tb\na\tc\n")
    assert judgments.read_links(path) == {"a": {"b", "c"}, "b": {"a"}, "c": {"a"}}
    plain = tmp_path / "links.tsv"
    plain.write_text("a b\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"links.tsv:1: 'a b'"):
        judgments.read_links(plain)


def test_links_in_both_directions_are_mutual():
    pairs = [("a", "b"), ("b", "a"), ("a", "c"), ("d", "d"), ("e", "a"), ("a", "e")]
    assert judgments.find_mutual_links(pairs) == {"a": {"b", "e"}, "b": {"a"}, "e": {"a"}}


def make_judged(queries=100, documents=60):
    aligned = [Concept(str(i), {"en": f"word {i}.", "fr": f"mot {i}."}) for i in range(documents)]
    judged = judgments.from_aligned(aligned, source="en", target="fr")
    queries_of_concepts = [judged.queries[i % documents]._replace(id=f"q{i}") for i in range(queries)]
    rng = np.random.default_rng(0)
    qrels = {
        q.id: {str(d): 2 for d in rng.choice(documents, rng.integers(0, 6), replace=False)} for q in queries_of_concepts
    }
    return JudgedCollection(queries_of_concepts, judged.documents, qrels)


def test_a_split_divides_the_queries_and_repeats_with_its_seed():
    judged = make_judged()
    parts = judgments.split(judged, (3, 1, 1), seed=4)
    assert [len(part.queries) for part in parts] == [60, 20, 20]
    assert sorted(query.id for part in parts for query in part.queries) == sorted(query.id for query in judged.queries)
    assert all(part.qrels[query.id] == judged.qrels[query.id] for part in parts for query in part.queries)
    assert parts == judgments.split(judged, (3, 1, 1), seed=4) != judgments.split(judged, (3, 1, 1), seed=5)


def test_irrelevant_documents_are_different_unjudged_and_drawn_evenly():
    judged = make_judged(queries=2000)
    filled = judgments.sample_irrelevant(judged, 20, seed=1)
    drawn = np.zeros(60)
    for query in judged.queries:
        before, after = judged.qrels[query.id], filled.qrels[query.id]
        added = after.keys() - before.keys()
        assert len(added) == 20
        assert before.items() <= after.items()
        assert {after[name] for name in added} == {0}
        drawn[[int(name) for name in added]] += 1
    # 2000 x 20 draws over 60 documents: 667 each, deviation about 21 (a document judged is not drawn).
    assert abs(drawn - 667).max() < 110


def test_drawing_every_unjudged_document_gives_exactly_those():
    judged_numbers = [np.array([0, 3]), np.array([], int), np.array([4])]
    drawn = judgments.draw_unjudged(judged_numbers, 5, 3, np.random.default_rng(0))
    assert sorted(drawn[0]) == [1, 2, 4]
    assert not {4} & set(drawn[2])
    with pytest.raises(InputError, match=r"4 irrelevant.*only 3"):
        judgments.draw_unjudged(judged_numbers, 5, 4, np.random.default_rng(0))


def test_queries_that_share_an_answer_are_one_family():
    texts = {"a": "Red sun", "b": "blue", "c": "red sun", "d": "green", "e": "grey", "f": "black"}
    qrels = {"a": {"x": 2}, "b": {"y": 2, "x": 1}, "c": {"z": 1}, "d": {"y": 2, "w": 2}, "e": {"w": 2}, "f": {"x": 1}}
    queries = [Query(id, text, "en") for id, text in texts.items()]
    families = judgments.group_queries(JudgedCollection(queries, {}, qrels))
    # a and c say the same; b and d want y, d and e want w; what is partly relevant (x to b and f) joins nobody.
    groups = {tuple(sorted(id for id in texts if families[id] == name)) for name in families.values()}
    assert groups == {("a", "c"), ("b", "d", "e"), ("f",)}
    # Where clicks say only 1, that is what they say of an answer.
    clicked = {id: dict.fromkeys(grades, 1) for id, grades in qrels.items()}
    families = judgments.group_queries(JudgedCollection(queries, {}, clicked))
    assert len(set(families.values())) == 1
