"""Search documents of many languages with a query of one: translate it into all of them, then ask once."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import cache, partial

from paragloss.search.evidence import attributed, translators, words
from paragloss.search.structured import Probabilistic, Synonymous
from paragloss.translation.combined import translate_many
from paragloss.translation.subword_terms import add_sound_alternatives
from paragloss.types import Account, Document, Found, Query, QueryForms, Ranking, Translator, Where


class Everywhere:
    """Translates each query into every language of `to` (its own stays as it is) and asks the inner searcher for all
    of them together. The same scores as `Merged` over `Translated`, at the price of one search: term ids are those of a
    language, so one question holds them all. `beside` are languages that documents hold beside their own; `called` is
    the translator's name."""

    def __init__(
        self,
        searcher: Probabilistic | Synonymous,
        translator: Translator,
        *,
        to: Sequence[str],
        beside: Sequence[str] = (),
        called: str = "translator",
    ) -> None:
        self.searcher = searcher
        self.translator = translator
        self._called = called
        self._to, self._beside = tuple(dict.fromkeys([*to, *beside])), frozenset(beside)

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Found]:
        wanted = (where or {}).get("lang")
        translated = [self.translations(query, wanted) for query in queries]
        each = zip(translated, self.searcher.together(translated, k, where), strict=True)
        return [self._with_evidence(some, [ranking])[0] for some, ranking in each]

    def best(self, lang: str) -> float:
        return self.searcher.best(lang) if lang in self._to else 0.0

    def by_language(
        self, queries: Sequence[Query], k: int, langs: Sequence[str], where: Where | None = None
    ) -> list[list[Found]]:
        translated = [self.translations(query, langs) for query in queries]
        each = zip(translated, self.searcher.apart(translated, k, langs, where), strict=True)
        return [self._with_evidence(some, rankings) for some, rankings in each]

    def _with_evidence(self, translated: Sequence[Query], rankings: Sequence[Ranking]) -> list[Found]:
        forms, held = QueryForms(tuple(translated)), self.searcher.held(translated)
        told = cache(lambda query: translators(attributed(query, self._called)))

        def account(document: Document, score: float) -> Account:
            """By its language, or another that it holds: a document has the best of what they say of it."""
            best, matches = held(document.id, (document.lang, *self._beside))
            return words(matches, told(best), score)

        scores = partial(self._scores, translated)
        return [Found(one, account, forms=forms, scores=scores) for one in rankings]

    def _scores(self, translated: Sequence[Query], ids: Sequence[str], langs: Sequence[str]) -> dict[str, float]:
        wanted = [each for each in translated if each.lang in langs or each.lang in self._beside]
        return self.searcher.scores_together(wanted, ids)

    def translations(self, query: Query, wanted: Container[object] | None = None) -> list[Query]:
        """The query as the inner searcher sees it, once for each language that is wanted."""
        to = [lang for lang in self._to if wanted is None or lang in wanted or lang in self._beside]
        others = [lang for lang in to if lang != query.lang]
        clauses = translate_many(self.translator, query, others) if others else {}
        if self.searcher.looks_inside:
            clauses = {lang: add_sound_alternatives(some, query.lang, lang) for lang, some in clauses.items()}
        own = [query] if query.lang in to else []
        return own + [Query(query.id, query.text, lang, tuple(some)) for lang, some in clauses.items()]
