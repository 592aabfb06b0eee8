"""Text to terms, one language at a time; one file per way of cutting text. Knows nothing of vocabularies or weights."""

from __future__ import annotations

import re
from functools import cache

from paragloss.analysis.yield_check import check_yield
from paragloss.errors import LanguageError
from paragloss.languages import normalise
from paragloss.types import Analyzer

__all__ = ["analyzer", "check_yield"]

_BY_ICU = {"ja", "th", "lo", "km", "my"}


def analyzer(lang: str, *, stem: bool = True, stop: bool = True) -> Analyzer:
    """The analyzer of a language (`pt-br` gets that of `pt`), made once and shared; any language code has one.

    `stem=False, stop=False` gives plain lower-cased words, as the Cr5 paper uses.
    """
    return _make(_base(lang), stem, stop)


@cache
def _base(lang: str) -> str:
    """The code analyzers go by; one that ISO 639 does not have still gets the analyzer for words between spaces."""
    try:
        return normalise(lang)
    except LanguageError:
        if not re.fullmatch("[a-z]{2,3}", lang):
            raise
        return lang


@cache
def _make(lang: str, stem: bool, stop: bool) -> Analyzer:
    if lang == "zh":
        from paragloss.analysis import chinese
        from paragloss.analysis._segmented import SegmentedAnalyzer

        return SegmentedAnalyzer(lang, chinese.make_chinese_segmenter(), stem=stem, stop=stop)
    if lang in _BY_ICU:
        from paragloss.analysis import icu
        from paragloss.analysis._segmented import SegmentedAnalyzer

        return SegmentedAnalyzer(lang, icu.make_icu_segmenter(lang), stem=stem, stop=stop)
    from paragloss.analysis.spaces import SpacedAnalyzer

    return SpacedAnalyzer(lang, stem=stem, stop=stop)
