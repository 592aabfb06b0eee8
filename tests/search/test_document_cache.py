"""Values computed from documents are kept until the documents change, by whomever."""

import pytest

from paragloss import Collection
from paragloss.search.document_cache import DocumentCache
from paragloss.types import Document

BEES = Document("bees", "Bienen machen Honig.", "de")
LAVA = Document("lava", "Der Vulkan speit Lava.", "de")


@pytest.fixture
def collection(tmp_path):
    with Collection.create(str(tmp_path / "c"), meaning=False) as collection:
        collection.index([BEES])
        yield collection


def count_documents(collection):
    """Count documents through the cache."""
    return collection.state.cache.get("count", lambda: collection.state.store.count())


def test_a_value_is_computed_once_and_none_again():
    cache, calls = DocumentCache(), []
    for _ in range(2):
        assert cache.get("key", lambda: calls.append("key") or "value") == "value"
        assert cache.get("nothing", lambda: calls.append("nothing")) is None
    assert calls == ["key", "nothing", "nothing"]


@pytest.mark.parametrize("change", ["index", "add", "delete"])
def test_values_are_computed_again_after_documents_changed(collection, change):
    assert count_documents(collection) == 1
    if change == "delete":
        collection.delete(["bees"])
    else:
        getattr(collection, change)([LAVA])
    assert count_documents(collection) == (0 if change == "delete" else 2)


def test_a_value_whose_computation_began_before_a_change_is_not_kept(collection):
    def compute():
        collection.index([LAVA])
        return "of the documents before"

    assert collection.state.cache.get("key", compute) == "of the documents before"
    assert collection.state.cache.get("key", lambda: "of those after") == "of those after"


def test_a_search_of_unchanged_documents_computes_nothing_again(collection):
    assert count_documents(collection) == 1
    collection.search("honey")
    assert collection.state.cache.get("count", lambda: pytest.fail("computed again")) == 1
