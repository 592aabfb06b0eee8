"""What --where means, on values as tables and JSON hold them."""

import pytest

from paragloss.collection import Collection
from paragloss.errors import InputError
from paragloss.formats.conditions import parse_conditions
from paragloss.types import Document, Range


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    metas = {
        "csv": {"year": "1999", "open": "true", "share": "1.5", "zip": "01234"},
        "json": {"year": 1999, "open": True, "share": 1.5, "zip": 1234},
        "later": {"year": 2005, "open": False, "share": 2, "day": "2024-05-02", "a=b": "c"},
    }
    with Collection.create(str(tmp_path_factory.mktemp("where") / "c")) as collection:
        # Texts that differ: copies of a document are shown once.
        texts = {"csv": "words about rain", "json": "words about bread and honey", "later": "words of an old song"}
        collection.index(Document(id, texts[id], "en", meta=meta) for id, meta in metas.items())
        yield collection


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (["meta.year=1999"], {"csv", "json"}),
        (["year=1999"], {"csv", "json"}),
        (['year="1999"'], {"csv"}),
        (["zip=01234"], {"csv"}),
        (["zip=1234"], {"json"}),
        (["open=true"], {"csv", "json"}),
        (["share=1.5"], {"csv", "json"}),
        (["year=1999", "year=2005"], {"csv", "json", "later"}),
        (["year>=1999", "year<2005"], {"csv", "json"}),
        (["year>1999"], {"later"}),
        (["share<=1.5"], {"csv", "json"}),
        (["day>=2024-05-01"], {"later"}),
        (["day<2024-05-02"], set()),
        (["year>=1999", "lang=en"], {"csv", "json", "later"}),
        (["year>=1999", "lang=fr"], set()),
    ],
)
def test_conditions_find_values_whatever_their_type(collection, conditions, expected):
    assert {
        result.id for result in collection.search("words", lang="en", where=parse_conditions(conditions)).results
    } == expected


def test_limits_of_one_field_are_one_range():
    assert parse_conditions(["year>=1", "year<2"]) == {"meta.year": [Range(1.0, 2.0, False, True)]}
    assert len(parse_conditions([f"f{number}=1" for number in range(10)])) == 10


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        (["year"], "write FIELD=VALUE"),
        (["year>=soon"], "needs a number or a date"),
        ([f"f{number}=1" for number in range(11)], "at most 10"),
    ],
)
def test_conditions_that_make_no_sense(conditions, message):
    with pytest.raises(InputError, match=message):
        parse_conditions(conditions)
