"""Liu's section 2.2: which translations of a dictionary to keep (Ballesteros and Croft 1998, Oard 1998).

Words are tagged by the Hanover Tagger (Wartena 2019), whose models lie inside its wheel: pip install HanTa. No extra
installs it, since only this recipe needs it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from papers.corpora import Columns, Rows, make_known_item_task, open_term_index, sample_by_hash, split_titled_concepts
from papers.translators import build_muse_dictionary
from paragloss.analysis import analyzer
from paragloss.evaluation import evaluate
from paragloss.search.lexical import Lexical
from paragloss.types import Alternative, Qrels, Query, Searcher, Translation

TAGGER_MODELS = {"en": "morphmodel_en.pgz", "de": "morphmodel_ger.pgz"}
#: How the tags of each part of speech begin: BNC's C5 and STTS. The first that fits counts.
TAG_BEGINNINGS = {
    "en": {"NN": "noun", "NP": "noun", "V": "verb", "AJ": "adjective", "AV": "adverb"},
    "de": {"NNI": "verb", "NN": "noun", "NE": "noun", "V": "verb", "ADJ": "adjective", "ADV": "adverb"},
}
#: A translation may have each tag whose logarithmic probability is at most this far below that of the likeliest.
TAG_MARGIN = 3


def measure_section_2_2(part: str, seed: int, *, smoke: bool) -> Rows:
    """Let English titles find German texts; rows are ways to choose among the translations of each word."""
    concepts = split_titled_concepts(part.removesuffix(" en-de"), "de", lines=600 if smoke else None).test
    all_queries, documents, qrels = make_known_item_task(concepts, "en", ["de"])
    queries = sample_by_hash(all_queries, 20 if smoke else 1000, 0)
    dictionary = build_muse_dictionary("de")
    all_translations = [dictionary.translate(query, "de") for query in queries]
    translations_by_row = {"All translations": all_translations}
    if find_spec("HanTa") is not None:
        same_part = [
            keep_part_of_speech(query, clauses, "de") for query, clauses in zip(queries, all_translations, strict=True)
        ]
        translations_by_row["Of the word's part of speech"] = same_part
        sizes = [[len(clause.alternatives) for clause in clauses] for clauses in same_part]
        translations_by_row["As many at random"] = sample_alternatives(all_translations, sizes, seed)
    ones = [[1] * len(clauses) for clauses in all_translations]
    translations_by_row["One at random"] = sample_alternatives(all_translations, ones, seed)
    with open_term_index(documents, ("title", "text")) as (store, statistics):
        searcher = Lexical(store, statistics)
        return {
            row: measure_translations(searcher, queries, translations, qrels)
            for row, translations in translations_by_row.items()
        }


def sample_alternatives(
    translations: Sequence[Sequence[Translation]], sizes: Sequence[Sequence[int]], seed: int
) -> list[list[Translation]]:
    """Sample so many alternatives of each word of each query."""
    rng = random.Random(seed)
    return [
        [
            keep_alternatives(clause, rng.sample(clause.alternatives, size))
            for clause, size in zip(clauses, clause_sizes, strict=True)
        ]
        for clauses, clause_sizes in zip(translations, sizes, strict=True)
    ]


def measure_translations(
    searcher: Searcher, queries: Sequence[Query], translations: Sequence[Sequence[Translation]], qrels: Qrels
) -> Columns:
    """Search with translated queries; "translations" is the mean number of alternatives of a word."""
    translated = [
        Query(query.id, " ".join(clause.alternatives[0].text for clause in clauses), "de", tuple(clauses))
        for query, clauses in zip(queries, translations, strict=True)
    ]
    run = {q.id: hits for q, hits in zip(queries, searcher.search(translated, 100, {"lang": ["de"]}), strict=True)}
    scores = evaluate(run, {query.id: qrels[query.id] for query in queries}, ["RR", "P@1"])
    sizes = [len(clause.alternatives) for clauses in translations for clause in clauses]
    return {name: list(values.values()) for name, values in scores.items()} | {"translations": float(np.mean(sizes))}


def keep_part_of_speech(query: Query, clauses: Sequence[Translation], to: str) -> list[Translation]:
    """Keep the alternatives of each word of a query that may be of its part of speech in the query.

    All are kept where none may be, and of a word that is none of the four parts of speech, or not one word.

    :param clauses: the words of the query with their translations into the language `to`
    """
    part_by_word = tag_words(query.text, query.lang)
    kept = []
    for clause in clauses:
        part = part_by_word.get(clause.source, "")
        same_part = [a for a in clause.alternatives if part and part in list_parts(a.text, to)]
        kept.append(keep_alternatives(clause, same_part or clause.alternatives))
    return kept


def keep_alternatives(clause: Translation, alternatives: Sequence[Alternative]) -> Translation:
    """Keep some of the alternatives of a clause; their weights sum to one."""
    total = sum(alternative.weight for alternative in alternatives)
    return clause._replace(alternatives=tuple(a._replace(weight=a.weight / total) for a in alternatives))


def tag_words(text: str, lang: str) -> dict[str, str]:
    """Return the part of speech of each word of a text in its context, "" for other parts than the four."""
    words = [text[span.start : span.end] for span in analyzer(lang, stem=False, stop=False).spans(text)]
    try:
        return {word: _part_of_tag(tag, lang) for word, _, tag in _load_tagger(lang).tag_sent(words)}
    except KeyError:  # the tagger knows no path through some sequences of tags
        return {}


@cache
def list_parts(word: str, lang: str) -> set[str]:
    """List the parts of speech that a word may have by itself, whatever the case of its letters."""
    tags = _load_tagger(lang).tag_word(word, cutoff=TAG_MARGIN, casesensitive=False)
    return {_part_of_tag(tag, lang) for tag, _ in tags}


def _part_of_tag(tag: str, lang: str) -> str:
    return next((part for beginning, part in TAG_BEGINNINGS[lang].items() if tag.startswith(beginning)), "")


@cache
def _load_tagger(lang: str) -> Any:
    from HanTa.HanoverTagger import HanoverTagger

    return HanoverTagger(TAGGER_MODELS[lang])
