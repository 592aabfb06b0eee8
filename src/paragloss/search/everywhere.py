"""Search documents of many languages with a query of one: translate it into all of them, then ask once."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from paragloss.search.structured import Probabilistic, Synonymous
from paragloss.types import Query, Ranking, Translation, Translator, Where


class Everywhere:
    """Translates each query into every language of `to` (its own stays as it is) and asks the inner searcher for all
    of them together. The same scores as `Merged` over `Translated`, at the price of one search: term ids are those of a
    language, so one question holds them all."""

    def __init__(self, searcher: Probabilistic | Synonymous, translator: Translator, *, to: Sequence[str]) -> None:
        self._searcher = searcher
        self._translator = translator
        self._to = tuple(dict.fromkeys(to))

    def search(self, queries: Sequence[Query], k: int, where: Where | None = None) -> list[Ranking]:
        wanted = (where or {}).get("lang")
        return [self._searcher.together(self.translations(query, wanted), k, where) for query in queries]

    def translations(self, query: Query, wanted: Container[str | int | bool] | None = None) -> list[Query]:
        """The query as the inner searcher sees it, once for each language that is wanted."""
        targets = [lang for lang in self._to if wanted is None or lang in wanted]
        others = [lang for lang in targets if lang != query.lang]
        said = translate_many(self._translator, query, others) if others else {}
        own = [query] if query.lang in targets else []
        return own + [Query(query.id, query.text, lang, tuple(clauses)) for lang, clauses in said.items()]


def translate_many(translator: Translator, query: Query, targets: Sequence[str]) -> Mapping[str, list[Translation]]:
    """A query in several languages; a translator that looks words up once for all of them is asked to."""
    if (at_once := getattr(translator, "translate_many", None)) is not None:
        said: Mapping[str, list[Translation]] = at_once(query, targets)
        return said
    return {lang: translator.translate(query, lang) for lang in targets}
