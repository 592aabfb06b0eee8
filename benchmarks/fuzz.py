"""Hostile input by the million: files, models, queries, pipelines, filters, command lines and requests, nearly right.

    python benchmarks/fuzz.py [--inputs 1000000] [--seed 0] [--state fuzz.json] [--only KIND]

Each input is a valid one with something changed (`hostile.py`). Whatever comes must end in an answer or in an error of
one line, a command with status 0, 1 or 2, a request below 500, each within 10 s of processor time and 1 GB. Foreign
files are read in their own process, as always. Inputs come in parts, each in a process of its own, forked from one that
has imported everything: one that dies is counted and the rest goes on. With --state, counts go on where they were.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import io
import json
import mmap
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import typer
from hostile import changed, mutated, mutated_json, seeds

from paragloss.cli import app as line
from paragloss.cli.program import main as run_line
from paragloss.collection import Collection, coverage, load
from paragloss.errors import LineSyntaxError, ParaglossError
from paragloss.formats import sandbox
from paragloss.formats.conditions import parse_conditions
from paragloss.formats.dictionaries import read_entries
from paragloss.formats.documents import read_documents
from paragloss.formats.queries import read_qrels, read_queries
from paragloss.formats.trec import read_run
from paragloss.formats.vectors import read_vectors
from paragloss.gloss import gloss
from paragloss.lab.aligned_files import read_text_pairs
from paragloss.lab.clicks.log_files import read_log, read_sessions
from paragloss.lab.descent import towers
from paragloss.search import grammar
from paragloss.server.application import build_application
from paragloss.server.library import Library
from paragloss.stores._filters import build_conditions
from paragloss.translation import default
from paragloss.types import Query

assert towers  # imported here so that no part has to
typer.main.get_command = cache(typer.main.get_command)  # made once instead of for every line
SLOW, LARGE, PART = 10, 1 << 30, 4000
#: How often each kind comes: what takes a moment often, what takes a process of its own seldom.
SHARES = {
    "where": 330, "pipeline": 250, "row": 270, "model": 60, "query": 12, "gloss": 8, "command": 59, "request": 10,
    "file": 1,
}  # fmt: skip
_PIPELINES = [
    "bm25+cr5+table", "0.3*cr5+bm25:title=2,url=0.5", "table|feedback", "bm25+cr5>knrm", "table:nested,title=2",
    'mix(default+3*table):k=5', '"bm25"|(cr5>knrm)', "rrf(bm25+cr5)", "feedback:terms=5|table:synonyms|together",
]  # fmt: skip
_WHERES = [
    "year>=1999",
    "meta.a=b",
    "lang=fr",
    "day<2024-05-31",
    'zip="01234"',
    "n=1.5",
    "on=true",
    "a.b=1",
    "year<1e9",
]
_ROWS: dict[str, bytes] = {
    "a.queries": b"q1\ten\tthe lava of a volcano\nq2\tfr\tle pain\n",
    "a.qrels": b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n",
    "a.run": b"q1 Q0 d1 1 9.5 tag\nq1 Q0 d2 2 9.25 tag\n",
    "a.dict": b"bread\tpain\t0.9\nrain\tpluie\nbread {n} :: pain {m}\n",
    "a.u8": "麵包 面包 [mian4 bao1] /bread/loaf of bread/\n".encode(),
    "a.tei": b"<TEI><text><body><entry><form><orth>rain</orth></form><sense><cit><quote>pluie</quote></cit></sense>"
    b"</entry></body></text></TEI>",
    "a.vec": b"2 3\nrain 0.1 0.2 0.3\nbread 1 0 -1\n",
    "a.tmx": b'<tmx><body><tu><tuv xml:lang="en"><seg>rain</seg></tuv><tuv xml:lang="fr"><seg>pluie</seg></tuv></tu>'
    b"</body></tmx>",
    "a.clicks": b'{"query": "rain", "lang": "en", "shown": ["a", "b"], "clicks": [{"doc": "b", "dwell": 3.5}]}\n',
}
_MODELS = """
import sys
import scipy.sparse as sp
from pathlib import Path
from paragloss import demo
from paragloss.collection import train
from paragloss.lab.methods import cr5, knrm, ordinal
from paragloss.lab.methods import table
from paragloss.translation.default.packing import Tables, pack
from paragloss.translation.dictionary import Dictionary
from paragloss.formats.dictionaries import Entry
place, both = Path(sys.argv[1]), ("en", "fr")
def small(concept):
    return concept._replace(texts={l: concept.texts[l] for l in both}, titles={l: concept.titles[l] for l in both})
