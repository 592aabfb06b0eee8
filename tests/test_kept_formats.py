"""What earlier versions wrote opens in this one; what a later one wrote is refused, naming the version that reads it.

`python tests/test_kept_formats.py` keeps a collection, a model and a backup of this version under tests/kept/VERSION:
run it once for every version that is released.
"""

import io
import json
import shutil
import tarfile
from pathlib import Path

import pytest

from paragloss import Collection, Document, Pair, Query, __version__, load, train
from paragloss.collection.archive_file import backup, restore
from paragloss.errors import InputError, ModelError, StoreError
from paragloss.types import Concept

STORED_FORMATS = Path(__file__).parent / "kept"
VERSIONS = sorted(path.name for path in STORED_FORMATS.iterdir())
DOCUMENTS = [
    Document(
        "bees", "Bienen sammeln Nektar und machen daraus Honig.", "de", "Bienen", {"headings": "Honig"}, {"year": 1999}
    ),
    Document("rain", "La pluie tombe des nuages.", "fr", "La pluie"),
]
PAIRS = [Pair("en", "hive", "de", "Bienenstock")]
TEXTS = {
    "en": ("bees make honey", "rain falls down", "a red stone"),
    "de": ("Bienen machen Honig", "Regen fällt", "ein roter Stein"),
}


def write_current_format(folder):
    """A small collection with a model, fields and a glossary, and its backup."""
    concepts = [Concept(str(n), {lang: texts[n] for lang, texts in TEXTS.items()}) for n in range(3)]
    train("table", concepts).save(folder / "model")
    with Collection.create(str(folder / "collection"), models=[str(folder / "model")], meaning=False) as collection:
        collection.index(DOCUMENTS)
        collection.write_glossary(PAIRS)
    backup(str(folder / "collection"), str(folder / "backup.tar.gz"))


@pytest.fixture(params=VERSIONS)
def stored_folder(request, tmp_path):
    with tarfile.open(STORED_FORMATS / request.param / "kept.tar.xz") as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def assert_complete(collection):
    assert collection.get(["bees", "rain"]) == DOCUMENTS
    assert [result.id for result in collection.search("bees and honey", lang="en", k=1).results] == ["bees"]
    assert collection.glossary == PAIRS


def test_what_an_earlier_version_wrote_is_read(stored_folder):
    with Collection.open(str(stored_folder / "collection")) as collection:
        assert_complete(collection)
        collection.index([Document("sea", "Das Meer ist ruhig.", "de")])
        assert collection.count() == 3
    [clause] = load(str(stored_folder / "model")).translate(Query("", "honey", "en"), "de")
    assert clause.alternatives[0].text == "Honig"
    restore(str(stored_folder / "backup.tar.gz"), str(stored_folder / "restored"))
    with Collection.open(str(stored_folder / "restored")) as collection:
        assert_complete(collection)


NEWER = r"has format 99, this version reads .*; paragloss 9.1 wrote it: install that version or a newer one"


@pytest.mark.parametrize(
    ("folder_name", "open_folder", "error"),
    [("collection", Collection.open, StoreError), ("model", load, ModelError)],
)
def test_a_newer_folder_is_refused_by_naming_the_version_that_reads_it(tmp_path, folder_name, open_folder, error):
    write_current_format(tmp_path)
    meta = tmp_path / folder_name / "meta.json"
    described = json.loads(meta.read_text())
    assert described["paragloss"] == __version__
    meta.write_text(json.dumps({**described, "format": 99, "paragloss": "9.1"}))
    with pytest.raises(error, match=NEWER):
        open_folder(str(tmp_path / folder_name))


def test_a_newer_backup_is_refused_alike(tmp_path):
    write_current_format(tmp_path)
    with tarfile.open(tmp_path / "backup.tar.gz") as old, tarfile.open(tmp_path / "newer.tar", "w") as new:
        manifest = json.loads(old.extractfile("manifest.json").read())
        data = json.dumps({**manifest, "format": 99, "paragloss": "9.1"}).encode()
        part = tarfile.TarInfo("manifest.json")
        part.size = len(data)
        new.addfile(part, io.BytesIO(data))
    with pytest.raises(InputError, match=NEWER):
        restore(str(tmp_path / "newer.tar"), str(tmp_path / "restored"))


if __name__ == "__main__":
    version_folder = STORED_FORMATS / ".".join(__version__.split(".")[:2])
    shutil.rmtree(version_folder, ignore_errors=True)
    version_folder.mkdir(parents=True)
    write_current_format(version_folder)
    with tarfile.open(version_folder / "kept.tar.xz", "w:xz") as packed:
        for name in ("collection", "model", "backup.tar.gz"):
            packed.add(version_folder / name, name)
    for name in ("collection", "model"):
        shutil.rmtree(version_folder / name)
    (version_folder / "backup.tar.gz").unlink()
