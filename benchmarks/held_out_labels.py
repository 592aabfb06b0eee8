"""Measures language labels on files that no rule or threshold was chosen on.

    python benchmarks/held_out_labels.py [--cache FOLDER] [--per-language 12] [--errors FILE] [--later]

Six translated manuals and three sources of short texts are fetched at fixed versions (`git fetch`, `apt-get download`);
the language of a file is what its path there says. All files are written into one folder under neutral names and read
as `paragloss index` reads them. A note is one message of a program with forty letters or more, a subtitle file has four
blocks. Where a path is wrong, held_out_corrections.tsv says so, with the reason; figures before and after these
corrections are printed. `--later` reads two manuals instead that were fetched after a repair. `--errors` writes every
wrong label with the beginning of its text.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from paragloss.analysis import analyzer
from paragloss.collection.document_languages import assign_languages
from paragloss.errors import LanguageError
from paragloss.formats.documents import read_documents
from paragloss.languages import known_codes, normalise
from paragloss.languages.scripts import weigh_letters
from paragloss.types import Document

CORRECTIONS = Path(__file__).with_name("held_out_corrections.tsv")
LONG_DOCUMENT_WORDS = 50
REQUIRED = {"long": 0.99, "short": 0.97}
MIN_LETTERS_OF_NOTE = 40
BLOCKS_OF_SUBTITLE_FILE = 4
#: What a corrections file says of a path whose file has no running text, or as much in one language as in another.
LEFT_OUT = "-"
Item = TypeVar("Item")


class Repository(NamedTuple):
    """A repository on GitHub at one commit; the group `lang` of the paths of its files is their language."""

    name: str
    commit: str
    path_pattern: str


class Package(NamedTuple):
    """A Debian package with the paths of its translated pages."""

    name: str
    path_pattern: str


class HeldOutFile(NamedTuple):
    """A file to write and the language that its path says."""

    source: str
    path: str
    content: bytes
    lang: str

    @property
    def suffix(self) -> str:
        """The suffix that tells the format."""
        suffix = Path(self.path.partition("#")[0]).suffix
        return {".json": ".txt", ".mdx": ".md"}.get(suffix, suffix)


MANUALS = [
    Repository(
        "ethereum/ethereum-org-website",
        "e68841108d9806297986be2700644e4c6ed2f079",
        r"public/content/translations/(?P<lang>[\w-]+)/.*\.md",
    ),
    Repository(
        "kubernetes/website", "56464fe6c846523da555b49fbb012f0e270871ae", r"content/(?P<lang>[\w-]+)/docs/.*\.md"
    ),
    Repository("fastapi/fastapi", "c3f316b7e814667e8ee81e03a7330d00ee61e45c", r"docs/(?P<lang>[\w-]+)/docs/.*\.md"),
    Repository(
        "raspberrypilearning/about-me", "d062c1112e45efc5da5a83b01ba5ea2f99b10504", r"(?P<lang>\w\w-\w\w)/step_\d+\.md"
    ),
]
PACKAGES = [
    Package("gnucash-docs", r"usr/share/doc/gnucash-docs/gnucash-\w+-(?P<lang>\w+)/.*\.html"),
    *(
        Package(f"kicad-doc-{lang}", r"usr/share/doc/kicad/help/(?P<lang>\w+)/.*\.html")
        for lang in ("ca", "de", "en", "es", "fr", "id", "it", "ja", "pl", "ru", "zh")
    ),
]
#: Read for the first time after the faults that the others showed were repaired.
LATER_MANUALS = [
    Repository(
        "withastro/docs", "741c1b89ba13cf9b4ac4087ef09dc269e113fa77", r"src/content/docs/(?P<lang>[\w-]+)/.*\.mdx"
    ),
    Repository(
        "raspberrypilearning/rock-paper-scissors",
        "5c952e7cd5e250eda65fb5d14db00764fe755a43",
        r"(?P<lang>\w\w-\w\w)/step_\d+\.md",
    ),
]
COMMANDS = Repository("tldr-pages/tldr", "08e345f42639f67d99282813247ac670dc6e87cb", r"pages\.(?P<lang>\w+)/.*\.md")
MESSAGES = Repository(
    "signalapp/Signal-Desktop", "108241e477d0cb706e0478df99ad928d2ba90a73", r"_locales/(?P<lang>[\w-]+)/messages\.json"
)
SUBTITLES = Repository(
    "chai-underthedome/under-the-dome-subtitles", "1ce6a391eb07006a684944c2b6c99818af892b18", r"(?P<lang>\w+)\.srt"
)


def main() -> None:
    """Print the shares of right labels before and after the corrections of paths."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=Path("~/.cache/paragloss/held_out").expanduser())
    parser.add_argument("--per-language", type=int, default=12, help="files of each source and language")
    parser.add_argument("--later", action="store_true", help="the manuals that were read after a repair")
    parser.add_argument("--errors", type=Path, help="where to write the wrong labels")
    options = parser.parse_args()
    if options.later:
        files = list(make_pages(options.cache, LATER_MANUALS, options.per_language))
    else:
        files = list(make_files(options.cache, options.per_language))
    with tempfile.TemporaryDirectory() as folder:
        file_by_name = write_files(Path(folder), files)
        documents = assign_languages([*read_documents(folder, on_error=print)])
    langs = {file.lang for file in files}
    print(f"{len(documents)} documents in {len(langs)} languages: {' '.join(sorted(langs))}")
    report(documents, file_by_name, {}, "as the paths say")
    report(documents, file_by_name, read_corrections(), "after corrections of paths")
    if options.errors:
        write_errors(options.errors, documents, file_by_name)


