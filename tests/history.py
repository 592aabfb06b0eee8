"""Collections held against a plain dictionary: files that grow, shrink, move and break, documents added and deleted by
hand, searches, processes killed at any write; with batches of one, two or three, so that every boundary is crossed.

A subclass with another `start` is the same for a collection elsewhere.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from paragloss.collection import Collection, file_records, writer
from paragloss.collection.integrity import check
from paragloss.stores import _base, _shard, embedded
from paragloss.types import Document

NAMES = ("a.jsonl", "b.jsonl.gz", "c.jsonl")
WRITES = ("add", "delete", "update_sparse", "update_dense", "write_blob", "claim")
#: What a killed process may say to its parent, which takes it for the end of its work.
DONE = 7
rows = st.lists(st.integers(0, 9), max_size=8, unique=True)
names = st.sampled_from(NAMES)
work = st.sampled_from(["index", "prune", "again", "add", "delete"])


class History(RuleBasedStateMachine):
    """`may` says what each document may be: a text, or None where it may not be there."""

    counts: ClassVar[Counter[str]] = Counter()

    @classmethod
    def start(cls, place: Path) -> str:
        """Where a new collection is to be."""
        return str(place / "c")

    def __init__(self) -> None:
        super().__init__()
        memory = Path("/dev/shm")
        self.place = Path(tempfile.mkdtemp(prefix="history-", dir=memory if memory.is_dir() else None))
        self.notes = self.place / "notes"
        self.notes.mkdir()
        self.version = 0
        self.disk: dict[str, list[tuple[str, str]]] = {}
        self.broken: set[str] = set()
        # Deleted by hand, perhaps by somebody who was killed, though a file that was read holds them: they stay away
        # until it is written again. Moving it need not bring them: its new name may be one it was read under before.
        self.loose: set[str] = set()
        self.may: dict[str, set[str | None]] = {}
        self.engine: Collection | None = None
        self._write("z.jsonl", [("z", self._text("z"))])

    @initialize(size=st.integers(1, 3), at_once=st.booleans())
    def create(self, size: int, at_once: bool) -> None:
        for module, name in ((writer, "BATCH"), (writer, "SMALL"), (_base, "BATCH"), (_base, "PAGE")):
            setattr(module, name, size)
        embedded.BATCH = _shard.BATCH = size
        _shard.FLUSH = 10_000 if at_once else size
        file_records.SAVE_INTERVAL = 20.0 if at_once else 0.0
        self.location = self.start(self.place)
        self.engine = Collection.create(self.location, default=False)

    # What happens to files

    @rule(name=names, chosen=rows, kept=st.booleans())
    def write(self, name: str, chosen: list[int], kept: bool) -> None:
        """A file is written: it grows, shrinks, and what stays in it stays as it was or says something new."""
        elsewhere = {id for other, some in self.disk.items() if other != name for id, _ in some}
        old = dict(self.disk.get(name, ()))
        ids = [f"r{n}" for n in chosen if f"r{n}" not in elsewhere]
        self._write(name, [(id, old[id] if kept and id in old else self._text(id)) for id in ids])

    @rule(source=names, to=names)
    def rename(self, source: str, to: str) -> None:
        if source in self.disk and source != to and source.endswith(".gz") == to.endswith(".gz"):
            os.replace(self.notes / source, self.notes / to)
            self.disk[to] = self.disk.pop(source)
            self.broken.discard(to)
            if source in self.broken:
                self.broken ^= {source, to}

    @rule(name=names)
    def remove(self, name: str) -> None:
        if self.disk.pop(name, None) is not None:
            (self.notes / name).unlink()
            self.broken.discard(name)

    @rule(part=st.floats(0.3, 0.9))
    def cut_off(self, part: float) -> None:
        """A packed file is cut: it can be read up to there, or not at all."""
        path = self.notes / "b.jsonl.gz"
        if path.exists():
            path.write_bytes(path.read_bytes()[: max(1, int(part * path.stat().st_size))])
            self._stamp(path)
            self.broken.add(path.name)

    # What is done to the collection

    @rule(name=names, chosen=rows, kept=st.booleans(), what=st.sampled_from(["index", "prune"]))
    def follow(self, name: str, chosen: list[int], kept: bool, what: str) -> None:
        """A file is written, and read at once."""
        self.write(name, chosen, kept)
        self.do(what, [])

    @rule(what=work, chosen=rows)
    def do(self, what: str, chosen: list[int]) -> None:
        self._opened()
        self._work(self.engine, what, chosen)
        self._expect(what, chosen)

    @rule()
    def watch(self) -> None:
        """Two looks: the second finds nothing to do."""
        self.do("prune", [])
        self._collapse()
        again = self._index(self.engine, prune=True)
        if not self.broken and again != (0, len(self.disk), 0):
            self._fault("wrong", f"nothing had changed, and yet {again} of {len(self.disk)} files")

    @rule(what=work, chosen=rows, by=st.sampled_from(["store", "file"]), moment=st.integers(0, 30), twice=st.booleans())
    def killed(self, what: str, chosen: list[int], by: str, moment: int, twice: bool) -> None:
        """A process that does this is killed at one of its writes, perhaps after it has done something else."""
        self.close()
        child = os.fork()
        if child == 0:
            self._dying(what, chosen, by, moment, twice)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) != DONE:
            self._fault("wrong", f"a process that did {what!r} ended with {os.WEXITSTATUS(status)}")
        if twice:  # done before the first moment: it stays
            self._expect("add", [0])
        before = {id: set(texts) for id, texts in self.may.items()}
        self._expect(what, chosen)
        if os.WIFSIGNALED(status):
            self.counts["kills"] += 1
            for id in {*before, *self.may}:
                self.may[id] = before.get(id, {None}) | self.may.get(id, {None})
        self._opened()

    @rule(number=st.integers(0, 9), hand=st.booleans())
    def search(self, number: int, hand: bool) -> None:
        self._opened()
        id = f"h{number}" if hand else f"r{number}"
        texts = self.may.get(id, {None})
        if len(texts) == 1:
            text = next(iter(texts))
            word = text.split()[1] if text else f"{id}x"
            found = [r.id for r in self.engine.search(word, lang="en", k=3, pipeline="bm25").results]
            if found != ([id] if text else []):
                self._fault("lost" if text else "wrong", f"{word} finds {found}, {id} is {text!r}")

    @precondition(lambda self: self.engine is not None)
    @rule()
    def close(self) -> None:
        if self.engine is not None:
            self.engine.close()
            self.engine = None

    @rule()
    def looked_over(self) -> None:
        """Closed, and everything it says of itself is true."""
        self.close()
        if findings := check(self.location):
            self._fault("wrong", f"check: {findings}")
        self._opened()

    @invariant()
    def is_as_expected(self) -> None:
        if self.engine is not None:
            self._collapse()

    def teardown(self) -> None:
        try:
            if self.engine is not None:
                self.looked_over()
        finally:
            self.counts["histories"] += 1
            self.close()
            shutil.rmtree(self.place, ignore_errors=True)

    # How it is done

    def _opened(self) -> None:
        if self.engine is None:
            self.engine = Collection.open(self.location)

    def _text(self, id: str) -> str:
        self.version += 1
        return f"{id}x v{self.version}x " + "common " * (1 + self.version % 3)

    def _write(self, name: str, some: list[tuple[str, str]]) -> None:
        data = "".join(json.dumps({"id": id, "lang": "en", "text": text}) + "\n" for id, text in some).encode()
        (self.notes / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        self._stamp(self.notes / name)
        self.disk[name] = some
        self.broken.discard(name)
        if not some:  # an empty file is an error, and keeps what it gave until it has rows or is gone
            self.broken.add(name)
        self.loose -= {id for id, _ in some}

    def _stamp(self, path: Path) -> None:
        """Disks tell times in steps of milliseconds, within which much is written here."""
        self.version += 1
        os.utime(path, ns=(self.version * 10**9,) * 2)

    def _index(self, engine: Collection | None, **options: bool) -> tuple[int, int, int]:
        assert engine is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return engine.index_files([str(self.notes)], on_error=lambda error: None, **options)

    def _work(self, engine: Collection | None, what: str, chosen: list[int]) -> None:
        assert engine is not None
        if what == "add":
            engine.add([Document(f"h{n}", f"h{n}x v{self.version}h{n}x common", "en") for n in chosen])
        elif what == "delete":
            engine.delete([f"{kind}{n}" for n in chosen for kind in "hr"])
        else:
            self._index(engine, prune=what == "prune", again=what == "again")

    def _expect(self, what: str, chosen: list[int]) -> None:
        """What documents are once this is done."""
        here = {id: text for some in self.disk.values() for id, text in some}
        if what == "add":
            self.may |= {f"h{n}": {f"h{n}x v{self.version}h{n}x common"} for n in chosen}
        elif what == "delete":
            gone = {f"{kind}{n}" for n in chosen for kind in "hr"}
            self.may = {id: {None} if id in gone else texts for id, texts in self.may.items()}
            self.loose |= gone & set(here)
        else:
            unsure = {id for name in self.broken for id, _ in self.disk[name]} | (
                set() if what == "again" else self.loose
            )
            for id, text in here.items():
                self.may[id] = self.may.get(id, {None}) | {text} if id in unsure else {text}
            if what == "prune":
                for id in [id for id in self.may if id[0] == "r" and id not in here]:
                    self.may[id] = self.may[id] | {None} if self.broken else {None}

    def _collapse(self) -> None:
        """Everything is what it may be; what was open is known from now on."""
        assert self.engine is not None
        found = {document.id: document.text for document in self.engine.documents()}
        for id in sorted({*self.may, *found}):
            allowed = self.may.get(id, {None})
            if found.get(id) not in allowed:
                kind = "lost" if id not in found else "wrong"
                self._fault(kind, f"{id} is {found.get(id)!r}, may be {allowed}")
            self.may[id] = {found.get(id)}
        if self.engine.count() != len(found):
            self._fault("wrong", f"{self.engine.count()} counted, {len(found)} there")
        self.loose -= set(found)

    def _dying(self, what: str, chosen: list[int], by: str, moment: int, twice: bool) -> None:
        """In a process of its own, which ends here."""
        seen = Counter[str]()

        def tick(kind: str) -> None:
            seen[kind] += 1
            if kind == by and seen[kind] > moment:
                os.kill(os.getpid(), signal.SIGKILL)

        signal.alarm(120)  # a kill as any other, should it be stuck
        try:
            engine = Collection.open(self.location)
            if twice:
                self._work(engine, "add", [0])
            for name in WRITES:
                setattr(engine.state.store, name, _ticking(getattr(engine.state.store, name), tick))
            sys.addaudithook(lambda event, _: tick("file") if event in ("open", "os.rename", "os.remove") else None)
            self._work(engine, what, chosen)
            engine.close()
            os._exit(DONE)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(1)

    def _fault(self, kind: str, said: str) -> None:
        self.counts[kind] += 1
        raise AssertionError(f"{kind}: {said}")


def _ticking(call, tick):
    def called(*args, **options):
        tick("store")
        result = call(*args, **options)
        tick("store")
        return result

    return called
