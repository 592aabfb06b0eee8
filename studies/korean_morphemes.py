"""Measure whether splitting Korean words into morphemes would find more than taking particles off their ends does.

    PARAGLOSS_DATA=... python studies/korean_morphemes.py [--queries 200]

Needs kiwipiepy (LGPL), which the package does not use. Documents are the 997 sentences of FLORES dev in Korean, and a
query is the English sentence, translated word by word by the default model, or five neighbouring words of it. A
document's score is that of studies/related_languages.py. Printed for each kind of query are the mean reciprocal rank
with our terms and with the content words that kiwipiepy finds, and the significance of the difference; and the
milliseconds that a sentence takes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import sources
from kiwipiepy import Kiwi
from related_languages import SentenceIndex

from paragloss.analysis import analyzer
from paragloss.evaluation.significance import compare
from paragloss.translation import default
from paragloss.types import Query

#: Tags of nouns, verbs, adjectives, adverbs, roots, foreign words, Chinese characters and numbers.
CONTENT_TAGS = ("NN", "NR", "VV", "VA", "MAG", "XR", "SL", "SH", "SN")
N_WORDS = 5


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=200)
    options = parser.parse_args()
    kiwi = Kiwi(num_workers=1)
    ours = analyzer("ko").terms

    def list_morphemes(text: str) -> list[str]:
        return [token.form.lower() for token in kiwi.tokenize(text) if token.tag.startswith(CONTENT_TAGS)]

    analyzers = {"ours": ours, "morphemes": list_morphemes}
    rows = sources.rows("flores")
    texts = [row["texts"]["ko"] for row in rows]
    for name, analyze in analyzers.items():
        start = time.process_time()
        for text in texts:
            analyze(text)
        print(f"{name}: {1000 * (time.process_time() - start) / len(texts):.2f} ms a sentence", flush=True)
    for kind, make_query in (("sentences", str), ("five words", take_five_words)):
        queries = [make_query(row["texts"]["en"]) for row in rows[: options.queries]]
        print_comparison(kind, queries, texts, analyzers)


def take_five_words(sentence: str) -> str:
    """Return five neighbouring words from the middle of a sentence."""
    words = sentence.split()
    start = max(0, len(words) // 2 - N_WORDS // 2)
    return " ".join(words[start : start + N_WORDS])


def print_comparison(
    kind: str, queries: Sequence[str], texts: Sequence[str], analyzers: dict[str, Callable[[str], list[str]]]
) -> None:
    """Print the mean reciprocal rank of each way to split texts into terms."""
    model = default.open()
    clauses = [model.translate(Query("", query, "en"), "ko") for query in queries]
    ranks: dict[str, dict[str, float]] = {}
    for name, analyze in analyzers.items():
        index = SentenceIndex(texts, analyze)
        ranks[name] = {str(number): 1 / index.rank_of(number, words) for number, words in enumerate(clauses)}
        comparison = compare(ranks["ours"], ranks[name])
        mean = sum(ranks[name].values()) / len(queries)
        print(f"{kind}: {name} {mean:.3f}, p = {comparison.p_randomisation:.4f}", flush=True)


if __name__ == "__main__":
    main()
