"""Cr5: documents of many languages in one space, by reduced-rank ridge regression of concepts on words.

Josifoski, Paskov, Paskov, Jaggi and West, "Crosslingual Document Embedding as Reduced-Rank Ridge Regression",
WSDM 2019. Which concepts and languages are given decides whether training is joint, pairwise or transitive.
"""

from __future__ import annotations

from paragloss.models._counting import count
from paragloss.models._ridge import Block, closed_form
from paragloss.models.bag import BagEncoder, Tower
from paragloss.types import Aligned
from paragloss.vocabulary import weigh


def fit(
    aligned: Aligned,
    *,
    dim: int = 300,
    seed: int = 0,
    lambda_: float = 1.0,
    stem: bool = True,
    max_terms: int = 200_000,
    min_df: int = 3,
    lengths: tuple[int, int] = (50, 1000),
) -> BagEncoder:
    """Learn an encoder from concepts in two or more languages."""
    counted, concepts = count(aligned, stem=stem, max_terms=max_terms, min_df=min_df, lengths=lengths)
    blocks = [Block(weigh(part.counts, part.vocabulary.idf, "tfidf"), part.concepts) for part in counted.values()]
    solution = closed_form(blocks, concepts, rank=min(dim, concepts - 1), lambda_=lambda_)
    towers = {
        lang: Tower(part.vocabulary, table)
        for (lang, part), table in zip(counted.items(), solution.tables, strict=True)
    }
    return BagEncoder(towers, meta={"method": "cr5", "lambda_": lambda_, "concepts": concepts})