all_ = [small(concept) for concept in demo.concepts()]
few = all_[:12]
train(cr5.fit, few, dim=4).save(place / "cr5")
table.fit(few).save(place / "table")
Dictionary.build([Entry("bread", "pain"), Entry("rain", "pluie")], "en", "fr").save(place / "dictionary")
knrm.fit(all_, dim=4, queries=10, depth=3).save(place / "knrm")
ordinal.fit(few, dim=4, epochs=1, encoder="lstm").save(place / "towers")
en, fr, same = ["bread", "rain"], ["pain", "pluie"], sp.eye(2, format="csr")
pack({"fr": Tables(en, en, fr, fr, same, same)}).save(place / "default")
"""


class Died(BaseException):
    """A part took too long."""


def prepare(folder: Path) -> None:
    """Models of every kind, and two collections: one to search here, one to serve."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", _MODELS, str(folder)], check=True)
    static(folder / "static")
    make = (
        "import sys\nfrom paragloss import demo\nfrom paragloss.collection import Collection\n"
        "for name in ('c', 'served'):\n"
        "    here = sys.argv[1] + '/'\n"
        "    with Collection.create(here + name, models=[here + 'cr5', here + 'table'], meaning=False) as e:\n"
        "        e.index([d for d in demo.documents() if d.lang in ('en', 'fr')][:40])\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", make, str(folder)], check=True)
    for name, data in {**seeds(), **_ROWS}.items():
        (folder / name).write_bytes(data)


def static(folder: Path) -> None:
    """An encoder as others publish them: vectors of words and a tokenizer."""
    import numpy as np
    import tokenizers
    from safetensors.numpy import save_file

    folder.mkdir()
    words = ["[PAD]", "[UNK]", "rain", "bread"]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file({"embeddings": np.ones((4, 3), np.float32)}, str(folder / "model.safetensors"))
    (folder / "config.json").write_text(json.dumps({"normalize": True, "model_type": "model2vec"}))


