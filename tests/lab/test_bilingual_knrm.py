"""From a monolingual click log to a ranker for queries in another language, end to end."""

import numpy as np
import pytest

pytest.importorskip("torch")

from papers.simulated_readers import simulate
from paragloss.formats.dictionaries import Entry
from paragloss.lab import clicks
from paragloss.lab.methods import knrm
from paragloss.lab.query_log import translate_log
from paragloss.search.reranked import Reranked
from paragloss.translation.dictionary import Dictionary
from paragloss.types import Document, Hit, Query, RankedList

#: Topics with three words each, said in German and in English; made-up words, so that nothing matches by chance.
TOPICS = [[(f"d{t}wort{w}", f"e{t}word{w}") for w in range(3)] for t in range(8)]
FILLERS = [f"füll{i}" for i in range(10)]


def make_documents(rng):
    """Four documents a topic, of two of its words and some others'."""
    documents_by_id = {}
    for t, topic in enumerate(TOPICS):
        for i in range(4):
            own = [word for word, _ in topic if word != topic[i % 3][0]]
            text = " ".join([*own, *rng.choice(FILLERS, 4)])
            documents_by_id[f"t{t}d{i}"] = Document(f"t{t}d{i}", text, "de")
    return documents_by_id


def simulate_log(documents_by_id, rng, queries):
    """German queries; readers are shown two documents of the topic among six others, and open the topic's."""
    rankings, attraction, satisfaction = {}, {}, {}
    for number in range(queries):
        t = number % len(TOPICS)
        words = rng.permutation([word for word, _ in TOPICS[t]])[: 1 + number % 3]
        text = " ".join([*words, FILLERS[number % 10]])
        other_ids = [name for name in documents_by_id if not name.startswith(f"t{t}d")]
        shown_ids = [
            *rng.choice([f"t{t}d{i}" for i in range(4)], 2, replace=False),
            *rng.choice(other_ids, 6, replace=False),
        ]
        shown_ids = rng.permutation(shown_ids).tolist()
        rankings[text] = shown_ids
        attraction[text] = {name: 0.8 if name.startswith(f"t{t}d") else 0.05 for name in shown_ids}
        satisfaction[text] = dict.fromkeys(shown_ids, 0.7)
    return simulate(rankings, attraction, satisfaction, sessions=25, lang="de", depth=0.95, seed=3)


def learn_from_clicks(documents_by_id, rng):
    """German queries with judgments by click-through rate, and a dictionary into English."""
    scores = clicks.dctr(simulate_log(documents_by_id, rng, 120))
    grades = clicks.grade_scores(scores, clicks.compute_grade_bounds(scores, (0.3,)))
    entries = [Entry(german, english) for topic in TOPICS for german, english in topic]
    dictionary = Dictionary.build(entries, "de", "en", choose="best", stem=False)
    return clicks.make_judged_collection(grades, documents_by_id, "de"), dictionary


class SearcherOfAll:
    """A first stage that finds all documents and knows nothing."""

    def __init__(self, names):
        self.names = sorted(names)

    def search(self, queries, k, where=None):
        return [RankedList(tuple(Hit(name, -float(i)) for i, name in enumerate(self.names))[:k]) for _ in queries]


def measure_share_on_top(model, documents_by_id, queries):
    """Of the four documents first for a query, how many are of its topic."""
    searcher = Reranked(SearcherOfAll(documents_by_id), model, lambda names: [documents_by_id[name] for name in names])
    rankings = searcher.search(queries, 4)
    return np.mean(
        [hit.id.startswith(f"{query.id}d") for query, hits in zip(queries, rankings, strict=True) for hit in hits]
    )


def test_a_ranker_trained_on_translated_queries_ranks_for_the_other_language():
    rng = np.random.default_rng(0)
    documents_by_id = make_documents(rng)
    german, german_to_english = learn_from_clicks(documents_by_id, rng)
    english = translate_log(german, german_to_english, "en")
    assert {query.lang for query in english.queries} == {"en"}
    ranker = knrm.fit_judged(english, dim=16, epochs=15, batch=16, learning_rate=0.02, seed=1)
    queries = [Query(f"t{t}", f"{topic[0][1]} {topic[2][1]}", "en") for t, topic in enumerate(TOPICS)]
    # 4 of 32 documents are of the topic: chance is 1/8.
    assert measure_share_on_top(ranker, documents_by_id, queries) > 0.7
