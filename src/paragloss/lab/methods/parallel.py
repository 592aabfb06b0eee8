"""Prepare parallel texts with which a search chooses among translations (Ballesteros and Croft, SIGIR 1998).

How it chooses is in `translation.parallel_texts`.
"""

from __future__ import annotations

from typing import Annotated

from paragloss.errors import InputError
from paragloss.lab.settings import Seed, Setting, checked
from paragloss.translation.parallel_texts import Parallel, TextCounts
from paragloss.types import Aligned
from paragloss.vocabulary import count_all_terms


@checked
def fit(
    aligned: Aligned,
    *,
    texts: Annotated[int, Setting("How many of the best texts are used.", min=1)] = 30,
    terms: Annotated[int, Setting("Terms of those texts with the highest weights that are used.", min=1)] = 5000,
    seed: Seed = 0,
) -> Parallel:
    """Count the terms of texts that exist in two languages or more.

    The defaults are Ballesteros and Croft's. `seed` is accepted because every method has one; nothing is random.

    :param aligned: texts in several languages
    :return: the counted texts of each language
    """
    shared = [concept for concept in aligned if len(concept.texts) > 1]
    if not shared:
        raise InputError("no text is in two languages: there is nothing parallel to choose by")
    langs = sorted({lang for concept in shared for lang in concept.texts})
    return Parallel({lang: _count_language(shared, lang) for lang in langs}, texts=texts, terms=terms)


def _count_language(aligned: Aligned, lang: str) -> TextCounts:
    """Count the terms of title and text of each concept in one language; none where it has no text."""
    texts = (f"{concept.titles.get(lang, '')}\n{concept.texts.get(lang, '')}" for concept in aligned)
    return TextCounts(*count_all_terms(texts, lang))
