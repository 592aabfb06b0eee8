"""What every store promises, tried on a folder and on a real server."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from records import list_ids, make_record, make_sparse

from paragloss.errors import StoreError
from paragloss.formats.numbers import parse_number
from paragloss.stores import create_store, open_store
from paragloss.types import Document, Hit, Range, Record, SparseVector

RED, GREEN = np.eye(2, 3, dtype=np.float32)[:, None]  # two query vectors, each of shape (1, 3)


@pytest.fixture(params=["folder", "server"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return str(tmp_path / "collection")
    return request.getfixturevalue("remote")


@pytest.fixture
def store(location):
    with create_store(location, dense={"meaning": 3}, sparse=["terms"]) as new_store:
        yield new_store


FULL = make_record(
    "ü/1",
    lang="zh",
    dense=(1, 2, 3),
    terms={7: 0.1, 4_294_967_295: 2.5},
    text="天气 \U0001f600\n\0",
    title="title",
    fields={"abstract": "short"},
    meta={"year": 1999, "tags": ["a", "b"], "nested": {"x": None}, "open": True, "score": 0.5},
)


def test_a_document_is_read_as_it_was_written(store):
    store.add([FULL])
    stored, missing = store.get(["ü/1", "other"], vectors=True)
    assert missing is None
    assert stored.document == FULL.document
    np.testing.assert_array_equal(stored.dense["meaning"], FULL.dense["meaning"])
    np.testing.assert_array_equal(stored.sparse["terms"].indices, FULL.sparse["terms"].indices)
    np.testing.assert_array_equal(stored.sparse["terms"].values, FULL.sparse["terms"].values)
    assert stored.dense["meaning"].dtype == stored.sparse["terms"].values.dtype == np.float32


def test_vectors_and_texts_are_read_on_request_only(store):
    store.add([FULL])
    (bare,), (named,) = store.get(["ü/1"]), store.get(["ü/1"], vectors=["terms"], text=False)
    (without_text, missing) = store.get(["ü/1", "other"], text=False)
    assert (bare.dense, bare.sparse, missing) == ({}, {}, None)
    assert (list(named.dense), list(named.sparse)) == ([], ["terms"])
    np.testing.assert_array_equal(named.sparse["terms"].values, FULL.sparse["terms"].values)
    assert named.document == without_text.document == FULL.document._replace(text="", fields={})
    with pytest.raises(StoreError, match="keeps no vector 'nope'; it has meaning, terms"):
        store.get(["ü/1"], vectors=["nope"])


def test_adding_again_replaces_the_whole_document(store):
    store.add([FULL])
    assert store.get(["ü/1"], text=False)[0].document.lang == "zh"
    store.add([make_record("ü/1", lang="de", text="neu")])
    assert store.get(["ü/1"], text=False)[0].document == Document("ü/1", "", "de")
    (stored,) = store.get(["ü/1"], vectors=True)
    assert stored.document == Document("ü/1", "neu", "de")
    assert (dict(stored.dense), dict(stored.sparse)) == ({}, {})
    assert (store.count(), store.count({"lang": ["zh"]})) == (1, 0)


def test_deleting_counts_existing_documents(store):
    store.add([make_record("a", terms={1: 1}), make_record("b", terms={1: 1})])
    assert store.delete(["a", "a", "nothing"]) == 1
    assert store.delete([]) == 0
    assert store.get(["a"]) == [None]
    assert store.search_sparse("terms", [make_sparse({1: 1})], 5) == [[Hit("b", 1.0)]]


def test_one_vector_can_be_replaced(store):
    store.add([make_record("a", dense=(1, 0, 0), terms={1: 1})])
    [(points, rows)] = store.scroll_sparse("terms")
    assert (rows.indices.tolist(), rows.values.tolist()) == ([1], [1])
    store.add([make_record("b", terms={1: 1})])
    store.update_sparse("terms", points, [make_sparse({2: 0.5})])
    store.update_dense("meaning", ["b"], np.array([[0, 1, 0]], np.float32))
    a, b = store.get(["a", "b"], vectors=True)
    assert a.sparse["terms"].indices.tolist() == [2]
    assert a.dense["meaning"].tolist() == [1, 0, 0]
    assert b.dense["meaning"].tolist() == [0, 1, 0]
    assert store.search_sparse("terms", [make_sparse({1: 1, 2: 1})], 5) == [[Hit("b", 1.0), Hit("a", 0.5)]]


def test_dense_search_is_a_dot_product(store):
    rows = {"far": (0, 0, 1), "near": (4, 0, 0), "against": (-1, 0, 0), "without": None}
    store.add([make_record(id, dense=row) for id, row in rows.items()])
    first, second = store.search_dense("meaning", np.array([[1, 0, 0.5], [0, 0, 2]], np.float32), 2)
    assert first == [Hit("near", 4.0), Hit("far", 0.5)]
    assert second[0] == Hit("far", 2.0)
    assert list_ids(store.search_dense("meaning", RED, 10, exact=True)[0]) == ["near", "far", "against"]


def test_a_search_can_be_limited_to_candidate_ids(store):
    store.add([make_record(id, dense=(i, 1, 0)) for i, id in enumerate("abcd")] + [make_record("without")])
    (hits,) = store.search_dense("meaning", RED, 4, exact=True, candidate_ids=["b", "d", "without", "nobody"])
    assert hits == [Hit("d", 3.0), Hit("b", 1.0)]
    assert store.search_dense("meaning", RED, 4, exact=True, candidate_ids=[]) == [[]]


def test_sparse_search_finds_only_documents_that_share_a_term(store):
    terms = {"a": {1: 2, 9: 1}, "b": {9: 3}, "c": {5: 1}, "d": None}
    store.add([make_record(id, terms=terms[id]) for id in terms])
    queries = [make_sparse({1: 1, 9: 0.5}), make_sparse({77: 1}), make_sparse({})]
    assert store.search_sparse("terms", queries, 10) == [[Hit("a", 2.5), Hit("b", 1.5)], [], []]


def test_ties_are_broken_by_id_however_many(store):
    ids = [f"d{i:03}" for i in range(300)]
    store.add([make_record(id, dense=(1, 0, 0), terms={1: 1}) for id in reversed(ids)])
    assert list_ids(store.search_sparse("terms", [make_sparse({1: 1})], 4)[0]) == ids[:4]
    assert list_ids(store.search_dense("meaning", RED, 4)[0]) == ids[:4]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"lang": ["de"]}, "bd"),
        ({"lang": ["de", "fr"]}, "bcd"),
        ({"lang": []}, ""),
        ({"lang": ["xx"]}, ""),
        ({"meta.year": [1999]}, "ac"),
        ({"meta.year": ["1999"]}, "b"),
        ({"meta.year": [1999, "1999"]}, "abc"),
        ({"meta.open": [True]}, "a"),
        ({"meta.open": [False]}, "b"),
        ({"meta.open": [True, False]}, "ab"),
        ({"meta.tags": ["x"]}, "ac"),
        ({"meta.two words": ["y"]}, "d"),
        ({"meta.none": ["y"]}, ""),
        ({"meta.year": [1999], "lang": ["fr"]}, "c"),
        ({}, "abcd"),
        (None, "abcd"),
    ],
)
def test_filters_select_by_language_and_metadata(store, where, expected):
    store.add(
        [
            make_record("a", terms={1: 4}, dense=(4, 0, 0), meta={"year": 1999, "open": True, "tags": ["x", "z"]}),
            make_record("b", terms={1: 3}, dense=(3, 0, 0), lang="de", meta={"year": "1999", "open": False}),
            make_record("c", terms={1: 2}, dense=(2, 0, 0), lang="fr", meta={"year": 1999, "tags": "x"}),
            make_record("d", terms={1: 1}, dense=(1, 0, 0), lang="de", meta={"two words": "y"}),
        ]
    )
    assert store.count(where) == len(expected)
    assert "".join(list_ids(store.search_sparse("terms", [make_sparse({1: 1})], 9, where)[0])) == expected
    assert "".join(list_ids(store.search_dense("meaning", RED, 9, where)[0])) == expected
    scrolled = [stored.document.id for batch in store.scroll(where, batch_size=2) for stored in batch]
    assert "".join(sorted(scrolled)) == expected


def test_a_field_indexed_for_one_kind_of_value_still_matches_the_other(store):
    store.add([make_record("a", meta={"year": 1}), make_record("b", meta={"year": "1"})])
    assert [store.count({"meta.year": [value]}) for value in (1, "1", 1, "1")] == [1, 1, 1, 1]
    store.add([make_record("c", meta={"year": 1}), make_record("d", meta={"year": "1"})])
    assert [store.count({"meta.year": [value]}) for value in (1, "1")] == [2, 2]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Range(low=1999), "abc"),
        (Range(low=1999, low_open=True), "c"),
        (Range(low=1998, high=1999), "abd"),
        (Range(high=1999, high_open=True), "d"),
        (Range(high=1999), "abd"),
        (1999.0, "ab"),
        (1998.5, "d"),
        (Range(low=parse_number("2024-05-02")), "f"),
    ],
)
def test_ranges_of_numbers_also_of_those_written_as_text(store, condition, expected):
    values = {
        "a": 1999,
        "b": "1999",
        "c": [2000, 2001],
        "d": 1998.5,
        "e": "01999",
        "f": "2024-05-02",
        "g": "2024-05-01",
    }
    field = {id: "date" if id in "fg" else "year" for id in values}
    store.add([make_record(id, meta={field[id]: value}) for id, value in values.items()])
    batches = store.scroll({f"meta.{field[expected[0]]}": [condition]})
    assert "".join(sorted(r.document.id for batch in batches for r in batch)) == expected


@pytest.mark.parametrize("where", [{"title": ["x"]}, {"lang": "en"}, {'meta.a"b': ["x"]}])
def test_a_malformed_filter_is_an_error(store, where):
    with pytest.raises(StoreError, match="filter"):
        store.count(where)


def test_scroll_yields_every_document_once(store):
    store.add([make_record(f"d{i}", terms={1: 1}) for i in range(57)])
    batches = list(store.scroll(batch_size=10, vectors=["terms"]))
    assert {len(batch) for batch in batches} == {10, 7}
    assert sorted(r.document.id for batch in batches for r in batch) == sorted(f"d{i}" for i in range(57))
    assert all(r.sparse["terms"].indices.tolist() == [1] for batch in batches for r in batch)


def test_blobs_are_written_and_replaced(store):
    assert store.read_blob("statistics") is None
    for data in (b"", b"\x00\xff" * 10, np.random.default_rng(0).bytes(13_000_000), b"short again"):
        store.write_blob("statistics", data)
        assert store.read_blob("statistics") == data
    with pytest.raises(StoreError, match=r"can't be called '\.\./x'"):
        store.write_blob("../x", b"")


def test_a_reopened_store_has_all_its_documents(location):
    with create_store(location, dense={"meaning": 3}, sparse=["terms"]) as store:
        store.add([FULL, make_record("b", terms={1: 1})])
        store.write_blob("x", b"y")
    with open_store(location) as store:
        assert store.get(["ü/1"])[0].document == FULL.document
        assert store.search_sparse("terms", [make_sparse({1: 1})], 3) == [[Hit("b", 1.0)]]
        assert store.read_blob("x") == b"y"
        assert (dict(store.dense), store.sparse) == ({"meaning": 3}, ("terms",))


def test_a_batch_may_be_larger_than_one_request(store):
    store.add([make_record(f"d{i}", text="x" * 30_000, dense=(i, 1, 1)) for i in range(1200)])
    store.optimize()
    assert store.count() == 1200
    assert store.search_dense("meaning", RED, 1)[0] == [Hit("d1199", 1199.0)]


def make_with_terms(*indices):
    return make_record("a")._replace(sparse={"terms": SparseVector(np.uint32(indices), np.ones(2, np.float32))})


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (make_record("a", dense=(1, 2)), r"'a': vector 'meaning' has shape \(2,\), this collection keeps \(3,\)"),
        (make_record("a", dense=(1, 2, float("nan"))), "not finite"),
        (Record(Document("a", "", "en"), {"other": np.ones(1, np.float32)}), "keeps no vector 'other'"),
        (make_with_terms(2, 1), "ascend"),
        (make_with_terms(2, 2), "ascend"),
        (make_record("a", text="\ud800"), "surrogate"),
        (make_record("a", title="\ud800"), "surrogate"),
        (make_record("a", meta={"x": object()}), "'a': meta takes what JSON can hold"),
        (make_record("a", meta={"x": float("inf")}), "'a': meta takes what JSON can hold"),
        (make_record("a", meta={"n": 10**400}), "more than 64 bits"),
    ],
)
def test_a_batch_with_an_invalid_record_is_refused_as_a_whole(store, bad, message):
    with pytest.raises(StoreError, match=message):
        store.add([make_record("good"), bad])
    assert store.count() == 0


def test_searches_of_wrong_vectors_are_errors(store):
    with pytest.raises(StoreError, match="'meaning' takes 1 finite rows of 3; got"):
        store.search_dense("meaning", np.ones((1, 4), np.float32), 1)
    with pytest.raises(StoreError, match="keeps no vector 'nope'"):
        store.search_sparse("nope", [make_sparse({1: 1})], 1)


def test_a_collection_cannot_be_created_twice(location, store):
    with pytest.raises(StoreError, match="choose another"):
        create_store(location, dense={}, sparse=["terms"])


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"dense": {"x": 3}, "sparse": ["x"]}, "its own name"),
        ({"dense": {"x": 0}, "sparse": []}, "0 dimensions"),
        (
            {"dense": {"x": 3}, "sparse": [], "precision": {"x": "int4"}},
            "can't be kept as 'int4'; there are float32, float16, int8",
        ),
    ],
)
def test_vectors_need_distinct_names_a_dimension_and_a_known_precision(location, schema, message):
    with pytest.raises(StoreError, match=message):
        create_store(location, **schema)


# Several vectors to a document: one for each passage


@pytest.fixture(params=["float32", "float16", "int8"])
def passages(request, location):
    schema = {"dense": {"meaning": 3}, "multivectors": ["meaning"], "precision": {"meaning": request.param}}
    with create_store(location, sparse=[], **schema) as new_store:
        yield new_store


def make_passages(id: str, *rows: tuple[float, float, float]) -> Record:
    return Record(Document(id, f"text of {id}", "en"), {"meaning": np.array(rows, np.float32)})


def test_a_document_scores_as_its_best_passage(passages, location):
    passages.add([make_passages("two", (1, 0, 0), (0, 1, 0)), make_passages("one", (0.5, 0.5, 0))])
    assert passages.search_dense("meaning", GREEN, 5) == [[Hit("two", 1.0), Hit("one", 0.5)]]
    (stored,) = passages.get(["two"], vectors=True)
    np.testing.assert_array_equal(stored.dense["meaning"], [[1, 0, 0], [0, 1, 0]])
    passages.optimize()
    assert passages.search_dense("meaning", GREEN, 5) == [[Hit("two", 1.0), Hit("one", 0.5)]]
    passages.close()
    with open_store(location) as reopened:
        assert reopened.search_dense("meaning", GREEN, 1) == [[Hit("two", 1.0)]]
        with pytest.raises(StoreError, match=r"'meaning' has shape \(3,\), this collection keeps \(rows, 3\)"):
            reopened.add([Record(Document("flat", "text", "en"), {"meaning": np.ones(3, np.float32)})])


def test_documents_without_a_vector_can_be_found_and_given_one(store, location):
    store.add([make_record("has", dense=(1, 0, 0)), make_record("lacks"), make_record("lacks too", lang="fr")])
    assert store.count(without_vector="meaning") == 2
    assert [r.document.id for batch in store.scroll({"lang": ["fr"]}, without_vector="meaning") for r in batch] == [
        "lacks too"
    ]
    if str(location).startswith("http"):  # the newest server that can be had for tests is 1.16
        with pytest.raises(StoreError, match=r"servers before 1\.18 can't add a vector to a collection"):
            store.add_dense_vector("passages", 2, multivector=True, precision="int8")
        return
    store.add_dense_vector("passages", 2, multivector=True, precision="int8")
    assert store.count(without_vector="passages") == 3
    store.update_dense("passages", ["has", "lacks"], [np.eye(2, dtype=np.float32), np.ones((1, 2), np.float32)])
    assert store.count(without_vector="passages") == 1
    assert store.search_dense("passages", np.array([[0, 1]], np.float32), 3) == [[Hit("has", 1.0), Hit("lacks", 1.0)]]


def test_sparse_vectors_are_read_in_the_order_of_their_ids(store):
    store.add([make_record("a", terms={3: 1.0, 9: 2.0}), make_record("b", lang="fr")])
    store.add([make_record("c", lang="de", terms={1: 0.5})])
    langs, rows = store.read_sparse("terms", ["c", "gone", "a", "b"])
    assert langs == ["de", "", "en", "fr"]
    assert rows.sizes.tolist() == [1, 0, 2, 0]
    assert (rows.indices.tolist(), rows.values.tolist()) == ([1, 3, 9], [0.5, 1.0, 2.0])


def test_search_and_read_returns_each_candidate_once_with_its_vector(store):
    store.add([make_record(f"d{i}", lang="de" if i % 2 else "en", terms={3: 1.0 + i, 9: 2.0}) for i in range(6)])
    queries = [make_sparse({term: 1.0}) for term in (3, 9, 4)]
    candidates = store.search_and_read("terms", queries, 2, {"lang": ["en", "de"]})
    found = [{candidates.ids[i] for i in rows_of_query} for rows_of_query in candidates.row_numbers]
    assert found == [{"d5", "d4"}, {"d0", "d1"}, set()]
    vectors = candidates.rows.values.reshape(4, 2).tolist()
    expected = [(f"d{i}", "de" if i % 2 else "en", [1.0 + i, 2.0]) for i in (0, 1, 4, 5)]
    assert sorted(zip(candidates.ids, candidates.langs, vectors, strict=True)) == expected


def test_changed_languages_and_vectors_are_read_after_a_write(store):
    """What was read is remembered, and must be forgotten when it is written."""

    def read():
        (lang,), rows = store.read_sparse("terms", ["a"])
        return lang, dict(zip(rows.indices.tolist(), rows.values.tolist(), strict=True))

    store.add([make_record("a", terms={3: 1.0})])
    assert read() == read() == ("en", {3: 1.0})
    store.add([make_record("a", lang="fr", terms={4: 2.0})])
    assert read() == ("fr", {4: 2.0})
    [(points, _)] = store.scroll_sparse("terms")
    store.update_sparse("terms", points, [make_sparse({5: 0.5})])
    assert read() == ("fr", {5: 0.5})
    store.delete(["a"])
    assert read() == ("", {})
    store.add([make_record("a", lang="de", terms={4: 1.0})])
    assert read() == ("de", {4: 1.0})


def test_the_version_of_a_blob_changes_when_it_is_written(store):
    store.write_blob("one", b"1")
    store.write_blob("two", b"2")
    before = store.blob_versions()
    assert {"one", "two"} <= before.keys()
    store.write_blob("two", b"3")
    assert store.blob_versions()["two"] != before["two"]
    assert store.blob_versions()["one"] == before["one"]


def test_concurrent_requests_return_in_order(store):
    store.add([make_record("a", dense=(1, 0, 0)), make_record("b", dense=(0, 1, 0), lang="fr")])
    searches = [lambda query=query: store.search_dense("meaning", query, 1)[0][0].id for query in (GREEN, RED, GREEN)]
    assert store.run_concurrently(searches) == ["b", "a", "b"]
    assert store.run_concurrently([]) == []
    with pytest.raises(StoreError):
        store.run_concurrently([searches[0], lambda: store.search_dense("other", RED, 1)])