class Fuzz:
    """One part: inputs, and what became of them."""

    def __init__(self, folder: Path, own: Path, rng: random.Random) -> None:
        self.folder, self.own, self.rng = folder, own, rng
        self.files = seeds()

    @cached_property
    def engine(self) -> Collection:
        return Collection.open(str(self.folder / "c"))

    @cached_property
    def served(self) -> Any:
        return build_application(Library.open([str(self.folder / "served")]))

    @cached_property
    def loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.new_event_loop()

    @cached_property
    def commands(self) -> dict[str, Any]:
        never = {"serve", "mcp", "watch", "demo", "recipes", "train", "tune", "repair", "index", "delete", "copy"}
        by_name: dict[str, Any] = typer.main.get_command(line).commands  # type: ignore[attr-defined]
        return {name: command for name, command in by_name.items() if name not in never}

    def where(self) -> None:
        condition_texts = [changed(self.rng.choice(_WHERES), self.rng) for _ in range(self.rng.choice((1, 1, 2)))]
        filters = parse_conditions(condition_texts)
        build_conditions(filters, set())
        if self.rng.random() < 0.002:
            self.engine.count(filters)

    def pipeline(self) -> None:
        text = changed(self.rng.choice(_PIPELINES), self.rng)
        grammar.parse(text)
        if self.rng.random() < 0.05:
            self.engine.explain(pipeline=text)

    def row(self) -> None:
        """A row or a few of every table that is read."""
        readers: list[tuple[str, Callable[[Path], Any]]] = [
            (self.rng.choice(("a.jsonl", "a.csv", "a.trec", "a.xml", "a.txt", "a.md")), self._documents),
            (self.rng.choice(("a.queries", "a.jsonl", "a.csv")), lambda path: list(read_queries(path))),
            (self.rng.choice(("a.qrels", "a.csv")), lambda path: list(read_qrels(path, on_error=lambda error: None))),
            ("a.run", lambda path: read_run(path)),
            (
                self.rng.choice(("a.dict", "a.u8", "a.tei", "a.jsonl")),
                lambda path: list(read_entries(path, "en", "fr")),
            ),
            ("a.vec", lambda path: read_vectors(path)),
            (self.rng.choice(("a.tmx", "a.dict")), lambda path: list(read_text_pairs(path))),
            ("a.clicks", lambda path: list(self.rng.choice((read_log, read_sessions))(path))),
        ]
        name, reader = self.rng.choice(readers)
        path = self.own / f"rows{Path(name).suffix}"
        path.write_bytes(mutated(self.files.get(name) or _ROWS[name], self.rng))
        reader(path)

    def _documents(self, path: Path) -> None:
        list(read_documents(path, on_error=(lambda error: None) if self.rng.random() < 0.5 else None))

    def model(self) -> None:
        """A file of a model changed, the model loaded and, where that works, used."""
        kind = self.rng.choice(("cr5", "table", "dictionary", "knrm", "towers", "default", "static"))
        files = sorted(path for path in (self.own / kind).rglob("*") if path.is_file())
        file = self.rng.choice(files)
        before = file.read_bytes()
        try:
            if file.suffix == ".json" and self.rng.random() < 0.7:
                file.write_text(json.dumps(mutated_json(json.loads(before), self.rng)))
            else:
                file.write_bytes(mutated(before, self.rng))
            self._used(load(self.own / kind))
        finally:
            file.write_bytes(before)

    def _used(self, model: Any) -> None:
        if hasattr(model, "encode"):
            model.encode(["rain and bread"], "en")
        elif hasattr(model, "translate"):
            model.translate(Query("", "rain and bread", "en"), "fr")

    def query(self) -> None:
        text = changed("the lava of a volcano, le pain et la pluie 1999", self.rng)
        lang = self.rng.choice((None, None, "en", "fr", "xx"))
        filters = parse_conditions([changed(self.rng.choice(_WHERES), self.rng)]) if self.rng.random() < 0.1 else None
        pipeline = changed(self.rng.choice(_PIPELINES), self.rng) if self.rng.random() < 0.1 else None
        text *= 40 if self.rng.random() < 0.02 else 1
        self.engine.search(text, lang=lang, k=self.rng.choice((1, 10)), where=filters, pipeline=pipeline)

    def gloss(self) -> None:
        text = changed("Der Zug fährt morgen früh nicht. 電車は来ない。 Поезд не придёт.", self.rng)
        source = self.rng.choice(("de", "ja", "ru", "th"))
        gloss(text, source, self.rng.choice(("en", "fr")), {"default": default.open()})

    def command(self) -> None:
        """A command with flags of its own, of others and of nobody, and values that may be right."""
        name = self.rng.choice(list(self.commands))
        words = [name]
        for option in self.rng.sample(self.commands[name].params, min(3, len(self.commands[name].params))):
            flags = list(option.opts) if option.param_type_name == "option" else []
            words += [self.rng.choice(flags)] if flags else []
            if not getattr(option, "is_flag", False):
                words.append(self._value())
        if self.rng.random() < 0.2:
            words.insert(
                self.rng.randrange(len(words) + 1), changed(self.rng.choice(words), self.rng).replace("\0", "")
            )
        status, output = self._run(words)
        if status not in (0, 1, 2) or "Traceback" in output:
            raise RuntimeError(f"status {status} of {words}: {output[-600:]}")

    def _value(self) -> str:
        if self.rng.random() < 0.02:
            return str(self.folder / "c")
        names = [*_ROWS, "a.jsonl", "a.txt", "nowhere", "cr5/meta.json"]
        files = [str(self.folder / name) for name in self.rng.sample(names, 3)]
        plain = ["", "1", "0", "-1", "1e9", "nan", "en", "xx", "en,fr", "rain", "RR nDCG@10", "bm25+", "a=b", "--", "-"]
        return self.rng.choice((*files, *self.rng.sample(plain, 3), changed("rain and 1", self.rng).replace("\0", "")))

    def _run(self, words: list[str]) -> tuple[int, str]:
        output, before = io.StringIO(), (sys.argv, os.getcwd())
        sys.argv = ["paragloss", *words]
        os.chdir(self.own / "here")
        try:
            with (
                contextlib.redirect_stdout(output),
                contextlib.redirect_stderr(output),
                contextlib.suppress(AttributeError),
            ):
                run_line()
            return 0, output.getvalue()
        except SystemExit as ended:
            return ended.code if isinstance(ended.code, int) else 1, output.getvalue()
        finally:
            sys.argv = before[0]
            os.chdir(before[1])

    def request(self) -> None:
        """A request with a changed address, or a changed body."""
        parameters = [
            ("GET", "/api/search?q=" + quote(changed("rain", self.rng)) + "&k=" + quote(changed("3", self.rng)), {}),
            ("GET", changed("/api/search?q=rain&lang=en&to=fr&where=year>1", self.rng), {}),
            ("GET", "/api/why?q=rain&id=" + quote(changed("bee.fr", self.rng)), {}),
            ("GET", changed("/api/counts?q=rain", self.rng), {}),
            ("GET", changed("/api/collections", self.rng), {}),
            ("POST", "/api/documents", [{"id": "n", "text": "rain", "lang": "en", "meta": {"a": 1}}]),
            ("POST", "/api/gloss", {"texts": [{"text": changed("la pluie", self.rng), "lang": "fr"}], "to": "en"}),
            ("PUT", "/api/glossary", {"pairs": [{"lang": "en", "word": "rain", "to": "fr", "meaning": "pluie"}]}),
            ("PATCH", "/api/glossary", {"add": [{"lang": "en", "word": "rain", "to": "fr", "meaning": "pluie"}]}),
            ("PATCH", "/api/documents/" + quote(changed("bee.fr", self.rng)), {"title": "Bee", "meta": {"a": [1]}}),
        ]
        method, address, content = self.rng.choice(parameters)
        body = json.dumps(mutated_json(content, self.rng)).encode() if content else b""
        if body and self.rng.random() < 0.3:
            body = mutated(body, self.rng)
        status = self.loop.run_until_complete(self._answered(method, address, body))
        if status >= 500:
            raise RuntimeError(f"status {status} of {method} {address!r} {body[:300]!r}")

    async def _answered(self, method: str, address: str, body: bytes) -> int:
        path, _, query = address.encode("utf-8", "replace").partition(b"?")
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        headers.append((b"content-length", str(len(body)).encode()))
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path.decode(), "raw_path": path, "query_string": query, "headers": headers, "root_path": "",
            "client": ("127.0.0.1", 5000), "server": ("localhost", 80),
        }  # fmt: skip
        status = [0]
        sent = iter([{"type": "http.request", "body": body}])

        async def receive() -> dict[str, Any]:
            return next(sent, {"type": "http.disconnect"})

        async def send(message: dict[str, Any]) -> None:
            status[0] = message.get("status", status[0])

        await self.served(scope, receive, send)
        return status[0]

    def file(self) -> None:
        name = self.rng.choice(list(self.files))
        path = self.own / f"in{Path(name).suffix}"
        path.write_bytes(mutated(self.files[name], self.rng))
        self._documents(path)


