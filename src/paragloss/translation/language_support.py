"""How well documents of a language can be found from another language, in words."""

from __future__ import annotations

from collections.abc import Collection

from paragloss import languages
from paragloss.translation.related_languages import list_relatives

FULL = "full: a table of translations"
ENCODER_ONLY = "encoder only: no table of translations"
NAMES_ONLY = "names only: words that are the same in both languages"
#: Languages that the multilingual encoder e5-small was trained on (those of XLM-R).
ENCODER_LANGUAGES = frozenset(
    """
    af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr hu hy id is it ja
    jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my ne nl no om or pa pl ps pt ro ru sa sd si sk sl so sq sr su
    sv sw ta te th tl tr ug uk ur uz vi xh yi zh
    """.split()  # noqa: SIM905
)


def describe_support(lang: str, table_langs: Collection[str], *, has_encoder: bool) -> str:
    """Say how documents of a language are found from other languages.

    :param table_langs: the languages of the default model.
    :param has_encoder: whether the collection uses a multilingual encoder.
    :return: "full", "related", "encoder only" or "names only", with an explanation.
    """
    if lang in table_langs:
        return FULL
    relatives = list_relatives(lang, table_langs)
    if relatives:
        names = " and ".join(languages.language_name(relative) for relative in relatives)
        return f"related: through {names}"
    return ENCODER_ONLY if has_encoder and lang in ENCODER_LANGUAGES else NAMES_ONLY
