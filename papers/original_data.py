"""Read the papers' own data, for those who have it: recipes measure it as further parts where its files are present.

docs/do/recipes.md says where the files lie under PARAGLOSS_DATA.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from papers.corpora import Split, data_folder, sample_by_hash, split_sentence_pairs
from paragloss.errors import InputError
from paragloss.formats import lsclir
from paragloss.formats.dictionaries import Entry, read_pairs
from paragloss.formats.text import read_lines
from paragloss.types import JudgedCollection

#: The number of sentence pairs that the XCNN paper learns from.
WMT14_TRAIN_SIZE = 100_000


def split_parallel_corpus(name: str, lang: str) -> Split:
    """Split a corpus of sentence pairs with English; a tenth is held out."""
    files = sorted((data_folder() / name).glob("*.en"))
    pairs = (pair for english in files for pair in _read_line_pairs(english, english.with_suffix(f".{lang}")))
    return split_sentence_pairs(pairs, lang)


def _read_line_pairs(first: Path, second: Path) -> Iterator[tuple[str, str]]:
    """Pair the lines of two files; pairs with a blank line are left out."""
    for left, right in zip_longest(read_lines(first), read_lines(second)):
        if left is None or right is None:
            raise InputError(f"{first} and {second} have not as many lines: they should say the same, line by line")
        if left[1].strip() and right[1].strip():
            yield left[1].strip(), right[1].strip()


def read_dinu_dictionary() -> list[Entry]:
    """Read the word pairs of Dinu's test dictionary."""
    (file, *_) = sorted((data_folder() / "dinu").glob("*test*"))
    return list(read_pairs(file))


def read_lsclir(lang: str, max_queries: int) -> JudgedCollection:
    """Read a sample of LS-CLIR's English queries and their documents in another language."""
    folder = data_folder() / "lsclir"
    qrels = lsclir.read_lsclir_qrels(folder / f"en2{lang}.rel")
    judged_queries = [q for q in lsclir.read_lsclir_queries(folder / "wiki_en.queries") if q.id in qrels and q.text]
    queries = sample_by_hash(judged_queries, max_queries, 0)
    doc_ids = {doc_id for query in queries for doc_id in qrels[query.id]}
    documents = {d.id: d for d in lsclir.read_lsclir_documents(folder / f"wiki_{lang}.documents") if d.id in doc_ids}
    grades = {
        query.id: {doc_id: grade for doc_id, grade in qrels[query.id].items() if doc_id in documents}
        for query in queries
    }
    answered = [query for query in queries if grades[query.id]]
    return JudgedCollection(answered, documents, {query.id: grades[query.id] for query in answered})
