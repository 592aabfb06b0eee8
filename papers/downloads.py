"""Download public files and repositories for the data sets of the recipes, with one-line errors."""

from __future__ import annotations

import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from paragloss.errors import ParaglossError

TIMEOUT_SECONDS = 60


class DownloadError(ParaglossError):
    """A file or repository could not be downloaded."""


def download_file(url: str, target: Path) -> Path:
    """Download a file and return its path; a partial file never has the target's name.

    :raises DownloadError: with the address and the reason
    """
    sys.stderr.write(f"downloading {url}\n")
    partial = target.with_name(f"{target.name}.partial")
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response, partial.open("wb") as file:
            shutil.copyfileobj(response, file)
    except (urllib.error.URLError, OSError) as error:
        partial.unlink(missing_ok=True)
        raise DownloadError(f"can't download {url}: {getattr(error, 'reason', error)}") from error
    return partial.rename(target)


def download_first(urls: list[str], folder: Path) -> Path:
    """Download the first of several addresses that exists, for files that are published in one of several formats.

    :raises DownloadError: of the last address
    """
    for url in urls[:-1]:
        try:
            return download_file(url, folder / url.rpartition("/")[2])
        except DownloadError as error:
            if not isinstance(error.__cause__, urllib.error.HTTPError):
                raise
    return download_file(urls[-1], folder / urls[-1].rpartition("/")[2])


def clone_repository(url: str, folder: Path) -> Path:
    """Clone the newest state of a Git repository and return its folder.

    :raises DownloadError: with the last line that git printed
    """
    sys.stderr.write(f"cloning {url}\n")
    if shutil.which("git") is None:
        raise DownloadError(f"can't clone {url}: git is not installed")
    process = subprocess.run(
        ["git", "clone", "--quiet", "--depth", "1", url, str(folder)], capture_output=True, text=True, check=False
    )
    if process.returncode:
        lines = process.stderr.strip().splitlines() or ["git failed"]
        raise DownloadError(f"can't clone {url}: {lines[-1]}")
    return folder
