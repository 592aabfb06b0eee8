"""Train a student of multilingual-e5-small: six of its layers, taught to give its vectors (numpy and torch, one GPU).

    python studies/student_texts.py DATA                      texts, teacher and sets to measure, as tokens
    python studies/student.py DATA OUT --wall-seconds 560     the student in parts of 15 MiB, and its figures

With --state FOLDER --training-seconds 1400, a run stops when its time is up, and the same command goes on with it.

An example is a passage and a query. A passage is one to twelve neighbouring sentences, or a short text: a title, a
name, a dictionary entry, a few words of a sentence. A query is a sentence, a few of its words, the same with the
beginning of a question before them, or the translation of a short text; in the language of the passage or another.

Loss: 5 (1 - cosine with the teacher's vector), the divergence of the student's similarities between all texts of a
batch from the teacher's, and that of the similarities of queries with passages alone, both at temperature 0.02. For a
short text and its translation, the teacher's distribution is mixed with the right answer (--pair-weight). Batches are
made of runs of examples that are neighbours in the texts, so that negatives are near.

After layer --pool-after, neighbouring tokens of texts longer than POOL_ABOVE_TOKENS are merged: their mean plus a
learned map of their difference. The student is written as OUT/student-SEED.npz.00, ..., its figures as lines of
OUT/results.jsonl.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import random
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

DIM, HEADS, MAX_TOKENS = 384, 12, 256
BOS, PAD, EOS = 0, 1, 2  # the first pieces of the vocabulary that student_texts.py writes
WORD_BLOCK = 32
POOL_ABOVE_TOKENS = 64
TEMPERATURE = 0.02
#: Shares of the kinds of examples: a passage of sentences with words of it, the same with a question, a short text with
#: its translation, a few words of a sentence with words of the same sentence.
KIND_SHARES = {"passage": 0.31, "question": 0.37, "short": 0.21, "span": 0.11}
MAX_SHORT_TOKENS = 12
SENTENCES_PER_PASSAGE = (1, 2, 3, 4, 5, 6, 7, 9, 12)
NEIGHBOURS_IN_BATCH = 8
PART_BYTES = 15 * 2**20
#: Seconds that measuring and writing take at the end.
SECONDS_AFTER_TRAINING = 30
SECONDS_BETWEEN_SAVES = 240
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


# The network


class Layer(nn.Module):
    """A layer of BERT: attention, then a hidden layer of 1,536, each added to its input and normalized."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.ao = (nn.Linear(DIM, DIM) for _ in range(4))
        self.fi, self.fo = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)
        self.aln, self.oln = (nn.LayerNorm(DIM, eps=1e-12) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the layer's output (texts, tokens, DIM); `mask` (texts, tokens) is True for real tokens."""
        q, k, v = (part(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in (self.q, self.k, self.v))
        bias = torch.zeros(mask.shape, device=x.device, dtype=q.dtype).masked_fill(~mask, -torch.inf)
        bias = bias[:, None, None, :].expand(-1, -1, x.shape[1], -1)
        attended = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = self.aln(x + self.ao(attended.transpose(1, 2).flatten(2)))
        return self.oln(x + self.fo(F.gelu(self.fi(x))))


class Encoder(nn.Module):
    """Word vectors, positions, layers; the mean over the tokens of the last layer, scaled to length 1."""

    def __init__(
        self, teacher: dict[str, np.ndarray], layers: Sequence[int], *, is_student: bool, pool_after: int = 0
    ) -> None:
        super().__init__()
        self.pool_after = pool_after
        words = torch.from_numpy(unpack_blocks(teacher["emb.word"])).reshape(-1, DIM)
        self.word = nn.Parameter(words, requires_grad=is_student)
        positions = unpack_blocks(teacher["emb.pos"]).reshape(-1, DIM) + unpack_blocks(teacher["emb.type"])[:DIM]
        self.pos = nn.Parameter(torch.from_numpy(positions))
        self.ln = nn.LayerNorm(DIM, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in layers)
        self.pool = nn.Linear(DIM, DIM, bias=False)
        state = {"word": self.word.data, "pos": self.pos.data, "pool.weight": torch.zeros(DIM, DIM)}
        state |= {"ln.weight": _as_tensor(teacher, "emb.ln.w"), "ln.bias": _as_tensor(teacher, "emb.ln.b")}
        for i, layer in enumerate(layers):
            for name, part in self.layers[i].named_children():
                for kind, value in part.named_parameters():
                    tensor = _as_tensor(teacher, f"l{layer}.{name}.{kind[0]}")
                    state[f"layers.{i}.{name}.{kind}"] = tensor.reshape(value.shape)
        self.load_state_dict(state)

    def quantized_words(self) -> Tensor:
        """Return word vectors as they will be stored, in 4 bits; gradients pass through."""
        if not self.word.requires_grad:
            return self.word
        return self.word + (round_to_blocks(self.word.detach()) - self.word).detach()

    def forward(self, words: Tensor, ids: Tensor, lengths: Tensor) -> Tensor:
        mask = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        x = self.ln(F.embedding(ids, words) + self.pos[: ids.shape[1]])
        token_weights = mask.float()
        for i, layer in enumerate(self.layers):
            if i and i == self.pool_after and ids.shape[1] > POOL_ABOVE_TOKENS:
                x, mask, token_weights = self._pool_neighbours(x, mask)
            x = layer(x, mask)
        return F.normalize((x.float() * token_weights.unsqueeze(-1)).sum(1), dim=-1)

    def _pool_neighbours(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Merge each two neighbouring tokens; the last of an odd number stays as it is."""
        if x.shape[1] % 2:
            x, mask = F.pad(x, (0, 0, 0, 1)), F.pad(mask, (0, 1))
        first, second = x[:, ::2], x[:, 1::2]
        second = torch.where(mask[:, 1::2, None], second, first)
        merged = (first + second) / 2 + self.pool(first - second)
        return merged, mask[:, ::2], mask[:, ::2].float() + mask[:, 1::2].float()


def unpack_blocks(blocks: np.ndarray) -> np.ndarray:
    """Return the numbers of 4-bit blocks: a scale of 16 bits, then 32 numbers, low halves of the bytes first."""
    if blocks.dtype != np.uint8:
        return blocks.astype(np.float32)
    blocks = blocks.reshape(-1, 18)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    low, high = (blocks[:, 2:] & 15).astype(np.float32), (blocks[:, 2:] >> 4).astype(np.float32)
    return ((np.concatenate([low, high], 1) - 8) * scales).reshape(-1)


def _as_tensor(teacher: dict[str, np.ndarray], name: str) -> Tensor:
    return torch.from_numpy(unpack_blocks(teacher[name]))


def quantize_blocks(table: Tensor) -> tuple[Tensor, Tensor]:
    """Return scales and codes 0 to 15 of blocks of 32 numbers; the one furthest from 0 has the code 0, that is -8."""
    blocks = table.reshape(-1, WORD_BLOCK)
    extreme = blocks.gather(1, blocks.abs().argmax(1, keepdim=True))
    scales = (extreme / -8).half().float()
    divisors = torch.where(scales == 0, torch.ones_like(scales), scales)
    return scales, ((blocks / divisors).round() + 8).clamp_(0, 15)


def round_to_blocks(table: Tensor) -> Tensor:
    scales, codes = quantize_blocks(table)
    return ((codes - 8) * scales).reshape(table.shape)


# Texts


class TokenTexts:
    """Texts as ranges of one long row of tokens; queries and passages begin with their own prefix."""

    def __init__(self, flat: np.ndarray, starts: Any, lengths: Any, is_query: Any, sets: dict[str, np.ndarray]) -> None:
        self.starts, self.is_query = np.asarray(starts, np.int64), np.asarray(is_query, bool)
        prefixes = [np.array([BOS, *sets[name]], np.int64) for name in ("passage", "query")]
        self.prefixes = [torch.from_numpy(prefix).to(DEVICE) for prefix in prefixes]
        extra = np.where(self.is_query, len(prefixes[1]) + 1, len(prefixes[0]) + 1)
        self.lengths = np.minimum(np.asarray(lengths, np.int64), MAX_TOKENS - extra) + extra
        self.flat = torch.from_numpy(flat.astype(np.int32)).to(DEVICE)

    def read(self, rows: np.ndarray) -> tuple[Tensor, Tensor]:
        """Return tokens (texts, longest) and lengths of some texts."""
        longest = int(self.lengths[rows].max())
        width = -(-longest // 8) * 8 if longest > POOL_ABOVE_TOKENS else longest
        starts, lengths, is_query = (
            torch.from_numpy(part[rows]).to(DEVICE, non_blocking=True)
            for part in (self.starts, self.lengths, self.is_query)
        )
        positions = torch.arange(width, device=DEVICE)
        prefix_lengths = torch.where(is_query, len(self.prefixes[1]), len(self.prefixes[0]))[:, None]
        ids = self.flat[(starts[:, None] + positions - prefix_lengths).clamp_(0, len(self.flat) - 1)].long()
        for number, prefix in enumerate(self.prefixes):
            for position, piece in enumerate(prefix):
                ids[:, position] = torch.where(is_query == bool(number), piece, ids[:, position])
        last = lengths[:, None] - 1
        return torch.where(positions < last, ids, torch.where(positions == last, EOS, PAD)), lengths

    def split_by_length(self, rows: np.ndarray, tokens: int) -> list[np.ndarray]:
        """Return the rows sorted by length, in pieces of about so many tokens; none mixes pooled and other texts."""
        order = rows[np.argsort(-self.lengths[rows], kind="stable")]
        lengths = self.lengths[order]
        pieces, start = [], 0
        while start < len(order):
            end = start + max(1, tokens // int(lengths[start]))
            if lengths[start] > POOL_ABOVE_TOKENS:
                end = min(end, int((lengths > POOL_ABOVE_TOKENS).sum()))
            pieces.append(order[start:end])
            start = end
        return pieces


def load_data(data: Path) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the teacher's arrays and the sets to measure."""
    teacher = dict(np.load(data / "teacher.npz"))
    return teacher | {"emb.word": np.load(data / "words.npy")}, dict(np.load(data / "sets.npz"))


def read_texts(data: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns (length, text, concept, language) of all sentences, and all tokens."""
    columns, flat = [], []
    for path in sorted(data.glob("texts*.xz")):
        with lzma.open(path) as file:
            columns.append(np.load(file))
            flat.append(np.load(file))
    return np.concatenate(columns, 1), np.concatenate(flat)


# Examples


class Corpus(NamedTuple):
    """Sentences as plain lists, and which of them say the same."""

    lengths: list[int]
    texts: list[int]
    concepts: list[int]
    langs: list[int]
    offsets: list[int]
    by_concept: list[int]
    concept_starts: list[int]
    concept_ends: list[int]
    begins_word: bytes
    flat: np.ndarray
    english: int
    openers: dict[int, list[list[int]]]


_corpus: Corpus | None = None


def build_corpus(columns: np.ndarray, flat: np.ndarray, sets: dict[str, np.ndarray], data: Path) -> Corpus:
    lengths, texts, concepts, langs = columns
    lang_names = json.loads((data / "langs.json").read_text())
    openers = json.loads((data / "openers.json").read_text())
    by_concept = np.argsort(concepts, kind="stable")
    numbers = np.arange(concepts.max() + 1)
    starts, stops = (np.searchsorted(concepts[by_concept], numbers, side) for side in ("left", "right"))
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    lists = [array.tolist() for array in (lengths, texts, concepts, langs, offsets, by_concept, starts, stops)]
    known_openers = {lang_names.index(lang): rows for lang, rows in openers.items() if lang in lang_names}
    return Corpus(*lists, sets["begins"][flat].tobytes(), flat, lang_names.index("en"), known_openers)


def draw_sentences(columns: np.ndarray, count: int, seed: int, *, short: bool) -> np.ndarray:
    """Draw sentences, a language by the root of how much text it has; `short` ones have translations and few tokens."""
    lengths, _, concepts, langs = columns
    weights = np.minimum(lengths, 30).astype(np.float64)
    if short:
        weights = np.where((lengths <= MAX_SHORT_TOKENS) & (concepts >= 0), 1.0, 0.0)
    totals = np.bincount(langs, weights)
    weights *= (np.maximum(totals, 1) ** -0.5)[langs]
    return np.random.default_rng(seed).choice(len(lengths), count, p=weights / weights.sum())


class Example(NamedTuple):
    """A passage and a query: ranges of tokens, and for a question its own tokens instead of the query's range."""

    passage_start: int
    passage_length: int
    query_start: int
    query_length: int
    question: list[int]


class ExampleMaker:
    """Makes examples of sentences, by chance."""

    def __init__(self, corpus: Corpus, seed: int) -> None:
        self._corpus, self._random = corpus, random.Random(seed)

    def make(self, sentence: int, kind: str) -> Example:
        if kind in ("short", "span"):
            return self._make_short(sentence, with_spans=kind == "span")
        return self._make_passage(sentence, with_question=kind == "question")

    def _make_short(self, sentence: int, *, with_spans: bool) -> Example:
        """A short text, or a few words of a sentence, and the same in another language."""
        at, other = self._corpus.offsets, self._translate(sentence, 0.7)
        start, stop = at[sentence], at[sentence + 1]
        query_start, query_stop = at[other], at[other + 1]
        if with_spans:
            start, stop = self._draw_span(start, stop, 2, 7)
            if self._random.random() < 0.8:
                query_start, query_stop = self._draw_span(query_start, query_stop, 2, 8)
        return Example(start, min(stop - start, 64), query_start, min(query_stop - query_start, 64), [])

    def _make_passage(self, sentence: int, *, with_question: bool) -> Example:
        corpus, chance = self._corpus, self._random
        end = self._extend(sentence)
        size = corpus.offsets[end] - corpus.offsets[sentence]
        cut_point = chance.randrange(sentence, end)
        source = self._translate(cut_point, 0.6)
        start, stop = corpus.offsets[source], corpus.offsets[source + 1]
        question: list[int] = []
        openers = corpus.openers.get(corpus.langs[source])
        if with_question and openers:
            start, stop = self._draw_span(start, stop, 2, 9)
            question = [*chance.choice(openers[:-1]), *corpus.flat[start:stop][:48].tolist(), *openers[-1]]
        elif chance.random() < 0.6:
            start, stop = self._draw_span(start, stop, 3, 12)
        return Example(corpus.offsets[sentence], size, start, min(stop - start, 64), question)

    def _extend(self, sentence: int) -> int:
        """Return the end of a passage that begins with a sentence: of the same text, or also across texts."""
        corpus = self._corpus
        max_sentences, across = self._random.choice(SENTENCES_PER_PASSAGE), self._random.random() < 0.6
        end, size = sentence, 0
        while end < len(corpus.lengths) and end - sentence < max_sentences:
            is_same_text = corpus.texts[end] == corpus.texts[sentence]
            continues = is_same_text or (across and corpus.langs[end] == corpus.langs[sentence])
            if end > sentence and (not continues or size + corpus.lengths[end] > MAX_TOKENS - 10):
                break
            size += corpus.lengths[end]
            end += 1
        return end

    def _translate(self, sentence: int, english_share: float) -> int:
        """Return a sentence that says the same, often the English one; the sentence itself where there is none."""
        corpus, concept = self._corpus, self._corpus.concepts[sentence]
        if concept < 0:
            return sentence
        same = corpus.by_concept[corpus.concept_starts[concept] : corpus.concept_ends[concept]]
        if self._random.random() < english_share:
            for other in same:
                if corpus.langs[other] == corpus.english:
                    return other
        return self._random.choice(same)

    def _draw_span(self, start: int, stop: int, fewest: int, max_length: int) -> tuple[int, int]:
        """Return a range of so many words, or tokens where few words are separated by spaces."""
        begins_word = self._corpus.begins_word
        words = [i for i in range(start, stop) if begins_word[i]]
        if len(words) * 4 < stop - start:
            words = list(range(start, stop))
        count = self._random.randint(fewest, max_length)
        if len(words) <= count:
            return start, stop
        first = self._random.randrange(len(words) - count + 1)
        return words[first], words[first + count] if first + count < len(words) else stop


def _make_examples(job: tuple[list[int], list[str], int]) -> tuple[np.ndarray, list[int]]:
    """Return the columns of `make_examples`, questions numbered from -1 down in their row of tokens, and that row."""
    assert _corpus is not None
    sentences, kinds, seed = job
    maker, rows, tokens = ExampleMaker(_corpus, seed), [], []
    for sentence, kind in zip(sentences, kinds, strict=True):
        example = maker.make(sentence, kind)
        query = (example.query_start, example.query_length)
        if example.question:
            query = (-1 - len(tokens), len(example.question))
            tokens += example.question
        rows.append((example.passage_start, example.passage_length, *query, kind == "short"))
    return np.array(rows, np.int64).reshape(-1, 5), tokens


def make_examples(
    columns: np.ndarray, corpus: Corpus, count: int, seed: int, processes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return examples (passage start, length, query start, length, is a translation) in order of texts, and tokens."""
    global _corpus
    _corpus = corpus
    chance = np.random.default_rng(seed)
    kinds = chance.choice(list(KIND_SHARES), count, p=list(KIND_SHARES.values()))
    is_short = kinds == "short"
    sentences = np.zeros(count, np.int64)
    sentences[is_short] = draw_sentences(columns, int(is_short.sum()), seed, short=True)
    sentences[~is_short] = draw_sentences(columns, int((~is_short).sum()), seed + 1, short=False)
    order = np.argsort(sentences, kind="stable")
    parts = np.array_split(order, max(processes * 4, 1))
    jobs = [(sentences[part].tolist(), kinds[part].tolist(), seed * 1000 + i) for i, part in enumerate(parts)]
    if processes > 1:
        with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
            results = list(pool.map(_make_examples, jobs))
    else:
        results = [_make_examples(job) for job in jobs]
    rows, tokens, offset = [], [corpus.flat], len(corpus.flat)
    for examples, questions in results:
        is_question = examples[:, 2] < 0
        examples[is_question, 2] = offset - 1 - examples[is_question, 2]
        rows.append(examples)
        tokens.append(np.array(questions, corpus.flat.dtype))
        offset += len(questions)
    return np.concatenate(rows), np.concatenate(tokens)


def pair_texts(flat: np.ndarray, examples: np.ndarray, sets: dict[str, np.ndarray]) -> TokenTexts:
    """Return the texts of examples: example i has passage 2 i and query 2 i + 1."""
    starts, lengths = examples[:, [0, 2]].reshape(-1), examples[:, [1, 3]].reshape(-1)
    return TokenTexts(flat, starts, lengths, np.arange(2 * len(examples)) % 2, sets)


# Training


@torch.no_grad()
def encode_texts(model: Encoder, texts: TokenTexts, rows: np.ndarray, tokens: int = 262_144) -> Tensor:
    """Return the vectors of some texts (texts, DIM) in float16."""
    vectors = torch.zeros((len(rows), DIM), dtype=torch.float16, device=DEVICE)
    position = np.full(int(rows.max()) + 1, -1)
    position[rows] = np.arange(len(rows))
    words = model.quantized_words()
    for piece in texts.split_by_length(rows, tokens):
        with torch.autocast(DEVICE, torch.float16, enabled=DEVICE == "cuda"):
            encoded = model(words, *texts.read(piece))
        vectors[torch.from_numpy(position[piece]).to(DEVICE)] = encoded.half()
    return vectors


def compute_loss(student: Tensor, teacher: Tensor, order: Tensor, pair_weights: Tensor) -> Tensor:
    """Return the loss of vectors; `order` has their numbers (2 i for passage i, 2 i + 1 for its query)."""
    cosine = 5 * (1 - (student * teacher).sum(-1)).mean()
    itself = torch.eye(len(student), dtype=torch.bool, device=student.device)
    ours, theirs = (
        F.log_softmax((v @ v.T / TEMPERATURE).masked_fill(itself, -1e4), dim=-1) for v in (student, teacher)
    )
    among_all = F.kl_div(ours, theirs, log_target=True, reduction="batchmean")
    is_query = order % 2 == 1
    ours, theirs = (F.log_softmax(v[is_query] @ v[~is_query].T / TEMPERATURE, dim=-1) for v in (student, teacher))
    is_right = (order[is_query][:, None] // 2 == order[~is_query] // 2).float()
    weights = pair_weights[order[is_query] // 2][:, None]
    targets = (1 - weights) * theirs.exp() + weights * is_right
    return cosine + among_all + F.kl_div(ours, targets, reduction="batchmean")


def draw_batches(count: int, size: int, seed: int) -> Any:
    """Yield batches of example numbers forever, made of short runs of neighbours."""
    chance, leftover = np.random.default_rng(seed), np.zeros(0, np.int64)
    while True:
        if len(leftover) < size:
            runs = chance.permutation(-(-count // NEIGHBOURS_IN_BATCH))
            leftover = (runs[:, None] * NEIGHBOURS_IN_BATCH + np.arange(NEIGHBOURS_IN_BATCH)).reshape(-1)
            leftover = leftover[leftover < count]
        yield leftover[:size]
        leftover = leftover[size:]


class Trainer:
    """Trains one student until a moment, and writes it at times."""

    def __init__(
        self, args: argparse.Namespace, model: Encoder, texts: TokenTexts, targets: Tensor, pair_weights: Tensor
    ) -> None:
        self.args, self.model, self.texts, self.targets = args, model, texts, targets
        self.pair_weights = pair_weights
        self.layer_parameters = [p for name, p in model.named_parameters() if name != "word"]
        groups = [
            {"params": self.layer_parameters, "weight_decay": 0.01, "peak": args.lr},
            {"params": [model.word], "weight_decay": 0.0, "peak": args.lr * args.words_lr},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, 0.98), fused=DEVICE == "cuda")

        #: What all runs have done so far.
        self.seconds, self.steps, self.tokens = 0.0, 0, 0

    def train(self, total_seconds: float, deadline: float) -> None:
        """Train until all runs together have taken the total, or until the deadline (of `time.time`)."""
        begun, losses, last_save = time.time() - self.seconds, [], time.time()
        for examples in draw_batches(len(self.targets) // 2, self.args.examples_per_batch, self.args.seed + self.steps):
            time_now = time.time()
            self.seconds = time_now - begun
            if self.seconds >= total_seconds or time_now >= deadline:
                break
            if time_now - last_save > SECONDS_BETWEEN_SAVES:
                last_save = time_now
                save_student(self.args, self.model)
            rows = np.concatenate([2 * examples, 2 * examples + 1])
            losses.append(self._step(rows, self.seconds / total_seconds))
            self.steps, self.tokens = self.steps + 1, self.tokens + int(self.texts.lengths[rows].sum())
            if self.steps % self.args.report_every == 0:
                loss, speed = float(torch.stack(losses).mean()), self.tokens / self.seconds / 1e3
                print(f"step {self.steps} {self.seconds:.0f} s loss {loss:.4f} {speed:.0f}k tokens/s", flush=True)
                losses = []

    def save(self, path: Path) -> None:
        """Write all that a later run needs to go on."""
        arrays = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        for number, moments in self.optimizer.state_dict()["state"].items():
            arrays |= {f"optimizer.{number}.{name}": value for name, value in moments.items()}
        counters = np.array([self.seconds, self.steps, self.tokens])
        np.savez(path, done=counters, **{name: value.cpu().numpy() for name, value in arrays.items()})

    def restore(self, path: Path) -> None:
        with np.load(path) as file:
            arrays = {name: torch.from_numpy(file[name]) for name in file.files}
        self.seconds, self.steps, self.tokens = (
            kind(x) for kind, x in zip((float, int, int), arrays.pop("done"), strict=True)
        )
        weights = {name.removeprefix("model."): value for name, value in arrays.items() if name.startswith("model.")}
        self.model.load_state_dict(weights)
        moments: dict[int, dict[str, Tensor]] = {}
        for name, value in arrays.items():
            if name.startswith("optimizer."):
                _, number, kind = name.split(".")
                moments.setdefault(int(number), {})[kind] = value
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": groups})

    def _step(self, rows: np.ndarray, progress: float) -> Tensor:
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * min(1.0, progress / 0.04) * (1 - progress)
        words = self.model.quantized_words()
        pieces = self.texts.split_by_length(rows, self.args.tokens)
        vectors = []
        for piece in pieces:
            with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
                vectors.append(self.model(words, *self.texts.read(piece)))
        order = torch.from_numpy(np.concatenate(pieces)).to(DEVICE)
        targets = F.normalize(self.targets[order].float(), dim=-1)
        loss = compute_loss(torch.cat(vectors), targets, order, self.pair_weights)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.layer_parameters, 1.0)
        self.optimizer.step()
        return loss.detach()


# Results


def measure_sets(model: Encoder, sets: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the mean reciprocal rank of each set."""
    names = [name.removesuffix(".right") for name in sets if name.endswith(".right")]
    return {name: round(compute_reciprocal_rank(model, sets, name), 4) for name in names}


def compute_reciprocal_rank(model: Encoder, sets: dict[str, np.ndarray], name: str) -> float:
    vectors = []
    for kind in ("queries", "documents"):
        lengths = sets[f"{name}.{kind}.lengths"]
        starts, is_query = np.cumsum(lengths) - lengths, np.full(len(lengths), kind == "queries")
        texts = TokenTexts(sets[f"{name}.{kind}"], starts, lengths, is_query, sets)
        vectors.append(encode_texts(model, texts, np.arange(len(lengths))).float())
    scores = vectors[0] @ vectors[1].T
    right = torch.from_numpy(sets[f"{name}.right"]).long().to(DEVICE)
    right_scores = scores.gather(1, right[:, None])
    return float((1 / (scores >= right_scores).sum(1)).float().mean())


def write_result(out: Path, figures: dict[str, float], **settings: Any) -> None:
    """Append a line of figures, those of each kind of set averaged first."""
    kinds: dict[str, list[float]] = {}
    for name, value in figures.items():
        kinds.setdefault(name.rsplit("-", 1)[0], []).append(value)
    means = {kind: round(float(np.mean(values)), 4) for kind, values in sorted(kinds.items())}
    print(json.dumps(settings | means), flush=True)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "results.jsonl").open("a") as file:
        file.write(json.dumps(settings | means | {"sets": figures}) + "\n")


def save_student(args: argparse.Namespace, model: Encoder) -> None:
    """Write the student in parts: layers in 16 bits, the word vectors used most as scales and 4-bit codes."""
    state = {name: value.detach().half().cpu().numpy() for name, value in model.state_dict().items() if name != "word"}
    scales, codes = quantize_blocks(model.word.detach()[: args.pieces])
    codes = codes.to(torch.uint8).reshape(-1, DIM)
    state["word_codes"] = (codes[:, ::2] | codes[:, 1::2] << 4).cpu().numpy()
    state["word_scales"] = scales.half().reshape(-1, DIM // WORD_BLOCK).cpu().numpy()
    buffer = io.BytesIO()
    np.savez(buffer, **state)
    data = buffer.getvalue()
    args.out.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, len(data), PART_BYTES)):
        (args.out / f"student-{args.seed}.npz.{number:02}").write_bytes(data[start : start + PART_BYTES])


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", default="0", help="students to train one after another, 0,1,2")
    parser.add_argument("--wall-seconds", type=float, default=560, help="everything, for all seeds together")
    parser.add_argument("--state", type=Path, help="folder for examples and the state of training, to go on later")
    parser.add_argument("--training-seconds", type=float, help="training of a student in all runs together")
    parser.add_argument("--layers", default="0,2,4,6,8,10", help="layers of the teacher that the student begins with")
    parser.add_argument("--pool-after", type=int, default=2, help="layer after which neighbouring tokens are merged")
    parser.add_argument("--pair-weight", type=float, default=0.3, help="weight of right answers for short texts")
    parser.add_argument("--examples", type=int, default=1_200_000)
    parser.add_argument("--examples-per-batch", type=int, default=1024)
    parser.add_argument("--tokens", type=int, default=65_536, help="encoded at a time")
    parser.add_argument("--lr", type=float, default=5e-4)
    parser.add_argument(
        "--words-lr", type=float, default=0.3, help="learning rate of word vectors, against the layers'"
    )
    parser.add_argument("--pieces", type=int, default=150_000, help="word vectors that are written")
    parser.add_argument("--report-every", type=int, default=100)
    parser.add_argument("--processes", type=int, default=16)
    return parser.parse_args()


def configure_torch() -> None:
    """Use fast matrix products; no attention by cuDNN, which plans anew for each shape (0.4 M tokens/s, not 1.15)."""
    torch.set_float32_matmul_precision("high")
    if DEVICE == "cuda":
        torch.backends.cuda.enable_cudnn_sdp(False)


def main() -> None:
    start, args = time.time(), parse_arguments()
    configure_torch()
    teacher, sets = load_data(args.data)
    examples, flat, targets = make_or_read_examples(args, teacher, sets)
    print(f"{len(flat)} tokens, {len(examples)} examples, {time.time() - start:.0f} s", flush=True)
    texts = pair_texts(flat, examples, sets)
    pair_weights = torch.from_numpy(examples[:, 4]).float().to(DEVICE) * args.pair_weight
    seeds = [int(seed) for seed in args.seeds.split(",")]
    for number, args.seed in enumerate(seeds):
        torch.manual_seed(args.seed)
        remaining = args.wall_seconds - (time.time() - start)
        seconds = remaining / (len(seeds) - number) - SECONDS_AFTER_TRAINING
        layers = [int(n) for n in args.layers.split(",")]
        student = Encoder(teacher, layers, is_student=True, pool_after=args.pool_after).to(DEVICE)
        trainer = Trainer(args, student, texts, targets, pair_weights)
        state_file = args.state / f"student-{args.seed}.npz" if args.state else None
        if state_file and state_file.exists():
            trainer.restore(state_file)
        trainer.train(args.training_seconds or seconds, deadline=time.time() + seconds)
        if state_file:
            trainer.save(state_file)
        save_student(args, student)
        figures = measure_sets(student.eval(), sets)
        effort = {"steps": trainer.steps, "tokens": trainer.tokens, "seconds": round(trainer.seconds)}
        settings = {"layers": args.layers, "pool_after": args.pool_after, "pair_weight": args.pair_weight}
        write_result(args.out, figures, name=f"student-{args.seed}", **settings, **effort)
    print(f"done in {time.time() - start:.0f} s", flush=True)


def make_or_read_examples(
    args: argparse.Namespace, teacher: dict[str, np.ndarray], sets: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, Tensor]:
    """Return examples, the tokens they are ranges of, and the teacher's vectors: of an earlier run if there are any."""
    names = ("examples", "tokens", "targets")
    if args.state and all((args.state / f"{name}.npy").exists() for name in names):
        examples, flat, targets = (np.load(args.state / f"{name}.npy") for name in names)
        return examples, flat, torch.from_numpy(targets).to(DEVICE)
    columns, flat = read_texts(args.data)
    corpus = build_corpus(columns, flat, sets, args.data)
    examples, flat = make_examples(columns, corpus, args.examples, 0, args.processes)
    print(f"{len(examples)} examples made", flush=True)
    texts = pair_texts(flat, examples, sets)
    model = Encoder(teacher, range(12), is_student=False).to(DEVICE).eval()
    vectors = encode_texts(model, texts, np.arange(len(texts.lengths)))
    print(f"teacher read {texts.lengths.sum()} tokens", flush=True)
    write_result(args.out, measure_sets(model, sets), name="teacher")
    if args.state:
        args.state.mkdir(parents=True, exist_ok=True)
        for name, array in zip(names, (examples, flat, vectors.cpu().numpy()), strict=True):
            np.save(args.state / f"{name}.npy", array)
    return examples, flat, vectors


if __name__ == "__main__":
    main()
