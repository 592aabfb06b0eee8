"""Liu's Tables 6.1 to 6.12: K-NRM trained on the clicks of a search log (`papers.simulated_log`)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from papers.corpora import Rows, training_budget
from papers.kernel_analysis import (
    count_pairs_by_kernel,
    count_seen_terms,
    list_translation_kernels,
    measure_kernels_alone,
    measure_unknown_share,
    split_into_words,
    take_first_queries,
)
from papers.plots import plot_columns
from papers.runner import Results
from papers.simulated_log import SearchLog, fit_shared_vectors, simulate_log, train_ranker
from papers.translators import build_muse_dictionary, has_apertium, translate_by_apertium
from paragloss.analysis import analyzer
from paragloss.encoders.kernel_features import MEANS
from paragloss.encoders.kernel_ranker import Knrm
from paragloss.evaluation.report import panels
from paragloss.lab.query_log import (
    CASES,
    measure_judged_counts,
    remove_ambiguous_queries,
    remove_random_queries,
    translate_log,
    translate_queries,
)
from paragloss.types import Floats, Hit, JudgedCollection, Query, Translator

#: A part of a table is a pair of languages, such as "en-de", with 2,000 training queries, or with ten times as many
#: where it ends so; Danish is the language with the most packages.
TRAIN_SIZE, LARGE_TRAIN_SIZE, LARGE_PART = 2000, 20_000, ", 20,000 queries"
#: From random vectors K-NRM learns nothing at the rate that is best from Cr5's.
LEARNING_RATE_FROM_RANDOM = 1e-2
#: Table 6.2 learns from a pair of documents if their click-through rates differ by this many thousandths.
MIN_DIFFERENCE = 100
#: Table 6.5: row -> how the case of queries is changed.
CASE_BY_ROW = {"Bilingual baseline": "keep", "All to lower case": "lower", "First word to lower case": "lower-first"}
#: Precedes a word that was capitalised: a letter, so that analysis keeps it, but of no language we know.
_CAPITAL_MARK = "\ua7fa"
_WORD = re.compile(r"[^\W\d_]+")
#: Tables 6.6 to 6.9: ambiguous queries with more judged documents than this are removed.
BOUNDS = {"low": 20, "middle": 50, "high": 100}
#: Table 6.10, of the thesis' 8,553,124 pairs: 0.5, 1, 1.5, 2, 4, 6 and 8 million, and all, in per cent.
SHARES = (5.8, 11.7, 17.5, 23.4, 46.8, 70.2, 93.5, 100.0)
#: Table 6.12: how well a query is translated; categories of fewer queries are left out.
CATEGORIES = ("Good", "Imperfect", "Bad", "Not correct", "Untranslatable")
MIN_QUERIES = 10


def measure_table_6_2(part: str, seed: int, *, smoke: bool) -> Rows:
    """Train rankers on native or on translated queries, and ask them test queries in either language."""
    lang = part.removeprefix("en-")
    log = simulate_log(4000, lang, smoke=smoke)
    dictionary = build_muse_dictionary(lang, choose="best")
    machine = choose_machine(log)
    bilingual_log = log.translate_to_english(log.train, machine)
    scored_bilingual = bilingual_log._replace(qrels=log.scored_train.qrels)
    random_start = {"vectors": None, "learning_rate": LEARNING_RATE_FROM_RANDOM}
    monolingual = train_ranker(log, log.train, seed=seed)
    bilingual = train_ranker(log, bilingual_log, seed=seed)
    bilingual_random = train_ranker(log, bilingual_log, seed=seed, **random_start)
    monolingual_scored = train_ranker(log, log.scored_train, difference=MIN_DIFFERENCE, seed=seed)
    bilingual_scored = train_ranker(log, scored_bilingual, difference=MIN_DIFFERENCE, seed=seed)
    systems: dict[str, tuple[Knrm, dict[str, Query]]] = {
        "Monolingual baseline": (monolingual, log.native),
        "Monolingual, pairs by difference of score": (monolingual_scored, log.native),
        "Dictionary translation": (monolingual, translate_test_queries(log, dictionary)),
        "Machine translation": (monolingual, translate_test_queries(log, machine)),
        "Bilingual baseline": (bilingual, log.english),
        "Bilingual, random start": (bilingual_random, log.english),
        "Bilingual, pairs by difference of score": (bilingual_scored, log.english),
    }
    bm25_run = {q: [Hit(doc_id, -float(rank)) for rank, doc_id in enumerate(log.results[q])] for q in log.native}
    rows: Rows = {**log.measure_random_order(seed), "As shown (BM25)": log.measure_run(bm25_run)}
    for name, (model, queries) in systems.items():
        unknown = measure_unknown_share(model, queries.values())
        rows[name] = {**log.measure_ranker(model, queries), "unknown words": unknown}
    return rows


def choose_machine(log: SearchLog) -> Translator:
    """Choose Apertium for Spanish where it is installed, otherwise a table learned from the packages."""
    if not has_apertium(log.lang):
        return log.fit_translator()
    training_texts = [query.text for query in log.train.queries]
    test_texts = [query.text for query in log.english.values()]
    return translate_by_apertium({(log.lang, "en"): training_texts, ("en", log.lang): test_texts})


def translate_test_queries(log: SearchLog, translator: Translator) -> dict[str, Query]:
    """Translate the English test queries into the documents' language."""
    return {query.id: query for query in translate_queries(list(log.english.values()), translator, log.lang)}


