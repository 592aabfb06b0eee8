"""XCNN's Tables 1 to 4: sentences find their translations, and ad-hoc search within and across languages.

In ad-hoc search of MDN web docs titles are queries, and pages that link to the title's page and back are relevant. The
page of the title itself is removed from every ranking.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from papers.corpora import (
    Columns,
    Rows,
    data_folder,
    fit_with_budget,
    rank_randomly,
    sample_by_hash,
    select_multilingual,
    split_collection,
    split_sentences,
)
from papers.nearest_neighbours import measure_translation_retrieval
from papers.original_data import WMT14_TRAIN_SIZE, split_parallel_corpus
from papers.translators import has_apertium
from papers.verdicts import CHANCE_ROW
from paragloss.analysis import analyzer
from paragloss.collection import Collection
from paragloss.encoders.kernel_features import normalize_rows
from paragloss.evaluation import evaluate
from paragloss.formats import trec
from paragloss.lab import judgments
from paragloss.lab.methods import bae, lsi, opca, s2net, xcnn
from paragloss.lab.methods import table as table_method
from paragloss.ranking import rank_scores
from paragloss.types import Concept, Document, Encoder, Qrels, Query, Ranking, Run
from paragloss.vocabulary import Vocabulary

MEASURES = ("nDCG@1", "nDCG@5", "nDCG@10", "MAP", "MRR")
DEPTH = 100
MAX_TERMS = 10_000
COMMON_SETTINGS: dict[str, Any] = {"dim": 128, "max_terms": MAX_TERMS}
MIN_WORDS = 3
EXTERNAL_SENTENCES = 20_000
KNOWN_WORDS_PER_UNKNOWN = 4
APERTIUM_ROW = "MT, Apertium"
#: Training stops sooner, when three epochs (BAE: ten) do not improve the measure of held-out pairs.
MAX_HUB_EPOCHS, MAX_BAE_EPOCHS, MAX_S2NET_EPOCHS = 100, 100, 500
CLOSED_FORMS: dict[str, Callable[..., Encoder]] = {"CL-LSI": lsi.fit, "OPCA": opca.fit}
NETWORKS: dict[str, Callable[..., Encoder]] = {
    "BAE": partial(bae.fit, epochs=MAX_BAE_EPOCHS),
    "S2Net": partial(s2net.fit, epochs=MAX_S2NET_EPOCHS),
    "S2Net from OPCA": partial(s2net.fit, start="opca", epochs=MAX_S2NET_EPOCHS),
    "XCNN": partial(xcnn.fit, hub="en", hub_epochs=MAX_HUB_EPOCHS),
}


def measure_table_1(part: str, seed: int, *, smoke: bool) -> Rows:
    """Measure all methods; the seed samples the training pairs, the pairs to be found are always the same."""
    corpus, _, lang = part.rpartition("en-")
    train_size, test_size = (4000, 500)
    if smoke:
        train_size, test_size = (150, 30)
    elif corpus:
        train_size, test_size = (WMT14_TRAIN_SIZE, 5000)
    sentences = split_parallel_corpus(corpus.strip(), lang) if corpus else split_sentences(lang)
    train = select_with_vocabulary(sample_by_hash(sentences.train, train_size, seed), ["en", lang])
    test = sample_by_hash(sentences.test, test_size, 0)
    rows: Rows = {}
    clicks = [] if smoke else make_external_pairs(sentences.train, {c.id for c in train})
    for name, model, budget in fit_methods(train, clicks, seed):
        rows[name] = measure_translation_retrieval(model, test, "en", lang) | budget
    rows["MT"] = measure_pipeline(test, lang, "table:best,tempered", [("table", table_method.fit(train))])
    if has_apertium(lang):
        rows[APERTIUM_ROW] = measure_pipeline(test, lang, "mt:apertium,tempered")
    return rows


def measure_table_2(part: str, seed: int, *, smoke: bool) -> Rows:
    """Search pages by titles in their own language: BM25, and vectors of XCNN's monolingual half."""
    lang = part.rpartition(" ")[2]
    task = make_search_task(part, lang, lang, smoke=smoke)
    train = task.sample_train(seed)
    hub_epochs = 1 if smoke else MAX_HUB_EPOCHS
    fit = partial(xcnn.fit, hub=lang, seed=seed, epochs=0, hub_epochs=hub_epochs, **COMMON_SETTINGS)
    model, budget = fit_with_budget(fit, train)
    terms = set(model.tower(lang).vocabulary.terms)
    rows: Rows = {
        CHANCE_ROW: task.measure_run(task.search_randomly(seed)),
        "BM25, all words": task.measure_run(task.search_by_pipeline("bm25")),
        "BM25": task.measure_run(task.restrict_vocabulary(terms).search_by_pipeline("bm25")),
        "mono-XCNN": task.measure_run(task.search_by_vectors(model)) | budget,
    }
    clicks = task.list_external_pairs(lang)
    if clicks:
        model, budget = fit_with_budget(fit, train, clicks=clicks)
        rows["mono-XCNN, external data"] = task.measure_run(task.search_by_vectors(model)) | budget
    return rows


