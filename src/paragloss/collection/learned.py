"""Learn translations of a collection's own words from its pages in two languages, on top of the default model.

The result is kept only if pages that were held out are found better with it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

from paragloss.collection import opening, retrieval
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.pairing import Page, align_pages, group_pages
from paragloss.collection.state import State
from paragloss.errors import InputError
from paragloss.translation import default, word_table
from paragloss.translation.glossary import Pair
from paragloss.types import Alternative, Concept, Document, Query

#: The name of the learned model in the collection.
NAME = "learned"
#: Fewer pages in two languages allow no measurement.
MIN_PAGES = 10
#: Of so many pages one is held out, up to a number.
HOLD_OUT_INTERVAL, MAX_HELD_OUT = 5, 200
#: A translation of the default model counts like so many occurrences: words of a manual are few and clear.
DEFAULT_WEIGHT = 1.0
#: Learned words are listed if they are at least this likely, and by so much likelier than in the default model.
MIN_SHARE, MIN_SHARE_GAIN = 0.3, 0.2
#: Where no path tells which pages belong together: pages that are used as queries, and words of each.
_MAX_PAGE_QUERIES, _WORDS_PER_QUERY = 300, 12
#: A section number before a title is the same in every language and would find the page without a word.
_SECTION_NUMBER = re.compile(r"^[\d.\s]+")


class LearningGain(NamedTuple):
    """Mean reciprocal rank of held-out pages, searched by their titles in another language."""

    source: str
    target: str
    pages: int
    before: float
    after: float


class LearningReport(NamedTuple):
    """Pages in two languages, their blocks that say the same, the gain on held-out pages, and whether it was kept."""

    pages: int
    blocks: int
    gains: list[LearningGain]
    accepted: bool


class LearnedTerm(NamedTuple):
    """A word with the learned translation and its probability, and the translation of the default model."""

    lang: str
    word: str
    to: str
    meaning: str
    share: float
    before: str


def find_page_pairs(state: State, langs: Sequence[str] = ()) -> list[Page]:
    """Return the pages of a collection that say the same in several languages.

    Paths and links tell which documents belong together; without any, documents that find each other are taken.

    :param langs: only documents in these languages are considered; all if empty.
    """
    where = {"lang": list(langs)} if langs else None
    documents = [record.document for records in state.store.scroll(where) for record in records]
    return group_pages(documents) or _find_mutual_pages(state, documents)


def list_translated_paths(state: State) -> list[str]:
    """Return the paths of pages in several languages, with `*` for the language: "manual/*/a.html".

    Texts are not read.

    :return: [] if there are fewer than MIN_PAGES pages, too few to learn from.
    """
    if len(state.langs) < 2:
        return []
    documents = (record.document for records in state.store.scroll(text=False) for record in records)
    pages = group_pages(map(_strip_document, documents))
    if len(pages) < MIN_PAGES:
        return []
    return [page.key for page in pages]


def _strip_document(document: Document) -> Document:
    """Return a document with what grouping pages needs only: those of a large collection are all kept in memory."""
    return Document(document.id, "", document.lang, meta={"translations": document.meta.get("translations", ())})


def learn_from_pages(state: State, langs: Sequence[str] = ()) -> LearningReport:
    """Learn translations from pages in two languages, and search with them if they find held-out pages better.

    A first table is learned without the held-out pages, and measured on them. The one that is kept learns from all.

    :param langs: only pages in these languages are used; all if empty.
    :return: what was learned from, the gains, and whether the result is searched with.
    :raises InputError: if there are fewer than MIN_PAGES pages.
    """
    pages = find_page_pairs(state, langs)
    if len(pages) < MIN_PAGES:
        raise InputError(f"{len(pages)} pages stand in two languages here: learning needs {MIN_PAGES} or more")
    model = state.default or default.open()
    gains = _measure_trial(state, pages, model)
    total_gain = sum(gain.pages * (gain.after - gain.before) for gain in gains)
    is_accepted = total_gain > 0
    blocks = align_pages(pages, model)
    if is_accepted:
        add_learned_model(state, _fit_table(blocks))
    return LearningReport(len(pages), len(blocks), gains, is_accepted)


def _measure_trial(state: State, pages: Sequence[Page], model: default.DefaultModel) -> list[LearningGain]:
    """Learn a first table without some pages, and measure how much better these are found with it.

    :param model: translates words, by which the blocks of pages are aligned.
    """
    held_out_pages = pages[::HOLD_OUT_INTERVAL][:MAX_HELD_OUT]
    training_pages = [page for page in pages if page not in held_out_pages]
    trial_table = _fit_table(align_pages(training_pages, model))
    return _measure_gains(state, held_out_pages, trial_table)


def add_learned_model(state: State, table: word_table.Table) -> None:
    """Search with a learned table from now on, in place of an earlier one."""
    with tempfile.TemporaryDirectory() as folder:
        model_folder = Path(folder) / NAME
        table.save(model_folder)
        opening.add_model(state, str(model_folder))


def _fit_table(blocks: Sequence[Concept]) -> word_table.Table:
    """Learn word translations from blocks that say the same in two languages, starting from the default model."""
    # Phrases are not learned: a search asks for both words of one, and for the compound they may be.
    from paragloss.translation.table_learning import TableSettings, learn_table  # needs scipy, which searching does not

    return learn_table(blocks, TableSettings(start=default.KIND, start_weight=DEFAULT_WEIGHT, phrases=False))


def _measure_gains(state: State, held_out: Sequence[Page], table: word_table.Table) -> list[LearningGain]:
    """Measure how well held-out pages are found without a learned table and with it, for each pair of languages.

    :param table: the learned table.
    """
    with _replace_learned_table(state, None):
        before = _measure_ranks(state, held_out)
    with _replace_learned_table(state, table):
        after = _measure_ranks(state, held_out)
    gains = []
    for (source, target), (n_pages, rank_before) in before.items():
        _, rank_after = after[source, target]
        gains.append(LearningGain(source, target, n_pages, rank_before, rank_after))
    return gains


@contextmanager
def _replace_learned_table(state: State, table: word_table.Table | None) -> Iterator[None]:
    """Search with another learned table, or without one, inside a `with` block."""
    models = dict(state.models)
    state.models.pop(NAME, None)
    if table is not None:
        state.models[NAME] = table
    try:
        yield
    finally:
        state.models = models


def _measure_ranks(state: State, pages: Sequence[Page]) -> dict[tuple[str, str], tuple[int, float]]:
    """Search pages by their titles in another language.

    :return: for each (source, target) the number of pages that were searched, and their mean reciprocal rank.
    """
    measurements = {}
    langs = sorted({lang for page in pages for lang in page.documents})
    for source, target in permutations(langs, 2):
        queries = _make_title_queries(pages, source, target)
        if queries:
            mean_reciprocal_rank = _measure_mean_reciprocal_rank(state, queries, target)
            measurements[source, target] = (len(queries), mean_reciprocal_rank)
    return measurements


def _make_title_queries(pages: Sequence[Page], source: str, target: str) -> list[Query]:
    """Make a query of the title of each page in one language, with the id of the page in the other language."""
    queries = []
    for page in pages:
        if source in page.documents and target in page.documents:
            title = _SECTION_NUMBER.sub("", page.documents[source].title)
            if title.strip():
                queries.append(Query(page.documents[target].id, title, source))
    return queries


def _measure_mean_reciprocal_rank(state: State, queries: Sequence[Query], target: str) -> float:
    """Search for queries, each with the id of its page in the target language; a page that is not found counts 0."""
    total = 0.0
    rankings = retrieval.rank_plain_queries(state, queries, SearchOptions(to=[target]))
    for query, ranking in zip(queries, rankings, strict=True):
        doc_ids = [hit.id for hit in ranking]
        if query.id in doc_ids:
            total += 1 / (1 + doc_ids.index(query.id))
    return total / len(queries)


def _find_mutual_pages(state: State, documents: Sequence[Document]) -> list[Page]:
    """Pair documents of two languages that are each other's best search result.

    The languages are those of most documents with a title. A search is for the first words of a document.
    """
    titled_documents = _group_titled_documents(documents)
    if len(titled_documents) < 2:
        return []
    source, target = sorted(titled_documents, key=lambda lang: -len(titled_documents[lang]))[:2]
    best_targets = _find_best_ids(state, titled_documents[source], target=target)
    best_sources = _find_best_ids(state, titled_documents[target], target=source)
    documents_by_id = {document.id: document for document in documents}
    pages = []
    for source_id, target_id in best_targets.items():
        if best_sources.get(target_id) == source_id:
            page_documents = {source: documents_by_id[source_id], target: documents_by_id[target_id]}
            pages.append(Page(source_id, page_documents))
    return pages


def _group_titled_documents(documents: Iterable[Document]) -> dict[str, list[Document]]:
    """Return the documents that have a title, by language."""
    titled_documents: dict[str, list[Document]] = {}
    for document in documents:
        if document.title:
            titled_documents.setdefault(document.lang, []).append(document)
    return titled_documents


def _find_best_ids(state: State, documents: Sequence[Document], target: str) -> dict[str, str]:
    """Search for the first words of documents in another language.

    :param target: the language in which is searched.
    :return: the id of the best result for each document, by its id; a document that finds nothing is left out.
    """
    queries = []
    for document in documents[:_MAX_PAGE_QUERIES]:
        first_words = document.full_text.split()[:_WORDS_PER_QUERY]
        queries.append(Query(document.id, " ".join(first_words), document.lang))
    rankings = retrieval.rank_plain_queries(state, queries, SearchOptions(to=[target], k=1))
    best_ids = {}
    for query, ranking in zip(queries, rankings, strict=True):
        if ranking:
            best_ids[query.id] = ranking[0].id
    return best_ids


def list_learned_terms(state: State, limit: int = 50) -> list[LearnedTerm]:
    """Return words that were learned with another translation than the default model's, most frequent first.

    :raises InputError: if nothing has been learned.
    """
    table = _get_learned_table(state)
    counted_terms: list[tuple[int, LearnedTerm]] = []
    for source, target in table.pairs:
        counted_terms += _count_learned_terms(state, table, source, target)
    counted_terms.sort(key=lambda counted: (-counted[0], counted[1]))
    return [term for _, term in counted_terms[:limit]]


def _count_learned_terms(
    state: State, table: word_table.Table, source: str, target: str
) -> Iterator[tuple[int, LearnedTerm]]:
    """Yield the words that have a new translation, each with the number of documents that have it, at least two.

    :param table: the learned translations.
    :param source: the language of the words.
    :param target: the language of their translations.
    """
    model = state.default or default.open()
    terms, spellings = table.words[source]
    document_counts = state.index.statistics.df("text", source, terms).tolist()
    for n_documents, term, spelling in zip(document_counts, terms, spellings, strict=True):
        if n_documents < 2 or term.isdigit():
            continue
        learned_translations = table.alternatives(term, source, target)
        default_translations = model.alternatives(term, source, target)
        if not learned_translations:
            continue
        best = learned_translations[0]
        if _is_new_translation(best, default_translations):
            default_text = default_translations[0].text if default_translations else ""
            yield n_documents, LearnedTerm(source, spelling, target, best.text, best.weight, default_text)


def _is_new_translation(learned: Alternative, default_translations: Sequence[Alternative]) -> bool:
    """Tell whether a learned translation is likely, and considerably likelier than in the default model.

    :param default_translations: the translations of the word in the default model.
    """
    same_text = (other for other in default_translations if other.text.lower() == learned.text.lower())
    default_share = next((translation.weight for translation in same_text), 0.0)
    return learned.weight > max(MIN_SHARE, default_share + MIN_SHARE_GAIN)


def remove_translation(state: State, word: str, meaning: str) -> int:
    """Remove a learned translation in both directions; return the number of removed entries.

    :raises InputError: if nothing has been learned.
    """
    table, removed_count = _get_learned_table(state).without(word, meaning)
    if removed_count:
        add_learned_model(state, table)
    return removed_count


def copy_to_glossary(state: State, terms: Sequence[LearnedTerm]) -> int:
    """Add learned terms to the user's glossary, which overrules every model; return its number of pairs."""
    own_pairs = state.glossary.pairs
    new_pairs = [Pair(term.lang, term.word, term.to, term.meaning) for term in terms]
    return state.write_glossary([*own_pairs, *(pair for pair in new_pairs if pair not in own_pairs)])


def _get_learned_table(state: State) -> word_table.Table:
    table = state.models.get(NAME)
    if not isinstance(table, word_table.Table):
        raise InputError("nothing has been learned here yet: `paragloss learn COLLECTION`")
    return table
