"""Use encoders that others have trained: from a package with its weights inside, from a folder, or behind an address.

Nothing is ever downloaded. A saved model names its source and holds no weights.

Most such encoders were trained to encode queries and passages differently. `Pretrained.encode` encodes queries;
its attribute `passages` is the encoder for documents.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

import numpy as np

from paragloss import artefacts, hosts
from paragloss.encoders.pretrained import model_folder, packages
from paragloss.encoders.pretrained.packages import MEANING as MEANING
from paragloss.errors import LanguageError, ModelError, ParaglossError
from paragloss.languages import normalise
from paragloss.types import Floats

KIND = "pretrained"
#: The languages XLM-RoBERTa was trained on, and with it most multilingual encoders: used where a source names none.
LANGS = tuple(
    re.findall(
        r"\w+",
        """af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr hu hy id
        is it ja jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my ne nl no om or pa pl ps pt ro ru sa sd si sk
        sl so sq sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh""",
    )
)
#: Queries whose vectors are cached: the next page of an answer encodes its query again. That takes 2 ms with the
#: encoder that Paragloss ships, but a request where the encoder is behind an address.
MAX_CACHED_QUERIES = 256


class VectorSource(Protocol):
    """What computes vectors: a package, a model in a folder or a server."""

    @property
    def dim(self) -> int:
        """The number of columns of the vectors."""
        ...

    @property
    def multithreaded(self) -> bool:
        """Whether one process uses all processors; if not, documents are encoded in several processes."""
        ...

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        """Return a row for each text (texts, dim)."""
        ...


class EncoderSettings(NamedTuple):
    """The saved description of an encoder.

    `source` is a short name, a folder or an address. `langs`, `query` and `passage` (prompts) override what the source
    says about itself.
    """

    source: str
    langs: tuple[str, ...] = ()
    query: str | None = None
    passage: str | None = None


class Pretrained:
    """An encoder of queries; `passages` encodes documents. Rows have length 1; the row of an empty text is 0."""

    def __init__(self, settings: EncoderSettings, source: VectorSource, langs: Sequence[str]) -> None:
        self.settings, self._source = settings, source
        self.dim, self.langs = source.dim, tuple(langs)
        self.meta = {"source": settings.source}
        self._cached_rows: dict[tuple[str, str], Floats] = {}

    @property
    def multithreaded(self) -> bool:
        """Whether one process uses all processors."""
        return self._source.multithreaded

    @property
    def passages(self) -> PassageEncoder:
        """The encoder of documents."""
        return PassageEncoder(self)

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        """Encode queries, (queries, dim), as `encode_rows` does. Vectors of the latest single queries are cached."""
        if len(texts) != 1:
            return self.encode_rows(texts, lang, query=True)
        key = (texts[0], lang)
        vector = self._cached_rows.get(key)  # in one step: another thread may clear the cache
        if vector is None:
            vector = self.encode_rows(texts, lang, query=True)  # (1, dim)
            if len(self._cached_rows) >= MAX_CACHED_QUERIES:
                self._cached_rows.clear()
            self._cached_rows[key] = vector
        return vector

    def encode_rows(self, texts: Sequence[str], lang: str, *, query: bool) -> Floats:
        """Return one row of length 1 per text, encoded as queries or as passages, (texts, dim); 0 for an empty text.

        :param lang: code of the language of all texts
        :param query: whether the texts are queries
        :raises LanguageError: if the encoder does not know the language
        :raises ModelError: if the source fails
        """
        if lang not in self.langs:
            raise LanguageError(f"{self.settings.source} does not know {lang!r}; it knows {', '.join(self.langs)}")
        rows = np.zeros((len(texts), self.dim), np.float32)
        nonempty = [i for i, text in enumerate(texts) if text.strip()]
        if nonempty:
            encoded = self._run_source([texts[i].replace("\0", " ") for i in nonempty], query=query)
            norms = np.linalg.norm(encoded, axis=1, keepdims=True)
            rows[nonempty] = encoded / np.maximum(norms, 1e-12)
        return rows

    def _run_source(self, texts: list[str], *, query: bool) -> Floats:
        """Encode texts, (texts, dim); raise ModelError if the source, whose files are somebody else's, fails."""
        try:
            rows = self._source.encode(texts, query=query)
        except ParaglossError:
            raise
        except Exception as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise ModelError(f"{self.settings.source} can't read texts ({reason}): copy the model again") from error
        if rows.shape != (len(texts), self.dim) or not np.isfinite(rows).all():
            raise ModelError(f"{self.settings.source} gave {rows.shape} for {len(texts)} texts of {self.dim}")
        return rows

    def save(self, path: str | Path) -> None:
        """Write the settings to a folder; the weights stay where they are."""
        artefacts.save(path, KIND, meta=self.settings._asdict())


