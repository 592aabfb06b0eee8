"""Outlook files: one message (.msg), by olefile, and a mailbox (.pst), by libpff. Both are optional (`archives`).

A `.msg` file is an OLE container. Its streams are named `__substg1.0_PPPPTTTT`, property and type in hexadecimal
([MS-OXMSG] 2.1.3); text is UTF-16 (type 001F) or in the sender's code page (001E), binary data has type 0102.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import IO, Any

from paragloss.errors import InputError, MissingExtraError
from paragloss.formats.eml import make_mail_document
from paragloss.formats.encodings import detect_encoding
from paragloss.formats.html import extract_visible_text
from paragloss.formats.text import PathLike
from paragloss.types import Document

# Properties of [MS-OXPROPS] that are read.
_SUBJECT, _BODY, _HTML_BODY, _HEADERS = "0037", "1000", "1013", "007D"
_SENDER_NAME, _SENDER_ADDRESS, _TO = "0C1A", "0C1F", "0E04"
_ATTACHMENT_DATA, _ATTACHMENT_LONG_NAME, _ATTACHMENT_NAME = "3701", "3707", "3704"
_DATE_HEADER = re.compile(r"^Date:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE)
#: PST folders inside folders that are followed.
_MAX_FOLDER_DEPTH = 30


def read_msg(path: PathLike, *, id: str = "") -> Document:
    """Read an Outlook message as one document, with the same fields and meta as a `.eml` file."""
    with _open_ole(path) as container:
        body = _read_text(container, [], _BODY).replace("\r\n", "\n").strip()
        html = _read_text(container, [], _HTML_BODY)
        subject = " ".join(_read_text(container, [], _SUBJECT).split())
        name, address = _read_text(container, [], _SENDER_NAME), _read_text(container, [], _SENDER_ADDRESS)
        date = _DATE_HEADER.search(_read_text(container, [], _HEADERS))
        headers = {
            "from": f"{name} <{address}>" if name and "@" in address and name != address else name or address,
            "to": _read_text(container, [], _TO),
            "date": date[1].strip() if date else "",
        }
        attachments = [name for folder in _list_attachments(container) if (name := _read_name(container, folder))]
    body = body or extract_visible_text(html)
    return make_mail_document(id or Path(path).name, body, subject, headers, attachments, path)


def read_msg_attachments(path: PathLike) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the name and the content of every attached file; attached messages are left out."""
    with _open_ole(path) as container:
        for folder in _list_attachments(container):
            name, content = _read_name(container, folder), _read_stream(container, [folder], _ATTACHMENT_DATA, "0102")
            if name and content:
                yield name, io.BytesIO(content)


def read_pst_messages(path: PathLike) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield every message of a mailbox as a `.eml` file, named after its folder and number: `Inbox/12.eml`."""
    try:
        import pypff
    except ImportError as error:
        raise MissingExtraError("reading .pst mailboxes", "archives") from error
    mailbox = pypff.file()
    mailbox.open(str(path))
    try:
        yield from _walk_pst_folder(mailbox.get_root_folder(), "", 0)
    finally:
        mailbox.close()


def _walk_pst_folder(folder: Any, parent: str, depth: int) -> Iterator[tuple[str, IO[bytes]]]:
    if depth > _MAX_FOLDER_DEPTH:
        return
    name = str(folder.name or "").replace("/", "_")
    folder_path = f"{parent}{name}/" if name else parent
    for number, message in enumerate(folder.sub_messages, 1):
        yield f"{folder_path}{number}.eml", io.BytesIO(build_eml(message))
    for child in folder.sub_folders:
        yield from _walk_pst_folder(child, folder_path, depth + 1)


def build_eml(item: Any) -> bytes:
    """Return a message of a PST mailbox (`pypff.message`) in the format of a `.eml` file, with its attachments."""
    message = EmailMessage()
    headers = str(item.transport_headers or "")
    date, sender = _DATE_HEADER.search(headers), str(item.sender_name or "")
    delivered = item.delivery_time
    for name, value in (
        ("Subject", str(item.subject or "")),
        ("From", sender),
        ("Date", date[1] if date else str(delivered or "")),
    ):
        message[name] = " ".join(value.split())
    plain, html = _decode_body(item.plain_text_body), _decode_body(item.html_body)
    if plain or not html:
        message.set_content(plain)
    else:
        message.set_content(html, subtype="html")
    for number in range(item.number_of_attachments):
        attachment = item.get_attachment(number)
        name = str(getattr(attachment, "long_filename", None) or f"attachment-{number + 1}")
        content = attachment.read_buffer(attachment.get_size())
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


def _decode_body(body: bytes | str | None) -> str:
    if isinstance(body, bytes):
        return body.decode(detect_encoding(body), "replace")
    return body or ""


def _open_ole(path: PathLike) -> Any:
    try:
        import olefile
    except ImportError as error:
        raise MissingExtraError("reading .msg files", "archives") from error
    if not olefile.isOleFile(str(path)):
        raise InputError("is not an Outlook message: it does not begin like an OLE file", location=path)
    return olefile.OleFileIO(str(path))


def _list_attachments(container: Any) -> list[str]:
    folders = (entry[0] for entry in container.listdir() if entry[0].startswith("__attach_version1.0_"))
    return list(dict.fromkeys(folders))


def _read_name(container: Any, folder: str) -> str:
    for attribute in (_ATTACHMENT_LONG_NAME, _ATTACHMENT_NAME):
        name = _read_text(container, [folder], attribute)
        if name:
            return name
    return ""


def _read_text(container: Any, storage: list[str], attribute: str) -> str:
    """Return a property as text: UTF-16, else text in some code page, else binary data that is text (HTML bodies)."""
    data = _read_stream(container, storage, attribute, "001F")
    if data:
        return data.decode("utf-16-le", "replace").rstrip("\0")
    data = _read_stream(container, storage, attribute, "001E") or _read_stream(container, storage, attribute, "0102")
    return data.decode(detect_encoding(data), "replace").rstrip("\0")


def _read_stream(container: Any, storage: list[str], attribute: str, kind: str) -> bytes:
    entry = [*storage, f"__substg1.0_{attribute}{kind}"]
    if not container.exists(entry):
        return b""
    with container.openstream(entry) as stream:
        return bytes(stream.read())
