"""Parallel texts that choose among translations (Ballesteros and Croft, SIGIR 1998): kept, cut into terms.

How they choose is `translation.parallel_texts`.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import numpy as np
import scipy.sparse as sp

from paragloss.analysis import analyzer
from paragloss.errors import InputError
from paragloss.lab.settings import Seed, Setting, checked
from paragloss.translation.parallel_texts import Parallel, TextCounts
from paragloss.types import Aligned


@checked
def fit(
    aligned: Aligned,
    *,
    texts: Annotated[int, Setting("How many of the best texts are looked at.", min=1)] = 30,
    terms: Annotated[int, Setting("How many of their heaviest terms count.", min=1)] = 5000,
    seed: Seed = 0,
) -> Parallel:
    """Keep texts that stand in two languages or more, cut into terms. The numbers are Ballesteros and Croft's.

    `seed` is taken as every `fit` takes one; nothing here is random.
    """
    shared = [concept for concept in aligned if len(concept.texts) > 1]
    if not shared:
        raise InputError("no text is in two languages: there is nothing parallel to choose by")
    langs = sorted({lang for concept in shared for lang in concept.texts})
    return Parallel({lang: _side(shared, lang) for lang in langs}, texts=texts, terms=terms)


def _side(aligned: Aligned, lang: str) -> TextCounts:
    index: dict[str, int] = {}
    cut = analyzer(lang).terms
    bags = [
        Counter(index.setdefault(t, len(index)) for part in (c.titles, c.texts) for t in cut(part.get(lang, "")))
        for c in aligned
    ]
    start = np.cumsum([0, *map(len, bags)])
    term = np.fromiter((i for bag in bags for i in bag), np.int32)
    count = np.fromiter((n for bag in bags for n in bag.values()), np.float32)
    return TextCounts(list(index), sp.csr_matrix((count, term, start), shape=(len(bags), len(index))))
