"""How good is the default model on the demonstration, beside words as they stand and a pretrained encoder?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paragloss.collection import Collection
from paragloss.demo import encoded
from paragloss.demo.texts import documents, queries
from paragloss.evaluation import Scores, evaluate, mean

#: The first document on the concept itself; the first ten by grade.
MEASURES = ("RR(rel=2)", "nDCG@10")
WAYS = ("words as they stand (BM25)", "default model", "pretrained encoder (e5)")
_DEPTH = 100


def measured(engine: Collection) -> Iterator[str]:
    """The lines of a table, each as soon as it is known: the queries of a language, asked of all others."""
    asked, judged = queries()
    near = dict(zip([query.id for query in asked], encoded.rank(documents(), asked, k=_DEPTH), strict=True))
    yield f"{len(asked)} queries, each asked of the other languages; the model has not seen these documents."
    yield "MRR: the first document on what was asked for. nDCG@10: those on something closely related count half.\n"
    yield f"{'':6}" + "".join(f"{way:28}" for way in WAYS).rstrip()
    yield f"{'':6}" + (f"{'MRR':7}{'nDCG@10':21}" * len(WAYS)).rstrip()
    scores: list[Scores] = [{measure: {} for measure in MEASURES} for _ in WAYS]
    for lang in engine.langs:
        mine = [query for query in asked if query.lang == lang]
        others = [other for other in engine.langs if other != lang]
        ways = (
            engine.rank(mine, k=_DEPTH, to=others, pipeline="bm25"),
            engine.rank(mine, k=_DEPTH, to=others),
            [near[query.id] for query in mine],
        )
        wanted = {query.id: judged[query.id] for query in mine}
        found = [evaluate(dict(zip(wanted, rankings, strict=True)), wanted, MEASURES) for rankings in ways]
        for all_, new in zip(scores, found, strict=True):
            for measure in MEASURES:
                all_[measure] |= new[measure]
        yield _line(lang, found)
    yield _line("all", scores)


def _line(name: str, ways: Sequence[Scores]) -> str:
    values = [[mean(scores)[measure] for measure in MEASURES] for scores in ways]
    return f"{name:6}" + "".join(f"{rr:<7.3f}{ndcg:<21.3f}" for rr, ndcg in values).rstrip()
