"""Ad-hoc search of MDN web docs: titles are queries; pages that link to the title's page and back are relevant.

The page of the title itself is removed from every ranking.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from papers.corpora import Columns, data_folder, rank_randomly, sample_by_hash, select_multilingual, split_collection
from papers.nearest_neighbours import normalize_rows
from paragloss.analysis import analyzer
from paragloss.collection import Collection
from paragloss.evaluation import evaluate
from paragloss.lab import judgments
from paragloss.ranking import rank_scores
from paragloss.types import Concept, Document, Encoder, Qrels, Query, Ranking, Run

MEASURES = ("nDCG@1", "nDCG@5", "nDCG@10", "MAP", "MRR")
DEPTH = 100


class PageTask(NamedTuple):
    """Held-out pages of one language, queries in another or the same, and concepts to learn from."""

    queries: list[Query]
    documents: list[Document]
    qrels: Qrels
    train: list[Concept]
    train_size: int

    def sample_train(self, seed: int) -> list[Concept]:
        return sample_by_hash(self.train, self.train_size, seed)

    def list_external_pairs(self, lang: str) -> list[tuple[str, str]]:
        """List title and text of every page that is not searched, in place of queries and clicked documents."""
        return [(c.titles[lang], c.texts[lang]) for c in self.train if c.titles.get(lang)]

    def restrict_vocabulary(self, terms: Set[str]) -> PageTask:
        """Return the task with all words removed that are not in a vocabulary."""

        def restrict(text: str, lang: str) -> str:
            spans = analyzer(lang).spans(text)
            return " ".join(text[span.start : span.end] for span in spans if span.term in terms)

        queries = [query._replace(text=restrict(query.text, query.lang)) for query in self.queries]
        documents = [d._replace(text=restrict(d.text, d.lang), title=restrict(d.title, d.lang)) for d in self.documents]
        return self._replace(queries=queries, documents=documents)

    def search_by_vectors(self, model: Encoder) -> Run:
        """Rank all pages by the cosine of an encoder's vectors."""
        documents = normalize_rows(model.encode([d.full_text for d in self.documents], self.documents[0].lang))
        queries = normalize_rows(model.encode([query.text for query in self.queries], self.queries[0].lang))
        doc_ids = [document.id for document in self.documents]
        scores = zip(self.queries, queries @ documents.T, strict=True)
        return self._remove_own_page({query.id: rank_scores(row, doc_ids, DEPTH + 1) for query, row in scores})

    def search_by_pipeline(self, pipeline: str, models: Sequence[tuple[str, Any]] = ()) -> Run:
        """Rank pages by one of the product's pipelines."""
        rankings = run_pipeline(self.queries, self.documents, pipeline, models, DEPTH + 1)
        return self._remove_own_page({query.id: hits for query, hits in zip(self.queries, rankings, strict=True)})

    def search_randomly(self, seed: int) -> Run:
        """Rank all pages in a random order."""
        doc_ids = [document.id for document in self.documents]
        return self._remove_own_page(rank_randomly({query.id: doc_ids for query in self.queries}, seed, DEPTH + 1))

    def measure_run(self, run: Run, query_ids: Sequence[str] | None = None) -> Columns:
        """Measure a run query by query, of all queries or of some."""
        selected = [query.id for query in self.queries if query_ids is None or query.id in set(query_ids)]
        scores = evaluate(run, {query_id: self.qrels[query_id] for query_id in selected}, MEASURES)
        return {name: [round(scores[name][query_id], 4) for query_id in selected] for name in MEASURES}

    def _remove_own_page(self, run: Run) -> Run:
        return {query_id: [hit for hit in hits if hit.id != query_id][:DEPTH] for query_id, hits in run.items()}


def make_page_task(source: str, target: str, *, smoke: bool) -> PageTask:
    """Make a task of MDN's pages; a third is held out, since pages that link to each other must be among them."""
    split = split_collection("mdn", ["en", target], test_tenths=3, lines=900 if smoke else None)
    held_out = sample_by_hash(select_multilingual(split.test, ["en", target]), 120 if smoke else 1500, 0)
    page_ids = {c.id for c in held_out}
    links = judgments.read_links(data_folder() / "mdn" / "mutual_links.tsv.gz")
    linked = [c for c in held_out if links.get(c.id, set()) & page_ids and c.titles.get(source)]
    queries = [Query(c.id, c.titles[source], source) for c in sample_by_hash(linked, 10 if smoke else 200, 0)]
    documents = [Document(c.id, c.texts[target], target, c.titles.get(target, "")) for c in held_out]
    qrels: Qrels = {query.id: dict.fromkeys(sorted(links[query.id] & page_ids), 1) for query in queries}
    train = select_multilingual(split.train, ["en", target])
    return PageTask(queries, documents, qrels, train, 100 if smoke else 1500)


def run_pipeline(
    queries: Sequence[Query], documents: Sequence[Document], pipeline: str, models: Sequence[tuple[str, Any]], k: int
) -> list[Ranking]:
    """Index documents and search them as the product does; a query without a word finds nothing.

    :param models: fitted models with the names they have in the pipeline
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models:
            model.save(Path(folder, name))
        paths = [str(Path(folder, name)) for name, _ in models]
        with Collection.create(f"{folder}/c", models=paths, default=False) as collection:
            collection.index(documents)
            with_words = [query for query in queries if query.text.strip()]
            rankings = collection.rank(with_words, k=k, to=[documents[0].lang], pipeline=pipeline)
    ranking_by_id = {query.id: ranking for query, ranking in zip(with_words, rankings, strict=True)}
    return [ranking_by_id.get(query.id, []) for query in queries]
