"""Where a document's score came from: every searcher accounts for what it gave, and the accounts sum to the score.

Here are the words' accounts, and how accounts are added up; wrappers pass on what they made of their inner searchers'
scores, and `vector_evidence` accounts for vectors and rerankers. docs/understand/why.md derives it. Knows nothing of
how an account is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from paragloss.analysis import analyzer
from paragloss.search.matches import Match
from paragloss.translation.subword_terms import SOUND_PREFIX, SUBWORD_PREFIX
from paragloss.types import Account, Document, Query, RankedList, Share

#: What words that stand as they are were met through.
AS_THEY_STAND = "bm25"
#: What names were met through that were compared by sound, and what is said of words that stand inside longer ones.
BY_SOUND, INSIDE = "by sound", ", inside"
NOTHING = Account(0.0)
#: The part of an explanation that says what it costs that the query may be in several languages.
DOUBT = "language of the query"


def added(accounts: Iterable[Account]) -> Account:
    """Accounts of one document that add up, part by part."""
    some = [account for account in accounts if account.score]
    if len(some) == 1:
        return some[0]
    parts: dict[str, list[Account]] = {}
    for account in some:
        for name, part in account.parts:
            parts.setdefault(name, []).append(part)
    return Account(
        sum(account.score for account in some),
        tuple(share for account in some for share in account.shares),
        all(account.exact for account in some),
        tuple((name, added(each)) for name, each in parts.items()),
    )


def explain_mixture(weighted: Sequence[tuple[float, RankedList]], document: Document, score: float) -> Account:
    """Explain the expected score of a document over several rankings, given how likely each is the right one.

    Scores add up. Log-odds don't: a probability is explained by the ranking that contributes most to it, and by one
    part more for the doubt which ranking is the right one.
    """
    if not any(ranking.has_probabilities for _, ranking in weighted):
        accounts = [(share, ranking.explain(document)) for share, ranking in weighted]
        return added(account.scaled(share * account.score) for share, account in accounts)
    ranking = max(weighted, key=lambda pair: pair[0] * pair[1].score_of(document.id))[1]
    account = ranking.explain(document)
    doubt = math.log(score / (1 - score)) - account.score
    return account._replace(
        score=account.score + doubt, parts=(*account.parts, (DOUBT, Account(doubt, (Share("", "", DOUBT, doubt),))))
    )


def attributed(query: Query, name: str) -> Query:
    """A translated query whose words say who translated them: the translator of this name, unless one within it."""
    clauses = [c if c.origins else c._replace(origins=((name, 1.0, c.alternatives),)) for c in query.clauses]
    return query._replace(clauses=tuple(clauses))


def words(matches: list[Match], known: Mapping[tuple[str, str], Mapping[str, float]], score: float) -> Account:
    """Pairs of words; one that several `translators` know is shared among them by the weights they gave it."""
    shares = []
    for source, word, given in matches:
        bare = word.removeprefix(SUBWORD_PREFIX)
        by = {BY_SOUND: 1.0} if word[0] == SOUND_PREFIX else known.get((source, bare)) or {AS_THEY_STAND: 1.0}
        total, how = sum(by.values()), "" if bare == word else INSIDE
        shares += [Share(source, word, name + how, given * part / total) for name, part in by.items()]
    return Account(score, tuple(shares))


def translators(query: Query) -> dict[tuple[str, str], dict[str, float]]:
    """For every word of a translated query who knows it, with how much weight; a phrase's words share its weight."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    terms = analyzer(query.lang).terms
    for clause in query.clauses:
        for name, share, alternatives in clause.origins:
            for alternative in alternatives:
                cut = alternative.terms or tuple(terms(alternative.text))
                for word in cut:
                    here = found.setdefault((clause.source, word), {})
                    here[name] = here.get(name, 0.0) + share * alternative.weight / len(cut)
    return found
