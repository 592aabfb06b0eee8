"""An encoder somebody else has trained, as one more part of a search: from a package with its weights inside, from a
folder, or behind an address. Nothing is ever fetched; what is saved names the source and holds no weights.

Queries and passages are told apart, as most such models were trained to: `encode` reads queries, `passages` is the
encoder for documents. Knows nothing of where vectors are kept.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

import numpy as np

from paragloss import artefacts
from paragloss.encoders.pretrained import packages
from paragloss.encoders.pretrained.packages import MEANING as MEANING
from paragloss.errors import LanguageError, ModelError, ParaglossError
from paragloss.languages import normalise
from paragloss.types import Floats

KIND = "pretrained"
#: What XLM-RoBERTa was trained on, and with it most multilingual encoders. Said of a source that does not say.
LANGS = tuple(
    re.findall(
        r"\w+",
        """af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr hu hy id
        is it ja jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my ne nl no om or pa pl ps pt ro ru sa sd si sk
        sl so sq sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh""",
    )
)


_REMEMBERED = 256


class Source(Protocol):
    """Where vectors come from."""

    @property
    def dim(self) -> int: ...

    @property
    def alone(self) -> bool:
        """Whether it uses all processors by itself; if not, documents are encoded in processes side by side."""
        ...

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats: ...


class Settings(NamedTuple):
    """What is saved: the source's name, folder or address, and what it does not say of itself."""

    source: str
    langs: tuple[str, ...] = ()
    query: str | None = None
    passage: str | None = None


class Pretrained:
    """Reads queries; `passages` reads what is looked for. Rows have length 1; an empty text has no vector."""

    def __init__(self, settings: Settings, source: Source, langs: Sequence[str]) -> None:
        self.settings, self._source = settings, source
        self.dim, self.langs = source.dim, tuple(langs)
        self.meta = {"source": settings.source}
        self._remembered: dict[tuple[str, str], Floats] = {}

    @property
    def alone(self) -> bool:
        return self._source.alone

    @property
    def passages(self) -> Passages:
        return Passages(self)

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        """Queries; the last few are remembered, for what is shown of an answer asks again."""
        if len(texts) != 1:
            return self.rows(texts, lang, query=True)
        asked = (texts[0], lang)
        row = self._remembered.get(asked)
        if row is None:
            row = self.rows(texts, lang, query=True)
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            self._remembered[asked] = row
        return row

    def rows(self, texts: Sequence[str], lang: str, *, query: bool) -> Floats:
        if lang not in self.langs:
            raise LanguageError(f"{self.settings.source} does not know {lang!r}; it knows {', '.join(self.langs)}")
        filled = [i for i, text in enumerate(texts) if text.strip()]
        rows = np.zeros((len(texts), self.dim), np.float32)
        if filled:
            found = self._encoded([texts[i].replace("\0", " ") for i in filled], query=query)
            if found.shape != (len(filled), self.dim) or not np.isfinite(found).all():
                raise ModelError(f"{self.settings.source} gave {found.shape} for {len(filled)} texts of {self.dim}")
            rows[filled] = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        return rows

    def _encoded(self, texts: list[str], *, query: bool) -> Floats:
        """What the source makes of texts. Its files are somebody else's, and what runs them raises what it likes."""
        try:
            return self._source.encode(texts, query=query)
        except ParaglossError:
            raise
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise ModelError(f"{self.settings.source} can't read texts ({reason}): copy the model again") from error

    def save(self, path: str | Path) -> None:
        artefacts.save(path, KIND, meta=self.settings._asdict())


class Passages:
    """The same model as it reads documents."""

    def __init__(self, model: Pretrained) -> None:
        self._model = model
        self.dim, self.langs = model.dim, model.langs

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        return self._model.rows(texts, lang, query=False)


def load(path: str | Path) -> Pretrained:
    meta = artefacts.load(path, kind=KIND).meta
    return build(Settings(**{**meta, "langs": tuple(meta.get("langs", ()))}))


def build(settings: Settings) -> Pretrained:
    """Open a source. What `settings` leaves unsaid is taken from the source itself."""
    source, langs = _opened(settings)
    return Pretrained(settings, source, [normalise(lang) for lang in settings.langs] or langs or LANGS)


def can_open(what: str) -> bool:
    """Whether `what` names a source: a package's short name, an address, or the folder of a model."""
    from paragloss.encoders.pretrained import model_folder

    return what in packages.NAMES or _is_address(what) or model_folder.is_model(what)


def short_name(what: str) -> str:
    """What a source is called in a collection."""
    name = urlsplit(what).fragment or urlsplit(what).hostname if _is_address(what) else Path(what).resolve().name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name or "").strip("-._") or "encoder"


def _opened(settings: Settings) -> tuple[Source, Sequence[str]]:
    what = settings.source
    if what in packages.NAMES:
        return packages.opened(what), packages.LANGS.get(what, ())
    if _is_address(what):
        from paragloss.encoders.pretrained.endpoint import Endpoint

        return Endpoint(what, query=settings.query or "", passage=settings.passage or ""), ()
    from paragloss.encoders.pretrained import model_folder

    return model_folder.opened(Path(what), query=settings.query, passage=settings.passage), model_folder.languages(
        Path(what)
    )


def _is_address(what: str) -> bool:
    return what.startswith(("http://", "https://"))


def settings_for(what: str, **given: Any) -> Settings:
    """Settings for something named on the command line; a folder is remembered by its full path."""
    where = str(Path(what).resolve()) if not _is_address(what) and what not in packages.NAMES else what
    return Settings(where, **given)
