"""Send documents to a Paragloss server: `paragloss index FILES --into http://HOST:PORT/COLLECTION`."""

from __future__ import annotations

import json
import operator
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from paragloss import hosts
from paragloss.errors import InputError
from paragloss.formats.documents import read_documents
from paragloss.formats.text import OnError
from paragloss.types import Document

#: Documents of one request.
BATCH_SIZE = 200
#: Seconds that a request may take.
REQUEST_SECONDS = 300.0
#: The environment variable with the keys of servers, as words of the form `HOST=KEY`.
KEY_VARIABLE = "PARAGLOSS_KEY"


class WriteCounts(NamedTuple):
    """What became of documents that were sent."""

    indexed: int
    failed: int
    documents: int  # that the collection holds now


class ServerClient:
    """A collection on a Paragloss server that documents are sent to."""

    def __init__(self, address: str) -> None:
        """Take an address, `http://HOST:PORT` for the first collection of a server or `http://HOST:PORT/COLLECTION`.

        The key is the one that PARAGLOSS_KEY (`HOST=KEY`) has for this host.
        """
        parts = urlsplit(address)
        self.address = address
        self._base = f"{parts.scheme}://{parts.netloc}"
        self._collection = parts.path.strip("/")
        self._key = hosts.key_for_host(address, KEY_VARIABLE)
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    @classmethod
    def find(cls, address: str) -> ServerClient | None:
        """Return a client if a Paragloss server answers at an address; None where it is anything else."""
        if not hosts.is_address(address):
            return None
        client = cls(address)
        try:
            health = client._request("/api/health")
        except InputError:
            return None
        return client if isinstance(health, dict) and health.get("status") == "ok" else None

    def add_documents(
        self,
        documents: Iterable[Document],
        *,
        on_error: OnError = None,
        progress: Callable[[int], None] = lambda count: None,
    ) -> WriteCounts:
        """Add or replace documents, a few hundred at a time.

        :param on_error: is called for every document that the server refuses; without it the first one raises.
        :param progress: is called with the number of documents sent so far.
        :return: how many documents were indexed and refused, and how many the collection has now.
        :raises InputError: if the server refuses the request, or does not answer.
        """
        path = f"/api/bulk?collection={quote(self._collection)}" if self._collection else "/api/bulk"
        counts = WriteCounts(0, 0, 0)
        for batch in _split_batches(documents):
            lines = [_format_document(document) for document in batch]
            answer = self._request(path, "".join(lines).encode())
            counts = WriteCounts(
                counts.indexed + answer["indexed"], counts.failed + answer["failed"], answer["documents"]
            )
            for refusal in answer["errors"]:
                document = batch[refusal["line"] - 1]
                _report(InputError(refusal["error"], location=document.id), on_error)
            progress(counts.indexed + counts.failed)
        return counts

    def _request(self, path: str, body: bytes | None = None) -> Any:
        """Send a request and return the object that the server answers with.

        :param path: what follows the server's address.
        :param body: lines of JSON, which are posted; None asks by GET.
        :raises InputError: with the server's message, if it refuses or does not answer.
        """
        headers = {"Content-Type": "application/x-ndjson"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._base + path, body, headers)
        try:
            with self._opener.open(request, timeout=REQUEST_SECONDS) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise InputError(self._describe_refusal(error)) from None
        except (OSError, ValueError) as error:
            raise InputError(f"{self._base} did not answer as a Paragloss server does ({error})") from None

    def _describe_refusal(self, error: urllib.error.HTTPError) -> str:
        """Return the server's message, with how to give a key if one is needed."""
        message = f"{self._base} answered {error.code} ({_read_error(error)})"
        if error.code in (401, 403):
            message += f": set {KEY_VARIABLE}={urlsplit(self._base).netloc}=KEY"
        return message


def _split_batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield the documents of each request; without any an empty list, for which the server counts what it has."""
    remaining = iter(documents)
    batch = list(islice(remaining, BATCH_SIZE))
    yield batch
    while batch := list(islice(remaining, BATCH_SIZE)):
        yield batch


def read_sources_to_send(paths: Sequence[str], *, lang: str = "", on_error: OnError = None) -> Iterator[Document]:
    """Read the documents of files and folders, as a server is to know them.

    Ids of files in a folder begin with its name, and paths lead from that folder on: where it lies on this machine is
    not sent.

    :param lang: the language of documents that don't say theirs.
    :param on_error: is called for every file that can't be read; without it the first one raises.
    """
    for path in paths:
        prefix = f"{Path(path).resolve().name}/" if Path(path).is_dir() else ""
        add_prefix = partial(operator.add, prefix)  # to the path of a file below the folder
        for document in read_documents(path, make_id=add_prefix, on_error=on_error):
            meta = dict(document.meta)
            if "path" in meta:
                meta["path"] = prefix + _path_below(str(meta["path"]), path)
            yield document._replace(lang=document.lang or lang, meta=meta)


def _path_below(file: str, source: str) -> str:
    """Return the path of a file below the folder it was found in; its name where the source is the file itself."""
    try:
        relative = Path(file).resolve().relative_to(Path(source).resolve()).as_posix()
    except ValueError:
        relative = "."
    return Path(file).name if relative == "." else relative


def _format_document(document: Document) -> str:
    row = {**document._asdict(), "fields": dict(document.fields), "meta": dict(document.meta)}
    return json.dumps({name: value for name, value in row.items() if value}, ensure_ascii=False) + "\n"


def _read_error(error: urllib.error.HTTPError) -> str:
    """Return the message of a server's error, or the name of its status if the answer has none."""
    try:
        return str(json.load(error)["error"])[:300]
    except (ValueError, KeyError, TypeError, OSError):
        return str(error.reason)


def _report(error: InputError, on_error: OnError) -> None:
    if on_error is None:
        raise error
    on_error(error)
