"""What a collection teaches of its own words: its pages in two languages, learned from on top of the default model,
kept only where pages that were not learned from are found better."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paragloss.collection import opening, retrieval
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.pairing import Page, aligned, pages
from paragloss.collection.state import State
from paragloss.errors import InputError
from paragloss.translation import default, word_table
from paragloss.translation.glossary import Pair
from paragloss.types import Concept, Document, Query

#: What the model that was learned is called in the collection.
NAME = "learned"
#: Fewer pages in two languages teach nothing that could be measured; one in so many is kept aside, at most so many.
FEWEST, ASIDE, MOST_ASIDE = 10, 5, 200
#: What the default says of a word counts as if it had been met so often: a manual's own words are few and sure.
START = 1.0
#: What is shown of what was learned: surer than this, and by so much surer than before.
SURE, OTHERWISE = 0.3, 0.2
#: Pages that say nothing of each other are asked for, at most so many, by so many words of each.
_ASKED, _WORDS = 300, 12
#: What numbers a title, alike in every language: it would find the page without a word.
_NUMBER = re.compile(r"^[\d.\s]+")


class Gain(NamedTuple):
    """Mean reciprocal rank of pages kept aside, asked for by their titles in another language."""

    source: str
    target: str
    pages: int
    before: float
    after: float


class Learned(NamedTuple):
    """How many pages stand in two languages, how many of their blocks say the same, what that gained, and whether it
    was taken."""

    pages: int
    blocks: int
    gains: list[Gain]
    taken: bool


class Term(NamedTuple):
    """A word as it was learned: how likely it is what, and what the default would have given."""

    lang: str
    word: str
    to: str
    meaning: str
    share: float
    before: str


def noticed(state: State, langs: Sequence[str] = ()) -> list[Page]:
    """Pages in two languages, or in two of some, that their paths tell, or that find each other."""
    where = {"lang": list(langs)} if langs else None
    every = [record.document for records in state.store.scroll(where) for record in records]
    known = pages(every)
    return known or _mutual(state, every)


def noticed_paths(state: State) -> list[str]:
    """The pages, by their paths without their languages' names, that several languages have; no text is read."""
    if len(state.langs) < 2:
        return []
    every = (record.document for records in state.store.scroll(text=False) for record in records)
    # Of a large collection no more is kept at once than is needed.
    found = pages(Document(d.id, "", d.lang, meta={"translations": d.meta.get("translations", ())}) for d in every)
    return [page.key for page in found] if len(found) >= FEWEST else []


def learn(state: State, langs: Sequence[str] = ()) -> Learned:
    """Learn from the collection's pages in two languages, and search with it if that helps."""
    found, model = noticed(state, langs), state.default or default.open()
    if len(found) < FEWEST:
        raise InputError(f"{len(found)} pages stand in two languages here: learning needs {FEWEST} or more")
    aside = found[::ASIDE][:MOST_ASIDE]
    rest = [page for page in found if page not in aside]
    old = state.models.pop(NAME, None)
    try:
        before = _measured(state, aside)
        state.models[NAME] = _fit(aligned(rest, model))
        after = _measured(state, aside)
    finally:
        state.models.pop(NAME, None)
        if old is not None:
            state.models[NAME] = old
    gains = [Gain(*pair, number, rr, after[pair][1]) for pair, (number, rr) in before.items()]
    taken = sum(gain.pages * (gain.after - gain.before) for gain in gains) > 0
    blocks = aligned(found, model)
    if taken:
        keep(state, _fit(blocks))
    return Learned(len(found), len(blocks), gains, taken)


def keep(state: State, learned: word_table.Table) -> None:
    with tempfile.TemporaryDirectory() as place:
        learned.save(Path(place) / NAME)
        opening.add_model(state, str(Path(place) / NAME))


def _fit(blocks: Sequence[Concept]) -> word_table.Table:
    # Phrases are left to the words: a search asks for both words of one, and for the compound they may be.
    from paragloss.translation.table_learning import (
        TableSettings,
        learn_table,
    )  # scipy, which nobody needs who only searches

    return learn_table(blocks, TableSettings(start=default.KIND, start_weight=START, phrases=False))


