"""Gives documents that do not say their language the one they are written in."""

from __future__ import annotations

from collections.abc import Sequence

from paragloss import languages
from paragloss.types import Document


def assign_languages(documents: Sequence[Document], lang: str | None = None) -> list[Document]:
    """Give every document a language code.

    :param documents: documents with or without a language.
    :param lang: the language of those without; None identifies it in each of them.
    :return: the documents in the same order. One without any letters has the language `languages.UNKNOWN`.
    """
    return [document._replace(lang=_choose_language(document, lang)) for document in documents]


def _choose_language(document: Document, lang: str | None) -> str:
    code = document.lang or lang or languages.identify_document(document.text, document.title)
    return languages.normalise(code) if code else languages.UNKNOWN
