"""Random histories of a collection, compared with a model that is a plain dictionary.

Files grow, shrink, move and break in two folders; a folder disappears and returns, or is renamed; rows of two files
have one id; a reader fails for a while; documents are added and deleted by hand; the disk is full; processes are killed
at any write. Batches hold one, two or three documents, so that every boundary is crossed. A subclass with another
`choose_location` runs the same on a server.
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
from typing import Any, ClassVar, NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from paragloss.collection import Collection, file_records, writer
from paragloss.collection.integrity import check_collection
from paragloss.errors import InputError, PruneError, StoreError
from paragloss.formats import documents as document_formats
from paragloss.stores import _limits, _vector_repair, embedded
from paragloss.types import Document

ROOT_NAMES = ("main", "two")
FILE_NAMES = ("a.jsonl", "b.jsonl.gz", "c.jsonl")
STORE_WRITES = ("add", "delete", "update_sparse", "update_dense", "write_blob", "claim_writing")
#: Exit code of a process that was to be killed and finished its work first.
FINISHED = 7

root_names = st.sampled_from(ROOT_NAMES)
file_names = st.sampled_from(FILE_NAMES)
row_numbers = st.lists(st.integers(0, 9), max_size=6, unique=True)
actions = st.sampled_from(["index", "prune", "prune anyway", "again", "add", "delete"])


class DiskUsage(NamedTuple):
    total: int
    used: int
    free: int


class History(RuleBasedStateMachine):
    """Files, a collection, and what each document of the collection may be.

    `allowed[id]` holds the texts that a document may have; None stands for a document that may be absent.
    """

    counts: ClassVar[Counter[str]] = Counter()

    @classmethod
    def choose_location(cls, folder: Path) -> str:
        """Return where the collection of a new history is to be."""
        return str(folder / "collection")

    def __init__(self) -> None:
        super().__init__()
        self.patches = pytest.MonkeyPatch()  # until the end of the history
        memory = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(prefix="history-", dir=memory if memory.is_dir() else None))
        self.roots = {name: self.folder / name for name in ROOT_NAMES}
        self.hidden: set[str] = set()  # names of roots that are not mounted
        self.version = 0
        self.rows: dict[tuple[str, str], dict[str, str]] = {}  # (root, file) -> text of each row
        self.earlier_texts: dict[tuple[str, str], set[str]] = {}  # texts of rows that a broken file held before
        self.removed_texts: dict[str, set[str]] = {}  # root -> texts of the rows of files that were removed from it
        self.broken: set[tuple[str, str]] = set()
        self.pages: dict[tuple[str, str], str] = {}  # (root, path) -> text; each is one document
        self.allowed_pages: dict[tuple[str, str], set[str | None]] = {}
        self.hand_deleted: set[str] = set()  # stay away until a file that holds them is written again
        self.allowed: dict[str, set[str | None]] = {}
        self.failing_pages: set[str] = set()
        self.collection: Collection | None = None
        for root in ROOT_NAMES:
            self.roots[root].mkdir()
            self._write_rows(root, "z.jsonl", {f"z{root}": self._make_text(f"z{root}")})
            self._write_page(root, "p.txt")

    @initialize(batch_size=st.integers(1, 3), flush_rarely=st.booleans())
    def create(self, batch_size: int, flush_rarely: bool) -> None:
        for module, name in (
            (writer, "BATCH_SIZE"),
            (writer, "SMALL_BATCH_SIZE"),
            (_limits, "WRITE_BATCH"),
            (_limits, "READ_BATCH"),
        ):
            self.patches.setattr(module, name, batch_size)
        self.patches.setattr(_limits, "FLUSH_INTERVAL", 10_000 if flush_rarely else batch_size)
        self.patches.setattr(file_records, "SAVE_INTERVAL", 20.0 if flush_rarely else 0.0)
        # Reading all of a folder in another process first guards against damage that ends the process. Here that would
        # end the run, which is noticed as well, and takes most of the time.
        for module in (_vector_repair, embedded):
            self.patches.setattr(module, "check_readable", lambda shard: None)
        # A reader that can fail for a while.
        self.patches.setitem(document_formats._TEXT_READERS, ".txt", self._read_page)
        self.location = self.choose_location(self.folder)
        self.collection = Collection.create(self.location, default=False)

    # Changes of files

    @rule(root=root_names, name=file_names, numbers=row_numbers, keep_texts=st.booleans())
    def write(self, root: str, name: str, numbers: list[int], keep_texts: bool) -> None:
        """Write a file of rows. Rows that stay keep their text or get a new one; other files may have the same ids."""
        if root not in self.hidden:
            old_rows = self.rows.get((root, name), {})
            ids = [f"r{number}" for number in numbers]
            texts = {id: old_rows[id] if keep_texts and id in old_rows else self._make_text(id) for id in ids}
            self._write_rows(root, name, texts)

    @rule(root=root_names, source=file_names, new_name=file_names)
    def rename_file(self, root: str, source: str, new_name: str) -> None:
        is_same_kind = source.endswith(".gz") == new_name.endswith(".gz")
        if root in self.hidden or (root, source) not in self.rows or source == new_name or not is_same_kind:
            return
        os.replace(self.roots[root] / source, self.roots[root] / new_name)
        self.rows[root, new_name] = self.rows.pop((root, source))
        for key in ((root, source), (root, new_name)):
            self.earlier_texts.setdefault(key, set())
        self.earlier_texts[root, new_name] |= self.earlier_texts.pop((root, source))
        self.broken.discard((root, new_name))
        if (root, source) in self.broken:
            self.broken -= {(root, source)}
            self.broken |= {(root, new_name)}

    @rule(root=root_names, name=file_names)
    def remove_file(self, root: str, name: str) -> None:
        if root not in self.hidden and (root, name) in self.rows:
            self.removed_texts.setdefault(root, set()).update(self.rows.pop((root, name)).values())
            (self.roots[root] / name).unlink()
            self.broken.discard((root, name))
            self.earlier_texts.pop((root, name), None)

    @rule(root=root_names, share=st.floats(0.3, 0.9))
    def truncate_file(self, root: str, share: float) -> None:
        """Cut off a packed file: it can be read up to there, or not at all."""
        path = self.roots[root] / "b.jsonl.gz"
        if root not in self.hidden and path.exists():
            path.write_bytes(path.read_bytes()[: max(1, int(share * path.stat().st_size))])
            self._set_time(path)
            self.broken.add((root, path.name))

    @rule(root=root_names)
    def rewrite_page(self, root: str) -> None:
        if root not in self.hidden:
            self._write_page(root, "p.txt")

    @rule(root=root_names)
    def fail_page(self, root: str) -> None:
        """Change a page and let its reader fail until further notice: the old text stays."""
        if root not in self.hidden:
            self._write_page(root, "p.txt")
            self.failing_pages.add(root)

    @rule()
    def repair_reader(self) -> None:
        self.failing_pages.clear()

    @rule()
    def write_intruder(self) -> None:
        """Write a page whose path below one folder is the id of a page of the other folder."""
        if "main" not in self.hidden:
            (self.roots["main"] / "two").mkdir(exist_ok=True)
            self._write_page("main", "two/p.txt")

    @rule()
    def remove_intruder(self) -> None:
        if "main" not in self.hidden and self.pages.pop(("main", "two/p.txt"), None):
            shutil.rmtree(self.roots["main"] / "two")

    @rule(root=root_names)
    def hide_or_return_root(self, root: str) -> None:
        """Unmount a folder, or mount it again."""
        aside = self.folder / f"{root}-unmounted"
        if root in self.hidden:
            aside.rename(self.roots[root])
            self.hidden.discard(root)
        else:
            self.roots[root].rename(aside)
            self.hidden.add(root)

    @rule(root=root_names)
    def rename_root(self, root: str) -> None:
        """Rename a folder whose files have just been read: its documents keep their ids."""
        if root in self.hidden or self.failing_pages:
            return
        self.act("index", [])
        self.version += 1
        new_path = self.folder / f"{root}-{self.version}"
        self.roots[root].rename(new_path)
        self.roots[root] = new_path
        self.act("prune anyway", [])

    # Actions on the collection

    @rule(root=root_names, name=file_names, numbers=row_numbers, action=st.sampled_from(["index", "prune anyway"]))
    def write_and_read(self, root: str, name: str, numbers: list[int], action: str) -> None:
        self.write(root, name, numbers, False)
        self.act(action, [])

    @rule(action=actions, numbers=row_numbers)
    def act(self, action: str, numbers: list[int]) -> None:
        self._open()
        assert self.collection is not None
        finished = self._perform(self.collection, action, numbers)
        self._expect(action if finished else "index", numbers)

    @rule()
    def watch(self) -> None:
        """Prune twice: the second time finds nothing to do."""
        self.act("prune anyway", [])
        self._compare()
        if self.broken or self.failing_pages or self.hidden:
            return
        assert self.collection is not None
        report = self._index(self.collection, prune=True)
        file_count = len(self.rows) + len(self.pages)
        if report != (0, file_count, 0):
            self._fail("wrong", f"nothing had changed, and yet {report} of {file_count} files")

    @rule(
        action=actions,
        numbers=row_numbers,
        kind=st.sampled_from(["store", "file"]),
        moment=st.integers(0, 30),
        add_first=st.booleans(),
    )
    def kill(self, action: str, numbers: list[int], kind: str, moment: int, add_first: bool) -> None:
        """Kill a process at one of its writes to the store or to files, perhaps after it has added a document."""
        self.close()
        child = os.fork()
        if child == 0:
            self._act_and_die(action, numbers, kind, moment, add_first)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) != FINISHED:
            self._fail("wrong", f"a process that did {action!r} ended with {os.WEXITSTATUS(status)}")
        if add_first:  # acknowledged before the first moment
            self._expect("add", [0])
        outcomes = [action, "index"] if action == "prune" else [action]  # pruning may be refused
        if os.WIFSIGNALED(status):
            self.counts["kills"] += 1
            outcomes.append("nothing")
        self._expect_one_of(outcomes, numbers)
        self._open()

    @rule(numbers=row_numbers)
    def fill_disk(self, numbers: list[int]) -> None:
        """Fill the disk of a folder: the collection is read as it was, and every write is refused."""
        if "://" in self.location:
            return
        self.close()
        real_usage = shutil.disk_usage

        def measure_usage(path: str | Path) -> Any:
            return DiskUsage(1, 1, 0) if str(path).startswith(str(self.folder)) else real_usage(path)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(shutil, "disk_usage", measure_usage)
            self._open()
            self._compare()
            assert self.collection is not None
            try:
                self._perform(self.collection, "add", [*numbers, 0])
            except StoreError:
                self.counts["full disks"] += 1
            else:
                self._fail("wrong", "a full disk was written to")
            self._compare()
            self.close()
        self._open()

    @rule()
    def create_elsewhere(self) -> None:
        """Two processes create one collection at the same time: what each acknowledges is there."""
        if "://" in self.location:
            return
        self.close()
        self.version += 1
        location = str(self.folder / f"created-{self.version}")
        children = {}
        for number in range(2):
            children[number] = os.fork()
            if children[number] == 0:
                self._create_and_exit(location, f"c{number}")
        codes = {number: os.WEXITSTATUS(os.waitpid(child, 0)[1]) for number, child in children.items()}
        with Collection.open(location) as created:
            ids = {document.id for document in created.documents()}
        expected = {f"c{number}" for number, code in codes.items() if code == FINISHED}
        if not expected or ids != expected:
            self._fail("lost", f"two creators ended with {codes}, the collection has {ids}")
        shutil.rmtree(location)
        self.counts["two creators"] += 1

    @rule(number=st.integers(0, 9), by_hand=st.booleans())
    def search(self, number: int, by_hand: bool) -> None:
        self._open()
        id = f"h{number}" if by_hand else f"r{number}"
        texts = self.allowed.get(id, {None})
        if len(texts) != 1:
            return
        text = next(iter(texts))
        word = text.split()[1] if text else f"{id}x"
        assert self.collection is not None
        ids = [result.id for result in self.collection.search(word, lang="en", k=3, pipeline="bm25").results]
        if ids != ([id] if text else []):
            self._fail("lost" if text else "wrong", f"{word} finds {ids}, {id} is {text!r}")

    @rule()
    def close(self) -> None:
        if self.collection is not None:
            self.collection.close()
            self.collection = None

    def check_closed(self) -> None:
        """Close the collection; everything it records of itself must be true. Done at the end of each history."""
        self.close()
        findings = check_collection(self.location)
        if findings:
            self._fail("wrong", f"check: {findings}")

    @invariant()
    def is_as_expected(self) -> None:
        if self.collection is not None:
            self._compare()

    def teardown(self) -> None:
        try:
            if self.collection is not None:
                self.check_closed()
        finally:
            self.counts["histories"] += 1
            self.close()
            self.patches.undo()
            shutil.rmtree(self.folder, ignore_errors=True)

    # Files

    def _make_text(self, id: str) -> str:
        self.version += 1
        return f"{id}x v{self.version}x " + "common " * (1 + self.version % 3)

    def _write_rows(self, root: str, name: str, texts: dict[str, str]) -> None:
        path, key = self.roots[root] / name, (root, name)
        lines = [json.dumps({"id": id, "lang": "en", "text": text}) for id, text in texts.items()]
        data = "".join(f"{line}\n" for line in lines).encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        self._set_time(path)
        self.earlier_texts.setdefault(key, set()).update(self.rows.get(key, {}).values())
        self.rows[key] = texts
        self.broken.discard(key)
        self.hand_deleted -= set(texts)

    def _write_page(self, root: str, name: str) -> None:
        self.version += 1
        text = f"page v{self.version}x of {root}"
        (self.roots[root] / name).write_text(text)
        self._set_time(self.roots[root] / name)
        self.pages[root, name] = text

    def _set_time(self, path: Path) -> None:
        """Give a file a time of its own: disks tell times in steps, within which much is written here."""
        self.version += 1
        os.utime(path, ns=(self.version * 10**9,) * 2)

    def _read_page(self, path: Path, *, id: str) -> Document:
        root = next(name for name, folder in self.roots.items() if Path(path).is_relative_to(folder))
        if root in self.failing_pages and Path(path).name == "p.txt" and Path(path).parent == self.roots[root]:
            raise InputError("its reader is not there", location=path)
        return Document(id, Path(path).read_text(), "en")

    # The collection

    def _open(self) -> None:
        if self.collection is None:
            self.collection = Collection.open(self.location)

    def _index(self, collection: Collection, **options: bool) -> tuple[int, int, int]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            paths = [str(path) for path in self.roots.values()]
            return collection.index_files(paths, on_error=lambda error: None, **options)

    def _perform(self, collection: Collection, action: str, numbers: list[int]) -> bool:
        """Do something to the collection; False if pruning was refused."""
        if action == "add":
            collection.add([Document(f"h{n}", self._hand_text(n), "en") for n in numbers])
        elif action == "delete":
            collection.delete([f"{kind}{n}" for n in numbers for kind in "hr"])
        else:
            try:
                is_pruned, is_forced = action.startswith("prune"), action == "prune anyway"
                self._index(collection, prune=is_pruned, prune_anyway=is_forced, again=action == "again")
            except PruneError:
                self.counts["refused"] += 1
                return False
        return True

    def _hand_text(self, number: int) -> str:
        return f"h{number}x v{self.version}h{number}x common"

    # The model

    def _expect_one_of(self, outcomes: list[str], numbers: list[int]) -> None:
        """Work out what documents may be once one of these actions is done."""
        rows, pages = self.allowed, self.allowed_pages
        row_outcomes, page_outcomes = [], []
        for action in outcomes:
            self.allowed, self.allowed_pages = dict(rows), dict(pages)
            self._expect(action, numbers)
            row_outcomes.append(self.allowed)
            page_outcomes.append(self.allowed_pages)
        self.allowed, self.allowed_pages = _unite(row_outcomes), _unite(page_outcomes)

    def _expect(self, action: str, numbers: list[int]) -> None:
        """Work out what documents may be once an action is done."""
        if action == "nothing":
            return
        if action == "add":
            self.allowed |= {f"h{n}": {self._hand_text(n)} for n in numbers}
        elif action == "delete":
            ids = {f"{kind}{n}" for n in numbers for kind in "hr"}
            self.allowed = {id: {None} if id in ids else texts for id, texts in self.allowed.items()}
            self.hand_deleted |= {id for id in ids if any(id in rows for rows in self.rows.values())}
        else:
            is_pruned = action.startswith("prune")
            for id in {id for rows in self.rows.values() for id in rows} | {i for i in self.allowed if i[0] in "rz"}:
                self.allowed[id] = self._expect_row(id, action, is_pruned)
            self._expect_pages(is_pruned)

    def _expect_row(self, id: str, action: str, is_pruned: bool) -> set[str | None]:
        """Return what a row may be after files were read, from what it may be before."""
        readable, unreadable = set[str](), set[str]()
        for (root, name), rows in self.rows.items():
            is_readable = root not in self.hidden and (root, name) not in self.broken
            if id in rows:
                (readable if is_readable else unreadable).add(rows[id])
            if not is_readable:
                unreadable |= self.earlier_texts.get((root, name), set())
        for root in self.hidden:  # that a file of a hidden folder is gone can't be observed
            unreadable |= self.removed_texts.get(root, set())
        expected: set[str | None] = set()
        for text in self.allowed.get(id, {None}):
            if text in unreadable:
                expected |= {text, *readable}
            elif readable:
                expected |= readable
            elif not is_pruned:
                expected.add(text)
            else:
                expected.add(None)
            if text is None and not readable:
                expected |= {None}
        if self._has_broken_holder(id):
            expected |= {text for text in unreadable if text.startswith(f"{id}x ")}
        if id in self.hand_deleted and action != "again":
            expected |= self.allowed.get(id, {None})
        if not is_pruned:
            expected |= self.allowed.get(id, {None}) - ({None} if readable and id not in self.hand_deleted else set())
        return expected or {None}

    def _has_broken_holder(self, id: str) -> bool:
        return any(id in self.rows[key] for key in self.broken if key in self.rows and key[0] not in self.hidden)

    def _expect_pages(self, is_pruned: bool) -> None:
        for key in {*self.pages, *self.allowed_pages}:
            root, name = key
            before = self.allowed_pages.get(key, {None})
            if root in self.hidden:
                continue
            if key in self.pages and root in self.failing_pages and name == "p.txt":
                self.allowed_pages[key] = before
            elif key in self.pages:
                self.allowed_pages[key] = {self.pages[key]}
            else:
                self.allowed_pages[key] = {None} if is_pruned else before | {None}

    def _compare(self) -> None:
        """Compare the collection with the model; what may have been several things is known afterwards."""
        assert self.collection is not None
        documents = list(self.collection.documents())
        texts = {document.id: document.text for document in documents if document.id[0] in "rhz"}
        for id in sorted({*self.allowed, *texts}):
            allowed = self.allowed.get(id, {None})
            if texts.get(id) not in allowed:
                self._fail("lost" if id not in texts else "wrong", f"{id} is {texts.get(id)!r}, may be {allowed}")
            self.allowed[id] = {texts.get(id)}
        self.hand_deleted -= set(texts)
        self._compare_pages([document.text for document in documents if document.id[0] not in "rhz"])
        if self.collection.count() != len(documents):
            self._fail("wrong", f"{self.collection.count()} counted, {len(documents)} there")

    def _compare_pages(self, page_texts: list[str]) -> None:
        unmatched = Counter(page_texts)
        for key, allowed in self.allowed_pages.items():
            text = next((text for text in allowed if text is not None and unmatched[text]), None)
            if text not in allowed:
                self._fail("lost", f"page {key} may be {allowed}, there are {page_texts}")
            if text is not None:
                unmatched[text] -= 1
            self.allowed_pages[key] = {text}
        if unmatched.total():
            self._fail("wrong", f"pages that no file holds: {+unmatched}")

    # Other processes

    def _act_and_die(self, action: str, numbers: list[int], kind: str, moment: int, add_first: bool) -> None:
        """Act in this process, which is killed at a moment or ends with `FINISHED`."""
        ticks = Counter[str]()

        def tick(ticking_kind: str) -> None:
            ticks[ticking_kind] += 1
            if ticking_kind == kind and ticks[kind] > moment:
                os.kill(os.getpid(), signal.SIGKILL)

        signal.alarm(120)  # kills the process like any other moment, should it be stuck
        try:
            collection = Collection.open(self.location)
            if add_first:
                self._perform(collection, "add", [0])
            for name in STORE_WRITES:
                setattr(collection.state.store, name, _wrap_ticking(getattr(collection.state.store, name), tick))
            sys.addaudithook(lambda event, _: tick("file") if event in ("open", "os.rename", "os.remove") else None)
            self._perform(collection, action, numbers)
            collection.close()
            os._exit(FINISHED)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(1)

    def _create_and_exit(self, location: str, id: str) -> None:
        """Create a collection or open the one that another process creates, and add a document."""
        signal.alarm(120)
        try:
            with Collection.open_or_create(location, default=False) as created:
                created.index([Document(id, f"text of {id}", "en")])
            os._exit(FINISHED)
        except StoreError:
            os._exit(2)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(1)

    def _fail(self, kind: str, message: str) -> None:
        self.counts[kind] += 1
        raise AssertionError(f"{kind}: {message}")


def _unite(outcomes):
    """Return what each document may be after one of several outcomes; where one leaves it out, it is absent."""
    keys = {key for outcome in outcomes for key in outcome}
    return {key: set().union(*(outcome.get(key, {None}) for outcome in outcomes)) for key in keys}


def _wrap_ticking(call, tick):
    """Return a function that ticks before and after a call."""

    def call_ticking(*args, **options):
        tick("store")
        result = call(*args, **options)
        tick("store")
        return result

    return call_ticking
