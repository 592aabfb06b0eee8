"""A translation engine that is a server of LibreTranslate's shape, asked by HTTP."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from paragloss import languages
from paragloss.errors import InputError, LanguageError, ModelError


class LibreTranslate:
    """A server of LibreTranslate's shape, at the address given and nowhere else: no proxy, no redirect is followed."""

    def __init__(self, url: str, *, key: str = "", timeout: float = 30.0) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise InputError(f"{url!r} is no address of a server: expected http://HOST:PORT")
        self._url = url.rstrip("/")
        self._key, self._timeout = key, timeout
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())

    @property
    def name(self) -> str:
        """The name of the engine, with what identifies its translations."""
        return f"libretranslate:{self._url}"

    def knows(self, source: str, target: str) -> bool:
        """Tell whether it translates from one language into another."""
        return target in self._pairs.get(source, ())

    @cached_property
    def _pairs(self) -> dict[str, frozenset[str]]:
        """The target languages of each source language, as the server lists them."""
        try:
            targets_by_source = {entry["code"]: entry.get("targets") for entry in self._send_request("languages")}
            pairs = {}
            for source, targets in targets_by_source.items():
                # Servers of older versions list no targets: they translate into all of their languages.
                pairs[_normalize_code(source)] = frozenset(map(_normalize_code, targets or targets_by_source))
            return pairs
        except (KeyError, TypeError, AttributeError):
            raise ModelError(f"{self._url} answered something else than its languages: is it LibreTranslate?") from None

    def translate_texts(self, texts: Sequence[str], source: str, target: str) -> list[str]:
        """Translate texts from one language into another, with one request.

        :raises LanguageError: if the server does not translate between these languages.
        :raises ModelError: if it cannot be reached, or does not answer as LibreTranslate does.
        """
        if not self.knows(source, target):
            raise LanguageError(f"{self._url} does not translate {source}->{target}; it has {', '.join(self._pairs)}")
        if not texts:
            return []
        request = {"q": list(texts), "source": source, "target": target, "format": "text"}
        if self._key:
            request["api_key"] = self._key
        answer = self._send_request("translate", request)
        translations = answer.get("translatedText") if isinstance(answer, dict) else None
        if not isinstance(translations, list) or len(translations) != len(texts):
            raise ModelError(
                f"{self._url} answered something else than {len(texts)} translations: is it LibreTranslate?"
            )
        return [str(text) for text in translations]

    def _send_request(self, path: str, data: dict[str, Any] | None = None) -> Any:
        """Send a request, with data by POST, and return the JSON that the server answers.

        :raises LanguageError: if the server answers 400, as it does for languages that it lacks.
        :raises ModelError: for any other error, and if the answer is no JSON.
        """
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(f"{self._url}/{path}", body, {"Content-Type": "application/json"})
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            message = f"{self._url} answered {error.code}: {_read_reason(error)}"
            if error.code == 400:
                raise LanguageError(message) from None
            raise ModelError(message) from None
        except (OSError, ValueError) as error:
            raise ModelError(f"{self._url} did not translate: {error}") from None


def _normalize_code(lang: str) -> str:
    """Return our code of what a server calls `zh-Hans`; one that we have no code for stays as it is."""
    try:
        return languages.normalise(lang)
    except LanguageError:
        return lang


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _read_reason(error: urllib.error.HTTPError) -> str:
    """Return the server's message of an error, or the standard text of its status."""
    try:
        return str(json.load(error)["error"])[:200]
    except (ValueError, KeyError, TypeError, OSError):
        return str(error.reason)