def simulate_log_of_part(part: str, *, smoke: bool) -> SearchLog:
    """Simulate the log of a part of a table; see LARGE_PART."""
    lang = part.removesuffix(LARGE_PART).removeprefix("en-")
    return simulate_log(LARGE_TRAIN_SIZE if part.endswith(LARGE_PART) else TRAIN_SIZE, lang, smoke=smoke)


def measure_table_6_3(part: str, seed: int, *, smoke: bool) -> Rows:
    log = simulate_log_of_part(part, smoke=smoke)
    return {
        **log.measure_random_order(seed),
        "Monolingual baseline": log.measure_ranker(train_ranker(log, log.train, seed=seed), log.native),
        "Exact match off": log.measure_ranker(train_ranker(log, log.train, seed=seed, off=(0,)), log.native),
    }


def measure_table_6_4(part: str, seed: int, *, smoke: bool) -> Rows:
    """Describe each kernel of two rankers: its weight, the pairs of words in it, and how it ranks alone."""
    log = simulate_log(TRAIN_SIZE, smoke=smoke)
    monolingual = train_ranker(log, log.train, seed=seed)
    bilingual = train_ranker(log, log.translate_to_english(log.train), seed=seed)
    result_grades = {query_id: dict.fromkeys(log.results[query_id], 0) for query_id in log.native}
    pairs, monolingual_pairs = (
        count_pairs_by_kernel(model, JudgedCollection(list(queries.values()), log.documents, result_grades)).tolist()
        for model, queries in ((bilingual, log.english), (monolingual, log.native))
    )

    def score(model: Knrm) -> float:
        return float(np.mean(log.measure_ranker(model, log.english)["DIFF @10"]))

    scores_alone = measure_kernels_alone(bilingual, score)
    translations = Counter(
        list_translation_kernels(bilingual, log.fit_translator(), split_into_words(log.english.values()), log.lang)
    )
    return {
        f"kernel {i + 1}, mean {kernel_mean}": {
            "weight": float(bilingual.kernel_weights[i]),
            "pairs": pairs[i],
            "monolingual weight": float(monolingual.kernel_weights[i]),
            "monolingual pairs": monolingual_pairs[i],
            "translations": translations[i + 1],
            "DIFF @10 alone": scores_alone[i],
        }
        for i, kernel_mean in enumerate(MEANS)
    }


def plot_table_6_4(results: Results) -> dict[str, Any]:
    """Draw Figure 6.2 (a) pairs in each kernel, (b) weights, (c) their size, and Figure 6.3."""
    (rows,) = results.values.values()
    numbers = range(1, len(rows) + 1)
    figure, axes = panels(4, width=3)
    for column in ("pairs", "monolingual pairs"):
        axes[0].plot(numbers, [np.mean(columns[column]) for columns in rows.values()], marker="o", label=column)
    axes[0].legend(fontsize=7)
    axes[0].set(title="Figure 6.2 (a) pairs", xlabel="kernel", yscale="symlog")
    bars = {
        "(b) weight": [np.mean(columns["weight"]) for columns in rows.values()],
        "(c) size of the weight": [np.mean(np.abs(columns["weight"])) for columns in rows.values()],
        "Figure 6.3: DIFF @10 alone": [np.mean(columns["DIFF @10 alone"]) for columns in rows.values()],
    }
    for panel, (title, heights) in zip(axes[1:], bars.items(), strict=True):
        panel.bar(numbers, heights)
        panel.set(title=title, xlabel="kernel")
    axes[3].set_ylim(bottom=0.9 * min(bars["Figure 6.3: DIFF @10 alone"]))
    return {"figure.svg": figure}


