"""Who may do what: keys with a scope, read or write, from a file. Only their digests are kept."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Mapping
from pathlib import Path

from paragloss.errors import InputError

SCOPES = ("read", "write")
_SHORTEST = 16


class Keys:
    """What a key allows; writing includes reading. Without keys everybody may do everything."""

    def __init__(self, keys: Mapping[str, str] | None = None) -> None:
        self._scopes = {_digest(key): scope for key, scope in (keys or {}).items()}

    @classmethod
    def read(cls, path: str | Path) -> Keys:
        """A file with `read KEY` or `write KEY` on each line; # begins a comment."""
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: the keys can't be read ({error})") from None
        keys = {}
        for number, line in enumerate(lines, start=1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            if len(words) != 2 or words[0] not in SCOPES:
                raise InputError(f"{path}, line {number}: write `read KEY` or `write KEY`")
            if len(words[1]) < _SHORTEST:
                raise InputError(
                    f"{path}, line {number}: a key of {len(words[1])} characters can be guessed; "
                    f"use at least {_SHORTEST} (openssl rand -hex 16 makes one)"
                )
            keys[words[1]] = words[0]
        if not keys:
            raise InputError(f"{path} holds no key: write `read KEY` or `write KEY` on a line")
        return cls(keys)

    def __bool__(self) -> bool:
        return bool(self._scopes)

    def scope(self, key: str) -> str | None:
        """Every digest is compared, in constant time: how long it takes says nothing about any key."""
        wanted, found = _digest(key), None
        for digest, scope in self._scopes.items():
            if hmac.compare_digest(digest, wanted):
                found = scope
        return found

    def allows(self, key: str, wanted: str) -> bool:
        if not self._scopes:
            return True
        return self.scope(key) in (wanted, "write")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def required(host: str, keys: Keys) -> None:
    """Refuse to serve others without keys."""
    if not keys and not is_loopback(host):
        raise InputError(
            f"--host {host} can be reached from other machines: give --keys FILE with lines `read KEY` or "
            "`write KEY`, or serve on 127.0.0.1"
        )


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="replace")).digest()
