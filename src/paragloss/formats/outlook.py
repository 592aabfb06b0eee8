"""Outlook messages (.msg), by olefile; optional (`archives`). Mailboxes are in `pst`.

A `.msg` file is an OLE container. Its streams are named `__substg1.0_PPPPTTTT`, property and type in hexadecimal
([MS-OXMSG] 2.1.3); text is UTF-16 (type 001F) or in the sender's code page (001E), binary data has type 0102. A message
inside a message is a storage with the same streams (000D).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from paragloss.errors import InputError, MissingExtraError
from paragloss.formats.eml import (
    Attachment,
    MailItem,
    build_eml,
    is_inline_picture,
    make_mail_document,
    make_message_file_name,
)
from paragloss.formats.encodings import detect_encoding
from paragloss.formats.html import extract_visible_text
from paragloss.formats.rtf import decompress_rtf, extract_rtf_text
from paragloss.formats.text import PathLike
from paragloss.types import Document

# Types of properties.
_BINARY_TYPE, _UNICODE_TYPE, _CODE_PAGE_TYPE, _STORAGE_TYPE = "0102", "001F", "001E", "000D"
# Properties of [MS-OXPROPS] that are read.
_SUBJECT, _BODY, _HTML_BODY, _RTF_BODY, _HEADERS = "0037", "1000", "1013", "1009", "007D"
_SENDER_NAME, _SENDER_ADDRESS, _SENDER_SMTP_ADDRESS, _TO = "0C1A", "0C1F", "5D01", "0E04"
_ATTACHMENT_DATA, _ATTACHMENT_LONG_NAME, _ATTACHMENT_NAME = "3701", "3707", "3704"
_ATTACHMENT_CONTENT_ID = "3712"
_DATE_HEADER = re.compile(r"^Date:[ \t]*(.+)$", re.MULTILINE | re.IGNORECASE)
#: What olefile calls an entry with data, not a storage.
_OLE_STREAM = 2
#: Messages attached to messages are followed to this depth.
_MAX_MESSAGE_DEPTH = 3


def read_msg(path: PathLike, *, id: str = "") -> Document:
    """Read an Outlook message as one document, with the same fields and meta as a `.eml` file."""
    with _open_ole(path) as container:
        item = _OleMessage(container, []).read_item()
    body = item.text or extract_visible_text(item.html)
    headers = {"from": item.sender, "to": item.to, "date": item.date}
    names = [attachment.name for attachment in item.attachments]
    return make_mail_document(id or Path(path).name, body, item.subject, headers, names, path)


def read_msg_attachments(path: PathLike) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the name and the content of every attached file; an attached message is named after its subject."""
    with _open_ole(path) as container:
        for attachment in _OleMessage(container, []).read_attachments():
            if not is_inline_picture(attachment.name, attachment.content_id, len(attachment.content)):
                yield attachment.name, io.BytesIO(attachment.content)


def find_date_header(headers: str) -> str:
    """Return the date among the header lines that a message was sent with."""
    date = _DATE_HEADER.search(headers)
    return date[1].strip() if date else ""


def join_sender(name: str, address: str) -> str:
    """Return the name and the address of a sender, without what Exchange servers use as an address."""
    if "@" not in address:
        return name
    return f"{name} <{address}>" if name and name != address else address


def choose_body(text: str, html: str, rtf: bytes) -> str:
    """Return the plain text of a message: its own, else that of its Rich Text if it has no HTML either."""
    text = text.replace("\r\n", "\n").strip()
    if text or html.strip() or not rtf:
        return text
    return extract_rtf_text(rtf.decode("latin-1"))


class _OleMessage:
    """A message in an OLE container: the container itself, or a storage inside it."""

    def __init__(self, container: Any, storage: list[str]) -> None:
        self._container, self._storage = container, storage

    def read_item(self) -> MailItem:
        """Read the message with its attachments."""
        text = self._read_text(_BODY)
        html = self._read_text(_HTML_BODY)
        rtf = decompress_rtf(self._read_stream(_RTF_BODY, _BINARY_TYPE))
        address = self._read_text(_SENDER_SMTP_ADDRESS) or self._read_text(_SENDER_ADDRESS)
        return MailItem(
            subject=" ".join(self._read_text(_SUBJECT).split()),
            sender=join_sender(self._read_text(_SENDER_NAME), address),
            to=self._read_text(_TO),
            date=find_date_header(self._read_text(_HEADERS)),
            text=choose_body(text, html, rtf),
            html=html,
            attachments=list(self.read_attachments()),
        )

    def read_attachments(self) -> Iterator[Attachment]:
        """Yield the attached files, and attached messages in the format of a `.eml` file.

        Messages inside messages are followed to a depth of `_MAX_MESSAGE_DEPTH`.
        """
        for storage in self._list_attachment_storages():
            attachment = _OleMessage(self._container, storage)
            name = attachment._read_text(_ATTACHMENT_LONG_NAME) or attachment._read_text(_ATTACHMENT_NAME)
            content = attachment._read_stream(_ATTACHMENT_DATA, _BINARY_TYPE)
            if name and content:
                yield Attachment(name, content, attachment._read_text(_ATTACHMENT_CONTENT_ID))
                continue
            attached_message = self._open_attached_message(storage)
            if attached_message is not None:
                item = attached_message.read_item()
                yield Attachment(make_message_file_name(item.subject), build_eml(item))

    def _open_attached_message(self, storage: list[str]) -> _OleMessage | None:
        """Return the message inside the storage of an attachment; None if there is none, or it is nested too deep."""
        message_storage = [*storage, f"__substg1.0_{_ATTACHMENT_DATA}{_STORAGE_TYPE}"]
        # Each level adds two names to a path: that of the attachment and that of the message.
        is_too_deep = len(storage) > 2 * _MAX_MESSAGE_DEPTH
        if is_too_deep or not self._container.exists(message_storage):
            return None
        return _OleMessage(self._container, message_storage)

    def _list_attachment_storages(self) -> list[list[str]]:
        """Return the storages of the attachments of this message, each as the path of names that leads to it."""
        depth = len(self._storage)
        entries = [entry for entry in self._container.listdir() if entry[:depth] == self._storage]
        names = [entry[depth] for entry in entries if entry[depth].startswith("__attach_version1.0_")]
        return [[*self._storage, name] for name in dict.fromkeys(names)]

    def _read_text(self, attribute: str) -> str:
        """Return a property as text: UTF-16, else in some code page, else binary data that is text (HTML bodies)."""
        data = self._read_stream(attribute, _UNICODE_TYPE)
        if data:
            return data.decode("utf-16-le", "replace").rstrip("\0")
        data = self._read_stream(attribute, _CODE_PAGE_TYPE) or self._read_stream(attribute, _BINARY_TYPE)
        return data.decode(detect_encoding(data), "replace").rstrip("\0")

    def _read_stream(self, attribute: str, kind: str) -> bytes:
        entry = [*self._storage, f"__substg1.0_{attribute}{kind}"]
        if not self._container.exists(entry) or self._container.get_type(entry) != _OLE_STREAM:
            return b""
        with self._container.openstream(entry) as stream:
            return bytes(stream.read())


def _open_ole(path: PathLike) -> Any:
    try:
        import olefile
    except ImportError as error:
        raise MissingExtraError("reading .msg files", "archives") from error
    if not olefile.isOleFile(str(path)):
        raise InputError("is not an Outlook message: it does not begin like an OLE file", location=path)
    return olefile.OleFileIO(str(path))
