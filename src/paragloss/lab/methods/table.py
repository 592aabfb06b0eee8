"""Word translations learned from texts that say the same thing: parallel sentences or whole documents.

`fit` counts which words of two languages go together (see `lab.learning.ibm_model1`) and keeps, for each source term,
its likely translations as words one can read. Knows nothing of searching.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Annotated

from paragloss import artefacts
from paragloss.errors import InputError
from paragloss.lab.learning.ibm_model1 import Bags, Learned, learn
from paragloss.lab.learning.parallel_terms import Texts, places, read, shared, with_words
from paragloss.lab.settings import Seed, Setting, checked
from paragloss.translation import default
from paragloss.translation.word_table import Table, prune
from paragloss.types import Aligned

if TYPE_CHECKING:
    import scipy.sparse as sp


@checked
def fit(
    aligned: Aligned,
    *,
    source: Annotated[str, Setting("Only tables from this language.")] = "",
    target: Annotated[str, Setting("Only tables into this language.")] = "",
    iterations: Annotated[int, Setting("Rounds of expectation maximisation.", least=1, most=1000)] = 5,
    diagonal: Annotated[
        float, Setting("How much words at like places belong together; 0 is not at all.", least=0, most=1000)
    ] = 4.0,
    symmetric: Annotated[
        bool, Setting("Take both directions together; drops what a rare word only stood beside.")
    ] = True,
    candidates: Annotated[int, Setting("How many translations of a word are weighed.", least=1, most=1_000_000)] = 100,
    max_terms: Annotated[int, Setting("Long documents are cut to so many terms.", least=1)] = 150,
    phrases: Annotated[bool, Setting("Learn neighbours that belong together as one term.")] = True,
    min_probability: Annotated[float, Setting("Less likely translations are dropped.", least=0, most=1)] = 0.01,
    max_alternatives: Annotated[int, Setting("The most translations kept of a word.", least=1)] = 20,
    sharpness: Annotated[
        float,
        Setting("What probabilities are raised to when searching; 1 leaves them as they are.", least=0.1, most=10),
    ] = 2.0,
    start: Annotated[
        str, Setting('What to learn on from: "default", the model of the package, or a saved table.')
    ] = "",
    start_weight: Annotated[
        float, Setting("How many times what the start says has been met.", least=0, most=1e6)
    ] = 5.0,
    seed: Seed = 0,
) -> Table:
    """Learn a table for every two languages that share texts, in both directions.

    With `source` or `target` only the pairs that start or end there (one direction of them is kept).
    `symmetric` takes the geometric mean of P(target | source) and P(source | target), which drops words that a rare
    word only stood beside. `max_terms` cuts long documents. With `phrases`, neighbours that belong together are
    learned, and translated, as one term. `start` goes on from "default", the model in the box, or from a saved table:
    what it says of a word counts as if the word had been met `start_weight` times before, and what only it knows stays.
    A search tempers probabilities, as those of other texts; these are of one's own, where what stood beside a word by
    chance has small ones: `sharpness` lowers those first. `seed` is taken as every `fit` takes one; nothing here is
    random.
    """
    wanted = _pairs(aligned, source, target)
    needed = sorted({lang for pair in wanted for lang in pair})
    texts = {lang: read(aligned, lang, max_terms=max_terms, phrases=phrases) for lang in needed}
    begun = started(start, wanted) if start else None
    if begun is not None:
        texts = {lang: with_words(text, begun.words.get(lang)) for lang, text in texts.items()}
    align = partial(learn, iterations=iterations, diagonal=diagonal, candidates=candidates)
    learned: dict[tuple[str, str], sp.csr_matrix] = {}
    for a, b in combinations(needed, 2):
        left, right = shared(texts[a], texts[b])
        if {(a, b), (b, a)}.isdisjoint(wanted) or len(left.start) < 2:
            continue
        priors = [_prior(begun, *pair, texts, start_weight) for pair in ((a, b), (b, a))]
        learned[a, b], learned[b, a] = _both_ways(left, right, align, priors, symmetric=symmetric)
    if not learned:
        raise InputError(f"no text is in two of the languages {', '.join(needed)}: nothing to learn from")
    kept = [pair for pair in learned if pair in wanted]
    least, most = min_probability, max_alternatives
    pruned = {pair: prune(learned[pair], min_probability=least, most=most) for pair in kept}
    words = {lang: text.words for lang, text in texts.items()}
    return Table(words, pruned, most=max_alternatives, sharpness=sharpness)


def _pairs(aligned: Aligned, source: str, target: str) -> list[tuple[str, str]]:
    """What a table may go from and to: any two languages, or those that are asked for."""
    langs = sorted({lang for concept in aligned for lang in concept.texts})
    wanted = [pair for pair in permutations(langs, 2) if source in ("", pair[0]) and target in ("", pair[1])]
    if not wanted:
        raise InputError(f"nothing to learn a table {source or 'any'}->{target or 'any'} from: texts are in {langs}")
    return wanted


def _both_ways(
    left: Bags, right: Bags, align: Callable[..., Learned], priors: Sequence[sp.csr_matrix | None], *, symmetric: bool
) -> list[sp.csr_matrix]:
    """P(right | left) and P(left | right), or with `symmetric` their geometric mean, seen from either side."""
    with ThreadPoolExecutor(2) as pool:  # numpy lets go of the interpreter for most of it
        sides = ((left, right), (right, left))
        ways = [pool.submit(align, *side, prior=prior) for side, prior in zip(sides, priors, strict=True)]
        there, back = (way.result().probability for way in ways)
    if not symmetric:
        return [there, back]
    return [one.multiply(other.T).sqrt().tocsr() for one, other in ((there, back), (back, there))]


def started(start: str, pairs: Sequence[tuple[str, str]]) -> Table:
    """The model in the box as a table of some pairs, or a saved one."""
    if start == default.KIND:
        return default.table(default.open(), pairs)
    return default.table(default.load(start), pairs) if artefacts.kind_of(start) == default.KIND else Table.load(start)


def _prior(
    begun: Table | None, source: str, target: str, texts: Mapping[str, Texts], weight: float
) -> sp.csr_matrix | None:
    """What the start says of a pair, in the numbers of the texts' words."""
    import scipy.sparse as sp

    if begun is None or (source, target) not in begun.probabilities:
        return None
    cells = begun.probabilities[source, target].tocoo()
    rows, columns = (places(texts[lang].words, begun.words[lang]) for lang in (source, target))
    shape = (len(texts[source].words.terms), len(texts[target].words.terms))
    return sp.csr_matrix((weight * cells.data, (rows[cells.row], columns[cells.col])), shape=shape)
