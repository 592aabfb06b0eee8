"""`python -m papers data` lists data sets and converts published files to what recipes read."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile

import pytest

from papers import data_converters, data_sets, invented_data, runner
from papers.__main__ import main
from papers.corpora import read_collection, split_sentences
from papers.data_sets import DownloadError, download_file, download_first
from papers.recipes import load_recipe, recipe_names
from paragloss.errors import InputError
from paragloss.lab.judgments import read_links


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    monkeypatch.setenv("PARAGLOSS_DATA", str(folder))
    return folder


@pytest.fixture
def raw_folder(tmp_path):
    folder = tmp_path / "raw"
    folder.mkdir()
    return folder


def read_gzipped_lines(path):
    return gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()


def test_every_file_that_a_recipe_reads_belongs_to_a_data_set():
    for name in recipe_names():
        recipe = load_recipe(name)
        for file in recipe.data:
            assert data_sets.name_data_sets([file]), f"{name} reads {file}"


def test_the_list_shows_state_size_licence_and_source_of_every_set(data_folder, capsys):
    (data_folder / "open" / "text").mkdir(parents=True)
    (data_folder / "open" / "text" / "ntrex.jsonl.xz").touch()
    assert main(["data", "list"]) == 0
    sections = {section.partition(":")[0]: section for section in capsys.readouterr().out.split("\n\n")}
    assert "state    present" in sections["ntrex"]
    assert "state    missing: tatoeba/en-ar.tsv.gz and 9 more" in sections["tatoeba"]
    assert "size     about 10 MB" in sections["muse"]
    assert "licence  CC BY-NC 4.0: research only" in sections["muse"]
    assert "source   https://tico-19.github.io/data/tico19-testset.zip" in sections["tico19"]


def test_package_descriptions_become_pages_of_package_and_description(data_folder, raw_folder):
    stanzas = (
        "Package: bee\nDescription-md5: 0123456789abcdef\nDescription-de: Bienen\n Sie summen.\n .\n Und fliegen.\n\n"
        "Package: ant\nDescription-md5: fedcba9876543210\nDescription-de: Ameisen\n Sie krabbeln.\n"
    )
    (raw_folder / "Translation-de.bz2").write_bytes(bz2.compress(stanzas.encode()))
    (raw_folder / "Translation-en.xz").write_bytes(lzma.compress(stanzas.replace("-de:", "-en:").encode()))
    assert main(["data", "get", "ddtp", "--from", str(raw_folder), "--langs", "en", "de"]) == 0
    bee, ant = (json.loads(line) for line in read_gzipped_lines(data_folder / "ddtp" / "de.jsonl.gz"))
    assert bee == {"concept": "bee:01234567", "lang": "de", "title": "Bienen", "text": "Sie summen.\n\nUnd fliegen."}
    assert ant["text"] == "Sie krabbeln."
    concepts = read_collection("ddtp", ["en", "de"])
    assert [sorted(concept.texts) for concept in concepts] == [["de", "en"], ["de", "en"]]


def write_debian_package(path, files):
    """Write an `ar` archive with the members that a Debian package has."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:xz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    package = b"!<arch>\n"
    for name, content in {"debian-binary": b"2.0", "data.tar.xz": data.getvalue()}.items():
        package += f"{name:16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode() + content
        package += b"\n" * (len(content) % 2)
    path.write_bytes(package)


def test_help_pages_that_are_not_translated_are_left_out(data_folder, raw_folder):
    page = "<html><head><title>{0}</title></head><body><h1>{0}</h1><p>{1}</p><p>{2}</p></body></html>"
    root = "usr/share/libreoffice/help"
    english = {
        f"{root}/en-US/text/a.html": page.format("Rows", "A row has cells.", "Insert a row with the menu."),
        f"{root}/en-US/text/b.html": page.format("Columns", "A column has cells.", "Insert a column here."),
    }
    french = {
        f"{root}/fr/text/a.html": page.format("Lignes", "Une ligne a des cellules.", "Insérez une ligne."),
        f"{root}/fr/text/b.html": page.format("Columns", "A column has cells.", "Insert a column here."),
    }
    write_debian_package(raw_folder / "libreoffice-help-en-us_1_all.deb", english)
    write_debian_package(raw_folder / "libreoffice-help-fr_1_all.deb", french)
    assert main(["data", "get", "lohelp", "--from", str(raw_folder), "--langs", "en", "fr"]) == 0
    concepts = {
        lang: [json.loads(line)["concept"] for line in read_gzipped_lines(data_folder / "lohelp" / f"{lang}.jsonl.gz")]
        for lang in ("en", "fr")
    }
    assert concepts == {"en": ["a", "b"], "fr": ["a"]}