def _measured(state: State, some: Sequence[Page]) -> dict[tuple[str, str], tuple[int, float]]:
    """For each two languages, how many pages were asked for by titles, and their mean reciprocal rank."""
    found = {}
    for source, target in permutations(sorted({lang for page in some for lang in page.documents}), 2):
        both = [page.documents for page in some if {source, target} <= page.documents.keys()]
        titles = [(d[target].id, _NUMBER.sub("", d[source].title)) for d in both]
        asked = [Query(id, title, source) for id, title in titles if title.strip()]
        if asked:
            rankings = retrieval.rank(state, asked, SearchOptions(to=[target]))
            ranks = [[hit.id for hit in ranking] for ranking in rankings]
            rr = [1 / (1 + ids.index(q.id)) if q.id in ids else 0.0 for q, ids in zip(asked, ranks, strict=True)]
            found[source, target] = len(asked), sum(rr) / len(rr)
    return found


def _mutual(state: State, every: Sequence[Document]) -> list[Page]:
    """Pages that are each other's best in two languages, where no path says it."""
    by: dict[str, list[Document]] = {}
    for document in every:
        if document.title:
            by.setdefault(document.lang, []).append(document)
    langs = sorted(by, key=lambda lang: -len(by[lang]))[:2]
    if len(langs) < 2:
        return []
    best: list[dict[str, str]] = []
    for source, target in (langs, langs[::-1]):
        asked = [Query(d.id, " ".join(d.full_text.split()[:_WORDS]), source) for d in by[source][:_ASKED]]
        rankings = retrieval.rank(state, asked, SearchOptions(to=[target], k=1))
        best.append({q.id: r[0].id for q, r in zip(asked, rankings, strict=True) if r})
    there = {document.id: document for document in every}
    pairs = [(one, other) for one, other in best[0].items() if best[1].get(other) == one]
    return [Page(one, {there[one].lang: there[one], there[other].lang: there[other]}) for one, other in pairs]


def terms(state: State, most: int = 50) -> list[Term]:
    """Words of the documents that were learned otherwise than the default has them, those most documents have first."""
    learned = state.models.get(NAME)
    if not isinstance(learned, word_table.Table):
        raise InputError("nothing has been learned here yet: `paragloss learn COLLECTION`")
    model, found = state.default or default.open(), list[tuple[int, Term]]()
    for source, target in learned.pairs:
        known, spelled = learned.words[source]
        df = state.index.statistics.df("text", source, known)
        for i in np.argsort(-df, kind="stable")[: int((df > 1).sum())].tolist():
            best = learned.alternatives(known[i], source, target)[:1]
            translations = model.alternatives(known[i], source, target)
            before = next((a.weight for a in translations if best and a.text.lower() == best[0].text.lower()), 0.0)
            if best and best[0].weight > max(SURE, before + OTHERWISE) and not known[i].isdigit():
                other = translations[0].text if translations else ""
                found.append((int(df[i]), Term(source, spelled[i], target, best[0].text, best[0].weight, other)))
    return [term for _, term in sorted(found, key=lambda one: (-one[0], one[1]))[:most]]


def strike(state: State, word: str, meaning: str) -> int:
    """Take a translation out of what was learned, in both directions; how many entries."""
    learned = state.models.get(NAME)
    if not isinstance(learned, word_table.Table):
        raise InputError("nothing has been learned here yet: `paragloss learn COLLECTION`")
    rest, struck = learned.without(word, meaning)
    if struck:
        keep(state, rest)
    return struck


def as_glossary(state: State, some: Sequence[Term]) -> int:
    """Keep what was learned as the reader's own words, which overrule every model; how many there are now."""
    own = state.glossary.pairs
    new = [Pair(t.lang, t.word, t.to, t.meaning) for t in some]
    return state.write_glossary([*own, *(pair for pair in new if pair not in own)])
