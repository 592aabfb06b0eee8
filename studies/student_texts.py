"""What students of e5 are taught with (studies/student.py): texts in a hundred languages as tokens, the teacher's
weights, and sets to be measured on, in a few files that a machine without a network can be given.

    PARAGLOSS_DATA=... python studies/student_texts.py INTO [--ntrex FOLDER] [--tiny]

Read: `open` (texts, names, a sample of the words), Tatoeba (licences: see `sources`) and, with --ntrex, the languages
of NTREX-128 (CC BY-SA 4.0, GitHub MicrosoftTranslator/NTREX) that `open` leaves out. Left out is whatever is measured:
test and validation parts of news and health text, held-out Tatoeba, FLORES, the titles of MDN and of LibreOffice help.
Debian's descriptions are not read (licences differ by package).

A text is one or more sentences in their order; sentences of one concept in several languages know of each other. Joined
by a space, tokens of sentences are the tokens of the whole (pieces never cross a space), so passages and spans of words
are cut out of tokens. Sets to measure: validation passages of news and health found by their words and by the written
questions, and FLORES lines that no figure is measured on.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import random
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import questions
import sources
from question_openers import OPENERS
from sets import folder

from papers.corpora import hash_text, read_collection
from paragloss.encoders.pretrained.e5_conversion import E5Weights, find_weight_file, make_tokenizer

#: Sentences of one source and language at most, names and words likewise; characters of a page.
MAX_ROWS, NAMES, WORDS = {"cataclysm": 5_000, "suttacentral": 6_000}, 1_400, 1_100
TATOEBA, PIECES = 7_000, 125_000
EVALUATED = "es de fr ru ar hi zh ja ko tr vi fi sw ta am".split()  # noqa: SIM905
FLORES = "es ru ar hi zh am ta gu hy is kn lt ml my te cy af".split()  # noqa: SIM905
#: Languages of NTREX-128 that `open` leaves out: its names and ours.
NTREX = """
afr:af aze-Latn:az bel:be bos:bs cym:cy est:et eus:eu gle:ga glg:gl guj:gu hye:hy isl:is kan:kn kat:ka kaz:kk khm:km
kir:ky kmr:ku lao:lo lav:lv lit:lt mal:ml mar:mr mkd:mk mlg:mg mlt:mt mon:mn mya:my nep:ne orm:om pan:pa pus:ps sin:si
snd-Arab:sd sqi:sq srp-Cyrl:sr tel:te tgk-Cyrl:tg uig:ug urd:ur uzb:uz ltz:lb tat:tt tuk:tk ckb-Arab:ckb yue:yue
"""
#: Numbers of four bytes: a quarter smaller than the presets make them.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 4, "lp": 2, "lc": 2, "pb": 2}]
#: Collections whose titles are measured and that no text of training is from, each with languages to measure.
TITLES = {"mdn": "ja fr zh ko ru es pt", "lohelp": "de it hu ja ko tr vi fi ru el"}
MAX_TITLES = 600


class Sentence(NamedTuple):
    """`text` names what it stands in, `concept` what it says (none for a sentence of a page)."""

    lang: str
    text: str
    concept: str
    words: str


def sentences(ntrex: Path | None) -> Iterator[Sentence]:
    """Everything that may be learned from, the sentences of a text one after another."""
    for path in sorted((folder() / "open" / "text").glob("*.jsonl.xz")):
        name = path.name.split(".")[0]
        rows = [row for n, row in enumerate(_rows(path)) if sources.run_part(name, n) == "train"]
        langs = sorted({lang for row in rows for lang in row["texts"]})
        for lang in langs:
            rows_of_lang = [row for row in rows if lang in row["texts"]]
            for row in _first(rows_of_lang, MAX_ROWS[name]) if name in MAX_ROWS else rows_of_lang:
                yield Sentence(lang, _text(name, row["concept"]), row["concept"], row["texts"][lang])
    if ntrex:
        yield from _ntrex(ntrex)
    yield from _tatoeba()
    yield from _short()


def _text(name: str, concept: str) -> str:
    """Sentences stand in one text for as long as this is the same."""
    if name in ("ntrex", "tico19"):
        return f"{name}:{int(re.sub(r'.*:', '', concept)) // 20}"
    return concept.rpartition(":")[0] if name in ("storybooks", "gnome-help", "suttacentral", "udhr") else concept


def _first(rows: list[dict], max_rows: int) -> list[dict]:
    """Runs of a hundred neighbours, so many that there are about `most` rows."""
    runs = [rows[i : i + 100] for i in range(0, len(rows), 100)]
    return [row for run in random.Random(0).sample(runs, min(len(runs), max_rows // 100)) for row in run]


def _ntrex(path: Path) -> Iterator[Sentence]:
    have = set(_rows(folder() / "open" / "text" / "ntrex.jsonl.xz")[0]["texts"])
    short = dict(pair.split(":") for pair in NTREX.split())
    for code, lang in short.items():
        if lang not in have:
            lines = (path / f"newstest2019-ref.{code}.txt").read_text("utf-8").splitlines()
            for n, line in enumerate(lines):
                if sources.run_part("ntrex", n) == "train" and n // 20 % 5 < 3:
                    yield Sentence(lang, f"ntrex:{n // 20}", f"ntrex:{n:04}", line)


def _tatoeba() -> Iterator[Sentence]:
    texts_seen: set[str] = set()
    for path in sorted((folder() / "tatoeba").glob("en-*.tsv.gz")):
        lang = path.name[3:].split(".")[0]
        lang = {code: our_code for our_code, code in sources._FILES.items()}.get(lang, lang)
        pairs = [pair for pair in sources.tatoeba(lang) if pair.part == "train"]
        for n, pair in enumerate(random.Random(0).sample(pairs, min(len(pairs), TATOEBA))):
            if pair.part == "train":
                yield Sentence(lang, f"tatoeba:{lang}:{n}", f"tatoeba:{pair.en}", pair.other)
                if pair.en not in texts_seen:
                    texts_seen.add(pair.en)
                    yield Sentence("en", f"tatoeba:en:{n}", f"tatoeba:{pair.en}", pair.en)


def _short() -> Iterator[Sentence]:
    """Names and words: what people type."""
    for path in sorted((folder() / "open" / "names").glob("*.jsonl.xz")):
        rows = random.Random(0).sample(all_rows := _rows(path), min(NAMES, len(all_rows)))
        for n, row in enumerate(rows):
            for lang, text in row["texts"].items():
                concept = f"{path.name}:{n}"
                yield Sentence(lang, f"{concept}:{lang}", concept, text[n % len(text)])
    for path in sorted((folder() / "open" / "words").glob("*/en-??.tsv.xz")):
        pairs = list(dict.fromkeys(sources._rows(path)))
        for en, other in random.Random(0).sample(pairs, min(WORDS, len(pairs))):
            concept = f"{path.parent.name}:{en}"
            yield Sentence(path.name[3:5], f"{concept}:{path.name}", concept, other)
            yield Sentence("en", f"{concept}:{path.name}:en", concept, en)


def held_out() -> Iterator[str]:
    """Yield the sentences that are measured on; one of them may also stand in a training pair."""
    for path in sorted((folder() / "tatoeba").glob("en-*.tsv.gz")):
        code = path.name[3:].split(".")[0]
        for pair in sources.tatoeba({written: lang for lang, written in sources._FILES.items()}.get(code, code)):
            if pair.part != "train":
                yield from (pair.en, pair.other)
    for name in ("ntrex", "tico19"):
        for n, row in enumerate(_rows(folder() / "open" / "text" / f"{name}.jsonl.xz")):
            if sources.run_part(name, n) != "train":
                yield from row["texts"].values()
    for row in _flores():
        yield from row["texts"].values()


def measured() -> Iterator[tuple[str, list[str], list[str], list[int]]]:
    """Name, queries, passages and which passage is right."""
    for lang in EVALUATED:
        for kind, make_questions in (("asked", questions.read_written_questions), ("claims", questions.claims)):
            question_set = make_questions(lang, part="valid")
            numbers = range(0, len(question_set.queries), 1 if kind == "asked" else 4)
            queries = [question_set.queries[i].text for i in numbers]
            yield (
                f"{kind}-{lang}",
                queries,
                [d.text for d in question_set.documents],
                [question_set.right[i] for i in numbers],
            )
    for name, langs in TITLES.items():
        for lang in langs.split():
            yield title_set(name, lang)
    text_rows = [row["texts"] for n, row in enumerate(_flores()) if not n % 3]
    for lang in FLORES:
        yield f"flores-{lang}", [t["en"] for t in text_rows], [t[lang] for t in text_rows], list(range(len(text_rows)))


def title_set(name: str, lang: str) -> tuple[str, list[str], list[str], list[int]]:
    """English titles of pages as queries, and the titles of the same pages in another language to be found."""
    pairs: dict[str, str] = {}
    for concept in read_collection(name, ("en", lang)):
        english, other = concept.titles.get("en", ""), concept.titles.get(lang, "")
        if english and other and english != other and other not in pairs.values():
            pairs.setdefault(english, other)
    chosen = sorted(random.Random(0).sample(sorted(pairs.items()), min(MAX_TITLES, len(pairs))))
    return f"titles-{name}-{lang}", [en for en, _ in chosen], [other for _, other in chosen], list(range(len(chosen)))


def _flores() -> list[dict]:
    return _rows(folder() / "flores" / "dev.jsonl.gz")


_read: dict[Path, list[dict]] = {}


def _rows(path: Path) -> list[dict]:
    if path not in _read:
        opened = lzma.open if path.suffix == ".xz" else gzip.open
        with opened(path, "rt", encoding="utf-8") as lines:
            _read[path] = [json.loads(line) for line in lines]
    return _read[path]


def _tokens(texts: list[str]) -> list[list[int]]:
    encodings = _tokenizer().encode_batch(texts, add_special_tokens=False)
    return [encoding.ids for encoding in encodings]


@cache
def _weights() -> E5Weights:
    return E5Weights(find_weight_file())


@cache
def _tokenizer() -> Any:
    pieces = list(zip(_weights().pieces, _weights().piece_scores.tolist(), strict=True))
    return make_tokenizer(pieces, _weights().special_pieces)


def tokenised(texts: Iterable[str]) -> Iterator[list[int]]:
    waiting = iter(texts)
    with ProcessPoolExecutor(2) as pool:
        for chunk in pool.map(_tokens, iter(partial(lambda: list(islice(waiting, 20_000))), [])):
            yield from chunk


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("into", type=Path)
    parser.add_argument("--ntrex", type=Path, help="the folder NTREX-128")
    parser.add_argument("--tiny", action="store_true", help="every fortieth text, to try the rest")
    args = parser.parse_args()
    args.into.mkdir(parents=True, exist_ok=True)
    sets = list(measured())
    banned = set(held_out())
    pairs_seen: set[tuple[str, str]] = set()
    sentences_kept: list[Sentence] = []
    for sentence in sentences(args.ntrex):
        if (
            sentence.words.strip()
            and sentence.words not in banned
            and (sentence.lang, sentence.words) not in pairs_seen
        ):
            pairs_seen.add((sentence.lang, sentence.words))
            if not args.tiny or hash_text(sentence.text) % 40 == 0:
                sentences_kept.append(sentence)
    sentences_kept.sort(
        key=lambda sentence: (sentence.lang, sentence.text)
    )  # stable: sentences of a text stay in order
    print(
        f"{len(sentences_kept)} sentences, {len({sentence.lang for sentence in sentences_kept})} languages", flush=True
    )
    write(args.into, sentences_kept, sets)


def write(into: Path, sentences_kept: list[Sentence], sets: list) -> None:
    rows = [row[:400] for row in tokenised(sentence.words for sentence in sentences_kept)]
    texts, concepts, langs = {}, {}, {}
    columns = np.array(
        [
            (
                len(row),
                texts.setdefault((sentence.lang, sentence.text), len(texts)),
                concepts.setdefault(sentence.concept, len(concepts)) if sentence.concept else -1,
                langs.setdefault(sentence.lang, len(langs)),
            )
            for sentence, row in zip(sentences_kept, rows, strict=True)
        ],
        np.int32,
    )
    flat = np.concatenate([np.asarray(row, np.int32) for row in rows])
    measures: dict[str, np.ndarray] = {}
    for name, queries, documents, right in sets:
        for part, texts_of_part in (("queries", queries), ("documents", documents)):
            token_rows = list(tokenised(texts_of_part)) if len(texts_of_part) > 40_000 else _tokens(texts_of_part)
            measures[f"{name}.{part}"] = np.concatenate([np.asarray(row, np.int32) for row in token_rows])
            measures[f"{name}.{part}.lengths"] = np.array([len(row) for row in token_rows], np.int32)
        measures[f"{name}.right"] = np.asarray(right, np.int32)
    # Pieces by how often they are used; the rest of the vocabulary stays at home.
    model = _weights()
    used = np.bincount(np.concatenate([flat, *(measures[k] for k in measures if k.endswith(("queries", "documents")))]))
    prefixes = {"query": _tokens(["query:"])[0], "passage": _tokens(["passage:"])[0]}
    opener_tokens = {lang: _tokens(texts) for lang, texts in OPENERS.items()}
    always = [
        *(model.special_pieces[role] for role in ("bos", "pad", "eos", "unk")),
        *prefixes["query"],
        *prefixes["passage"],
    ]
    always += [piece for rows in opener_tokens.values() for row in rows for piece in row]
    order = np.argsort(-used, kind="stable")
    order = np.array(list(dict.fromkeys([*always, *order[used[order] > 0].tolist()])), np.int32)
    print(f"{len(order)} pieces are used, {PIECES} kept", flush=True)
    order = order[:PIECES]
    number_of_piece = np.full(model.vocabulary_size, 3, np.int32)  # the piece for what is unknown
    number_of_piece[order] = np.arange(len(order))
    begins_word = np.array([model.pieces[i].startswith("▁") for i in order])
    np.savez(
        into / "sets.npz",
        pieces=order,
        begins=begins_word,
        query=number_of_piece[prefixes["query"]],
        passage=number_of_piece[prefixes["passage"]],
        **{k: number_of_piece[v] if k.endswith((".queries", ".documents")) else v for k, v in measures.items()},
    )
    np.savez(
        into / "teacher.npz", **{name: model.read_stored(name) for name in model.tensor_names if name != "emb.word"}
    )
    words = model.read_stored("emb.word").reshape(len(number_of_piece), -1, 18)
    np.save(into / "words.npy", words[order])
    openers = {lang: [number_of_piece[row].tolist() for row in rows] for lang, rows in opener_tokens.items()}
    (into / "openers.json").write_text(json.dumps(openers))
    (into / "langs.json").write_text(json.dumps(list(langs)))
    flat = number_of_piece[flat]
    print(f"{len(flat)} tokens, {len(order)} pieces", flush=True)
    half = len(columns) // 2
    for number, (low, high) in enumerate(((0, half), (half, len(columns)))):
        first, last = int(columns[:low, 0].sum()), int(columns[:high, 0].sum())
        with lzma.open(into / f"texts{number}.xz", "wb", filters=FILTERS) as file:
            np.save(file, columns[low:high].T.copy(), allow_pickle=False)
            np.save(file, flat[first:last].astype("<u4"), allow_pickle=False)


if __name__ == "__main__":
    main()
