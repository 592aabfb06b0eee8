"""The public data sets that recipes read: where they come from, and how to get them under PARAGLOSS_DATA.

python -m papers data list
python -m papers data get NAME [--langs XX ...]                  download and convert
python -m papers data get NAME --from FOLDER [--langs XX ...]    convert files that you have downloaded
"""

from __future__ import annotations

import lzma
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from papers import data_converters as converters
from papers.corpora import data_folder
from papers.data_converters import Converter
from papers.downloads import DownloadError, clone_repository, download_file, download_first
from paragloss.errors import InputError

DEBIAN, DEBIAN_SUITE = "https://deb.debian.org/debian", "bookworm"
GITHUB = "https://github.com"
TATOEBA = "https://downloads.tatoeba.org/exports/per_language"
MUSE = "https://dl.fbaipublicfiles.com/arrival/dictionaries"
TICO19 = "https://tico-19.github.io/data/tico19-testset.zip"
#: downloader(raw folder, languages): download the published files.
Downloader = Callable[[Path, Sequence[str]], None]


class DataSet(NamedTuple):
    """A public data set.

    `files` are what recipes read under PARAGLOSS_DATA, `{lang}` standing for each of `langs`. A set without a converter
    is used as it is published; its user downloads it.
    """

    name: str
    contents: str
    megabytes: int
    licence: str
    source: str
    published_files: str
    files: tuple[str, ...]
    langs: tuple[str, ...] = ()
    download: Downloader | None = None
    convert: Converter | None = None

    @property
    def folder(self) -> Path:
        """Return the folder of the set under PARAGLOSS_DATA."""
        return data_folder() / self.files[0].rpartition("/")[0]

    def list_missing(self, langs: Sequence[str] | None = None) -> list[str]:
        """List the files that are not under PARAGLOSS_DATA."""
        names = (
            pattern.replace("{lang}", lang)
            for pattern in self.files
            for lang in (langs or self.langs if "{lang}" in pattern else [""])
        )
        return [name for name in names if not any(data_folder().glob(name))]


def describe_data_sets() -> Iterator[str]:
    """Yield lines about each data set: state, size, licence, source and files."""
    yield f"PARAGLOSS_DATA is {data_folder()}"
    for data_set in DATA_SETS.values():
        missing = data_set.list_missing()
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        state = f"missing: {missing[0]}{others}" if missing else "present"
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
    wanted = list(langs or data_set.langs)
    if data_set.convert is None:
        raise InputError(
            f"{name} is used as it is published: download {data_set.published_files} from {data_set.source} "
            f"and put it into {data_set.folder}"
        )
    if raw_folder is not None and not raw_folder.is_dir():
        raise InputError(f"{raw_folder} is not a folder: it should contain {data_set.published_files}")
    with tempfile.TemporaryDirectory(prefix="paragloss-data-") as temporary:
        raw = raw_folder or download_published_files(data_set, Path(temporary), wanted)
        data_set.convert(raw, data_set.folder, wanted)


def download_published_files(data_set: DataSet, folder: Path, langs: Sequence[str]) -> Path:
    """Download the published files of a data set; an error says how to go on by hand."""
    if data_set.download is None:
        raise InputError(f"{data_set.name} can't be downloaded automatically: {describe_manual_way(data_set)}")
    try:
        data_set.download(folder, langs)
    except DownloadError as error:
        raise DownloadError(f"{error}; {describe_manual_way(data_set)}") from error
    return folder


def describe_manual_way(data_set: DataSet) -> str:
    """Say what to download by hand and how to convert it."""
    return (
        f"download {data_set.published_files} ({data_set.source}) into a folder, "
        f"then: python -m papers data get {data_set.name} --from FOLDER"
    )


def find_data_set(name: str) -> DataSet:
    """Return a data set by its name."""
    if name not in DATA_SETS:
        raise InputError(f"there is no data set {name!r}; there are {', '.join(DATA_SETS)}")
    return DATA_SETS[name]


def name_data_sets(files: Sequence[str]) -> list[str]:
    """Name the data sets that some files under PARAGLOSS_DATA belong to."""
    names = []
    for file in files:
        for data_set in DATA_SETS.values():
            patterns = [re.escape(pattern).replace(r"\{lang\}", "[a-z-]+") for pattern in data_set.files]
            if any(re.fullmatch(pattern, file) for pattern in patterns) and data_set.name not in names:
                names.append(data_set.name)
    return names


def download_package_descriptions(raw: Path, langs: Sequence[str]) -> None:
    """Download the translations of Debian's package descriptions."""
    for lang in langs:
        name = f"Translation-{converters.DEBIAN_CODES.get(lang, lang)}"
        base = f"{DEBIAN}/dists/{DEBIAN_SUITE}/main/i18n/{name}"
        download_first([f"{base}.bz2", f"{base}.xz"], raw)


