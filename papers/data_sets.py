"""The public data sets that recipes read: where they come from, and how to get them under PARAGLOSS_DATA."""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from papers import data_converters as converters
from papers.corpora import data_folder
from papers.data_converters import Converter
from paragloss.errors import InputError, ParaglossError

TIMEOUT_SECONDS = 60
DEBIAN, DEBIAN_SUITE = "https://deb.debian.org/debian", "bookworm"
CONVERTERS: dict[str, Converter] = {
    "ddtp": converters.convert_package_descriptions,
    "lohelp": converters.convert_libreoffice_help,
    "mdn": converters.convert_mdn,
    "mdn-markdown": converters.copy_mdn_markdown,
    "tatoeba": converters.convert_tatoeba,
    "muse": converters.convert_muse,
    "ntrex": converters.convert_ntrex,
    "tico19": converters.convert_tico19,
}
#: The publisher's codes of languages, where they differ from ours.
LANGUAGE_CODES = {"ddtp": converters.DEBIAN_CODES, "tatoeba": converters.TATOEBA_CODES}


class DownloadError(ParaglossError):
    """A file or repository could not be downloaded."""


class DataSet(NamedTuple):
    """A public data set of `data_sets.toml`. One without a converter is used as it is published."""

    name: str
    contents: str
    megabytes: int
    licence: str
    source: str
    published_files: str
    files: Sequence[str]
    langs: Sequence[str] = ()
    urls: Sequence[str | Sequence[str]] = ()
    repositories: Sequence[str] = ()

    @property
    def folder(self) -> Path:
        """Return the folder of the set under PARAGLOSS_DATA."""
        return data_folder() / self.files[0].rpartition("/")[0]

    def list_missing(self) -> list[str]:
        """List the files that are not under PARAGLOSS_DATA."""
        langs = self.langs or [""]
        names = dict.fromkeys(pattern.replace("{lang}", lang) for pattern in self.files for lang in langs)
        return [name for name in names if not any(data_folder().glob(name))]


def describe_data_sets() -> Iterator[str]:
    """Yield lines about each data set: state, size, licence, source and files."""
    yield f"PARAGLOSS_DATA is {data_folder()}"
    for data_set in DATA_SETS.values():
        missing = data_set.list_missing()
        and_others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        state = f"missing: {missing[0]}{and_others}" if missing else "present"
        languages = f" ({' '.join(data_set.langs)})" if data_set.langs else ""
        yield ""
        yield f"{data_set.name}: {data_set.contents}"
        yield f"    state    {state}"
        yield f"    size     about {data_set.megabytes:,} MB"
        yield f"    source   {data_set.source}"
        yield f"    licence  {data_set.licence}"
        yield f"    files    {', '.join(data_set.files)}{languages}"


def get_data_set(name: str, *, raw_folder: Path | None = None, langs: Sequence[str] | None = None) -> None:
    """Download a data set, or take files that were downloaded, and convert it for the recipes.

    :param raw_folder: a folder with the published files; they are downloaded if it is None
    :param langs: languages to convert, by default all that recipes read
    :raises InputError: if there is no such set, or published files are missing
    :raises DownloadError: if a file can't be downloaded
    """
    data_set = find_data_set(name)
    selected_langs = list(langs or data_set.langs)
    if name not in CONVERTERS:
        raise InputError(
            f"{name} is used as it is published: download {data_set.published_files} from {data_set.source} "
            f"and put it into {data_set.folder}"
        )
    if raw_folder is not None and not raw_folder.is_dir():
        raise InputError(f"{raw_folder} is not a folder: it should contain {data_set.published_files}")
    with tempfile.TemporaryDirectory(prefix="paragloss-data-") as temporary:
        raw = raw_folder or download_published_files(data_set, Path(temporary), selected_langs)
        CONVERTERS[name](raw, data_set.folder, selected_langs)


