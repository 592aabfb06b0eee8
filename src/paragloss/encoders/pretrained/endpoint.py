"""An encoder behind an address: anything that speaks OpenAI's `/v1/embeddings`. The address is given once, by a person
(`--model https://host/v1/embeddings#MODEL`); nothing else is ever asked, no proxy, no redirect.

A key is taken from PARAGLOSS_EMBEDDINGS_KEY and sent over https, or to this machine, only.
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from paragloss.errors import InputError, ModelError
from paragloss.types import Floats

#: Texts a request; tries of a request that may go better the next time, and seconds between them.
_TOGETHER, _TRIES, _PAUSE = 32, 4, 0.5
_KEY = "PARAGLOSS_EMBEDDINGS_KEY"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Endpoint:
    """`query` and `passage` are put in front of texts, for models that were trained so."""

    alone = True

    def __init__(self, url: str, *, query: str = "", passage: str = "", timeout: float = 60.0) -> None:
        parts = urlsplit(url)
        if not parts.hostname:
            raise InputError(f"{url!r} is no address: expected https://HOST/v1/embeddings#MODEL")
        self._model = parts.fragment
        path = parts.path.rstrip("/")
        path = path if path.endswith("/embeddings") else f"{path if path.endswith('/v1') else path + '/v1'}/embeddings"
        self.url = f"{parts.scheme}://{parts.netloc}{path}"
        self._prefix = {True: query, False: passage}
        self._timeout = timeout
        self._headers = {"Content-Type": "application/json"}
        if key := os.environ.get(_KEY):
            if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
                raise InputError(f"{_KEY} is set and {self.url} is not https: a key is never sent in the clear")
            self._headers["Authorization"] = f"Bearer {key}"
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())
        self.dim = len(self.encode(["?"], query=True)[0])

    def encode(self, texts: Sequence[str], *, query: bool) -> Floats:
        asked = [self._prefix[query] + text for text in texts]
        parts = [self._asked(asked[start : start + _TOGETHER]) for start in range(0, len(asked), _TOGETHER)]
        return np.concatenate(parts)

    def _asked(self, texts: Sequence[str]) -> Floats:
        body: dict[str, Any] = {"input": list(texts), "encoding_format": "float"}
        if self._model:
            body["model"] = self._model
        answer = self._posted(json.dumps(body).encode())
        try:
            found = sorted(answer["data"], key=lambda one: int(one["index"]))
            rows = np.array([one["embedding"] for one in found], np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{self.url} answered no embeddings ({error!r}): is it /v1/embeddings?") from None
        if rows.ndim != 2 or len(rows) != len(texts):
            raise ModelError(f"{self.url} answered {rows.shape} for {len(texts)} texts")
        return rows

    def _posted(self, data: bytes) -> Any:
        """Asked again while the server is busy (429, 5xx) or does not answer; any other refusal is final."""
        for attempt in range(1, _TRIES + 1):
            try:
                request = urllib.request.Request(self.url, data, self._headers)
                with self._opener.open(request, timeout=self._timeout) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                reason = f"answered {error.code}: {_reason(error)}"
                if error.code != 429 and error.code < 500:
                    raise ModelError(f"{self.url} {reason}") from None
            except ValueError as error:
                raise ModelError(f"{self.url} did not answer JSON ({error}): is it /v1/embeddings?") from None
            except OSError as error:
                reason = f"did not answer ({error})"
            if attempt < _TRIES:
                time.sleep(_PAUSE * 2 ** (attempt - 1))
        raise ModelError(f"{self.url} {reason}; tried {_TRIES} times: is the server running?")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        told = json.loads(error.read(10_000))["error"]
        return str(told["message"] if isinstance(told, dict) else told)[:200]
    except (ValueError, KeyError, TypeError, OSError):
        return str(error.reason)