def measure_table_3(part: str, seed: int, *, smoke: bool) -> Rows:
    """Search pages of another language by English titles, by each method, of all queries and of known ones."""
    lang = part.rpartition("en-")[2]
    task = make_search_task(part, "en", lang, smoke=smoke)
    train = task.sample_train(seed)
    runs: dict[str, Run] = {CHANCE_ROW: task.search_randomly(seed)}
    budgets: dict[str, Columns] = {}
    for name, model, budget in fit_methods(train, task.list_external_pairs("en"), seed):
        runs[name], budgets[name] = task.search_by_vectors(model), budget
    runs["MT"] = task.search_by_pipeline("table:best,tempered", [("table", table_method.fit(train))])
    if has_apertium(lang):
        runs[APERTIUM_ROW] = task.search_by_pipeline("mt:apertium,tempered")
    rows: Rows = {name: task.measure_run(run) | budgets.get(name, {}) for name, run in runs.items()}
    known_queries = select_known_queries(task.queries, train)
    if known_queries:
        rows |= {f"{name}, known": task.measure_run(run, known_queries) for name, run in runs.items()}
    return rows


def fit_methods(
    train: Sequence[Concept], clicks: Sequence[tuple[str, str]], seed: int
) -> Iterator[tuple[str, Encoder, Columns]]:
    """Fit each method, and XCNN once more if there are external data; yield row, model and training budget."""
    for name, fit in CLOSED_FORMS.items():
        yield name, fit(train, seed=seed, **COMMON_SETTINGS), {}
    methods = NETWORKS | ({"XCNN, external data": partial(NETWORKS["XCNN"], clicks=clicks)} if clicks else {})
    for name, fit in methods.items():
        yield name, *fit_with_budget(fit, train, seed=seed, **COMMON_SETTINGS)


def select_with_vocabulary(concepts: Sequence[Concept], langs: Sequence[str]) -> list[Concept]:
    """Select concepts whose texts have at least three words of each language's vocabulary."""
    selected = list(concepts)
    for lang in langs:
        texts = (c.texts[lang] for c in concepts)
        vocabulary, _ = Vocabulary.build(texts, lang, min_df=2, max_terms=MAX_TERMS)
        selected = [c for c in selected if len(vocabulary.ids(c.texts[lang])) >= MIN_WORDS]
    return selected


def make_external_pairs(concepts: Sequence[Concept], train_ids: set[str]) -> list[tuple[str, str]]:
    """Make pairs (first half, second half) of English sentences that are not among the training pairs."""
    pairs = []
    for concept in concepts:
        words = concept.texts["en"].split()
        if concept.id not in train_ids and len(words) >= 2 * MIN_WORDS:
            middle = len(words) // 2
            pairs.append((" ".join(words[:middle]), " ".join(words[middle:])))
    return pairs[:EXTERNAL_SENTENCES]


