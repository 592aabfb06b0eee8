"""Which hosts the user has allowed Paragloss to contact.

A collection, a backup or a model folder may name the address of an encoder or of a translation engine. Such an address
is only data: nothing is sent there until the user has allowed its host, once, on this machine. Naming an address on the
command line or in a call of the library allows its host too.

Allowed hosts are lines of the file `allowed-hosts` in the configuration folder (`$XDG_CONFIG_HOME/paragloss`, by
default `~/.config/paragloss`), and words of the environment variable PARAGLOSS_ALLOWED_HOSTS. An entry without a port
allows every port of its host.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from paragloss.errors import ConsentError, InputError

ALLOWED_HOSTS_VARIABLE = "PARAGLOSS_ALLOWED_HOSTS"
_DEFAULT_PORTS = {"http": 80, "https": 443}
#: Control characters and lone surrogates can't stand in an environment variable.
_HOST_ENTRY = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:/@,#\[\]\x00-\x1f\x7f-\x9f\ud800-\udfff]+)(:[0-9]{1,5})?")


def is_address(text: str) -> bool:
    """Tell whether a text is an address of a server rather than a name or a folder."""
    return text.startswith(("http://", "https://"))


def host_of(address: str) -> str:
    """Return the host of an address, with its port unless that is the default one of its scheme.

    :raises InputError: if the address has no host
    """
    no_host_error = InputError(f"{address!r} names no host: expected http://HOST:PORT or https://HOST")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise no_host_error from None
    if not parts.hostname:
        raise no_host_error
    host = parts.hostname.lower()
    if ":" in host:
        host = f"[{host}]"  # an IPv6 address
    if port is None or port == _DEFAULT_PORTS.get(parts.scheme):
        return host
    return f"{host}:{port}"


def allow_host(host: str, *, remember: bool = True) -> None:
    """Allow requests to a host in this process and in those it starts.

    A configuration folder that can't be written is no error: the host is then allowed until this process ends.

    :param host: `HOST` or `HOST:PORT`
    :param remember: whether later processes of this user may contact it too
    :raises InputError: if `host` is no such name
    """
    host = host.strip().lower()
    if not _HOST_ENTRY.fullmatch(host):
        raise InputError(f"{host!r} is no host: expected a name such as api.example.org, or HOST:PORT")
    if host in _allowed_entries():
        return
    previous_hosts = os.environ.get(ALLOWED_HOSTS_VARIABLE, "")
    os.environ[ALLOWED_HOSTS_VARIABLE] = f"{previous_hosts} {host}".strip()
    if remember:
        with suppress(OSError):
            _append_line(_allowed_hosts_file(), host)


def is_host_allowed(address: str) -> bool:
    """Tell whether the user has allowed requests to the host of an address."""
    host = host_of(address)
    return not {host, _without_port(host)}.isdisjoint(_allowed_entries())


def require_consent(address: str, origin: str) -> None:
    """Raise ConsentError unless the user has allowed the host of an address; `origin` says what names the address."""
    if not is_host_allowed(address):
        host = host_of(address)
        raise ConsentError(
            f"{origin} would send texts to {host}, which you have not allowed: "
            f"allow it once with `--allow-host {host}`, or search without it",
            host=host,
        )


def key_for_host(address: str, variable: str) -> str:
    """Return the API key for the host of an address, "" where there is none.

    A key belongs to a host and is sent to no other.

    :param variable: an environment variable that holds words of the form `HOST=KEY`
    :raises InputError: if a key stands there without its host
    """
    host = host_of(address)
    for entry in os.environ.get(variable, "").split():
        entry_host, separator, key = entry.partition("=")
        if not separator:
            raise InputError(f"{variable} holds a key without its host: write {variable}=HOST=KEY, such as {host}=KEY")
        if entry_host.lower() in (host, _without_port(host)):
            return key
    return ""


def _allowed_entries() -> Sequence[str]:
    """Return the hosts of the environment variable and of the file."""
    entries = os.environ.get(ALLOWED_HOSTS_VARIABLE, "").replace(",", " ").lower().split()
    with suppress(OSError, UnicodeDecodeError):
        for line in _allowed_hosts_file().read_text(encoding="utf-8").splitlines():
            entries += line.partition("#")[0].lower().split()
    return entries


def _allowed_hosts_file() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder, "paragloss", "allowed-hosts")


def _append_line(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def _without_port(host: str) -> str:
    return re.sub(r":[0-9]+$", "", host)
