"""Read the files that are values of settings; the type of a setting decides how.

Several files are separated by commas, or the flag is repeated. A file of one language is named after it
(`wiki.fr.vec`, `joint_28_fr.txt.gz`), or is written fr=FILE. Every reader takes the flag, for error messages, and the
texts that were given for it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from paragloss.errors import InputError
from paragloss.types import Document, Floats, JudgedCollection, Qrels

#: The files of the LS-CLIR collection: queries, documents, judgments; given in any order.
LSCLIR = (".queries", ".documents", ".rel")
#: Shares of the documents that get grade 1 and grade 2 when judgments are made from a click log.
GRADE_SHARES = (0.3, 0.1)
#: (flag, texts given for it) -> value of the setting
Reader = Callable[[str, list[str]], Any]


def choose_reader(hint: Any) -> Reader | None:
    """Return the function that reads the files of a setting; None if the value of the setting is not in files.

    :param hint: the type of the setting, perhaps a union
    """
    from paragloss.encoders.bag import BagEncoder
    from paragloss.lab.learning.monolingual import WordEmbeddings
    from paragloss.lab.settings import union_members

    readers: dict[Any, Reader] = {
        Mapping[str, WordEmbeddings]: read_word_vectors,
        Mapping[str, Mapping[str, Floats]]: read_vectors_by_word,
        Mapping[tuple[str, str], Sequence[tuple[str, str]]]: read_word_pairs,
        Sequence[str]: read_text_lines,
        Sequence[tuple[str, str]]: read_clicked_texts,
        Sequence[JudgedCollection]: read_judgments,
        BagEncoder: read_model,
    }
    for member in union_members(hint):
        if member in readers:
            return readers[member]
    return None


def read_word_vectors(_: str, arguments: list[str]) -> Any:
    """Read word vectors by language, a file for each."""
    from paragloss.formats.vectors import read_multilingual_vectors
    from paragloss.lab.learning.monolingual import WordEmbeddings

    vectors_by_lang = read_multilingual_vectors(_split_paths(arguments))
    return {lang: WordEmbeddings(words, rows) for lang, (words, rows) in vectors_by_lang.items()}


def read_vectors_by_word(flag: str, arguments: list[str]) -> dict[str, dict[str, Floats]]:
    """Read word vectors as language -> word -> vector."""
    return {
        lang: dict(zip(vectors.words, vectors.rows, strict=True))
        for lang, vectors in read_word_vectors(flag, arguments).items()
    }


def read_word_pairs(flag: str, arguments: list[str]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Read dictionary files named after their languages, such as en-fr.tsv: (en, fr) -> pairs of words.

    :param flag: the flag that the files are given for, which errors name
    :param arguments: paths, several of which may be joined by commas
    """
    from paragloss.formats.dictionaries import read_entries
    from paragloss.lab.aligned_files import parse_language_pair
    from paragloss.languages import normalise

    word_pairs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for path in _split_paths(arguments):
        named_languages = parse_language_pair(path)
        if named_languages is None:
            raise InputError(f"{flag} {path}: no languages in the file's name; call it after them, as en-fr.tsv")
        source, target = normalise(named_languages[0]), normalise(named_languages[1])
        entries = read_entries(path, source, target)
        word_pairs.setdefault((source, target), []).extend((entry.source, entry.target) for entry in entries)
    return word_pairs


def read_text_lines(_: str, arguments: list[str]) -> list[str]:
    """Read a text from each line."""
    from paragloss.formats.text import read_lines

    return [line.strip() for path in _split_paths(arguments) for _, line in read_lines(path) if line.strip()]


def read_clicked_texts(flag: str, arguments: list[str]) -> list[tuple[str, str]]:
    """Read pairs of a query and the text that was clicked.

    :param flag: the flag that the files are given for, which errors name
    :param arguments: each is a .tsv file with these two columns, or a click log and its documents: LOG,DOCUMENTS
    :raises InputError: if no click is on a document in the files
    """
    from paragloss.lab.aligned_files import read_text_pairs

    clicked_texts: list[tuple[str, str]] = []
    for argument in arguments:
        first_file, *document_files = argument.split(",")
        if document_files:
            clicked_texts += _read_log_clicks(first_file, document_files)
        else:
            clicked_texts += read_text_pairs(first_file)
    if not clicked_texts:
        raise InputError(f"{flag} {','.join(arguments)}: no click is on a document at hand; give those that were shown")
    return clicked_texts