def make_files(cache: Path, per_language: int) -> Iterator[HeldOutFile]:
    """Yield the files of all sources but the later ones in the languages that the package knows."""
    yield from make_pages(cache, [*MANUALS, COMMANDS], per_language)
    for package in PACKAGES:
        folder = unpack_package(cache, package.name)
        paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html") if not path.is_symlink())
        for lang, paths_of_lang in group_by_language(paths, package.path_pattern).items():
            for path in spread(paths_of_lang, per_language):
                name = package.name.removesuffix(f"-{path.split('/')[-2]}")
                yield HeldOutFile(name, path, (folder / path).read_bytes(), lang)
    for repository, split in [(MESSAGES, split_messages), (SUBTITLES, split_subtitles)]:
        paths_by_lang = group_by_language(list_paths(cache, repository), repository.path_pattern)
        lang_by_path = {path: lang for lang, paths in paths_by_lang.items() for path in paths}
        for path, content in read_blobs(cache, repository, lang_by_path):
            for number, text in spread(list(enumerate(split(content.decode()))), per_language):
                yield HeldOutFile(repository.name, f"{path}#{number}", text.encode(), lang_by_path[path])


def make_pages(cache: Path, repositories: Iterable[Repository], per_language: int) -> Iterator[HeldOutFile]:
    """Yield pages of repositories whose files are documents."""
    for repository in repositories:
        paths_by_lang = group_by_language(list_paths(cache, repository), repository.path_pattern)
        chosen_paths = {path: lang for lang in paths_by_lang for path in spread(paths_by_lang[lang], per_language)}
        for path, content in read_blobs(cache, repository, chosen_paths):
            yield HeldOutFile(repository.name, path, content, chosen_paths[path])


def group_by_language(paths: Iterable[str], pattern: str) -> dict[str, list[str]]:
    """Group the paths that match a pattern by language; languages that the package does not know are left out."""
    paths_by_lang: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        match = re.fullmatch(pattern, path)
        with suppress(LanguageError):
            lang = normalise(re.split("[-_]", match["lang"])[0]) if match else ""
            if lang in known_codes():
                paths_by_lang[lang].append(path)
    return dict(paths_by_lang)


