"""Chooses the title of a file's document where its own is empty or says nothing: `scan_0001`, "untitled", "index"."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from paragloss.formats.text import is_language_code
from paragloss.types import Document

#: A line longer than this is cut at the end of its first sentence, or between words.
MAX_TITLE_CHARACTERS = 100
#: Kinds of files whose names say more than their first lines.
NAMED_BY_FILE = (".srt", ".vtt")

#: What printer drivers put before the name of a file that they print.
_PRINTED_BY = re.compile(r"^Microsoft (?:Office )?(?:Word|Excel|PowerPoint|Outlook)\s*[-–]\s*", re.IGNORECASE)
_FILE_SUFFIX = re.compile(
    r"\.(?:doc[xm]?|xls[xm]?|ppt[xm]?|pdf|rtf|odt|txt|html?|md|indd|qxd|tex|dvi|pages|jpe?g|png|tiff?|srt|vtt|eml|epub)$",
    re.IGNORECASE,
)
#: Names that programs and devices give: IMG_2034, Scan 12, DSC00012, Document1, untitled, index, no subject, page 3.
_GIVEN_BY_DEVICE = re.compile(
    r"(?:scan|scanned|img|image|dsc|dscn|dscf|pict?|photo|foto|mvi|vid|pxl|screenshot|capture|fax|doc|document|dokument|"
    r"documento|file|page|seite|slide|folie|presentation|präsentation|book|workbook|sheet|new|copy|untitled|unnamed|"
    r"unbenannt|sans titre|sin título|senza titolo|ohne titel|no title|no subject|kein betreff|powerpoint presentation|"
    r"(?:untitled|new|unbenanntes|neues|nouveau|nuevo|nuovo|novo)[\s_-]?(?:document|dokument|documento|page)|"
    r"document sans titre|index|default|home|main|readme|temp|tmp|test|out|output|noname|unknown|title|none|null)"
    r"(?:[\s_.()#-]*\d+)*[\s_.()#-]*",
    re.IGNORECASE,
)
_HEX_NAME = re.compile(r"[0-9a-f]{8}[0-9a-f-]*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]")


def choose_title(document: Document, file_path: str, suffix: str = "") -> str:
    """Choose a title that says what a document is about: its own one if that does.

    Otherwise it is the first heading, the first line of the text or the name of the file, whichever comes first and
    says something. For subtitles the name of the file comes before the first line.

    :param document: a document as its reader made it; what a printer driver put before its title is removed
    :param file_path: the path of its file
    :param suffix: the kind of the file, such as `.srt`
    """
    title = clean_document_title(document.title)
    heading = document.fields.get("headings", "").split("\n")[0]
    first_line = find_first_line(document.text)
    file_name = clean_file_name(PurePosixPath(file_path).name)
    candidates = [title, heading, first_line, file_name]
    if suffix in NAMED_BY_FILE:
        candidates = [title, file_name, first_line]
    for candidate in candidates:
        if not is_meaningless_title(candidate):
            return candidate
    return first_line or file_name


def is_meaningless_title(title: str) -> bool:
    """Tell whether a title is empty, has hardly any letters, or is one that a program or device gives to every file."""
    title = title.strip()
    letter_count = sum(map(str.isalpha, title))
    has_few_letters = letter_count < 2 and title.isascii()
    return not letter_count or has_few_letters or bool(_GIVEN_BY_DEVICE.fullmatch(title) or _HEX_NAME.fullmatch(title))


def clean_document_title(title: str) -> str:
    """Remove what a printer driver adds: "Microsoft Word - Report.doc" becomes "Report"; fold white space."""
    title = " ".join(title.split())
    name = _PRINTED_BY.sub("", title)
    return _FILE_SUFFIX.sub("", name) if name != title or _GIVEN_BY_DEVICE.match(name) else title


def clean_file_name(name: str) -> str:
    """Turn a file's name into a title: `Der_Kanal.2012.de.srt` becomes "Der Kanal 2012"."""
    stem = PurePosixPath(name).stem
    words = [word for word in re.split(r"[\s_.+-]+", stem) if word]
    if len(words) > 1 and "." in stem and is_language_code(words[-1]):
        words.pop()
    return " ".join(words)


def find_first_line(text: str) -> str:
    """Return the first line of a text that says something, shortened to a title."""
    for line in text[:5000].split("\n"):
        line = " ".join(line.split()).lstrip("•#*-> ")
        if not is_meaningless_title(line):
            return shorten_line(line)
    return ""


def shorten_line(line: str) -> str:
    """Cut a long line at the end of its first sentence, or between words with an ellipsis."""
    if len(line) <= MAX_TITLE_CHARACTERS:
        return line
    beginning = line[:MAX_TITLE_CHARACTERS]
    sentence_end = _SENTENCE_END.search(beginning)
    if sentence_end and sentence_end.end() > 10:
        return beginning[: sentence_end.end()]
    last_space = beginning.rfind(" ")
    return beginning[: last_space if last_space > 0 else len(beginning)] + " …"