def select_known_queries(queries: Sequence[Query], train: Sequence[Concept]) -> list[str]:
    """Select the queries with at least four known words for each unknown one; return their ids."""
    vocabulary, _ = Vocabulary.build([c.texts["en"] for c in train], "en", min_df=2, max_terms=MAX_TERMS)
    query_ids = []
    for query in queries:
        unknown_count, known_count = len(vocabulary.list_unknown_terms(query.text)), len(vocabulary.ids(query.text))
        if known_count and known_count >= KNOWN_WORDS_PER_UNKNOWN * unknown_count:
            query_ids.append(query.id)
    return query_ids


def measure_pipeline(
    test: Sequence[Concept], lang: str, pipeline: str, models: Sequence[tuple[str, Any]] = ()
) -> Columns:
    """Let English sentences find their translations by one of the product's pipelines."""
    queries = [Query(c.id, c.texts["en"], "en") for c in test]
    documents = [Document(c.id, c.texts[lang], lang) for c in test]
    run = run_pipeline(queries, documents, pipeline, models, 100)
    scores = evaluate(run, {c.id: {c.id: 1} for c in test}, ["RR", "P@1", "Success@5", "Success@10"])
    measure_by_column = {"P@1": "P@1", "P@5": "Success@5", "P@10": "Success@10"}
    precisions = {column: sum(scores[name].values()) / len(test) for column, name in measure_by_column.items()}
    return {**precisions, "RR": [round(scores["RR"][c.id], 4) for c in test]}


class SearchTask(NamedTuple):
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

    def restrict_vocabulary(self, terms: Set[str]) -> SearchTask:
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
        return self._remove_own_page(run_pipeline(self.queries, self.documents, pipeline, models, DEPTH + 1))

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


def make_search_task(part: str, source: str, target: str, *, smoke: bool) -> SearchTask:
    """Make the task of a part of Tables 2 to 4: FIRE's news if the part is named after it, else MDN's pages."""
    if part.startswith("fire "):
        return make_fire_task(source, smoke=smoke)
    # A third is held out, since pages that link to each other must be among them.
    split = split_collection("mdn", ["en", target], test_tenths=3, lines=900 if smoke else None)
    held_out = sample_by_hash(select_multilingual(split.test, ["en", target]), 120 if smoke else 1500, 0)
    page_ids = {c.id for c in held_out}
    links = judgments.read_links(data_folder() / "mdn" / "mutual_links.tsv.gz")
    linked = [c for c in held_out if links.get(c.id, set()) & page_ids and c.titles.get(source)]
    queries = [Query(c.id, c.titles[source], source) for c in sample_by_hash(linked, 10 if smoke else 200, 0)]
    documents = [Document(c.id, c.texts[target], target, c.titles.get(target, "")) for c in held_out]
    qrels: Qrels = {query.id: dict.fromkeys(sorted(links[query.id] & page_ids), 1) for query in queries}
    train = select_multilingual(split.train, ["en", target])
    return SearchTask(queries, documents, qrels, train, 100 if smoke else 1500)


def make_fire_task(source: str, *, smoke: bool) -> SearchTask:
    """Make a task of FIRE's Hindi news, with topics in either language; models learn from WMT14's sentences."""
    folder = data_folder() / "fire"
    qrels = trec.read_trec_qrels(folder / "qrels")
    files = [file for file in sorted((folder / "hi").rglob("*")) if file.is_file()]
    documents = [document for file in files for document in trec.read_trec_documents(file, lang="hi")]
    topics = trec.read_topics(folder / f"topics.{source}", lang=source)
    queries = [query for query in topics if query.id in qrels]
    train = split_parallel_corpus("wmt14", "hi").train
    query_qrels = {query.id: qrels[query.id] for query in queries}
    return SearchTask(queries, documents, query_qrels, train, 100 if smoke else WMT14_TRAIN_SIZE)


def run_pipeline(
    queries: Sequence[Query], documents: Sequence[Document], pipeline: str, models: Sequence[tuple[str, Any]], k: int
) -> Run:
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
    ranking_by_id: dict[str, Ranking] = {q.id: hits for q, hits in zip(with_words, rankings, strict=True)}
    return {query.id: ranking_by_id.get(query.id, []) for query in queries}