def download_published_files(data_set: DataSet, folder: Path, langs: Sequence[str]) -> Path:
    """Download the published files of a data set; an error says how to go on by hand."""
    codes = [LANGUAGE_CODES.get(data_set.name, {}).get(lang, lang) for lang in langs]
    try:
        for repository in data_set.repositories:
            clone_repository(repository, folder / repository.rpartition("/")[2])
        for url in data_set.urls:
            alternatives = [url] if isinstance(url, str) else url
            for code in codes if "{code}" in alternatives[0] else [""]:
                download_first([alternative.format(code=code) for alternative in alternatives], folder)
        if data_set.name == "lohelp":
            download_libreoffice_help(folder, langs)
    except DownloadError as error:
        raise DownloadError(
            f"{error}; download {data_set.published_files} ({data_set.source}) into a folder, "
            f"then: python -m papers data get {data_set.name} --from FOLDER"
        ) from error
    return folder


def find_data_set(name: str) -> DataSet:
    """Return a data set by its name."""
    if name not in DATA_SETS:
        raise InputError(f"there is no data set {name!r}; there are {', '.join(DATA_SETS)}")
    return DATA_SETS[name]


def name_data_sets(files: Sequence[str]) -> list[str]:
    """Name the data sets that some files under PARAGLOSS_DATA belong to."""
    return [
        data_set.name
        for data_set in DATA_SETS.values()
        if any(fnmatch(file, pattern.replace("{lang}", "*")) for file in files for pattern in data_set.files)
    ]


def download_libreoffice_help(raw: Path, langs: Sequence[str]) -> None:
    """Download Debian's packages with LibreOffice's help, English included."""
    index = download_file(f"{DEBIAN}/dists/{DEBIAN_SUITE}/main/binary-all/Packages.xz", raw)
    with lzma.open(index, "rt", encoding="utf-8") as file:
        addresses = dict(re.findall(r"^Package: (libreoffice-help-\S+)\n(?:.+\n)*?Filename: (\S+)$", file.read(), re.M))
    for lang in dict.fromkeys(["en", *langs]):
        package = f"libreoffice-help-{converters.LIBREOFFICE_CODES.get(lang, lang)}"
        if package not in addresses:
            raise DownloadError(f"Debian {DEBIAN_SUITE} has no package {package}")
        download_file(f"{DEBIAN}/{addresses[package]}", raw)


def download_first(urls: Sequence[str], folder: Path) -> Path:
    """Download the first of several addresses that exists, for files that are published in one of several formats.

    :raises DownloadError: of the last address
    """
    for url in urls[:-1]:
        try:
            return download_file(url, folder)
        except DownloadError as error:
            if not isinstance(error.__cause__, urllib.error.HTTPError):
                raise
    return download_file(urls[-1], folder)


def download_file(url: str, folder: Path) -> Path:
    """Download a file into a folder and return its path.

    :raises DownloadError: with the address and the reason
    """
    sys.stderr.write(f"downloading {url}\n")
    target = folder / url.rpartition("/")[2]
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response, target.open("wb") as file:
            shutil.copyfileobj(response, file)
    except OSError as error:
        raise DownloadError(f"can't download {url}: {getattr(error, 'reason', error)}") from error
    return target


def clone_repository(url: str, folder: Path) -> None:
    """Clone the newest state of a Git repository into a folder.

    :raises DownloadError: with the last line that git printed
    """
    sys.stderr.write(f"cloning {url}\n")
    command = ["git", "clone", "--quiet", "--depth", "1", url, str(folder)]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True)
    except FileNotFoundError as error:
        raise DownloadError(f"can't clone {url}: git is not installed") from error
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or ["git failed"]
        raise DownloadError(f"can't clone {url}: {lines[-1]}") from error


DATA_SETS = {
    name: DataSet(name, **record)
    for name, record in tomllib.loads(Path(__file__).with_name("data_sets.toml").read_text(encoding="utf-8")).items()
}