def part(folder: Path, number: int, seed: int, kinds: list[str], at: mmap.mmap) -> dict[str, Any]:
    """Inputs of one part; where it is stands in `at`, for whoever finds it dead."""
    rng = random.Random(f"{seed} {number}")
    counts, refused, wrong, slowest = Counter[str](), Counter[str](), list[str](), dict[str, float]()
    spent: dict[str, float] = {}
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _late)
    with tempfile.TemporaryDirectory(dir=folder) as own:
        for kind in ("cr5", "table", "dictionary", "knrm", "towers", "default", "static"):
            shutil.copytree(folder / kind, Path(own, kind))
        Path(own, "here").mkdir()
        fuzz, memory = Fuzz(folder, Path(own), rng), 0
        for step in range(PART):
            kind = rng.choices(kinds, [SHARES[kind] for kind in kinds])[0]
            at[:] = f"{step:8d}{kind:>24s}".encode()
            began = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, SLOW)
            try:
                getattr(fuzz, kind)()
            except ParaglossError as error:
                refused[kind] += 1
                if "\n" in str(error) and not isinstance(error, LineSyntaxError):
                    wrong.append(f"{kind}: an error of several lines: {str(error)[:200]!r}")
            except (Exception, Died):
                wrong.append(f"{kind} {number}/{step}: {traceback.format_exc()[-1500:]}")
            signal.setitimer(signal.ITIMER_PROF, 0)
            took = time.process_time() - began
            slowest[kind], spent[kind] = max(slowest.get(kind, 0.0), took), spent.get(kind, 0.0) + took
            counts[kind] += 1
            peak_memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if peak_memory > max(memory, 1 << 20):
                wrong.append(f"{kind} {number}/{step}: {peak_memory >> 10} MB")
            memory = max(memory, peak_memory)
        sandbox.SHARED_READER.close()
        memory = max(memory, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    return {
        "counts": counts,
        "refused": refused,
        "wrong": wrong,
        "slowest": slowest,
        "spent": spent,
        "memory": memory >> 10,
    }


def _late(*_: object) -> None:
    raise Died


def apart_from_us(work: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """What a process of its own found; None when it died."""
    with tempfile.TemporaryFile() as answer:
        child = os.fork()
        if child == 0:
            try:
                answer.write(json.dumps(work()).encode())
                answer.flush()
            except BaseException:
                traceback.print_exc()
            os._exit(0)
        os.waitpid(child, 0)
        answer.seek(0)
        report = answer.read()
    return json.loads(report) if report else None


def _cause(words: str) -> str:
    """Where a traceback ends and with what: crashes that have it in common are one."""
    lines = words.strip().splitlines()
    return " ".join([line for line in lines if line.lstrip().startswith("File ")][-1:] + [lines[-1].split(":")[0]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--only", choices=SHARES)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long, to go on another time")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    state: dict[str, Any] = {
        "parts": 0,
        "counts": {},
        "refused": {},
        "wrong": [],
        "slowest": {},
        "spent": {},
        "memory": 0,
        "cpu": 0.0,
    }
    if options.state and options.state.exists():
        state = json.loads(options.state.read_text())
    kinds = [options.only] if options.only else list(SHARES)
    at = mmap.mmap(-1, 32)
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        root = Path(folder)
        prepare(root)
        coverage.describe_foreign_texts([], default.open())
        gc.freeze()
        until = time.monotonic() + options.seconds
        while sum(state["counts"].values()) < options.inputs and time.monotonic() < until and len(state["wrong"]) < 100:
            number, before = state["parts"], sum(os.times()[2:4])
            outcome = apart_from_us(lambda number=number: part(root, number, options.seed, kinds, at))
            state["parts"] += 1
            state["cpu"] += sum(os.times()[2:4]) - before
            if outcome is None:
                state["wrong"].append(f"died in part {number} at {at[:].decode()}")
                continue
            for key in ("counts", "refused"):
                state[key] = Counter(state[key]) + Counter(outcome[key])
            state["wrong"] += outcome["wrong"]
            state["slowest"] = {k: max(state["slowest"].get(k, 0), s) for k, s in outcome["slowest"].items()}
            state["spent"] = {k: state["spent"].get(k, 0) + s for k, s in outcome["spent"].items()}
            state["memory"] = max(state["memory"], outcome["memory"])
            if options.state:
                options.state.write_text(json.dumps(state))
            print(
                f"{sum(state['counts'].values()):,} inputs, {len(state['wrong'])} wrong, {state['cpu']:.0f} s",
                flush=True,
            )
    print(f"inputs: {sum(state['counts'].values()):,}: {dict(state['counts'])}")
    print(f"refused in one line: {dict(state['refused'])}")
    print(f"slowest (s of processor): { {kind: round(worst, 2) for kind, worst in state['slowest'].items()} }")
    print(f"mean (ms): { {kind: round(1000 * s / state['counts'][kind], 2) for kind, s in state['spent'].items()} }")
    print(f"most memory: {state['memory']} MB")
    print(f"crashes, hangs, over the limits: {len(state['wrong'])}")
    for words in {_cause(words): words for words in state["wrong"]}.values():
        print("---", words)
    sys.exit(1 if state["wrong"] or state["memory"] > LARGE >> 20 else 0)


if __name__ == "__main__":
    main()
