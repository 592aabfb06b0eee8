"""What a reader should be warned of: words of a query that nobody understood, documents whose words nobody knows, texts
that are hardly in the language they are said to be in. Counts words; decides nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from paragloss import languages
from paragloss.analysis import analyzer
from paragloss.bm25 import term_hashes
from paragloss.statistics import Statistics
from paragloss.translation.default import DefaultModel
from paragloss.translation.subword_terms import SOUND_PREFIX
from paragloss.types import Document, Query, QueryForms

#: Texts looked at for each language, how far into each, and the fewest words that say anything.
SAMPLE, REACH, FEWEST = 20, 2000, 50
#: The shares of unknown words at which it is asked what language texts look like, and at which it matters no more.
#: Package descriptions have .06 to .33 in their own language; news said to be in a neighbouring one .07 to .82.
DOUBTFUL, STRANGE = 0.25, 0.5


class Understood(NamedTuple):
    """How many words a query has, and those that no translator knows and no document has as they stand."""

    words: int
    unknown: tuple[str, ...]

    def __str__(self) -> str:
        some = ", ".join(self.unknown)
        return f"{len(self.unknown)} of {self.words} words not understood: {some}" if self.unknown else ""


def understood(query: Query, forms: QueryForms, statistics: Statistics, targets: Sequence[str]) -> Understood:
    """Which words of a query meant something in the languages it was asked in; all of them where nothing translated."""
    spans = analyzer(query.lang).spans(query.text)
    written = list(dict.fromkeys(query.text[span.start : span.end] for span in spans))
    translated = [form for form in forms.queries if form.clauses and form.lang != query.lang]
    if not translated:
        return Understood(len(written), ())
    known: set[str] = set()
    for clause in (clause for form in translated for clause in form.clauses if clause.source not in known):
        if any(text != clause.source and text[0] != SOUND_PREFIX for text, _, _ in clause.alternatives):
            known.update(clause.source.split(), [clause.source])
    strange = [word for word in written if word not in known]
    standing = _standing(strange, statistics, targets)
    return Understood(len(written), tuple(word for word in strange if word not in standing))


def searched(query: Query, forms: QueryForms, targets: Sequence[str]) -> dict[str, str]:
    """The likeliest wording of a query in each language; as it stands where it is in that language, or nobody knows."""
    wordings = {form.lang: [clause.alternatives[0].text for clause in form.clauses] for form in forms.queries}
    others = {lang: " ".join(words) for lang, words in wordings.items() if lang != query.lang}
    return {lang: others.get(lang) or query.text for lang in targets}


def _standing(words: Sequence[str], statistics: Statistics, targets: Sequence[str]) -> set[str]:
    """Words that some document has as they are written; numbers and single signs need no translation."""
    found = {word for word in words if not any(map(str.isalpha, word))}
    hashes, sizes, asked = list[int](), list[int](), list[str]()  # of every word in every language its terms
    for lang in targets:
        cut, known = analyzer(lang).terms, term_hashes(lang)
        for word in words:
            if word not in found and (terms := cut(word)):
                hashes += [known[term] for term in terms]
                sizes.append(len(terms))
                asked.append(word)
    if asked:
        ids = statistics.layout.ids(np.arange(len(statistics.layout.fields))[:, None], hashes)  # (fields, terms)
        there = statistics.df_of(ids.ravel()).reshape(ids.shape) > 0
        whole = np.logical_and.reduceat(there, np.cumsum([0, *sizes[:-1]]), axis=1).any(axis=0)
        found.update(word for word, stands in zip(asked, np.asarray(whole), strict=True) if stands)
    return found


def unknown_share(texts: Iterable[str], lang: str, model: DefaultModel) -> float | None:
    """The share of the words of some texts that a model does not know; None where it does not speak their language or
    there are too few to say."""
    if lang not in model.langs:
        return None
    cut = analyzer(lang)
    terms = Counter(term for text in texts for term in cut.terms(text[:REACH]) if not term.isdigit())
    if terms.total() < FEWEST:
        return None
    return sum(number for term, number in terms.items() if not model.has_term(term, lang)) / terms.total()


def strangers(documents: Sequence[Document], model: DefaultModel) -> dict[str, str]:
    """Languages of whose documents most words are unknown, with what to make of it."""
    found = {}
    for lang in dict.fromkeys(document.lang for document in documents):
        texts = [d.text for d in documents if d.lang == lang and d.text][:SAMPLE]
        share = unknown_share(texts, lang, model)
        if share is not None and share > DOUBTFUL:
            seems = _seems([text[:REACH] for text in texts])
            another = seems is not None and seems != lang
            if another or share > STRANGE:
                likely = f"; they look like {seems!r}" if another else ""
                found[lang] = f"{share:.0%} of the words of documents in {lang!r} are unknown{likely}"
    return found


def _seems(texts: Sequence[str]) -> str | None:
    guesses = [lang for lang in languages.identify(texts) if lang]
    best = max(set(guesses), key=guesses.count, default=None)
    return best if best and guesses.count(best) > len(texts) / 2 else None