def download_libreoffice_help(raw: Path, langs: Sequence[str]) -> None:
    """Download Debian's packages with LibreOffice's help, English included."""
    index = download_file(f"{DEBIAN}/dists/{DEBIAN_SUITE}/main/binary-all/Packages.xz", raw / "Packages.xz")
    with lzma.open(index, "rt", encoding="utf-8") as file:
        addresses = dict(re.findall(r"^Package: (libreoffice-help-\S+)\n(?:.+\n)*?Filename: (\S+)$", file.read(), re.M))
    for lang in dict.fromkeys(["en", *langs]):
        package = f"libreoffice-help-{converters.LIBREOFFICE_CODES.get(lang, lang)}"
        if package not in addresses:
            raise DownloadError(f"Debian {DEBIAN_SUITE} has no package {package}")
        address = addresses[package]
        download_file(f"{DEBIAN}/{address}", raw / address.rpartition("/")[2])


def clone_mdn(raw: Path, langs: Sequence[str]) -> None:
    """Clone MDN's two repositories."""
    for name in ("content", "translated-content"):
        clone_repository(f"{GITHUB}/mdn/{name}", raw / name)


def clone_mdn_translations(raw: Path, langs: Sequence[str]) -> None:
    """Clone MDN's translations."""
    clone_repository(f"{GITHUB}/mdn/translated-content", raw / "translated-content")


def clone_ntrex(raw: Path, langs: Sequence[str]) -> None:
    """Clone the repository of NTREX."""
    clone_repository(f"{GITHUB}/MicrosoftTranslator/NTREX", raw / "NTREX")


def download_tatoeba(raw: Path, langs: Sequence[str]) -> None:
    """Download Tatoeba's sentences and their links to English ones."""
    for code in ["eng", *(converters.TATOEBA_CODES[lang] for lang in langs)]:
        names = [f"{code}_sentences.tsv.bz2", *([f"{code}-eng_links.tsv.bz2"] if code != "eng" else [])]
        for name in names:
            download_file(f"{TATOEBA}/{code}/{name}", raw / name)


def download_muse(raw: Path, langs: Sequence[str]) -> None:
    """Download MUSE's word pairs in both directions."""
    for lang in langs:
        for pair in (f"en-{lang}", f"{lang}-en"):
            download_file(f"{MUSE}/{pair}.txt", raw / f"{pair}.txt")


def download_tico19(raw: Path, langs: Sequence[str]) -> None:
    """Download TICO-19's archive."""
    download_file(TICO19, raw / "tico19-testset.zip")


