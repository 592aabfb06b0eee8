"""API keys with a scope, read or write, from a file, and the addresses that sent wrong ones."""

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
#: Characters of the shortest key that is accepted.
MIN_KEY_LENGTH = 16
#: Wrong keys that a network may send, the seconds from the first of them in which it may send no more, ...
MAX_WRONG_KEYS = 20
SECONDS_TO_WAIT = 60.0
#: ... and the networks whose wrong keys are counted at a time.
MAX_NETWORKS = 10_000


class Keys:
    """The keys of a server and what each allows; writing includes reading. Without keys everything is allowed.

    Only digests of the keys are kept.
    """

    def __init__(self, keys: Mapping[str, str] | None = None) -> None:
        """Take keys with their scopes, `read` or `write`."""
        self._scopes = {_digest(key): scope for key, scope in (keys or {}).items()}

    @classmethod
    def read(cls, path: str | Path) -> Keys:
        """Read a file with `read KEY` or `write KEY` on each line; # begins a comment.

        :raises InputError: if the file can't be read, holds no key, or a line is wrong.
        """
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: the keys can't be read ({error})") from None
        keys = {}
        for number, line in enumerate(lines, start=1):
            words = line.partition("#")[0].split()
            if words:
                scope, key = _parse_key_line(words, f"{path}, line {number}")
                keys[key] = scope
        if not keys:
            raise InputError(f"{path} holds no key: write `read KEY` or `write KEY` on a line")
        return cls(keys)

    def __bool__(self) -> bool:
        return bool(self._scopes)

    def scope(self, key: str) -> str | None:
        """Return the scope of a key, None for a wrong one.

        Every digest is compared, in constant time: the duration says nothing about any key.
        """
        digest, scope = _digest(key), None
        for known_digest, known_scope in self._scopes.items():
            if hmac.compare_digest(known_digest, digest):
                scope = known_scope
        return scope

    def allows(self, key: str, scope: str) -> bool:
        """Tell whether a key allows reading or writing."""
        return not self._scopes or self.scope(key) in (scope, "write")


class WrongKeys:
    """Count wrong keys by the network they came from; whoever has sent too many has to wait."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str, tuple[int, float]] = OrderedDict()  # count, time of the first

    def seconds_to_wait(self, address: str) -> float:
        """Return for how many seconds requests from an address are refused."""
        count, first_time = self._counts.get(client_network(address), (0, 0.0))
        if count < MAX_WRONG_KEYS:
            return 0.0
        return max(0.0, first_time + SECONDS_TO_WAIT - time.monotonic())

    def count_wrong_key(self, address: str) -> bool:
        """Count a wrong key of a client's network; return whether it is the one after which the network has to wait.

        The count of a network begins anew SECONDS_TO_WAIT after its first wrong key. If there are too many networks,
        the one that sent a wrong key least recently is forgotten.
        """
        network = client_network(address)
        current_time = time.monotonic()
        wrong_count, first_time = self._counts.pop(network, (0, current_time))
        if current_time >= first_time + SECONDS_TO_WAIT:
            wrong_count = 0
            first_time = current_time
        wrong_count += 1
        self._counts[network] = (wrong_count, first_time)  # behind all others, as the most recent one
        if len(self._counts) > MAX_NETWORKS:
            self._counts.popitem(last=False)
        return wrong_count == MAX_WRONG_KEYS


def client_network(address: str) -> str:
    """Return what identifies a client: its IPv4 address, or the /64 network of IPv6, which belongs to one customer."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    return address if parsed.version == 4 else str(ipaddress.ip_network((parsed, 64), strict=False))


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def require_keys(host: str, keys: Keys) -> None:
    """Raise InputError where a server without keys could be reached from other machines."""
    if not keys and not is_loopback(host):
        raise InputError(
            f"--host {host} can be reached from other machines: give --keys FILE with lines `read KEY` or "
            "`write KEY`, or serve on 127.0.0.1"
        )


def _parse_key_line(words: list[str], location: str) -> tuple[str, str]:
    """Return scope and key of a line; InputError with its location where it has none or a short key."""
    if len(words) != 2 or words[0] not in SCOPES:
        raise InputError(f"{location}: write `read KEY` or `write KEY`")
    scope, key = words
    if len(key) < MIN_KEY_LENGTH:
        raise InputError(
            f"{location}: a key of {len(key)} characters can be guessed; "
            f"use at least {MIN_KEY_LENGTH} (openssl rand -hex 16 makes one)"
        )
    return scope, key


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode(errors="replace")).digest()