def measure_table_6_5(part: str, seed: int, *, smoke: bool) -> Rows:
    """Train a ranker on translated queries with capitals, without any, and without the first one."""
    log = simulate_log_of_part(part, smoke=smoke)
    bilingual = log.translate_to_english(log.train)
    test = translate_queries(list(log.native.values()), log.fit_translator(), "en")
    vectors = add_capitalised_words(fit_shared_vectors(log.lang, log.is_smoke))
    rows = log.measure_random_order(seed)
    for row, case in CASE_BY_ROW.items():
        queries = [query._replace(text=fold_case(CASES[case], query.text)) for query in bilingual.queries]
        model = train_ranker(log, bilingual._replace(queries=queries), seed=seed, vectors=vectors)
        test_queries = {query.id: query._replace(text=fold_case(CASES[case], query.text)) for query in test}
        terms = float(len(model.vocabularies["en"]))
        rows[row] = {**log.measure_ranker(model, test_queries), "English terms": terms}
    return rows


def add_capitalised_words(vectors: Mapping[str, Mapping[str, Floats]]) -> dict[str, dict[str, Floats]]:
    """Give English words with a capital the vectors of the same words without.

    :param vectors: language -> word -> vector
    """
    english = vectors["en"]
    capitalised = {f"{_CAPITAL_MARK}{word}": vector for word, vector in english.items()}
    return {**vectors, "en": {**english, **capitalised}}


def fold_case(fold: Callable[[str], str], text: str) -> str:
    """Capitalise a text as machine translators begin a sentence, fold its case, and mark the capitals that are left."""
    return mark_capitals(fold(text[:1].upper() + text[1:]))


def mark_capitals(text: str) -> str:
    """Mark capitalised words, so that `Apple` and `apple` remain different words after lower-casing.

    For experiments with case: both the training queries and the test queries of a model must be marked.
    """
    return _WORD.sub(lambda word: f"{_CAPITAL_MARK}{word[0]}" if word[0][0].isupper() else word[0], text)


def measure_table_6_6(part: str, seed: int, *, smoke: bool) -> Rows:
    """Describe how long the document lists of ambiguous queries are, and what each bound leaves of the log."""
    _, source, translated = make_ambiguous_log(smoke)
    lengths = measure_judged_counts(source, translated, bounds=list(BOUNDS.values()))
    rows: Rows = {
        "average": {"documents": lengths.mean},
        "minimum": {"documents": float(lengths.minimum)},
        "maximum": {"documents": float(lengths.maximum)},
        "standard deviation": {"documents": lengths.deviation},
        **{f"{bounds} documents": {"queries": float(count)} for bounds, count in lengths.ranges.items()},
    }
    for name, bound in BOUNDS.items():
        cleaned = remove_ambiguous_queries(source, translated, max_judged=bound)
        rows[f"{name} bound"] = {"share kept": cleaned.pairs_left / cleaned.pairs}
    return {**rows, "nothing removed": {"share kept": 1.0}}


def measure_table_6_9(part: str, seed: int, *, smoke: bool) -> Rows:
    """Train without ambiguous queries that have long document lists, and without as many pairs at random."""
    log, source, translated = make_ambiguous_log(smoke)
    training_sets = {}
    for name, bound in list(BOUNDS.items())[: 1 if smoke else None]:
        cleaned = remove_ambiguous_queries(source, translated, max_judged=bound)
        training_sets[f"{name} bound, ambiguous"] = cleaned.judged
        training_sets[f"{name} bound, random"] = remove_random_queries(translated, cleaned.pairs_left, seed=seed)
    training_sets["Nothing removed"] = translated
    rows = log.measure_random_order(seed)
    for row, judged in training_sets.items():
        rows[row] = log.measure_ranker(train_ranker(log, judged, seed=seed), log.english)
    return rows


def make_ambiguous_log(smoke: bool) -> tuple[SearchLog, JudgedCollection, JudgedCollection]:
    """Return the log, its training queries with one-word queries added, and these in English."""
    log = simulate_log(1000, smoke=smoke)
    source = add_first_words(log.train)
    return log, source, translate_log(source, log.fit_translator(), "en", case="lower")


