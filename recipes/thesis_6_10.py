"""Table 6.10 and Figs. 6.5 and 6.6 of Liu's thesis in shape: how much training data does the bilingual ranker need?

Data: `bilingual_log`; pairs are queries with the documents shown for them, and there are a hundred times fewer than
the thesis had. Run: python recipes/thesis_6_10.py
"""

from __future__ import annotations

from bilingual_log import MEASURES, bilingual, log, measured, rerank, table_of, train

from paragloss.evaluation.kernels import first, seen_terms

SIZES = (500, 1000, 2000, 4000)
THESIS = {
    "500,000": [0.1517, 0.2494, 0.3313, 0.2064, 0.2783, 0.3693, 0.2478],
    "1,000,000": [0.2075, 0.3163, 0.3898, 0.2869, 0.3334, 0.4094, 0.3106],
    "1,500,000": [0.2302, 0.3290, 0.3963, 0.2784, 0.3342, 0.4146, 0.3122],
    "2,000,000": [0.2414, 0.3474, 0.4087, 0.2769, 0.3388, 0.4166, 0.3175],
    "4,000,000": [0.2559, 0.3479, 0.4188, 0.3062, 0.3447, 0.4244, 0.3347],
    "6,000,000": [0.2509, 0.3591, 0.4203, 0.3077, 0.3588, 0.4334, 0.3460],
    "8,000,000": [0.2690, 0.3553, 0.4205, 0.3008, 0.3516, 0.4262, 0.3421],
    "8,553,124": [0.2997, 0.3814, 0.4388, 0.3382, 0.3717, 0.4447, 0.3623],
}

if __name__ == "__main__":
    made = log(max(SIZES))
    translated = bilingual(made)
    # The log is in alphabetical order of packages: every n-th query is a fair part of it, the first n are not.
    spread = [query for step in range(8) for query in translated.queries[step::8]]
    rows = {}
    for size in SIZES:
        part = first(translated._replace(queries=spread), size)
        model = train(part)
        pairs = sum(map(len, part.qrels.values()))
        rows[f"{pairs:,}"] = [*measured(made, rerank(made, model, made.english)), seen_terms(model, part)]
    print(table_of("Table 6.10: training pairs; Fig. 6.6: terms seen", (*MEASURES, "terms"), rows, THESIS))
