"""Documents in the query's own language are found as well as BM25 finds them, whatever else is searched."""

import pytest

from paragloss import demo


def mean_reciprocal_rank(rankings, lang, answers):
    """Return the mean of 1 / rank of each query's answer among the documents in its language."""
    reciprocal_ranks = []
    for ranking, answer in zip(rankings, answers, strict=True):
        own_documents = [hit.id for hit in ranking if hit.id.endswith(f".{lang}")]
        reciprocal_ranks.append(1 / (1 + own_documents.index(answer)) if answer in own_documents else 0.0)
    return sum(reciprocal_ranks) / len(reciprocal_ranks)


@pytest.mark.parametrize("lang", sorted({document.lang for document in demo.documents()}))
def test_asked_in_its_own_language_nothing_is_lost(demo_collection, lang):
    """The right documents in the query's language rank about as high among those of their language as with BM25."""
    own_queries = [query for query in demo.queries()[0] if query.lang == lang][::6]
    by_words = demo_collection.rank(own_queries, k=20, to=[lang], pipeline="bm25")
    by_default = demo_collection.rank(own_queries, k=200)
    answers = [f"{query.id.rpartition('-')[0]}.{lang}" for query in own_queries]
    assert mean_reciprocal_rank(by_default, lang, answers) >= mean_reciprocal_rank(by_words, lang, answers) - 0.02