def spread(items: Sequence[Item], count: int) -> Sequence[Item]:
    """Return up to `count` items that are evenly far apart."""
    step = max(1, len(items) // count)
    return items[::step][:count]


def list_paths(cache: Path, repository: Repository) -> list[str]:
    """Return all paths of a repository, which is fetched if the cache lacks it."""
    folder = cache / repository.name.replace("/", "+")
    if not folder.exists():
        subprocess.run(["git", "init", "--quiet", "--bare", str(folder)], check=True)
        url = f"https://github.com/{repository.name}"
        subprocess.run(["git", "-C", str(folder), "fetch", "--depth=1", url, repository.commit], check=True)
    command = ["git", "-C", str(folder), "ls-tree", "-r", "-z", "--name-only", repository.commit]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\0")


def read_blobs(cache: Path, repository: Repository, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield files of a repository that the cache has, each with its path."""
    folder = cache / repository.name.replace("/", "+")
    names = "".join(f"{repository.commit}:{path}\n" for path in paths)
    command = ["git", "-C", str(folder), "cat-file", "--batch"]
    output = subprocess.run(command, input=names.encode(), check=True, capture_output=True).stdout
    for path in paths:
        header, _, output = output.partition(b"\n")
        size = int(header.split()[2])
        yield path, output[:size]
        output = output[size + 1 :]


def unpack_package(cache: Path, package: str) -> Path:
    """Fetch and unpack a Debian package if the cache lacks it, and return its folder."""
    target = cache / package
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-qq", package], cwd=cache, check=True)
        (archive,) = cache.glob(f"{package}_*.deb")
        subprocess.run(["dpkg-deb", "-x", str(archive), str(target)], check=True)
    return target


def split_messages(content: str) -> Iterator[str]:
    """Yield the longer messages of a program that have no placeholders or markup."""
    for text in read_messages(content).values():
        yield f"{text}\n"


def read_messages(content: str) -> dict[str, str]:
    """Return the longer messages of a program that have no placeholders or markup, by their keys."""
    texts = {}
    for key, message in json.loads(content).items():
        text = message["messageformat"] if isinstance(message, dict) and "messageformat" in message else ""
        if weigh_letters(text) >= MIN_LETTERS_OF_NOTE and not re.search("[{}<>]", text):
            texts[key] = text
    return texts


def split_subtitles(content: str) -> Iterator[str]:
    """Yield subtitle files of a few blocks each."""
    blocks = re.split(r"\n\s*\n", content.lstrip("\ufeff").replace("\r", "").strip())
    for start in range(0, len(blocks), BLOCKS_OF_SUBTITLE_FILE):
        yield "\n\n".join(blocks[start : start + BLOCKS_OF_SUBTITLE_FILE]) + "\n"


def write_files(folder: Path, files: Iterable[HeldOutFile]) -> dict[str, HeldOutFile]:
    """Write files under neutral names, and return the file of each name."""
    file_by_name = {}
    for number, file in enumerate(files):
        name = f"scan_{number:05}{file.suffix}"
        (folder / name).write_bytes(file.content)
        file_by_name[name] = file
    return file_by_name


def read_corrections() -> dict[tuple[str, str], str]:
    """Return the right language of each source and path where the path is wrong."""
    with CORRECTIONS.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, dialect="excel-tab")
        return {(row["source"], row["path"]): row["language"] for row in rows}


def report(
    documents: Iterable[Document],
    file_by_name: Mapping[str, HeldOutFile],
    corrections: Mapping[tuple[str, str], str],
    heading: str,
) -> None:
    """Print the share of right labels for each source, of long and of short documents."""
    outcomes: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for document in documents:
        file = file_by_name[document.id]
        lang = corrections.get((file.source, file.path), file.lang)
        if lang != LEFT_OUT:
            outcomes[file.source, measure_length(document, file.lang)].append(document.lang == lang)
    print(f"\n{heading}\n| source | long | right | short | right |\n|---|---|---|---|---|")
    for source in dict.fromkeys(file.source for file in file_by_name.values()):
        cells = [f"{len(o)} | {format_share(o)}" for o in (outcomes[source, "long"], outcomes[source, "short"])]
        print(f"| {source} | {' | '.join(cells)} |")
    for length, required in REQUIRED.items():
        together = [outcome for (_, kind), group in outcomes.items() if kind == length for outcome in group]
        print(f"{length}: {format_share(together)} of {len(together)}, required {required}")


def measure_length(document: Document, lang: str) -> str:
    """Return "long" for more than fifty words of the language that the path says."""
    words = analyzer(lang, stem=False, stop=False).terms(document.text)
    return "long" if len(words) > LONG_DOCUMENT_WORDS else "short"


def format_share(outcomes: list[bool]) -> str:
    return f"{sum(outcomes) / len(outcomes):.4f}" if outcomes else "-"


def write_errors(path: Path, documents: Iterable[Document], file_by_name: Mapping[str, HeldOutFile]) -> None:
    """Write each wrong label with the beginning of the text, so that a reader can judge it."""
    with path.open("w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out, dialect="excel-tab")
        rows.writerow(["source", "path", "length", "path says", "label", "text"])
        for document in documents:
            file = file_by_name[document.id]
            if document.lang != file.lang:
                length, text = measure_length(document, file.lang), " ".join(document.text.split())[:400]
                rows.writerow([file.source, file.path, length, file.lang, document.lang, text])


if __name__ == "__main__":
    main()
