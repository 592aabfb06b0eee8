"""Pages that are pictures, printed here, made worse, and read by the real Tesseract."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont
from test_cli import paragloss_
from test_pages import make_pdf

from paragloss import Collection
from paragloss.cli.output import ProgressBar
from paragloss.errors import InputError
from paragloss.formats import sandbox, scans
from paragloss.formats.documents import read_documents
from paragloss.formats.page_images import enlarge_jpeg

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
GERMAN = (
    "Der Zug hat wegen des starken Schneefalls eine Stunde Verspätung.\n"
    "Die Reisenden warten auf dem Bahnsteig und trinken heißen Tee."
)
BREAD = "Der Bäcker knetet den Teig für das Brot und heizt den Ofen an.\nAm Morgen riecht die ganze Straße nach Kuchen."
RUSSIAN = "Вулкан извергает горячую лаву и пепел.\nЖители покинули деревню у подножия горы."
INSTALLED_LANGUAGES = (
    subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True).stdout.split()
    if shutil.which("tesseract")
    else []
)
needs_tesseract = pytest.mark.skipif(
    not {"deu", "eng", "rus", "osd"} <= set(INSTALLED_LANGUAGES),
    reason="Tesseract with deu, eng and rus is not installed",
)


def print_page(text, *, worse=True):
    """A page as a copier gives it: grey, a little turned, blurred, with specks."""
    page = Image.new("L", (2000, 700), 255)
    ImageDraw.Draw(page).multiline_text((120, 120), text, font=ImageFont.truetype(FONT, 44), fill=30, spacing=24)
    if worse:
        page = page.rotate(0.7, fillcolor=255).filter(ImageFilter.GaussianBlur(1.2))
        chance = random.Random(3)
        for _ in range(400):
            page.putpixel((chance.randrange(page.width), chance.randrange(page.height)), 90)
    return page


def test_a_scan_without_tesseract_is_refused_and_says_what_to_install(tmp_path, monkeypatch):
    Image.new("L", (600, 600), 200).save(tmp_path / "a.pdf")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(scans, "is_rapidocr_installed", lambda: False)
    with pytest.raises(InputError, match="no text in 1 pages, it is a scan; install Tesseract"):
        list(read_documents(tmp_path / "a.pdf"))


@needs_tesseract
def test_pages_are_read_in_the_language_of_each_and_keep_their_number_and_confidence(tmp_path):
    print_page(GERMAN).save(tmp_path / "a.pdf", save_all=True, append_images=[print_page(RUSSIAN)], resolution=200)
    (page,) = read_documents(tmp_path / "a.pdf")
    first, second = page.text.split("\f")
    assert first.split() == GERMAN.split()
    assert second.split() == RUSSIAN.split()
    assert (page.meta["pages"], page.meta["scanned"]) == (2, 2)
    assert 0.7 < page.meta["confidence"] <= 1


@needs_tesseract
def test_a_scan_is_found_at_its_page_and_said_to_be_one(tmp_path):
    pages = [print_page(BREAD), print_page(GERMAN)]
    pages[0].save(tmp_path / "letters.tif", save_all=True, append_images=pages[1:], compression="tiff_lzw")
    paragloss_("index", "letters.tif", "--into", "c", cwd=tmp_path)
    output = paragloss_("search", "--in", "c", "the train is late because of snow", cwd=tmp_path).stdout
    assert "letters.tif, page 2, read from a scan (9" in output
    with Collection.open(tmp_path / "c") as collection:
        best = collection.search("train in the snow", lang="en").results[0]
    assert (best.meta["page"], best.meta["scanned"]) == (2, 2)


@needs_tesseract
def test_of_a_folder_s_pictures_those_with_words_are_documents(tmp_path):
    print_page(GERMAN).save(tmp_path / "letter.png")
    Image.effect_noise((600, 600), 60).save(tmp_path / "photo.png")
    (tmp_path / "note.txt").write_text("A note.")
    assert [document.id for document in read_documents(tmp_path)] == ["letter.png", "note.txt"]
    Image.new("L", (16, 16)).save(tmp_path / "icon.png")
    with pytest.warns(UserWarning, match="left out 1 files of kinds that can't be read: 1 .png"):
        list(read_documents(tmp_path))


@needs_tesseract
def test_a_page_with_a_text_layer_is_not_read_again(read):
    (page,) = read("text.pdf", make_pdf("Rain falls"))
    assert "scanned" not in page.meta


@needs_tesseract
def test_a_page_that_is_darker_at_one_side_is_read(tmp_path):
    page = print_page(GERMAN, worse=False)
    light = Image.linear_gradient("L").rotate(90).resize(page.size)
    ImageChops.multiply(page, light.point(lambda value: 70 + value * 185 // 255)).save(tmp_path / "dark.png")
    (read_,) = read_documents(tmp_path / "dark.png")
    assert read_.text.split() == GERMAN.split()


@needs_tesseract
def test_index_tells_of_every_page_of_a_scan_while_it_reads(tmp_path, monkeypatch):
    pages = [print_page(text, worse=False) for text in (GERMAN, BREAD, GERMAN)]
    pages[0].save(tmp_path / "book.pdf", save_all=True, append_images=pages[1:], resolution=200)
    monkeypatch.setattr(ProgressBar, "SECONDS_BETWEEN_LINES", 0.0)
    lines = paragloss_("index", "book.pdf", "--into", "c", cwd=tmp_path).stderr.splitlines()
    assert lines[:3] == [
        f"paragloss: indexing: page {n} of 3 of book.pdf; documents so far: 0" for n in (1, 2, 3)
    ]  # fmt: skip


@needs_tesseract
def test_a_scan_that_is_stopped_between_its_pages_leaves_a_collection_that_goes_on(tmp_path):
    pages = [print_page(text, worse=False) for text in (GERMAN, BREAD)]
    pages[0].save(tmp_path / "book.pdf", save_all=True, append_images=pages[1:], resolution=200)
    (tmp_path / "a note.txt").write_text("A note on honey bees.")

    def stop(path, page, of):
        assert (path, page, of) == (tmp_path / "book.pdf", 1, 2)
        raise KeyboardInterrupt

    with Collection.create(str(tmp_path / "c")) as collection:
        collection.index_files([str(tmp_path / "a note.txt")])
        with pytest.raises(KeyboardInterrupt):
            collection.index_files([str(tmp_path / "book.pdf")], scanning=stop)
    with Collection.open(str(tmp_path / "c")) as collection:
        assert [document.id for document in collection.documents()] == ["a note.txt"]
        assert collection.index_files([str(tmp_path / "book.pdf")]).read == 1
        assert collection.search("a train late in the snow", lang="en").results[0].meta["page"] == 1


@pytest.mark.parametrize(("size", "larger"), [((900, 300), b"P5 1800 600 255"), ((4000, 1000), b"P5 6000 1500 255")])
def test_a_picture_that_is_read_badly_is_looked_at_twice_as_large(tmp_path, size, larger):
    Image.new("L", size, 200).save(tmp_path / "a.jpg")
    head, _, pixels = enlarge_jpeg(tmp_path / "a.jpg").partition(b"\n")
    assert head == larger
    assert set(pixels) == {200}


CHINESE = "火山是地壳上的开口，熔化的岩石由此喷出。\n大多数火山位于板块的边缘。"
CHINESE_FONT = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")


needs_chinese = pytest.mark.skipif(not CHINESE_FONT.exists(), reason="needs Debian's fonts-noto-cjk")


def print_blurred_chinese_page(path):
    page = Image.new("L", (1000, 300), 235)
    font = ImageFont.truetype(str(CHINESE_FONT), 25)
    ImageDraw.Draw(page).multiline_text((90, 90), CHINESE, font=font, fill=60, spacing=14)
    page = page.rotate(1.5, fillcolor=235, resample=Image.Resampling.BICUBIC).filter(ImageFilter.GaussianBlur(1.5))
    page.save(path, quality=15)


@needs_chinese
def test_a_blurred_chinese_page_is_read_by_rapidocr(tmp_path):
    pytest.importorskip("rapidocr", reason="needs paragloss[ocr]")
    print_blurred_chinese_page(tmp_path / "a.jpg")
    (document,) = read_documents(tmp_path / "a.jpg")
    read_characters = set(document.text) & set(CHINESE)
    assert len(read_characters) >= 0.9 * len(set(CHINESE))
    assert document.meta["confidence"] > 0.8


@needs_chinese
def test_a_chinese_page_that_tesseract_takes_for_a_script_it_lacks_is_read_by_rapidocr(tmp_path, monkeypatch):
    """A program of the same name says what Tesseract said of poor Chinese pages; which pages it errs on changes."""
    pytest.importorskip("rapidocr", reason="needs paragloss[ocr]")
    program = tmp_path / "tesseract"
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        "  --list-langs) printf 'List:\\neng\\nosd\\n';;\n"
        "  *'--psm 0'*) printf 'Rotate: 0\\nScript: Arabic\\nScript confidence: 3.1\\n';;\n"
        "  *) printf 'level\\tblock_num\\tpar_num\\tline_num\\tconf\\ttext\\n';;\n"
        "esac\n"
    )
    program.chmod(0o755)
    print_blurred_chinese_page(tmp_path / "a.jpg")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    sandbox.SHARED_READER.close()
    (document,) = read_documents(tmp_path / "a.jpg")
    sandbox.SHARED_READER.close()
    assert len(set(document.text) & set(CHINESE)) >= 0.9 * len(set(CHINESE))
