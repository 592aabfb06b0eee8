"""Documents of many languages in one space: their words as the English words they may be, by the model in the box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paragloss.analysis import analyzer
from paragloss.translation import default
from paragloss.types import Document

if TYPE_CHECKING:
    import scipy.sparse as sp

#: How far into a document is read: what it is about shows at its beginning.
REACH = 200


def bridged(documents: Sequence[Document]) -> sp.csr_matrix:
    """A row for each document: how much it speaks of each English word. A word that nobody knows stands for itself, so
    that names meet, and texts in languages the model does not have are near each other at least."""
    import scipy.sparse as sp

    model = default.open()
    columns: dict[int | str, int] = {}
    meanings: dict[tuple[str, str], list[tuple[int, float]]] = {}
    owners, places, values = [], [], []
    for row, document in enumerate(documents):
        lang = document.lang
        for term in analyzer(lang).terms(f"{document.title}\n{document.text}"[:REACH]):
            if (lang, term) not in meanings:
                told: list[tuple[int | str, float]] = list(model.english(term, lang)) or [(term, 1.0)]
                meanings[lang, term] = [(columns.setdefault(word, len(columns)), share) for word, share in told]
            for place, share in meanings[lang, term]:
                owners.append(row)
                places.append(place)
                values.append(share)
    shape = (len(documents), max(len(columns), 1))
    return sp.csr_matrix((np.asarray(values, np.float32), (owners, places)), shape=shape)