class PassageEncoder:
    """The same model, encoding documents."""

    def __init__(self, model: Pretrained) -> None:
        self._model = model
        self.dim, self.langs = model.dim, model.langs

    def encode(self, texts: Sequence[str], lang: str) -> Floats:
        """Return one row per passage (passages, dim)."""
        return self._model.encode_rows(texts, lang, query=False)


def load(path: str | Path) -> Pretrained:
    """Open the source that a saved model names.

    :raises ConsentError: if the source is an address whose host the user has not allowed
    """
    meta = dict(artefacts.load(path, kind=KIND).meta)
    meta["langs"] = tuple(meta.get("langs", ()))
    settings = EncoderSettings(**meta)
    if hosts.is_address(settings.source):
        hosts.require_consent(settings.source, f"the encoder {Path(path).name!r}")
    return open_encoder(settings)


def open_encoder(settings: EncoderSettings) -> Pretrained:
    """Open the encoder that settings describe.

    Its languages are those of the settings; if these name none, those that the source says it knows, or else LANGS.
    """
    source, source_langs = _open_source(settings)
    given_langs = [normalise(lang) for lang in settings.langs]
    return Pretrained(settings, source, given_langs or source_langs or LANGS)


def can_open(source: str) -> bool:
    """Tell whether a text names a source: a short name, an address or the folder of a model."""
    return source in packages.NAMES or hosts.is_address(source) or model_folder.is_model_folder(source)


def short_name(source: str) -> str:
    """Return the name of a source in a collection."""
    if hosts.is_address(source):
        parts = urlsplit(source)
        name = parts.fragment or parts.hostname or ""
    else:
        name = Path(source).resolve().name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._") or "encoder"


def settings_for(
    source: str, *, langs: tuple[str, ...] = (), query: str | None = None, passage: str | None = None
) -> EncoderSettings:
    """Return settings for a source named on the command line; a folder is stored by its absolute path.

    :param source: a short name, an address or a folder
    :param langs: the languages of the encoder; by default those that the source says it knows
    :param query: the prompt that is put before queries; by default that of the source
    :param passage: the prompt that is put before passages; by default that of the source
    """
    is_folder = source not in packages.NAMES and not hosts.is_address(source)
    if is_folder:
        source = str(Path(source).resolve())
    return EncoderSettings(source, langs, query, passage)


def _open_source(settings: EncoderSettings) -> tuple[VectorSource, Sequence[str]]:
    """Open what computes an encoder's vectors: an installed package, a server behind an address, or a model's folder.

    :param settings: `source` is the short name of a package, an address, or else the path of a folder. `query` and
        `passage` are the prompts put before texts; a package has its own and ignores them
    :return: what computes the vectors, and the codes of the languages that it says it knows, () if it says nothing
    """
    source = settings.source
    if source in packages.NAMES:
        return packages.open_named_encoder(source), packages.LANGS.get(source, ())
    if hosts.is_address(source):
        from paragloss.encoders.pretrained.endpoint import Endpoint

        no_languages: tuple[str, ...] = ()  # a server does not say what it knows
        return Endpoint(source, query=settings.query or "", passage=settings.passage or ""), no_languages
    folder = Path(source)
    encoder = model_folder.open_model_folder(folder, query_prompt=settings.query, passage_prompt=settings.passage)
    return encoder, model_folder.read_card_languages(folder)
