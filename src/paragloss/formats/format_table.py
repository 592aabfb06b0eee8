"""The table of document formats in docs/look-up/formats.md; a test compares both with the readers."""

from __future__ import annotations

from typing import NamedTuple


class FormatDescription(NamedTuple):
    """A row of the table."""

    files: str
    suffixes: tuple[str, ...]
    content: str
    needs: str = ""  # what has to be installed besides Paragloss


FORMATS = (
    FormatDescription(
        "text, Markdown",
        (".txt", ".md", ".markdown"),
        "title from the first line or heading; `title` and `lang` of a YAML head; a chat as WhatsApp exports or "
        "Telegram copies it: a document for each day, with the time of each line in `line_seconds`",
    ),
    FormatDescription("web pages", (".html", ".htm", ".xhtml"), "main content, headings, language"),
    FormatDescription(
        "PDF",
        (".pdf",),
        "text of all pages, page numbers; Arabic and Hebrew in logical order; scanned pages ([scans](../do/scans.md))",
    ),
    FormatDescription(
        "pictures",
        (".png", ".jpg", ".jpeg", ".tif", ".tiff"),
        "recognised words",
        "Tesseract; `paragloss[ocr]` for poor Chinese and Japanese scans",
    ),
    FormatDescription(
        "Office",
        (
            *(".docx", ".docm", ".dotx", ".pptx", ".pptm", ".ppsx", ".xlsx", ".xlsm"),
            *(".odt", ".odp", ".ods", ".rtf"),
        ),
        "text, headings",
    ),
    FormatDescription("Office until 2003", (".doc", ".xls", ".ppt"), "text", "antiword or catdoc, else LibreOffice"),
    FormatDescription("books", (".epub",), "chapters in reading order"),
    FormatDescription(
        "mail",
        (".eml", ".mbox"),
        "subject, text, sender, date; a document for each message and each attachment; also maildirs",
    ),
    FormatDescription("Outlook", (".msg", ".pst", ".ost"), "the same", "`paragloss[archives]`"),
    FormatDescription("attachments that Outlook packed", (".tnef",), "the files inside `winmail.dat`, as in a folder"),
    FormatDescription("archives", (".zip", ".tar", ".tgz", ".tbz2", ".txz"), "the files inside, as in a folder"),
    FormatDescription("7-Zip", (".7z",), "the same", "`paragloss[archives]`"),
    FormatDescription("subtitles", (".srt", ".vtt"), "the spoken text, with the time of each line in `line_seconds`"),
    FormatDescription(
        "JSON Lines",
        (".jsonl", ".ndjson"),
        '`{"id", "lang", "title", "text", ...}`; other keys become fields to filter by',
    ),
    FormatDescription(
        "tables",
        (".csv", ".tsv"),
        "a document for each row, columns as above; a table without `text` and `title`: all its columns as text; "
        "`path` and `row` say where it stands",
    ),
    FormatDescription("TREC", (".trec", ".sgml"), "`<DOC>` elements"),
    FormatDescription("MediaWiki dumps", (".xml",), "articles as plain text, without redirects"),
    FormatDescription("LS-CLIR", (".documents",), "rows of the test collection"),
)


def render_format_table() -> str:
    """Return the table in Markdown."""
    rows = ["| files | suffixes | what is read | needs |", "|---|---|---|---|"]
    for row in FORMATS:
        suffixes = ", ".join(f"`{suffix}`" for suffix in row.suffixes)
        rows.append(f"| {row.files} | {suffixes} | {row.content} | {row.needs} |")
    return "\n".join(rows)