def _read_log_clicks(log: str, document_files: Sequence[str]) -> list[tuple[str, str]]:
    """Return the query and the text of each click of a log on a document in the files."""
    from paragloss.lab.clicks.log_files import read_log

    documents = _read_documents_by_id(document_files)
    clicked_texts = []
    for session in read_log(log):
        for click in session.clicks:
            if click.document in documents:
                clicked_texts.append((session.query, documents[click.document].text))
    return clicked_texts


def read_judgments(flag: str, arguments: list[str]) -> list[JudgedCollection]:
    """Read a judged collection for each argument, QUERIES,DOCUMENTS,JUDGMENTS or LOG,DOCUMENTS."""
    return [read_judged_files(flag, argument.split(",")) for argument in arguments]


def read_judged_files(flag: str, files: Sequence[str]) -> JudgedCollection:
    """Read a judged collection from files of queries, documents and judgments, or from a click log and its documents.

    The files of LS-CLIR are recognized by their endings and may be given in any order.

    :param flag: the flag that the files are given for, which errors name
    :param files: QUERIES, DOCUMENTS and JUDGMENTS, or LOG and DOCUMENTS
    """
    from paragloss.formats.text import format_suffix

    if len(files) == 2:
        return _judge_by_clicks(*files)
    if len(files) != 3:
        raise InputError(f"{flag} {','.join(files)}: expected QUERIES,DOCUMENTS,JUDGMENTS or LOG,DOCUMENTS")
    if {format_suffix(path) for path in files} == set(LSCLIR):
        files = sorted(files, key=lambda path: LSCLIR.index(format_suffix(path)))
    return _read_judged_collection(flag, *files)


def _judge_by_clicks(log: str, document_file: str) -> JudgedCollection:
    """Make judgments from a click log: the documents with the highest click-through rates get the highest grades.

    :param log: path of the click log
    :param document_file: path of the documents that it shows
    """
    from paragloss.lab import clicks
    from paragloss.lab.clicks.log_files import read_log

    sessions = list(read_log(log))
    rates = clicks.dctr(sessions)
    bounds = clicks.compute_grade_bounds(rates, GRADE_SHARES)
    grades = clicks.grade_scores(rates, bounds)
    documents = _read_documents_by_id([document_file])
    lang = next((session.lang for session in sessions if session.lang), "")
    return clicks.make_judged_collection(grades, documents, lang)


def _read_judged_collection(flag: str, query_file: str, document_file: str, qrels_file: str) -> JudgedCollection:
    """Read queries, documents and judgments; queries without a judged document are left out.

    :param flag: for error messages
    :param query_file: path, as are the next two
    :param qrels_file: judgments, as TREC has them
    :raises InputError: if no query is left, or queries or documents have no language
    """
    from paragloss.formats.queries import read_qrels, read_queries

    location = f"{flag} {query_file},{document_file},{qrels_file}"
    documents = _read_documents_by_id([document_file])
    qrels = _select_available(read_qrels(qrels_file), documents)
    queries = [query for query in read_queries(query_file) if query.id in qrels]
    if not queries:
        raise InputError(f"{location}: no query has a judged document that is at hand")
    first_document = next(iter(documents.values()))
    if not queries[0].lang or not first_document.lang:
        raise InputError(f"{location}: queries and documents must say their language; add a key 'lang'")
    qrels_of_queries = {query.id: qrels[query.id] for query in queries}
    return JudgedCollection(queries, documents, qrels_of_queries)


def _select_available(qrels: Qrels, documents: Container[str]) -> Qrels:
    """Keep the judgments of documents that are at hand, and the queries that have any of these left.

    :param documents: ids of the documents at hand
    """
    available_qrels: Qrels = {}
    for query_id, grade_by_document in qrels.items():
        available = {doc_id: grade for doc_id, grade in grade_by_document.items() if doc_id in documents}
        if available:
            available_qrels[query_id] = available
    return available_qrels


def _read_documents_by_id(files: Sequence[str]) -> dict[str, Document]:
    from paragloss.formats.documents import read_documents

    return {document.id: document for path in files for document in read_documents(path)}


def read_model(_: str, arguments: list[str]) -> Any:
    """Load a saved model; return the argument itself if no model of that name exists, for the method to interpret."""
    from pathlib import Path

    from paragloss.collection import load

    return load(arguments[-1]) if Path(arguments[-1]).exists() else arguments[-1]


def _split_paths(arguments: Sequence[str]) -> list[str]:
    return [path for argument in arguments for path in argument.split(",") if path]
