"""Speed of the ordinal towers and of K-NRM on synthetic term ids, as ratios within one run.

    python benchmarks/neural.py [ordinal] [knrm] [rerank] [--device cuda] [--vocabulary 166000]

K-NRM is compared with a plain PyTorch one (padded batches, one tensor for all kernels, dense Adam) and, where it is
installed, with MatchZoo-py's. Nothing here cuts text: the figures are of the models alone.
"""

from __future__ import annotations

import argparse
import collections
import collections.abc
import os
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
import torch

from paragloss.encoders.kernel_features import MEANS, WIDTHS, unit
from paragloss.encoders.kernel_ranker import Knrm
from paragloss.lab.descent import graded, loop, towers
from paragloss.lab.descent import kernel_networks as training
from paragloss.lab.descent.bags import bags
from paragloss.lab.methods.ordinal import sosl


def zipf(rng: np.random.Generator, texts: int, length: int, vocabulary: int) -> np.ndarray:
    """Term ids distributed roughly as words are: (texts, length)."""
    return np.minimum(vocabulary - 1, np.exp(rng.random((texts, length)) * np.log(vocabulary)).astype(np.int64) - 1)


def counts(ids: np.ndarray, vocabulary: int) -> sp.csr_matrix:
    rows = sp.csr_matrix(
        (np.ones(ids.size, np.float32), ids.ravel(), np.arange(len(ids) + 1) * ids.shape[1]), (len(ids), vocabulary)
    )
    rows.sum_duplicates()
    return rows


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def ordinal(device: str, *, queries: int = 15_000, documents: int = 100_000, epochs: int = 2) -> None:
    """One epoch of 15,000 queries x 55 documents: 1 relevant, 14 partly, 40 irrelevant ones drawn anew."""
    rng = np.random.default_rng(0)
    vocabulary, judged = 100_000, 15
    asked, read = (
        counts(zipf(rng, queries, 12, vocabulary), vocabulary),
        counts(zipf(rng, documents, 120, vocabulary), vocabulary),
    )
    for rows in (asked, read):
        rows.data /= np.repeat(np.asarray(rows.sum(1)).ravel(), np.diff(rows.indptr))
    columns = np.sort(np.stack([rng.choice(documents, judged, replace=False) for _ in range(queries)]), axis=1)
    grades = np.ones(columns.shape, np.float32)
    grades[np.arange(queries), rng.integers(0, judged, queries)] = 2
    matrix = sp.csr_matrix((grades.ravel(), columns.ravel(), np.arange(queries + 1) * judged), (queries, documents))
    one = graded.task("a", "b", asked, read, matrix, device)
    nets = {
        lang: towers.Average(
            torch.randn(vocabulary, 64, device=device, generator=torch.Generator(device).manual_seed(i))
        )
        for i, lang in enumerate("ab")
    }
    ends: list[float] = []

    def note(done: loop.Progress) -> None:
        wait(device)
        ends.append(time.perf_counter())
        print(f"  epoch {done.epoch}: loss {done.loss:.4f}", flush=True)

    start = time.perf_counter()
    graded.train(
        [one], nets, lambda r, y: sosl(r, y), epsilon=1.0, negatives=40, batch=128, epochs=epochs,
        learning_rate=0.01, seed=0, progress=note,
    )  # fmt: skip
    each = np.diff([start, *ends])
    print(f"ordinal, {device}: {queries} queries x {judged + 40} documents of 120 terms, vocabulary {vocabulary}")
    print(f"  first epoch {each[0]:.2f} s, later ones {each[1:].mean():.2f} s, all {epochs}: {each.sum():.1f} s")


class Plain(torch.nn.Module):
    """K-NRM as one writes it down: every kernel over the padded matrix of cosines at once."""

    def __init__(self, vocabulary: int, dim: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary + 1, dim, padding_idx=0)
        self.register_buffer("means", torch.tensor(MEANS))
        self.register_buffer("widths", torch.tensor(WIDTHS))
        self.dense = torch.nn.Linear(len(MEANS), 1)

    def forward(self, query: torch.Tensor, document: torch.Tensor) -> torch.Tensor:
        q = torch.nn.functional.normalize(self.embedding(query), dim=-1)
        d = torch.nn.functional.normalize(self.embedding(document), dim=-1)
        cosines = torch.bmm(q, d.transpose(1, 2))[..., None]
        felt = torch.exp(-((cosines - self.means) ** 2) / (2 * self.widths**2)) * (document > 0)[:, None, :, None]
        found = (felt.sum(2).clamp(min=1e-10).log() * 0.01 * (query > 0)[..., None]).sum(1)
        return self.dense(found).tanh()[:, 0]