DATA_SETS: dict[str, DataSet] = {
    data_set.name: data_set
    for data_set in (
        DataSet(
            name="ddtp",
            contents="Debian's package descriptions",
            megabytes=22,
            licence="that of each package",
            source=f"{DEBIAN}/dists/{DEBIAN_SUITE}/main/i18n",
            published_files="Translation-XX.bz2 or .xz of each language",
            files=("ddtp/{lang}.jsonl.gz",),
            langs=("en", "da", "de", "es", "fr", "it", "ru"),
            download=download_package_descriptions,
            convert=converters.convert_package_descriptions,
        ),
        DataSet(
            name="lohelp",
            contents="LibreOffice's help pages",
            megabytes=5,
            licence="MPL-2.0",
            source=f"{DEBIAN}/pool/main/libr/libreoffice",
            published_files="libreoffice-help-XX_*.deb of each language and of en-us",
            files=("lohelp/{lang}.jsonl.gz",),
            langs=("en", "es", "fr", "it"),
            download=download_libreoffice_help,
            convert=converters.convert_libreoffice_help,
        ),
        DataSet(
            name="mdn",
            contents="MDN web docs, and which pages link to each other",
            megabytes=30,
            licence="CC BY-SA 2.5",
            source=f"{GITHUB}/mdn/content and {GITHUB}/mdn/translated-content",
            published_files="clones named content and translated-content",
            files=("mdn/{lang}.jsonl.gz", "mdn/mutual_links.tsv.gz"),
            langs=("en", "es", "fr", "ja", "ru", "zh"),
            download=clone_mdn,
            convert=converters.convert_mdn,
        ),
        DataSet(
            name="mdn-markdown",
            contents="MDN's Markdown, for headings and strong words (thesis-table-5-1; optional)",
            megabytes=20,
            licence="CC BY-SA 2.5",
            source=f"{GITHUB}/mdn/translated-content",
            published_files="a clone named translated-content",
            files=("translated-content/files",),
            langs=("es",),
            download=clone_mdn_translations,
            convert=converters.copy_mdn_markdown,
        ),
        DataSet(
            name="tatoeba",
            contents="sentence pairs with English",
            megabytes=12,
            licence="CC BY 2.0 FR",
            source=TATOEBA,
            published_files="eng_sentences.tsv.bz2, XXX_sentences.tsv.bz2 and XXX-eng_links.tsv.bz2 of each language",
            files=("tatoeba/en-{lang}.tsv.gz",),
            langs=("ar", "da", "es", "fr", "hi", "it", "ru", "vi", "zh"),
            download=download_tatoeba,
            convert=converters.convert_tatoeba,
        ),
        DataSet(
            name="muse",
            contents="word pairs with English",
            megabytes=10,
            licence="CC BY-NC 4.0: research only",
            source=f"{MUSE} (GitHub facebookresearch/MUSE)",
            published_files="en-XX.txt and XX-en.txt of each language",
            files=("muse/en-{lang}.tsv.gz",),
            langs=("ar", "da", "de", "es", "fr", "hi", "it", "ru", "vi", "zh"),
            download=download_muse,
            convert=converters.convert_muse,
        ),
        DataSet(
            name="ntrex",
            contents="news sentences, professionally translated",
            megabytes=1,
            licence="CC BY-SA 4.0",
            source=f"{GITHUB}/MicrosoftTranslator/NTREX",
            published_files="a clone named NTREX",
            files=("open/text/ntrex.jsonl.xz",),
            langs=("ar", "da", "fr", "hi", "it", "ru", "vi", "zh"),
            download=clone_ntrex,
            convert=converters.convert_ntrex,
        ),
        DataSet(
            name="tico19",
            contents="sentences about health, professionally translated",
            megabytes=1,
            licence="CC0",
            source=TICO19,
            published_files="tico19-testset.zip",
            files=("open/text/tico19.jsonl.xz",),
            langs=("ar", "fr", "hi", "ru", "zh"),
            download=download_tico19,
            convert=converters.convert_tico19,
        ),
        DataSet(
            name="wmt14",
            contents="the XCNN paper's English and Hindi sentences, aligned by line (optional)",
            megabytes=60,
            licence="CC BY-NC-SA 3.0",
            source="https://www.statmt.org/wmt14/translation-task.html (HindEnCorp)",
            published_files="the training files, unpacked as NAME.en and NAME.hi",
            files=("wmt14/*.en", "wmt14/*.hi"),
        ),
        DataSet(
            name="europarl",
            contents="the Cr5 paper's English and Italian sentences, aligned by line (optional)",
            megabytes=600,
            licence="free of known restrictions",
            source="https://www.statmt.org/europarl",
            published_files="europarl-v7.it-en.en and europarl-v7.it-en.it",
            files=("europarl/*.en", "europarl/*.it"),
        ),
        DataSet(
            name="dinu",
            contents="the Cr5 paper's English and Italian word pairs (optional)",
            megabytes=1,
            licence="not stated by its authors",
            source="http://clic.cimec.unitn.it/~georgiana.dinu/down",
            published_files="the test dictionary, whose name contains test",
            files=("dinu/*test*",),
        ),
        DataSet(
            name="fire",
            contents="the XCNN paper's Hindi news with topics and judgments (optional; needs wmt14)",
            megabytes=900,
            licence="by agreement with FIRE",
            source="http://fire.irsi.res.in",
            published_files="the folder hi, topics.en, topics.hi and qrels",
            files=("fire/hi", "fire/topics.en", "fire/topics.hi", "fire/qrels"),
        ),
        DataSet(
            name="lsclir",
            contents="the smooth-learning paper's Wikipedia judgments (optional)",
            megabytes=5_000,
            licence="CC BY-SA 3.0",
            source="http://www.cs.jhu.edu/~kevinduh/a/wikiclir2018",
            published_files="wiki_en.queries, wiki_XX.documents and en2XX.rel",
            files=("lsclir/wiki_en.queries", "lsclir/wiki_*.documents", "lsclir/en2*.rel"),
        ),
        DataSet(
            name="wikipedia",
            contents="dumps of Wikipedia, for the smooth-learning paper's judgments (optional)",
            megabytes=25_000,
            licence="CC BY-SA 4.0",
            source="https://dumps.wikimedia.org",
            published_files=(
                "enwiki-DAY-pages-articles.xml.bz2, and pages-articles, langlinks, pagelinks and linktarget of another "
                "language, under their own names"
            ),
            files=("wikipedia/enwiki-*-pages-articles*", "wikipedia/*-langlinks*"),
        ),
    )
}  # fmt: skip
