"""Index the collections of studies/search_collections.py and record the reciprocal rank of every query.

    python studies/measure_collections.py COLLECTIONS WORK OUT.json [--only NAME...] [--systems product default ...]

A system is the default search ("product") or a pipeline ("default" is the translated words alone). Each query is asked
of the documents of one language; titles are also asked of all languages together ("mixed", nDCG@10 with every version
of the page as a right answer). WORK keeps the indexed collections. OUT.json gets
{collection: {system: {"kind lang": [reciprocal ranks in the order of the queries]}}}.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from pathlib import Path

from paragloss import Collection, Document, Query

MAX_RANK = 100


def main() -> None:
    """Read the command line, measure each collection, and write the table after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--systems", nargs="*", default=["product"])
    arguments = parser.parse_args()
    table = json.loads(arguments.out.read_text("utf-8")) if arguments.out.exists() else {}
    names = arguments.only or sorted(folder.name for folder in arguments.collections.iterdir())
    for name in names:
        queries = read_rows(arguments.collections / name / "queries.jsonl")
        start = time.process_time()
        with open_indexed(arguments.collections / name, arguments.work / name) as collection:
            print(f"{name}: indexed in {time.process_time() - start:.0f} s of the processor", flush=True)
            for system in arguments.systems:
                pipeline = None if system == "product" else system
                ranks = measure_languages(collection, queries, pipeline) | measure_mixed(collection, queries, pipeline)
                table.setdefault(name, {})[system] = ranks
                print_means(name, system, ranks)
        arguments.out.write_text(json.dumps(table), "utf-8")


def read_rows(path: Path) -> list[dict]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def open_indexed(source: Path, folder: Path) -> Collection:
    """Open the indexed collection, or index its documents with the default options."""
    if folder.exists():
        return Collection.open(str(folder))
    collection = Collection.open_or_create(str(folder))
    rows = read_rows(source / "documents.jsonl")
    collection.index([Document(row["id"], row["text"], row["lang"], row["title"]) for row in rows])
    return collection


def measure_languages(collection: Collection, rows: list[dict], pipeline: str | None) -> dict[str, list[float]]:
    """Return the reciprocal ranks of the right page among those of its language, by kind and language."""
    groups: dict[tuple[str, str], list[dict]] = defaultdict(list)
    for row in rows:
        groups[row["kind"], row["to"]].append(row)
    return {
        f"{kind} {lang}": [
            reciprocal_rank(ranking, {f"{row['concept']}/{lang}"})
            for row, ranking in zip(group, rank_queries(collection, group, pipeline, to=[lang]), strict=True)
        ]
        for (kind, lang), group in sorted(groups.items())
    }


def measure_mixed(collection: Collection, rows: list[dict], pipeline: str | None) -> dict[str, list[float]]:
    """Return nDCG@10 of title queries (sentences where there are no titles) over all languages together."""
    kind = "title" if any(row["kind"] == "title" for row in rows) else "sentence"
    distinct = {row["concept"]: row for row in rows if row["kind"] == kind}
    versions: dict[str, set[str]] = defaultdict(set)
    for document in collection.documents():
        versions[document.id.rpartition("/")[0]].add(document.id)
    group = list(distinct.values())
    rankings = rank_queries(collection, group, pipeline, to=None)
    return {"mixed *": [ndcg(ranking, versions[row["concept"]]) for row, ranking in zip(group, rankings, strict=True)]}


def rank_queries(
    collection: Collection, rows: list[dict], pipeline: str | None, to: list[str] | None
) -> list[list[str]]:
    """Return the ids of the ranked documents of each query."""
    queries = [Query(str(number), row["text"], row["lang"]) for number, row in enumerate(rows)]
    batches = collection.rank_batches(queries, to=to, k=MAX_RANK, pipeline=pipeline)
    return [[hit.id for hit in ranking] for batch in batches for ranking in batch]


def reciprocal_rank(ranking: list[str], right: set[str]) -> float:
    """Return 1 / rank of the first right document, or 0."""
    return next((1 / rank for rank, doc_id in enumerate(ranking, 1) if doc_id in right), 0.0)


def ndcg(ranking: list[str], right: set[str], depth: int = 10) -> float:
    """Return nDCG at `depth` with binary grades."""
    gain = sum(1 / math.log2(rank + 1) for rank, doc_id in enumerate(ranking[:depth], 1) if doc_id in right)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(depth, len(right)) + 1))


def print_means(name: str, system: str, ranks: dict[str, list[float]]) -> None:
    """Print the mean over languages of each kind."""
    by_kind: dict[str, list[float]] = defaultdict(list)
    for key, values in ranks.items():
        by_kind[key.split()[0]].append(sum(values) / len(values))
    means = "  ".join(f"{kind} {sum(values) / len(values):.3f}" for kind, values in sorted(by_kind.items()))
    print(f"{name} [{system}]  {means}", flush=True)


if __name__ == "__main__":
    main()
