"""Tables 6.6 to 6.9 of Liu's thesis in shape: take out ambiguous translations with long document lists.

Data: `bilingual_log`, 1,000 training queries. Short descriptions are hardly ever translated alike, so each is also
asked by its first word alone: all that ask with one word share their documents, as searches for one word did in the
thesis' log. Bounds are 20, 50 and 100 documents where the thesis has 100, 200 and 1,000.
Run: python recipes/thesis_6_9.py
"""

from __future__ import annotations

from bilingual_log import MEASURES, log, measured, rerank, table_of, train, translator

from paragloss.translation.querylog import clean, clean_at_random, list_lengths, translate_log
from paragloss.types import Judged, Query

BOUNDS = (20, 50, 100)
THESIS = {
    "100, ambiguous": [0.2603, 0.3656, 0.4193, 0.3280, 0.3669, 0.4389, 0.3581, "86.40%"],
    "100, random": [0.2276, 0.3357, 0.4015, 0.2716, 0.3357, 0.4103, 0.3112, "86.40%"],
    "200, ambiguous": [0.2472, 0.3599, 0.4217, 0.3096, 0.3647, 0.4341, 0.3427, "86.62%"],
    "200, random": [0.2575, 0.3608, 0.4190, 0.3163, 0.3571, 0.4344, 0.3424, "86.62%"],
    "1000, ambiguous": [0.2558, 0.3713, 0.4266, 0.3134, 0.3613, 0.4330, 0.3424, "87.05%"],
    "1000, random": [0.2602, 0.3650, 0.4250, 0.3176, 0.3632, 0.4376, 0.3494, "87.05%"],
    "Nothing removed": [0.2996, 0.3813, 0.4388, 0.3382, 0.3716, 0.4446, 0.3623, "100.00%"],
}


def with_first_words(judged: Judged) -> Judged:
    """The log, and queries of one word: what was opened for a description was opened for its first word."""
    qrels = dict(judged.qrels)
    short: dict[str, Query] = {}
    for query in judged.queries:
        word = query.text.split()[0].strip(",.:;()")
        if word:
            short.setdefault(word, Query(f"word {word}", word, query.lang))
            merged = qrels.setdefault(short[word].id, {})
            for name, grade in judged.qrels[query.id].items():
                merged[name] = max(grade, merged.get(name, 0))
    return judged._replace(queries=[*judged.queries, *short.values()], qrels=qrels)


if __name__ == "__main__":
    made = log(1000)
    source = with_first_words(made.train)
    translated = translate_log(source, translator(), "en", case="lower")
    print(f"{len(source.queries)} queries, {len(source.queries) - len(made.train.queries)} of one word")
    lengths = list_lengths(source, translated, bounds=BOUNDS)
    print("Table 6.6: document lists of ambiguous queries; thesis: mean 15,499, 3 to 579,738, deviation 76,158")
    print(f"  ours: mean {lengths.mean:.1f}, {lengths.minimum} to {lengths.maximum}, deviation {lengths.deviation:.1f}")
    print("Table 6.7: their number by length; thesis: 1-100: 95, 100-200: 65, 200-1,000: 91, above: 65")
    print("  ours: " + ", ".join(f"{name}: {count}" for name, count in lengths.ranges.items()))

    rows = {}
    for bound in BOUNDS:
        cleaned = clean(source, translated, longest=bound)
        share = f"{cleaned.kept / cleaned.pairs:.2%}"
        print(f"bound {bound}: {cleaned.ambiguous} ambiguous queries, {cleaned.removed} taken out")
        control = clean_at_random(translated, cleaned.kept)
        for name, part in (("ambiguous", cleaned.judged), ("random", control)):
            rows[f"{bound}, {name}"] = [*measured(made, rerank(made, train(part), made.english)), share]
    rows["Nothing removed"] = [*measured(made, rerank(made, train(translated), made.english)), "100.00%"]
    print(table_of("Tables 6.8 and 6.9: cleaning", (*MEASURES, "pairs"), rows, THESIS))
