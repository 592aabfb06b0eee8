"""PDF files in right-to-left languages, printed by three programs, are read in logical order."""

import shutil
import subprocess
import textwrap

import pytest

from paragloss.formats.pdf import read_pdf
from paragloss.formats.right_to_left import Glyph, order_line

DEJAVU = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
TEXTS = {
    "ar": "أعلن مجلس المدينة اليوم أن الحافلة رقم 12 ستسير كل 20 دقيقة من محطة القطار إلى المستشفى الجديد. "
    "سعر التذكرة 3.50 دينار، ويدفع الطلاب نصف السعر (ابتداء من 2024). يمكن شراء التذاكر "
    "من موقع example.org أو من السائق.",
    "he": "עיריית העיר הודיעה היום שקו 12 ייסע כל 20 דקות מתחנת הרכבת אל בית החולים החדש. "
    "מחיר הכרטיס 3.50 שקל, והסטודנטים משלמים חצי מחיר (החל משנת 2024). אפשר לקנות כרטיסים "
    "באתר example.org או מן הנהג.",
    "fa": "شورای شهر امروز اعلام کرد که اتوبوس شماره 12 هر 20 دقیقه از ایستگاه قطار به بیمارستان جدید خواهد رفت. "
    "قیمت بلیت 3.50 تومان است و دانشجویان نصف قیمت را (از سال 2024) خواهند داد. بلیت را "
    "از سایت example.org یا از راننده بخرید.",
}
FLAT_ODT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.text"><office:automatic-styles>
<style:style style:name="P" style:family="paragraph"><style:paragraph-properties style:writing-mode="rl-tb"/>
<style:text-properties style:font-family-complex="DejaVu Sans"/></style:style></office:automatic-styles>
<office:body><office:text><text:p text:style-name="P">{}</text:p></office:text></office:body></office:document>"""


def print_with_chromium(text, folder):
    if not shutil.which("chromium"):
        pytest.skip("needs Debian's chromium")
    page = folder / "page.html"
    page.write_text(f'<meta charset="utf-8"><p dir="rtl" style="font-family: DejaVu Sans">{text}</p>', "utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/user"]
    subprocess.run(["chromium", *flags, f"--print-to-pdf={folder}/page.pdf", page], capture_output=True, timeout=120)


def print_with_libreoffice(text, folder):
    if not shutil.which("soffice"):
        pytest.skip("needs Debian's libreoffice-writer-nogui")
    source = folder / "page.fodt"
    source.write_text(FLAT_ODT.format(text), "utf-8")
    profile = f"-env:UserInstallation=file://{folder}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", folder, source]
    subprocess.run(command, capture_output=True, timeout=120)


def print_with_reportlab(text, folder):
    canvas = pytest.importorskip("reportlab.pdfgen.canvas", reason="needs reportlab")
    reshaper = pytest.importorskip("arabic_reshaper", reason="needs arabic-reshaper")
    bidi = pytest.importorskip("bidi.algorithm", reason="needs python-bidi")
    from reportlab.pdfbase import pdfmetrics, ttfonts

    pdfmetrics.registerFont(ttfonts.TTFont("DejaVu", DEJAVU))
    page = canvas.Canvas(str(folder / "page.pdf"))
    page.setFont("DejaVu", 12)
    for number, line in enumerate(textwrap.wrap(text, 70)):
        page.drawRightString(550, 800 - 20 * number, bidi.get_display(reshaper.reshape(line)))
    page.save()


@pytest.mark.parametrize("lang", TEXTS)
@pytest.mark.parametrize("print_page", [print_with_chromium, print_with_libreoffice, print_with_reportlab])
def test_every_word_of_a_printed_page_is_read_in_its_order(tmp_path, lang, print_page):
    print_page(TEXTS[lang], tmp_path)
    assert read_pdf(tmp_path / "page.pdf").text.split() == TEXTS[lang].split()


def make_glyphs(visual):
    """Boxes of ten points for characters given from left to right; a space in the text is a gap."""
    glyphs, left = [], 0.0
    for character in visual:
        if character != " ":
            glyphs.append(Glyph(character, left, left + 10, 12, 700))
        left += 10
    return glyphs


@pytest.mark.parametrize(
    ("visual", "logical"),
    [
        ("אבג דה", "הד גבא"),
        ("3.50 אב pdf 2 גד 12", "12 דג pdf 2 בא 3.50"),
        ("the word אבג means", "the word גבא means"),
    ],
    ids=["a Hebrew line", "numbers and Latin words in it", "a Hebrew word in an English line"],
)
def test_each_part_of_a_line_is_read_in_its_direction_whatever_the_order_of_drawing(visual, logical):
    glyphs = make_glyphs(visual)
    assert order_line(glyphs) == order_line(glyphs[::-1]) == logical


def test_a_vowel_sign_follows_the_letter_it_stands_under():
    bet, qamats, alef = Glyph("ב", 0, 10, 12, 700), Glyph("\u05b8", 14, 16, 12, 700), Glyph("א", 10, 20, 12, 700)
    assert order_line([bet, qamats, alef]) == "א\u05b8ב"