def matchzoo(vocabulary: int, dim: int) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor] | None:
    """MatchZoo-py's K-NRM, where it is installed; it was written for a Python that had `collections.Iterable`."""
    for name in ("Iterable", "Mapping", "Callable", "Sequence"):
        setattr(collections, name, getattr(collections.abc, name))
    try:
        from matchzoo.models.knrm import KNRM
        from matchzoo.tasks import Ranking
    except ImportError:
        return None
    model = KNRM()
    model.params["task"] = Ranking()
    model.params["embedding_input_dim"], model.params["embedding_output_dim"] = vocabulary + 1, dim
    model.build()
    call = lambda q, d: model({"text_left": q, "text_right": d})[:, 0]  # noqa: E731
    call.parameters = model.parameters  # type: ignore[attr-defined]
    return call


def knrm(device: str, *, vocabulary: int, dim: int = 300, batch: int = 64) -> None:
    """Training pairs per second: queries of 10 terms, documents of 200, Adam."""
    steps = 200 if device == "cuda" else 10
    rng = np.random.default_rng(0)
    total = batch * steps
    q, better, worse = (zipf(rng, total, length, vocabulary) for length in (10, 200, 200))
    print(f"knrm training, {device}: vocabulary {vocabulary}, {dim} dimensions, batches of {batch}")

    model = training.ranker(rng.uniform(-1, 1, (vocabulary, dim)).astype(np.float32), (), rng, device)
    asked = bags(counts(q, vocabulary), device)
    read = bags(counts(np.concatenate([better, worse]), vocabulary), device)
    number = np.arange(total)
    times: list[float] = []

    def note(done: loop.Progress) -> None:
        wait(device)
        times.append(time.perf_counter())

    training.train(
        model, asked, read, lambda epoch, rng: np.stack([number, number, number + total]),
        batch=batch, epochs=3, learning_rate=1e-3, epsilon=1e-5, seed=0, progress=note,
    )  # fmt: skip
    ours = 2 * total / (times[-1] - times[0])
    print(f"  ours                {ours:8.0f} pairs/s")
    peers: dict[str, Callable[..., torch.Tensor] | None] = {
        "plain PyTorch": Plain(vocabulary, dim).to(device),
        "with fused Adam": Plain(vocabulary, dim).to(device),
        "MatchZoo-py": matchzoo(vocabulary, dim) if device == "cpu" else None,
    }
    for name, peer in peers.items():
        if peer is None:
            print(f"  {name:<19} not installed")
            continue
        fused = True if name == "with fused Adam" else None
        optimizer = torch.optim.Adam(peer.parameters(), lr=1e-3, eps=1e-5, fused=fused)  # type: ignore[attr-defined]
        inputs = [torch.as_tensor(ids + 1, device=device) for ids in (q, better, worse)]
        for repeat in range(2):  # once to warm up
            wait(device)
            start = time.perf_counter()
            for at in range(0, total if repeat else 5 * batch, batch):
                a, b, c = (ids[at : at + batch] for ids in inputs)
                loss = (1 - peer(a, b) + peer(a, c)).clamp(min=0).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            wait(device)
        theirs = total / (time.perf_counter() - start)
        print(f"  {name:<19} {theirs:8.0f} pairs/s    ours is {ours / theirs:.1f} times as fast")


def rerank(*, vocabulary: int, documents: int = 1000, length: int = 200, dim: int = 300) -> None:
    """Scoring without torch: 1,000 documents of 200 terms for a query of 5."""
    rng = np.random.default_rng(0)
    table = unit(rng.uniform(-1, 1, (vocabulary, dim)).astype(np.float32))
    model = Knrm({}, {}, table, rng.normal(size=len(MEANS)), 0.0)
    query, texts = zipf(rng, 1, 5, vocabulary)[0], list(zipf(rng, documents, length, vocabulary))
    model.score_ids(query, texts)
    taken = []
    for _ in range(10):
        start = time.perf_counter()
        model.score_ids(query, texts)
        taken.append(time.perf_counter() - start)
    print(f"knrm reranking {documents} documents of {length} terms: median {1000 * np.median(taken):.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["ordinal", "knrm", "rerank"])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--vocabulary", type=int, default=166_000)
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    if "ordinal" in options.parts:
        ordinal(options.device, epochs=options.epochs)
    if "knrm" in options.parts:
        knrm(options.device, vocabulary=options.vocabulary)
    if "rerank" in options.parts:
        rerank(vocabulary=options.vocabulary)


if __name__ == "__main__":
    main()