def test_a_file_that_is_no_debian_package_is_named(tmp_path):
    write_debian_package(tmp_path / "whole.deb", {"a": "text"})
    (tmp_path / "cut.deb").write_bytes((tmp_path / "whole.deb").read_bytes()[:71])
    with pytest.raises(InputError, match=r"cut\.deb is no Debian package"):
        data_converters.unpack_debian_package(tmp_path / "cut.deb", tmp_path)


def test_mdn_pages_are_aligned_by_path_and_linked_in_both_directions(data_folder, raw_folder):
    pages = {
        "content/files/en-us/Web/CSS": ("CSS", "See [HTML](/en-US/docs/Web/HTML) and [XML](/en-US/docs/Web/XML#top)."),
        "content/files/en-us/Web/HTML": ("HTML", "See [CSS](/en-US/docs/Web/CSS)."),
        "content/files/en-us/Web/XML": ("XML", "A format."),
        "translated-content/files/fr/web/css": ("CSS en français", "Des feuilles de style."),
    }
    for folder, (title, text) in pages.items():
        path = raw_folder / folder / "index.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"---\ntitle: {title}\nslug: x\n---\n\n{text}\n", encoding="utf-8")
    assert main(["data", "get", "mdn", "--from", str(raw_folder), "--langs", "en", "fr"]) == 0
    (french,) = (json.loads(line) for line in read_gzipped_lines(data_folder / "mdn" / "fr.jsonl.gz"))
    assert (french["concept"], french["title"]) == ("web/css", "CSS en français")
    assert read_links(data_folder / "mdn" / "mutual_links.tsv.gz") == {"web/css": {"web/html"}, "web/html": {"web/css"}}


def test_tatoeba_sentences_are_joined_by_their_links(data_folder, raw_folder):
    (raw_folder / "eng_sentences.tsv").write_text("1\teng\tGood morning.\n2\teng\tIt rains.\n", encoding="utf-8")
    (raw_folder / "ita_sentences.tsv").write_text("7\tita\tPiove.\n8\tita\tBuongiorno.\n", encoding="utf-8")
    (raw_folder / "ita-eng_links.tsv").write_text("7\t2\n8\t1\n9\t1\n", encoding="utf-8")
    assert main(["data", "get", "tatoeba", "--from", str(raw_folder), "--langs", "it"]) == 0
    pairs = read_gzipped_lines(data_folder / "tatoeba" / "en-it.tsv.gz")
    assert pairs == ["It rains.\tPiove.", "Good morning.\tBuongiorno."]
    split = split_sentences("it")
    assert len(split.train) + len(split.test) == 2


def test_muse_pairs_become_tab_separated(data_folder, raw_folder):
    (raw_folder / "en-de.txt").write_text("tree Baum\nNew York\tNew York\n", encoding="utf-8")
    (raw_folder / "de-en.txt").write_text("Baum tree\n", encoding="utf-8")
    assert main(["data", "get", "muse", "--from", str(raw_folder), "--langs", "de"]) == 0
    assert read_gzipped_lines(data_folder / "muse" / "en-de.tsv.gz")[0] == "tree\tBaum"
    assert read_gzipped_lines(data_folder / "muse" / "de-en.tsv.gz") == ["Baum\ttree"]