def add_first_words(judged: JudgedCollection) -> JudgedCollection:
    """Add each query's first word as a query; it has the judgments of all queries that begin with it."""
    qrels = dict(judged.qrels)
    one_word_queries: dict[str, Query] = {}
    for query in judged.queries:
        word = query.text.split()[0].strip(",.:;()")
        if word:
            short = one_word_queries.setdefault(word, Query(f"word {word}", word, query.lang))
            merged = qrels.setdefault(short.id, {})
            for doc_id, grade in judged.qrels[query.id].items():
                merged[doc_id] = max(grade, merged.get(doc_id, 0))
    return judged._replace(queries=[*judged.queries, *one_word_queries.values()], qrels=qrels)


def measure_table_6_10(part: str, seed: int, *, smoke: bool) -> Rows:
    """Train bilingual rankers on growing shares of the training queries."""
    log = simulate_log(4000, smoke=smoke)
    bilingual = log.translate_to_english(log.train)
    # The log is in alphabetical order of packages: every eighth query is a fair sample, the first eighth is not.
    queries = [query for offset in range(8) for query in bilingual.queries[offset::8]]
    interleaved = bilingual._replace(queries=queries)
    rows = log.measure_random_order(seed)
    for share in SHARES[:: 7 if smoke else 1]:
        sample = take_first_queries(interleaved, round(len(queries) * share / 100))
        model = train_ranker(log, sample, seed=seed)
        rows[f"share {share}"] = {
            **log.measure_ranker(model, log.english),
            "pairs": float(sum(map(len, sample.qrels.values()))),
            "terms": float(count_seen_terms(model, sample)),
        }
    return rows


def plot_table_6_10(results: Results) -> dict[str, Any]:
    axis = "per cent of the training data"
    return {
        "figure-6-5.svg": plot_columns(results, axis, ("SAME @5", "SAME @10", "DIFF @5", "DIFF @10", "RAW MRR")),
        "figure-6-6.svg": plot_columns(results, axis, ("terms",)),
    }


def measure_table_6_12(part: str, seed: int, *, smoke: bool) -> Rows:
    """Measure three rankers on test queries of each category: how well the query is translated."""
    log = simulate_log_of_part(part, smoke=smoke)
    monolingual = train_ranker(log, log.train, seed=seed)
    bilingual = train_ranker(log, log.translate_to_english(log.train), seed=seed)
    answered = [query for query in log.native.values() if log.results[query.id]]
    translated = {q.id: q for q in translate_queries(answered, log.fit_translator(), "en")}
    systems = {
        "monolingual": (monolingual, log.native),
        "bilingual": (bilingual, {**log.native, **translated}),  # queries without results count nowhere
        "corrected": (bilingual, log.english),
    }
    runs = {name: log.rerank(model, queries) for name, (model, queries) in systems.items()}
    rows = log.measure_random_order(seed)
    for category, query_ids in group_by_category(log, answered, translated).items():
        if len(query_ids) < (1 if smoke else MIN_QUERIES):
            continue
        for name, (model, queries) in systems.items():
            rows[f"{category}, {name}"] = {
                **log.measure_run(runs[name], query_ids),
                "queries": float(len(query_ids)),
                "unknown words": measure_unknown_share(model, [queries[query_id] for query_id in query_ids]),
                **training_budget(model.meta),
            }
    return rows


def plot_table_6_12(results: Results) -> dict[str, Any]:
    """Draw Figure 6.9: the number of queries in each category."""
    (rows,) = results.values.values()
    counts = {row.split(",")[0]: columns["queries"][0] for row, columns in rows.items() if "queries" in columns}
    figure, (axis,) = panels(1, width=5)
    axis.bar(list(counts), list(counts.values()))
    axis.set(title="Figure 6.9", ylabel="queries")
    return {"figure-6-9.svg": figure}


def group_by_category(
    log: SearchLog, queries: Sequence[Query], translated: Mapping[str, Query]
) -> dict[str, list[str]]:
    """Group queries by the quality of their translation: category -> ids of queries."""
    groups: dict[str, list[str]] = {category: [] for category in CATEGORIES}
    for query in queries:
        category = categorize(query.text, translated[query.id].text, log.english[query.id].text)
        groups[category].append(query.id)
    return groups


def categorize(source: str, translated: str, corrected: str) -> str:
    """Judge a translation by the share of the corrected query's terms that it has."""
    terms = analyzer("en").terms
    translated_terms, corrected_terms = set(terms(translated)), set(terms(corrected))
    if translated_terms == set(terms(source)):
        return "Untranslatable"
    share = len(translated_terms & corrected_terms) / max(len(corrected_terms), 1)
    if share == 1:
        return "Good"
    if share >= 0.5:
        return "Imperfect"
    return "Bad" if share > 0 else "Not correct"
