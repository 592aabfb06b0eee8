"""What happens while something else does: a hit is deleted before it is shown; and terms of very many letters."""

import pytest

from paragloss.collection import Collection, retrieval
from paragloss.translation import default
from paragloss.types import Document

WORDS = [Document(f"d{n}", f"rain and word{n}x", "en") for n in range(5)]


def test_a_hit_that_is_deleted_before_it_is_shown_is_left_out(tmp_path, monkeypatch):
    rank_queries = retrieval.rank_queries
    with Collection.create(str(tmp_path / "c"), default=False) as collection:
        collection.index(WORDS)

        def rank_and_delete(*arguments):
            (ranked,) = rank_queries(*arguments)
            collection.delete([ranked.ranking[1].id])
            return [ranked]

        before = collection.search("rain", lang="en", pipeline="bm25").results
        scores = {result.id: result.score for result in before}
        monkeypatch.setattr(retrieval, "rank_queries", rank_and_delete)
        results = collection.search("rain", lang="en", pipeline="bm25").results
        assert len(results) == 4
        assert all(result.score == scores[result.id] for result in results)


@pytest.mark.parametrize("lang", ["en", "de", "zh", "ja", "th", "ko"])
def test_a_term_of_more_than_a_hundred_letters_is_never_taken_apart(lang):
    parts_tried = []
    model = default.open()
    long = "zugverspätung" * 30
    assert model.find_known_parts(long, lang, lambda part: parts_tried.append(part) or part == "zug") == []
    assert parts_tried == [long]
    if lang == "de":
        assert [piece.term for piece in model.split_query(long, lang)] == [model.split_query(long, lang)[0].term]


def test_a_word_of_300_000_letters_costs_as_many_looks_as_a_short_one(tmp_path, monkeypatch):
    looks, has_term = [], default.DefaultModel.has_term
    monkeypatch.setattr(default.DefaultModel, "has_term", lambda *term: looks.append(term) or has_term(*term))
    with Collection.create(str(tmp_path / "c")) as engine:
        engine.index([Document("gene", "acgt" * 75_000, "de"), Document("word", "wort " * 10 + "日" * 30_000, "ko")])
        assert engine.count() == 2
    assert 0 < len(looks) < 1000
