"""Search documents of many languages with a query of one: translate it into all of them, then ask once."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import partial

from paragloss.search.evidence import words
from paragloss.search.structured import Probabilistic, Synonymous
from paragloss.translation.combined import translate_many
from paragloss.translation.inner import heard
from paragloss.translation.origins import origins
from paragloss.types import Account, Document, Found, Known, Query, Translator, Where


class Everywhere:
    """Translates each query into every language of `to` (its own stays as it is) and asks the inner searcher for all
    of them together. The same scores as `Merged` over `Translated`, at the price of one search: term ids are those of a
    language, so one question holds them all. `beside` are languages that documents hold beside their own."""

    def __init__(
        self,
        searcher: Probabilistic | Synonymous,
        translator: Translator,
        *,
        to: Sequence[str],
        beside: Sequence[str] = (),
    ) -> None:
        self.searcher = searcher
        self.translator = translator
        self._to, self._beside = tuple(dict.fromkeys([*to, *beside])), frozenset(beside)
        self._said: tuple[Query, list[Query]] | None = None

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Found]:
        wanted = (where or {}).get("lang")
        translated = [self.translations(query, wanted) for query in queries]
        each = zip(queries, translated, self.searcher.together(translated, k, where), strict=True)
        return [Found(ranking, partial(self._account, query, some)) for query, some, ranking in each]

    def best(self, lang: str) -> float:
        return self.searcher.best(lang) if lang in self._to else 0.0

    def by_language(
        self, queries: Sequence[Query], k: int, langs: Sequence[str], where: Where | None = None
    ) -> list[list[Found]]:
        translated = [self.translations(query, langs) for query in queries]
        each = zip(queries, translated, self.searcher.apart(translated, k, langs, where), strict=True)
        return [[Found(r, partial(self._account, query, some)) for r in rankings] for query, some, rankings in each]

    def _account(
        self, query: Query, translated: Sequence[Query], document: Document, score: float, known: Known
    ) -> Account:
        """By the words of the document's language; of one that was found by another that it holds, by those."""
        for said in sorted(translated, key=lambda each: each.lang != document.lang):
            if matches := self.searcher.met(said, document.id):
                by = origins(self.translator, query, said.lang, known.names) if said.clauses else {}
                return words(matches, said, score, by)
        return Account(score)

    def scores(self, query: Query, ids: Sequence[str], langs: Sequence[str]) -> dict[str, float]:
        """Of documents whether or not they would be found."""
        return self.searcher.scores_together(self.translations(query, langs), ids)

    def translations(self, query: Query, wanted: Container[object] | None = None) -> list[Query]:
        """The query as the inner searcher sees it, once for each language that is wanted."""
        if self._said is None or self._said[0] != query:  # asked for again, language by language
            others = [lang for lang in self._to if lang != query.lang]
            said = translate_many(self.translator, query, others) if others else {}
            if self.searcher.hears:
                said = {lang: heard(clauses, query.lang, lang) for lang, clauses in said.items()}
            own = [query] if query.lang in self._to else []
            each = own + [Query(query.id, query.text, lang, tuple(clauses)) for lang, clauses in said.items()]
            self._said = query, each
        return [each for each in self._said[1] if wanted is None or each.lang in wanted or each.lang in self._beside]
