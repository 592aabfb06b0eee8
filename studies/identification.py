"""Learns the identifier of short texts that is shipped: which of 45 languages a few words are in.

A linear classifier over hashed character n-grams (Joulin et al., 2017, without the hidden layer), trained on runs of
one to eight words of the open sets of sentences (NTREX, TICO-19, and others) and on single entries of the open sets of
words and names; weights are kept in a byte each. Everything is read from PARAGLOSS_DATA/open; nothing of FLORES,
Tatoeba or the collections it is measured on (studies/query_language.py).

    PARAGLOSS_DATA=... python studies/identification.py src/paragloss/languages/grams.npz
"""

from __future__ import annotations

import json
import lzma
import random
import sys
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import torch
from sets import folder

from paragloss.languages import normalise, scripts_of
from paragloss.languages.grams import BUCKETS, hash_grams

SAMPLES, EPOCHS, BATCH, RATE, DECAY = 25_000, 3, 1024, 0.01, 1e-5
#: Sets of sentences, those of real prose first; sets of words; sets of names.
TEXTS = ("ntrex", "tico19", "storybooks", "wikidata", "gnome-help", "stellarium", "udhr", "cataclysm", "suttacentral")
PROSE = TEXTS[:2]
WORDS = ("omw", "wikdict", "multiwordnet")
NAMES = ("osm-presets", "cldr", "agrovoc", "wikidata-properties", "panlex-swadesh")


def sentences() -> dict[str, dict[str, list[str]]]:
    """Sentences by language and set."""
    sentences_by_lang: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in TEXTS:
        with lzma.open(folder() / "open" / "text" / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            for line in lines:
                for lang, text in json.loads(line)["texts"].items():
                    sentences_by_lang[normalise(lang)][name].append(text)
    return sentences_by_lang


def entries() -> dict[str, list[str]]:
    """Words and names by language."""
    words_by_lang: dict[str, set[str]] = defaultdict(set)
    for name in NAMES:
        with lzma.open(folder() / "open" / "names" / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            for line in lines:
                for lang, names in json.loads(line)["texts"].items():
                    words_by_lang[normalise(lang)].update(names)
    for name in WORDS:
        for path in sorted((folder() / "open" / "words" / name).glob("en-*.tsv.xz")):
            lang = normalise(path.name.split(".")[0].removeprefix("en-"))
            with lzma.open(path, "rt", encoding="utf-8") as lines:
                pairs = [line.rstrip("\n").split("\t") for line in lines]
            words_by_lang[lang].update(pair[1] for pair in pairs if len(pair) > 1)
            words_by_lang["en"].update(pair[0] for pair in pairs)
    return {lang: sorted(words) for lang, words in words_by_lang.items()}


def samples(texts: dict[str, list[str]], words: list[str], seed: int) -> list[np.ndarray]:
    """The buckets of runs of words of one language: three in four from sentences, of each set in proportion to the
    root of its size, and prose three times that."""
    rng = random.Random(seed)
    names = sorted(texts)
    sizes = [len(texts[name]) ** 0.5 * (3 if name in PROSE else 1) for name in names]
    all_samples = []
    for _ in range(SAMPLES):
        if rng.random() < 0.75 or not words:
            run = _run(rng.choice(texts[rng.choices(names, sizes)[0]]), rng)
        else:
            run = " ".join(rng.choice(words) for _ in range(rng.choice((1, 1, 1, 2, 2, 3))))
        if len(hashes := hash_grams(run)):
            all_samples.append(hashes)
    return all_samples


def _run(text: str, rng: random.Random) -> str:
    tokens = text.split()
    if len(tokens) < 4 < len(text) // 4:  # no spaces between words
        size = rng.randint(2, 14)
        start = rng.randrange(max(1, len(text) - size))
        return text[start : start + size]
    size = rng.choice((1, 1, 2, 2, 2, 3, 3, 3, 4, 5, 6, 8))
    start = rng.randrange(max(1, len(tokens) - size + 1))
    return " ".join(tokens[start : start + size])


def fit(langs: list[str], samples: list[tuple[int, np.ndarray]], *, seed: int = 0) -> np.ndarray:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(seed)
    model = torch.nn.EmbeddingBag(BUCKETS, len(langs), mode="sum").to(device)
    torch.nn.init.zeros_(model.weight)
    # Only languages of the same script compete: a script tells the rest by itself.
    share_a_script = torch.tensor(
        [[bool(set(scripts_of(a)) & set(scripts_of(b))) for b in langs] for a in langs], device=device
    )
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY / RATE)
    steps = EPOCHS * (len(samples) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: max(1e-3, 1 - step / steps))
    rng, started = random.Random(seed), time.perf_counter()
    for epoch in range(EPOCHS):
        rng.shuffle(samples)
        total = 0.0
        for at in range(0, len(samples) - BATCH + 1, BATCH):
            batch = samples[at : at + BATCH]
            starts = torch.from_numpy(np.cumsum([0, *(len(hashes) for _, hashes in batch[:-1])])).to(device)
            ids = torch.from_numpy(np.concatenate([hashes for _, hashes in batch]).astype(np.int64)).to(device)
            gold = torch.tensor([lang for lang, _ in batch], device=device)
            loss = torch.nn.functional.cross_entropy(model(ids, starts).masked_fill(~share_a_script[gold], -1e4), gold)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += float(loss.detach())
        seconds = time.perf_counter() - started
        print(f"epoch {epoch}: loss {total / (len(samples) // BATCH):.4f}, {seconds:.0f} s", flush=True)
    return model.weight.detach().cpu().numpy()


def main() -> None:
    texts, words = sentences(), entries()
    langs = sorted(lang for lang, texts_of_lang in texts.items() if sum(map(len, texts_of_lang.values())) > 1000)
    started = time.perf_counter()
    with ProcessPoolExecutor() as pool:
        parts = pool.map(
            samples, [dict(texts[lang]) for lang in langs], [words.get(lang, []) for lang in langs], range(len(langs))
        )
        training_samples = [(number, texts_of_lang) for number, part in enumerate(parts) for texts_of_lang in part]
    print(
        f"{len(training_samples)} samples in {len(langs)} languages, {time.perf_counter() - started:.0f} s", flush=True
    )
    weights = fit(langs, training_samples)
    # A byte each, and one scale for all, since sums are compared between languages. The few largest are cut.
    scale = float(np.quantile(np.abs(weights), 0.9999)) / 127
    quantized = np.clip(np.round(weights / scale), -127, 127).astype(np.int8)
    np.savez(sys.argv[1], weights=quantized, scale=np.float32(scale), langs=np.array(langs))
    print(" ".join(langs), f"{Path(sys.argv[1]).stat().st_size / 2**20:.2f} MB")


if __name__ == "__main__":
    main()
