"""Turn text into terms, one language at a time; one file for each way of splitting text into words."""

from __future__ import annotations

import re
from functools import cache

from paragloss.analysis.yield_check import check_yield
from paragloss.errors import LanguageError
from paragloss.languages import normalise
from paragloss.types import Analyzer

__all__ = ["analyzer", "check_yield"]

#: Languages without spaces between words that the library ICU splits.
_LANGUAGES_SPLIT_BY_ICU = {"ja", "th", "lo", "km", "my"}


def analyzer(lang: str, *, stem: bool = True, stop: bool = True) -> Analyzer:
    """Return the analyzer of a language; it is built once and shared.

    :param lang: any language code; `pt-br` has the analyzer of `pt`
    :param stem: reduce words to their stems
    :param stop: leave stop words out; without both, terms are plain lower-cased words, as in the Cr5 paper
    """
    return _build_analyzer(_normalise_code(lang), stem, stop)


@cache
def _normalise_code(lang: str) -> str:
    """Return the base code of a language, or the code itself if ISO 639 does not have it."""
    try:
        return normalise(lang)
    except LanguageError:
        if not re.fullmatch("[a-z]{2,3}", lang):
            raise
        return lang


@cache
def _build_analyzer(lang: str, stem: bool, stop: bool) -> Analyzer:
    """Build the analyzer of a language; the library that splits its words is only loaded if it is needed.

    :param lang: the base code of the language
    :param stem: whether words are reduced to their stems
    :param stop: whether stop words are left out
    """
    if lang == "zh":
        from paragloss.analysis._segmented import SegmentedAnalyzer
        from paragloss.analysis.chinese import segment_chinese

        return SegmentedAnalyzer(lang, segment_chinese, stem=stem, stop=stop)
    if lang in _LANGUAGES_SPLIT_BY_ICU:
        from paragloss.analysis._segmented import SegmentedAnalyzer
        from paragloss.analysis.icu import make_icu_segmenter

        return SegmentedAnalyzer(lang, make_icu_segmenter(lang), stem=stem, stop=stop)
    from paragloss.analysis.spaces import SpacedAnalyzer

    return SpacedAnalyzer(lang, stem=stem, stop=stop)