def test_sentences_of_news_and_health_are_rows_of_all_languages(data_folder, raw_folder):
    news = raw_folder / "NTREX" / "NTREX-128"
    news.mkdir(parents=True)
    (news / "newstest2019-src.eng.txt").write_text("It rains.\nIt snows.\n", encoding="utf-8")
    (news / "newstest2019-ref.fra.txt").write_text("Il pleut.\nIl neige.\n", encoding="utf-8")
    with zipfile.ZipFile(raw_folder / "tico19-testset.zip", "w") as archive:
        header = "sourceLang\ttargetLang\tsourceString\ttargetString\tstringID\turl\tlicense\ttranslatorId\n"
        archive.writestr("all/dev/dev.en-fr.tsv", f"{header}en\tfr\tI cough.\tJe tousse.\tPubMed:1\t\tpublic\t1\n")
        archive.writestr("all/dev/dev.en-ru.tsv", f"{header}en\tru\tI cough.\tЯ кашляю.\tPubMed:1\t\tpublic\t1\n")
    assert main(["data", "get", "ntrex", "--from", str(raw_folder), "--langs", "fr"]) == 0
    assert main(["data", "get", "tico19", "--from", str(raw_folder), "--langs", "fr", "ru"]) == 0

    def read_texts(name):
        with lzma.open(data_folder / "open" / "text" / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            return [json.loads(line)["texts"] for line in lines]

    assert read_texts("ntrex") == [{"en": "It rains.", "fr": "Il pleut."}, {"en": "It snows.", "fr": "Il neige."}]
    assert read_texts("tico19") == [{"en": "I cough.", "fr": "Je tousse.", "ru": "Я кашляю."}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "there is no data set 'nothing'; there are ddtp, lohelp"),
        (["fire"], "fire is used as it is published: download the folder hi, topics.en, topics.hi and qrels"),
        (["muse", "--from", "missing"], "missing is not a folder: it should contain en-XX.txt"),
        (["ntrex", "--from", "."], "has no folder NTREX/NTREX-128"),
    ],
)
def test_an_error_says_what_to_do(data_folder, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert main(["data", "get", *arguments]) == 1
    assert message in capsys.readouterr().err


def test_a_failed_download_names_the_address_and_the_manual_way(data_folder, monkeypatch, capsys):
    muse = data_sets.find_data_set("muse")._replace(urls=["file:///nowhere/en-{code}.txt"])
    monkeypatch.setitem(data_sets.DATA_SETS, "muse", muse)
    assert main(["data", "get", "muse", "--langs", "de"]) == 1
    error = capsys.readouterr().err
    assert "can't download file:///nowhere/en-de.txt" in error
    assert "python -m papers data get muse --from FOLDER" in error


def test_published_files_are_downloaded_for_each_language_by_the_publishers_code(data_folder, raw_folder, monkeypatch):
    for name in ("eng_sentences.tsv", "cmn_sentences.tsv"):
        (raw_folder / name).write_text("", encoding="utf-8")
    urls = [f"{raw_folder.as_uri()}/eng_sentences.tsv", f"{raw_folder.as_uri()}/{{code}}_sentences.tsv"]
    tatoeba = data_sets.find_data_set("tatoeba")._replace(urls=urls)
    data_folder.mkdir()
    data_sets.download_published_files(tatoeba, data_folder, ["zh"])
    assert sorted(path.name for path in data_folder.iterdir()) == ["cmn_sentences.tsv", "eng_sentences.tsv"]


def test_a_download_that_fails_is_an_error(tmp_path):
    (tmp_path / "source.txt").write_text("words")
    (tmp_path / "copies").mkdir()
    assert download_file((tmp_path / "source.txt").as_uri(), tmp_path / "copies").read_text() == "words"
    with pytest.raises(DownloadError):
        download_first([(tmp_path / "missing.txt").as_uri()], tmp_path / "copies")


def test_a_recipe_without_data_says_which_command_gets_it(data_folder):
    with pytest.raises(InputError, match=r"python -m papers data get ddtp$"):
        runner.run_recipe("cr5-table-1", data_folder / "out")


def test_a_smoke_run_works_without_data(data_folder, tmp_path, capsys):
    assert main(["run", "thesis-table-5-1", "--smoke", "--out", str(tmp_path / "out")]) == 0
    assert "runs on invented data" in capsys.readouterr().out
    assert not data_folder.exists()


def test_invented_words_have_one_counterpart_in_each_language():
    english, italian = invented_data.make_vocabulary("en"), invented_data.make_vocabulary("it")
    assert len(set(english)) == len(set(italian)) == invented_data.VOCABULARY_SIZE
    assert english != italian
    assert invented_data.make_vocabulary("en") == english
