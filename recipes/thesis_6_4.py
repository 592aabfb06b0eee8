"""Tables 6.3 and 6.4 and Figs. 6.2 and 6.3 of Liu's thesis in shape: exact matches, kernels and what falls into them.

Data: `bilingual_log`, 2,000 training queries; pairs of words are those of the test queries and the documents shown.
A pair is put where the kernel responds most. Run: python recipes/thesis_6_4.py
"""

from __future__ import annotations

from collections import Counter

from bilingual_log import MEASURES, bilingual, log, measured, rerank, table_of, train, translator

from paragloss.evaluation.kernels import bins, one_at_a_time, translation_pairs, words_of
from paragloss.types import Judged

THESIS = {
    "Monolingual baseline": [0.2706, 0.3719, 0.4310, 0.3128, 0.3624, 0.4338, 0.3500],
    "Exact match off": [0.2574, 0.3620, 0.4218, 0.3233, 0.3696, 0.4407, 0.3484],
}
#: kernel: bilingual weight, pairs; monolingual weight, pairs
THESIS_BINS = {
    "1 (1.0)": [-0.78, 126, -1.80, 2421],
    "2 (0.9)": [-1.25, 0, -0.02, 10],
    "3 (0.7)": [-7.28, 5, 2.54, 3],
    "4 (0.5)": [-9.13, 102, 18.32, 83],
    "5 (0.3)": [-7.78, 2871, 23.16, 3340],
    "6 (0.1)": [-2.84, 146050, -2.31, 130670],
    "7 (-0.1)": [2.34, 142510, -5.87, 134014],
    "8 (-0.3)": [8.10, 3232, -10.00, 2388],
    "9 (-0.5)": [9.43, 154, -8.78, 132],
    "10 (-0.7)": [7.79, 4, -6.29, 3],
    "11 (-0.9)": [1.37, 0, 0.11, 4],
}

if __name__ == "__main__":
    made = log()
    one, two = train(made.train), train(bilingual(made))
    off = train(made.train, off=(0,))
    rows = {
        "Monolingual baseline": measured(made, rerank(made, one, made.german)),
        "Exact match off": measured(made, rerank(made, off, made.german)),
    }
    print(table_of("Table 6.3: exact match disabled in training", MEASURES, rows, THESIS))

    shown = {id: dict.fromkeys(made.shown[id], 0) for id in made.test}
    in_english = bins(two, Judged([made.english[id] for id in made.test], made.documents, shown))
    in_german = bins(one, Judged([made.german[id] for id in made.test], made.documents, shown))
    alone = one_at_a_time(two, lambda model: measured(made, rerank(made, model, made.english))[5])
    placed = translation_pairs(two, translator(), words_of([made.english[id] for id in made.test]), "de")
    per_bin = Counter(pair.bin for pair in placed)
    ours = {
        f"{b.number} ({b.mean})": [b.weight, b.pairs, m.weight, m.pairs, per_bin[b.number], score]
        for b, m, score in zip(in_english, in_german, alone, strict=True)
    }
    header = ("bi weight", "bi pairs", "mono w.", "mono prs", "transl.", "DIFF@10")
    print(table_of("Table 6.4, translation pairs per kernel, Fig. 6.3 (kernel alone)", header, ours, THESIS_BINS))
