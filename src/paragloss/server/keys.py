"""Who may do what: keys with a scope, read or write, from a file. Only their digests are kept."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import time
from collections import OrderedDict
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
        return not self._scopes or self.scope(key) in (wanted, "write")


class Guesses:
    """Wrong keys by the address they came from: who has sent `most` of them waits for `seconds`. Only so many addresses
    are remembered, the latest."""

    def __init__(self, *, most: int = 20, seconds: float = 60.0, addresses: int = 10_000) -> None:
        self._most, self._seconds, self._addresses = most, seconds, addresses
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()  # how many, since when

    def wait(self, address: str) -> float:
        """For how many seconds nothing is believed that comes from there."""
        count, since = self._wrong.get(_network(address), (0, 0.0))
        return max(0.0, since + self._seconds - time.monotonic()) if count >= self._most else 0.0

    def wrong(self, address: str) -> bool:
        """Note a wrong key; whether it was the last that is looked at for now."""
        network, now = _network(address), time.monotonic()
        count, since = self._wrong.pop(network, (0, now))
        self._wrong[network] = (count + 1, since) if now < since + self._seconds else (1, now)
        if len(self._wrong) > self._addresses:
            self._wrong.popitem(last=False)
        return self._wrong[network][0] == self._most


def _network(address: str) -> str:
    """Whoever has one address of IPv6 has 2^64 of them."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return address if found.version == 4 else str(ipaddress.ip_network((found, 64), strict=False))


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
