"""Ad-hoc search of MDN web docs: titles ask, pages linked with a page both ways are relevant, itself is not."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from paragloss.analysis import analyzer
from paragloss.collection import Collection
from paragloss.evaluation import evaluate
from paragloss.lab import judgments
from paragloss.lab.recipes.nearest import unit
from paragloss.lab.recipes.sets import Columns, drawn, folder, in_all, split
from paragloss.ranking import top
from paragloss.types import Concept, Document, Encoder, Qrels, Query, Ranking, Run

MEASURES = ("nDCG@1", "nDCG@5", "nDCG@10", "MAP", "MRR")
DEPTH = 100


class Pages(NamedTuple):
    """Held-out pages of one language, asked for in another or the same; and what may be learned from."""

    queries: list[Query]
    documents: list[Document]
    qrels: Qrels
    learned: list[Concept]
    most: int

    def train(self, seed: int) -> list[Concept]:
        return drawn(self.learned, self.most, seed)


def pages(source: str, lang: str, *, smoke: bool) -> Pages:
    """A third of the pages is held out: pages that link to each other must be among them."""
    whole = split("mdn", ["en", lang], tenths=3, lines=900 if smoke else None)
    held_out = drawn(in_all(whole.test, ["en", lang]), 120 if smoke else 1500, 0)
    here = {c.id for c in held_out}
    links = judgments.read_links(folder() / "mdn" / "mutual_links.tsv.gz")
    asking = [c for c in held_out if links.get(c.id, set()) & here and c.titles.get(source)]
    queries = [Query(c.id, c.titles[source], source) for c in drawn(asking, 10 if smoke else 200, 0)]
    documents = [Document(c.id, c.texts[lang], lang, c.titles.get(lang, "")) for c in held_out]
    qrels: Qrels = {query.id: dict.fromkeys(sorted(links[query.id] & here), 1) for query in queries}
    return Pages(queries, documents, qrels, in_all(whole.train, ["en", lang]), 100 if smoke else 1500)


def only_words(made: Pages, known: Set[str]) -> Pages:
    """The same pages and queries with words that are in a vocabulary, and no others."""

    def kept(text: str, lang: str) -> str:
        return " ".join(text[span.start : span.end] for span in analyzer(lang).spans(text) if span.term in known)

    queries = [query._replace(text=kept(query.text, query.lang)) for query in made.queries]
    documents = [d._replace(text=kept(d.text, d.lang), title=kept(d.title, d.lang)) for d in made.documents]
    return made._replace(queries=queries, documents=documents)


def by_vectors(model: Encoder, made: Pages) -> Run:
    lang = made.documents[0].lang
    rows = unit(model.encode([document.whole for document in made.documents], lang))
    asked = unit(model.encode([query.text for query in made.queries], made.queries[0].lang))
    names = [document.id for document in made.documents]
    found = [top(scores, names, DEPTH + 1) for scores in asked @ rows.T]
    return without_itself(made, found)


def by_pipeline(made: Pages, pipeline: str, models: Sequence[Any] = ()) -> Run:
    return without_itself(made, ranked(made.queries, made.documents, pipeline, models, DEPTH + 1))


def ranked(
    queries: Sequence[Query], documents: Sequence[Document], pipeline: str, models: Sequence[Any], k: int
) -> list[Ranking]:
    """The product's own search; models are fitted ones with their names. A query without a word finds nothing."""
    with tempfile.TemporaryDirectory() as place:
        for name, model in models:
            model.save(Path(place, name))
        kept = [str(Path(place, name)) for name, _ in models]
        with Collection.create(f"{place}/c", models=kept, default=False) as engine:
            engine.index(documents)
            asked = [query for query in queries if query.text.strip()]
            found = iter(engine.rank(asked, k=k, to=[documents[0].lang], pipeline=pipeline))
    return [next(found) if query.text.strip() else [] for query in queries]


def without_itself(made: Pages, found: Sequence[Ranking]) -> Run:
    """A title's own page is no answer."""
    pairs = zip(made.queries, found, strict=True)
    return {query.id: [hit for hit in ranking if hit.id != query.id][:DEPTH] for query, ranking in pairs}


def measured(made: Pages, run: Run, among: Sequence[str] | None = None) -> Columns:
    wanted = [query.id for query in made.queries if among is None or query.id in set(among)]
    scores = evaluate(run, {id: made.qrels[id] for id in wanted}, MEASURES)
    return {name: [round(scores[name][id], 4) for id in wanted] for name in MEASURES}
