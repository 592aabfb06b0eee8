"""Meanings in a language that is not English: through English, by what both sides share.

The default model says what an English meaning may be in the other language; the lexicon of that language says what each
of those means in English, and one counts as it shares meanings with the word it is to translate."""

from __future__ import annotations

from functools import lru_cache

from paragloss.analysis import analyzer
from paragloss.gloss.lexicon import Entry, Lexicon
from paragloss.translation.default import DefaultModel

#: English meanings that are followed, and words of the other language that are tried for each.
_MEANINGS, _TRIED = 3, 6
#: What a word counts that shares nothing, beside one that shares all.
_UNSHARED = 0.1


@lru_cache(maxsize=20_000)
def into(entries: tuple[Entry, ...], to: str, default: DefaultModel, lexicon: Lexicon) -> tuple[Entry, ...]:
    """The same entries in another language, likeliest first; sure where both sides say so."""
    own = {_stem(one.text): one.weight for one in entries}
    scores: dict[str, tuple[float, bool]] = {}
    for one in entries[:_MEANINGS]:
        small = lexicon.look(one.text, f"en>{to}")
        if small:
            weight, sure = one.weight * small[0].weight, one.sure
            scores[small[0].text] = scores.get(small[0].text, (0.0, False))[0] + weight, sure
            continue
        for text, share in _said(one.text, to, default):
            back = {_stem(e.text): e.weight for e in lexicon.look(text, to) or lexicon.look(text.lower(), to)}
            shared = sum(min(weight, back.get(stem, 0.0)) for stem, weight in own.items())
            score = one.weight * share * (_UNSHARED + shared)
            before = scores.get(text, (0.0, False))
            scores[text] = before[0] + score, before[1] or (one.sure and shared >= 0.2)
    total = sum(score for score, _ in scores.values())
    ranked = sorted(scores.items(), key=lambda item: (-item[1][0], item[0]))
    return tuple(Entry(text, score / total, entries[0].source, sure) for text, (score, sure) in ranked if score)


def _stem(text: str) -> str:
    terms = analyzer("en", stop=False).terms(text)
    return " ".join(terms)


def _said(english: str, to: str, default: DefaultModel) -> list[tuple[str, float]]:
    """What English words may be; of several words together the best of each."""
    each = [default.alternatives(term, "en", to)[:_TRIED] for term in analyzer("en", stop=False).terms(english)]
    if len(each) == 1:
        return [(one.text, one.weight) for one in each[0]]
    best = [some[0] for some in each if some]
    return [(" ".join(one.text for one in best), min(one.weight for one in best))] if best else []
