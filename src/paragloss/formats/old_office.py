"""Binary Office files (.doc, .xls, .ppt), by antiword, catdoc or LibreOffice, whichever is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from paragloss.errors import InputError
from paragloss.formats import docx, pptx, xlsx
from paragloss.formats.archive import OLE_SIGNATURE
from paragloss.formats.rtf import read_rtf
from paragloss.formats.text import MAX_PACKED_FILE_BYTES, PathLike, read_bytes
from paragloss.types import Document

#: For each suffix the commands that print the text of a file, best first; `{}` is the path.
_TEXT_COMMANDS = {
    ".doc": (("antiword", "-m", "UTF-8", "-w", "0", "{}"), ("catdoc", "-d", "utf-8", "-w", "{}")),
    ".xls": (("xls2csv", "-d", "utf-8", "-c\t", "-q0", "{}"),),
    ".ppt": (("catppt", "-d", "utf-8", "{}"),),
}


class _ModernFormat(NamedTuple):
    """The format that LibreOffice converts a binary file to."""

    suffix: str
    read: Callable[..., Document]


_MODERN_FORMATS = {
    ".doc": _ModernFormat("docx", docx.read_docx),
    ".xls": _ModernFormat("xlsx", xlsx.read_xlsx),
    ".ppt": _ModernFormat("pptx", pptx.read_pptx),
}
#: Names of the streams that hold the text: without one, catdoc would print any bytes as text.
_TEXT_STREAMS = {".doc": ("WordDocument",), ".xls": ("Workbook", "Book"), ".ppt": ("PowerPoint Document",)}
#: What antiword prints in place of a picture.
_PICTURE_MARK = "[pic]"
#: Seconds for the conversion of one file by LibreOffice.
_CONVERSION_SECONDS = 60


def read_old_office(kind: str, path: PathLike, *, id: str = "") -> Document:
    """Read a binary Word document, Excel workbook or PowerPoint presentation.

    Such a file may also be Rich Text or of the modern format: Word writes those under the old suffix, too.

    :param kind: the suffix of the file: `.doc`, `.xls` or `.ppt`
    :param path: the file
    :param id: the id of the document; by default the file's name
    :raises InputError: if the file is damaged, or no installed program finds a text in it
    """
    document_id = id or Path(path).name
    content = read_bytes(path, limit=MAX_PACKED_FILE_BYTES)
    if content.startswith(b"{\\rtf"):
        return read_rtf(path, id=document_id)
    if content.startswith(b"PK\x03\x04"):
        return _MODERN_FORMATS[kind].read(path, id=document_id)
    is_ole_container = content.startswith(OLE_SIGNATURE)
    has_text_stream = any(name.encode("utf-16-le") in content for name in _TEXT_STREAMS[kind])
    if not is_ole_container or not has_text_stream:
        raise InputError(f"is not a {kind} file: it does not begin like one; it is damaged", location=path)
    return _extract_text(kind, path, document_id)


def _extract_text(kind: str, path: PathLike, id: str) -> Document:
    """Read a file by one of the small programs, which take milliseconds, else by LibreOffice, which takes seconds."""
    for command in _TEXT_COMMANDS[kind]:
        text = _run_text_command(command, path)
        if text:
            return Document(id, text, "")
    if shutil.which("soffice"):
        return _convert_with_libreoffice(kind, path, id)
    raise InputError(_explain_missing_text(kind), location=path)


def _explain_missing_text(kind: str) -> str:
    """Return what is wrong if LibreOffice is not installed and no other program finds a text."""
    programs = [command[0] for command in _TEXT_COMMANDS[kind]]
    installed = [program for program in programs if shutil.which(program)]
    modern_suffix = _MODERN_FORMATS[kind].suffix
    if installed:
        remedy = f"install LibreOffice, which reads more, or save it as .{modern_suffix}"
        return f"{' and '.join(installed)} found no text in the {kind} file; {remedy}"
    return f"{kind} files need {', '.join(programs)} or LibreOffice; install one, or save it as .{modern_suffix}"


def _convert_with_libreoffice(kind: str, path: PathLike, id: str) -> Document:
    """Convert a binary Office file to the modern format of its kind in a temporary folder, and read that.

    :param kind: the suffix that names the format of the file: `.doc`, `.xls` or `.ppt`
    :param path: the file
    :param id: the id of the document
    :raises InputError: if LibreOffice fails, or takes too long
    """
    modern_format = _MODERN_FORMATS[kind]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, f"source{kind}")
        shutil.copyfile(path, source)
        try:
            converted_file = _run_libreoffice(source, modern_format.suffix)
            return modern_format.read(converted_file, id=id)
        except InputError as error:  # of the converted file, such as one without text
            reason = error.reason
        except (subprocess.SubprocessError, OSError) as error:
            reason = type(error).__name__
    message = f"LibreOffice can't convert it ({reason}); save it as .{modern_format.suffix}"
    raise InputError(message, location=path)


def _run_libreoffice(source: Path, suffix: str) -> Path:
    """Convert a file with LibreOffice; return the converted file, in a folder beside the source.

    :param suffix: the suffix of the converted file, without its dot
    :raises SubprocessError: if LibreOffice fails, or takes too long
    """
    output_folder = source.parent / "out"
    profile = f"-env:UserInstallation=file://{source.parent}/profile"
    command = ["soffice", profile, "--headless", "--convert-to", suffix, "--outdir", str(output_folder), str(source)]
    subprocess.run(command, capture_output=True, timeout=_CONVERSION_SECONDS, check=True)
    return output_folder / f"{source.stem}.{suffix}"


def _run_text_command(command: tuple[str, ...], path: PathLike) -> str:
    if not shutil.which(command[0]):
        return ""
    arguments = [argument.replace("{}", str(path)) for argument in command]
    completed = subprocess.run(arguments, capture_output=True, stdin=subprocess.DEVNULL)
    if completed.returncode:
        return ""
    return completed.stdout.decode("utf-8", "replace").replace("\f", "\n").replace(_PICTURE_MARK, "").strip()
