"""Files that methods take as settings: the setting's type says how they are read.

Several files are parted by commas, or the flag is given again. A file of one language says which in its name
(`wiki.fr.vec`, `joint_28_fr.txt.gz`), or is written fr=FILE.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paragloss.errors import InputError
from paragloss.types import Document, Floats, JudgedCollection

#: The files of the LS-CLIR collection: queries, documents, judgments; given in any order.
LSCLIR = (".queries", ".documents", ".rel")
#: Reads what stood behind a flag, each time it was given.
Reader = Callable[[str, list[str]], Any]


def reader(hint: Any) -> Reader | None:
    """Return what reads files for a setting of this type; None for a setting that is no data."""
    from paragloss.encoders.bag import BagEncoder
    from paragloss.lab.learning.monolingual import Vectors
    from paragloss.lab.settings import alternatives

    readers: dict[Any, Reader] = {
        Mapping[str, Vectors]: word_vectors,
        Mapping[str, Mapping[str, Floats]]: word_lookup,
        Mapping[tuple[str, str], Sequence[tuple[str, str]]]: word_pairs,
        Sequence[str]: texts,
        Sequence[tuple[str, str]]: clicked,
        Sequence[JudgedCollection]: judgments,
        BagEncoder: model,
    }
    return next((readers[kind] for kind in alternatives(hint) if kind in readers), None)


def word_vectors(_: str, arguments: list[str]) -> Any:
    from paragloss.formats.vectors import read_multilingual_vectors
    from paragloss.lab.learning.monolingual import Vectors

    return {lang: Vectors(words, rows) for lang, (words, rows) in read_multilingual_vectors(listed(arguments)).items()}


def word_lookup(flag: str, arguments: list[str]) -> dict[str, dict[str, Floats]]:
    return {
        lang: dict(zip(vectors.words, vectors.rows, strict=True))
        for lang, vectors in word_vectors(flag, arguments).items()
    }


def word_pairs(flag: str, arguments: list[str]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Read dictionary files named after their languages, such as en-fr.tsv."""
    from paragloss.formats.dictionaries import read_entries
    from paragloss.lab.aligned_files import languages
    from paragloss.languages import normalise

    pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for path in listed(arguments):
        named = languages(path)
        if named is None:
            raise InputError(f"{flag} {path}: no languages in the file's name; call it after them, as en-fr.tsv")
        source, target = normalise(named[0]), normalise(named[1])
        pairs_of_languages = pairs.setdefault((source, target), [])
        pairs_of_languages += [(entry.source, entry.target) for entry in read_entries(path, source, target)]
    return pairs


def texts(_: str, arguments: list[str]) -> list[str]:
    """Read a text from each line."""
    from paragloss.formats.text import read_lines

    return [line.strip() for path in listed(arguments) for _, line in read_lines(path) if line.strip()]


def clicked(flag: str, arguments: list[str]) -> list[tuple[str, str]]:
    """Read queries and the texts clicked: two columns of a .tsv, or a click log and its documents."""
    from paragloss.lab.aligned_files import read_pairs
    from paragloss.lab.clicks.log_files import read_log

    clicked_pairs: list[tuple[str, str]] = []
    for text in arguments:
        log, *files = text.split(",")
        if not files:
            clicked_pairs += read_pairs(log)
            continue
        at_hand = documents(files)
        for session in read_log(log):
            clicked_pairs += [
                (session.query, at_hand[c.document].text) for c in session.clicks if c.document in at_hand
            ]
    if not clicked_pairs:
        raise InputError(f"{flag} {','.join(arguments)}: no click is on a document at hand; give those that were shown")
    return clicked_pairs


def judgments(flag: str, arguments: list[str]) -> list[JudgedCollection]:
    """Read QUERIES,DOCUMENTS,JUDGMENTS or a click log and its documents, LOG,DOCUMENTS, for each argument."""
    return [judged(flag, text.split(",")) for text in arguments]


def judged(flag: str, files: Sequence[str]) -> JudgedCollection:
    from paragloss.formats.queries import read_qrels, read_queries
    from paragloss.formats.text import format_suffix
    from paragloss.lab import clicks
    from paragloss.lab.clicks.log_files import read_log

    if len(files) == 2:
        sessions = list(read_log(files[0]))
        scores = clicks.dctr(sessions)
        grades = clicks.graded(scores, clicks.cuts(scores, (0.3, 0.1)))
        return clicks.judged(grades, documents(files[1:]), next((s.lang for s in sessions if s.lang), ""))
    if len(files) != 3:
        raise InputError(f"{flag} {','.join(files)}: expected QUERIES,DOCUMENTS,JUDGMENTS or LOG,DOCUMENTS")
    if {format_suffix(path) for path in files} == set(LSCLIR):
        files = sorted(files, key=lambda path: LSCLIR.index(format_suffix(path)))
    document_by_id = documents([files[1]])
    qrels = {
        query: {d: g for d, g in grades.items() if d in document_by_id}
        for query, grades in read_qrels(files[2]).items()
    }
    judged_queries = [query for query in read_queries(files[0]) if qrels.get(query.id)]
    if not judged_queries:
        raise InputError(f"{flag} {','.join(files)}: no query has a judged document that is at hand")
    if not judged_queries[0].lang or not next(iter(document_by_id.values())).lang:
        raise InputError(f"{flag} {','.join(files)}: queries and documents must say their language; add a key 'lang'")
    return JudgedCollection(judged_queries, document_by_id, {query.id: qrels[query.id] for query in judged_queries})


def documents(files: Sequence[str]) -> dict[str, Document]:
    from paragloss.formats.documents import read_documents

    return {document.id: document for path in files for document in read_documents(path)}


def model(_: str, arguments: list[str]) -> Any:
    """Load a saved model; return the argument itself where none of that name is saved, for the method to interpret."""
    from pathlib import Path

    from paragloss.collection import load

    return load(arguments[-1]) if Path(arguments[-1]).exists() else arguments[-1]


def listed(arguments: Sequence[str]) -> list[str]:
    return [path for text in arguments for path in text.split(",") if path]
