"""The demonstration's texts are whole and in the languages they claim; what is shown beside them fits them."""

from collections import Counter

import numpy as np

from paragloss import demo
from paragloss.collection import Collection
from paragloss.demo import encoded
from paragloss.demo.measurement import measure_by_language
from paragloss.languages import identify, script_of
from paragloss.types import Document, Query

LANGS = {"ar", "da", "de", "en", "es", "fr", "hi", "it", "ru", "sw", "vi", "zh"}
SCRIPTS = {"ar": "Arab", "hi": "Deva", "ru": "Cyrl", "zh": "Hani"}


def test_every_concept_is_there_and_asked_for_once_in_every_language():
    concepts = demo.concepts()
    assert len(concepts) == 60
    assert all(concept.texts.keys() == concept.titles.keys() == LANGS for concept in concepts)
    queries, judged = demo.queries()
    assert Counter(query.lang for query in queries) == dict.fromkeys(LANGS, 60)
    assert {query.id for query in queries} == {f"{c.id}-{lang}" for c in concepts for lang in LANGS} == judged.keys()


def test_no_text_stands_twice_and_none_is_much_longer_than_others():
    documents, (queries, _) = demo.documents(), demo.queries()
    assert len({document.text for document in documents}) == 720
    assert len({(document.lang, document.title) for document in documents}) == 720
    assert len({(query.lang, query.text) for query in queries}) == 720
    for document in documents:
        min_length, max_length = (120, 180) if document.lang == "zh" else (290, 620)
        assert min_length <= len(document.text) <= max_length, document.id
        sentences = sum(document.text.count(end) for end in (". ", "。", "।", ": ")) + 1
        assert 3 <= sentences <= 9, document.id


def test_texts_are_in_the_language_and_script_they_claim():
    documents, (queries, _) = demo.documents(), demo.queries()
    assert identify([document.text for document in documents]) == [document.lang for document in documents]
    for text, lang in [(d.text, d.lang) for d in documents] + [(q.text, q.lang) for q in queries]:
        assert script_of(text) == SCRIPTS.get(lang, "Latn"), text


def test_the_demonstration_compares_searches_in_other_languages_than_the_query(demo_collection, monkeypatch):
    searched = []

    def record_languages(collection, queries, **how):
        searched.append(({query.lang for query in queries}, set(how["to"])))
        return [[] for _ in queries]

    monkeypatch.setattr(Collection, "rank", record_languages)
    list(measure_by_language(demo_collection))
    assert len(searched) == 2 * len(LANGS)
    assert all(langs | others == LANGS and not langs & others for langs, others in searched)


def test_judgments_are_graded_and_leave_out_the_language_of_the_query():
    _, judged = demo.queries()
    assert Counter(judged["tide-en"].values()) == {demo.ITSELF: 11, demo.RELATED: 11}
    assert judged["tide-en"]["tide.sw"] == 2
    assert judged["tide-en"]["moon.sw"] == 1
    assert "tide.en" not in judged["tide-en"]
    assert Counter(judged["football-de"].values()) == {2: 11}


def test_related_concepts_are_said_for_every_concept_and_exist():
    related = demo.related()
    assert list(related) == [concept.id for concept in demo.concepts()]
    for concept, related_ids in related.items():
        assert set(related_ids) <= related.keys() - {concept}


def test_the_vectors_are_of_these_texts():
    keys = encoded.compute_keys(encoded.list_texts(demo.documents(), demo.queries()[0]))
    stored_vectors = encoded.load()
    assert (keys == stored_vectors.keys).all(), "run studies/demo_vectors.py again"
    assert (stored_vectors.rows.shape, stored_vectors.rows.dtype) == ((1440, 384), np.int8)


def test_a_key_changes_with_the_text_and_with_who_reads_it():
    assert len(set(encoded.compute_keys([("a", True), ("a", False), ("b", True), ("a", True)]).tolist())) == 3


def test_eight_bits_keep_the_direction_of_a_vector():
    rows = np.random.default_rng(0).normal(size=(20, 384)).astype(np.float32)
    stored_vectors = encoded.quantize(rows).astype(np.float32)
    norms = np.linalg.norm(rows, axis=1) * np.linalg.norm(stored_vectors, axis=1)
    assert ((rows * stored_vectors).sum(axis=1) / norms).min() > 0.9999


def test_the_nearest_vectors_of_other_languages_are_found(monkeypatch):
    rows = np.array([[127, 0], [120, 50], [0, 127], [127, 1]], np.int8)  # three documents, a query
    monkeypatch.setattr(encoded, "load", lambda: encoded.Vectors(np.zeros(4, np.uint64), rows))
    documents = [Document("a.en", "", "en"), Document("a.fr", "", "fr"), Document("b.fr", "", "fr")]
    (ranking,) = encoded.rank(documents, [Query("a-en", "a", "en")], k=3)
    assert [hit.id for hit in ranking] == ["a.fr", "b.fr"]
