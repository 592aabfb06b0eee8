"""e5 as a teacher: does a word's nearest neighbour under it help, beside what the default model knows?

    PARAGLOSS_DATA=... python studies/neighbours.py LANG ... [--near FOLDER] [--part valid]

The default model's held build (PARAGLOSS_HELD) alone, then mixed with neighbours that count TRUST, as a search without
a pipeline mixes them. Words: 50,000 of each language by frequency. Without `--near` they are those of the held build's
learning texts (--work, see studies/default_model.py), encoded here, which takes an hour a language. A folder computed
elsewhere has words.json ({lang: words}) and near.XX.npz (`there` and `there_csls`: of each English word the five
nearest words of XX by CSLS over ten neighbours, as places in the list). RR, English queries, no encoder at search time;
p of the randomisation test.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import questions
import retrieval_of_tables as scoring
import scipy.sparse as sp

from paragloss.analysis import analyzer
from paragloss.encoders import pretrained
from paragloss.evaluation import compare
from paragloss.lab.methods import neighbours
from paragloss.translation import default
from paragloss.translation.combined import CombinedTranslator
from paragloss.translation.word_table import Table, TermSpellings, prune
from paragloss.types import Translator

TEMPERATURE = 0.05


def computed(folder: Path, lang: str) -> Table:
    """The table that `neighbours.fit` would make of these words."""
    words, found = json.loads((folder / "words.json").read_text()), np.load(folder / f"near.{lang}.npz")
    weights = np.exp((found["there_csls"] - found["there_csls"][:, :1]).astype(np.float64) / TEMPERATURE)
    return _table({code: words[code] for code in ("en", lang)}, lang, found["there"], weights)


def encoded(work: Path, lang: str) -> Table:
    import learning

    learned = learning.load(work / "held" / lang)
    words = {"en": learned.en.surfaces[:50_000], lang: learned.other.surfaces[:50_000]}
    encoder = pretrained.build(pretrained.settings_for("e5"))
    rows = {code: encoder.rows(some, code, query=True) for code, some in words.items()}
    near = neighbours.near(rows["en"], rows[lang], nearest=5, temperature=TEMPERATURE)
    return Table(_terms(words), {("en", lang): near}, most=5, trust=neighbours.TRUST)


def _table(words: dict[str, list[str]], lang: str, places: np.ndarray, weights: np.ndarray) -> Table:
    """Words that are cut to the same term share a row, the commonest first."""
    known = _terms(words)
    row = {term: i for i, term in reversed(list(enumerate(known["en"].terms)))}
    first = [i for i, term in enumerate(known["en"].terms) if row[term] == i]
    start = np.zeros(len(known["en"].terms) + 1, np.int64)
    start[np.array(first) + 1] = places.shape[1]
    shape = (len(known["en"].terms), len(known[lang].terms))
    cells = weights[first].ravel(), places[first].astype(np.int64).ravel(), np.cumsum(start)
    near = prune(sp.csr_matrix(cells, shape=shape), min_probability=0.0, most=5)
    table = Table(known, {("en", lang): near}, most=5, trust=neighbours.TRUST)
    table._index["en"] = row
    return table


def _terms(words: dict[str, list[str]]) -> dict[str, TermSpellings]:
    cut = {lang: analyzer(lang).terms for lang in words}
    return {lang: TermSpellings([" ".join(cut[lang](w)) or w for w in some], some) for lang, some in words.items()}


def ranks(asked: questions.Questions, lang: str, translator: Translator) -> dict[str, float]:
    documents = scoring.Documents.read([d.text for d in asked.documents], lang)
    clauses = [scoring.translated(query, lang, translator) for query in asked.queries]
    found = scoring.reciprocal_ranks(scoring.scores(clauses, documents), asked.right)
    return {query.id: float(rr) for query, rr in zip(asked.queries, found, strict=True)}


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("langs", nargs="+")
    parser.add_argument("--near", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--part", default="test")
    args = parser.parse_args(given)
    warnings.simplefilter("ignore")
    held = default.load(os.environ["PARAGLOSS_HELD"]) if "PARAGLOSS_HELD" in os.environ else default.open()
    print("| | five keywords | p | questions | p |\n|---|---|---|---|---|")
    for lang in args.langs:
        taught = computed(args.near, lang) if args.near else encoded(args.work, lang)
        both = CombinedTranslator([held, taught], weights=[1.0, taught.trust])
        cells = []
        for asked in (questions.claims(lang, part=args.part), questions.asked(lang, part=args.part)):
            test = compare(ranks(asked, lang, held), ranks(asked, lang, both))
            cells.append(f"{test.first:.3f} to {test.second:.3f} | {test.p_randomisation:.3f}")
        print(f"| {lang} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
