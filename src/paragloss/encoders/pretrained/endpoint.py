"""Encode texts with a server that speaks OpenAI's `/v1/embeddings`.

The address is given once, by a person (`--model https://host/v1/embeddings#MODEL`). No other address is ever asked:
proxies and redirects are not followed. A key is read from PARAGLOSS_EMBEDDINGS_KEY (`HOST=KEY`) and sent to its
host, over https or to this machine, only.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, urlsplit

import numpy as np

from paragloss.errors import InputError, ModelError
from paragloss.hosts import key_for_host
from paragloss.types import Floats

TEXTS_PER_REQUEST = 32
#: How often a request is sent that may succeed later, and the first pause between two attempts; it doubles each time.
MAX_ATTEMPTS = 4
FIRST_PAUSE_SECONDS = 0.5
KEY_VARIABLE = "PARAGLOSS_EMBEDDINGS_KEY"
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
MAX_ERROR_BYTES = 10_000


class Endpoint:
    """An encoder behind an address; `query` and `passage` are put before texts, for models that were trained so."""

    multithreaded = True

    def __init__(self, url: str, *, query: str = "", passage: str = "", timeout: float = 60.0) -> None:
        """Connect to a server, and ask it for the vector of one text to learn the dimension.

        :param url: the address, with the name of the model behind `#`
        :param query: put before queries
        :param passage: put before passages
        :param timeout: seconds after which a silent server is asked again
        :raises InputError: if the address has no host, or a key would be sent in the clear
        :raises ModelError: if the server does not answer with vectors
        """
        parts = urlsplit(url)
        if not parts.hostname:
            raise InputError(f"{url!r} is no address: expected https://HOST/v1/embeddings#MODEL")
        self._model = parts.fragment
        self.url = f"{parts.scheme}://{parts.netloc}{_complete_path(parts.path)}"
        self._prompts = {True: query, False: passage}
        self._timeout = timeout
        self._headers = {"Content-Type": "application/json", **self._make_authorization(parts)}
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _RedirectRefuser())
        self.dim = len(self.encode(["?"], query=True)[0])

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        """Return one row per text, encoded as queries or as passages."""
        prompted = [self._prompts[query] + text for text in texts]
        batches = [prompted[i : i + TEXTS_PER_REQUEST] for i in range(0, len(prompted), TEXTS_PER_REQUEST)]
        return np.concatenate([self._request_rows(batch) for batch in batches])

    def _make_authorization(self, parts: SplitResult) -> dict[str, str]:
        """Return the header with the key, if there is one; refuse to send it in the clear."""
        key = key_for_host(self.url, KEY_VARIABLE)
        if not key:
            return {}
        if parts.scheme != "https" and parts.hostname not in LOOPBACK_HOSTS:
            raise InputError(f"{KEY_VARIABLE} is set and {self.url} is not https: a key is never sent in the clear")
        return {"Authorization": f"Bearer {key}"}

    def _request_rows(self, texts: Sequence[str]) -> Floats:
        """Ask the endpoint for the vectors of some texts; raise ModelError if it answers something else."""
        body: dict[str, Any] = {"input": list(texts), "encoding_format": "float"}
        if self._model:
            body["model"] = self._model
        answer = self._post(json.dumps(body).encode())
        try:
            entries = sorted(answer["data"], key=lambda entry: int(entry["index"]))
            rows = np.array([entry["embedding"] for entry in entries], np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{self.url} answered no embeddings ({error!r}): is it /v1/embeddings?") from None
        if rows.ndim != 2 or len(rows) != len(texts):
            raise ModelError(f"{self.url} answered {rows.shape} for {len(texts)} texts")
        return rows

    def _post(self, data: bytes) -> Any:
        """Send a request up to MAX_ATTEMPTS times while the server is busy or silent, with growing pauses between.

        :param data: the body of the request, JSON
        :return: what the JSON of the answer says
        :raises ModelError: if the server refuses the request, or is still busy or silent at the last attempt
        """
        for attempt in range(MAX_ATTEMPTS - 1):
            with suppress(_TemporaryError):
                return self._post_once(data)
            time.sleep(FIRST_PAUSE_SECONDS * 2**attempt)
        try:
            return self._post_once(data)
        except _TemporaryError as error:
            raise ModelError(f"{self.url} {error}; tried {MAX_ATTEMPTS} times: is the server running?") from None

    def _post_once(self, data: bytes) -> Any:
        """Send a request, and return what the JSON of the answer says.

        :raises _TemporaryError: if the server is busy or silent, so that the same request may succeed later.
        :raises ModelError: if it refuses the request.
        """
        request = urllib.request.Request(self.url, data, self._headers)
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            reason = f"answered {error.code}: {_read_error_message(error)}"
            if error.code == HTTPStatus.TOO_MANY_REQUESTS or error.code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise _TemporaryError(reason) from None
            raise ModelError(f"{self.url} {reason}") from None
        except ValueError as error:
            raise ModelError(f"{self.url} did not answer JSON ({error}): is it /v1/embeddings?") from None
        except OSError as error:
            raise _TemporaryError(f"did not answer ({error})") from None


class _TemporaryError(Exception):
    """A server is busy or silent; the message says how it answered."""


class _RedirectRefuser(urllib.request.HTTPRedirectHandler):
    """Makes a redirect an error."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _complete_path(path: str) -> str:
    """Return the path of the embeddings API: /v1/embeddings, where an address names only a part of it."""
    path = path.rstrip("/")
    if path.endswith("/embeddings"):
        return path
    return f"{path}/embeddings" if path.endswith("/v1") else f"{path}/v1/embeddings"


def _read_error_message(error: urllib.error.HTTPError) -> str:
    try:
        details = json.loads(error.read(MAX_ERROR_BYTES))["error"]
        return str(details["message"] if isinstance(details, dict) else details)[:200]
    except (ValueError, KeyError, TypeError, OSError):
        return str(error.reason)
