"""What an encoder reads as the title of a document, and the vectors that titles get."""

import numpy as np
import pytest

from paragloss.collection import Collection
from paragloss.encoders.pretrained.titles import clean_title, find_shared_parts, read_title
from paragloss.types import Document


@pytest.mark.parametrize(
    ("title", "cleaned"),
    [
        ("3.2 Installing packages", "Installing packages"),
        ("Chapter 4. The kernel", "The kernel"),
        ("2) Partitions", "Partitions"),
        ("第3章: 導入", "第3章: 導入"),
        ("3 ways to cook rice", "3 ways to cook rice"),
        ("2001: A Space Odyssey", "A Space Odyssey"),
        ("4.", "4."),
    ],
)
def test_numbering_is_removed_from_titles(title, cleaned):
    assert clean_title(title) == cleaned


def test_parts_that_many_titles_share_are_removed():
    titles = [f"Handbook: Topic {n}" for n in range(5)] + ["Handbook", "Array: length", "Array: sort"]
    shared = find_shared_parts(titles)
    assert shared == {"Handbook"}
    assert clean_title("Handbook: Topic 3", shared) == "Topic 3"
    assert clean_title("Topic 3 — Handbook", shared) == "Topic 3"
    assert clean_title("Array: sort", shared) == "Array: sort"
    assert clean_title("Handbook", shared) == "Handbook"


def test_a_document_without_a_title_is_represented_by_its_first_heading_or_line():
    assert read_title(Document("a", "One.\nTwo.", "en", "", {"headings": "First\nSecond"})) == "First"
    assert read_title(Document("a", "\n One.\nTwo.", "en")) == "One."
    assert read_title(Document("a", "", "en")) == ""


def read_title_vectors(collection):
    records = [record for page in collection.state.store.scroll(vectors=["meaning.title"]) for record in page]
    return {record.document.id: record.dense.get("meaning.title") for record in records}


@pytest.fixture
def collection(tmp_path):
    with Collection.create(str(tmp_path / "c"), meaning=True) as collection:
        collection.index(
            [
                Document("bee", "Elle vit dans une ruche.", "fr", "Abeille"),
                Document("volcano", "Er speit Lava und Asche.", "de", "1. Vulkan"),
                Document("untitled", "Vulkan", "de"),
            ]
        )
        yield collection


def test_titles_have_a_vector_of_their_own_that_a_query_can_be_compared_with(collection):
    vectors = read_title_vectors(collection)
    query = collection.state.models["meaning"].encode(["volcano"], "en")[0]
    assert vectors["volcano"] @ query > vectors["bee"] @ query
    np.testing.assert_allclose(vectors["volcano"], vectors["untitled"], atol=1e-6)  # both read "Vulkan"


def test_a_collection_without_title_vectors_gets_them_when_it_is_encoded_next(collection):
    before = read_title_vectors(collection)
    collection.state.store.drop_dense_vector("meaning.title")
    assert [*collection.maintenance.encode_deferred()][-1] == (3, 3)
    after = read_title_vectors(collection)
    assert {name: row.tolist() for name, row in after.items()} == {name: row.tolist() for name, row in before.items()}
    assert [*collection.maintenance.encode_deferred()] == []


def test_a_model_that_is_removed_takes_its_title_vectors_with_it(collection):
    collection.remove_model("meaning")
    assert dict(collection.state.store.dense) == {}
