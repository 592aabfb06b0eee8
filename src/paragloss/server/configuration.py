"""The configuration file of a server: what `paragloss serve` takes as options, and sources to watch, in TOML.

    collections = ["/srv/library", "/srv/archive"]
    host = "0.0.0.0"
    port = 8000
    keys = "/etc/paragloss/keys"            # a file with `read KEY` or `write KEY` on each line
    origins = ["https://intranet.example"]  # sites whose pages may ask
    workers = 2
    allowed_hosts = ["api.example.org"]     # hosts that models and translation engines may contact

    [[watch]]
    collection = "library"
    paths = ["/srv/documents"]
    interval = 60                           # seconds

Relative paths are those of the folder of the file.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from paragloss.errors import InputError, MissingExtraError

try:
    from pydantic import BaseModel, ConfigDict, Field, ValidationError
except ImportError:
    raise MissingExtraError("the server", "serve") from None


class WatchedSource(BaseModel):
    """Files and folders that are indexed again and again into a collection of the server."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collection: str
    paths: tuple[str, ...] = Field(min_length=1)
    interval: float = Field(60.0, ge=1.0)


class ServerConfiguration(BaseModel):
    """Everything that a server needs to know."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collections: tuple[str, ...] = Field(min_length=1)
    host: str = "127.0.0.1"
    port: int = Field(8000, ge=1, le=65535)
    keys: str = ""
    origins: tuple[str, ...] = ()
    workers: int = Field(0, ge=0)
    log_queries: bool = False
    allowed_hosts: tuple[str, ...] = ()
    watch: tuple[WatchedSource, ...] = ()


def read_configuration(path: str | Path) -> ServerConfiguration:
    """Read a configuration file.

    :raises InputError: with the name of the setting, if the file can't be read, or a setting is unknown or wrong.
    """
    try:
        settings = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: the configuration can't be read ({error})") from None
    try:
        configuration = ServerConfiguration.model_validate(settings)
    except ValidationError as error:
        problem = error.errors()[0]
        setting = ".".join(str(part) for part in problem["loc"])
        raise InputError(f"{path}: {setting}: {problem['msg']}") from None
    return _resolve_paths(configuration, Path(path).absolute().parent)


def _resolve_paths(configuration: ServerConfiguration, folder: Path) -> ServerConfiguration:
    """Return a configuration whose relative paths are those below a folder."""
    sources: list[WatchedSource] = []
    for source in configuration.watch:
        paths = tuple(_resolve_location(path, folder) for path in source.paths)
        sources.append(source.model_copy(update={"paths": paths}))
    collections = tuple(_resolve_location(location, folder) for location in configuration.collections)
    keys = _resolve_location(configuration.keys, folder) if configuration.keys else ""
    return configuration.model_copy(update={"collections": collections, "keys": keys, "watch": tuple(sources)})


def _resolve_location(location: str, folder: Path) -> str:
    """Return a path as it is below a folder; an absolute path or an address as it is."""
    return location if "://" in location else os.path.join(folder, location)
