"""Mail messages (.eml): subject, sender, date and body; attachments are documents of their own.

Messages of Outlook are turned into this format (`MailItem`, `build_eml`) where they lie inside other files.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from paragloss.errors import EmptyFileError, InputError
from paragloss.formats.html import extract_visible_text
from paragloss.formats.text import PathLike, join_fields, read_bytes
from paragloss.types import Document

#: A smaller picture that a message shows inside its text is a logo or an icon, not a page.
MIN_INLINE_PICTURE_BYTES = 100_000
_PICTURE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp"})


class Attachment(NamedTuple):
    """A file attached to a message; a picture that is shown inside the text has a content id."""

    name: str
    content: bytes
    content_id: str = ""


class MailItem(NamedTuple):
    """A message of any mail program: its header as text, its body as plain text or HTML, and its attachments."""

    subject: str
    sender: str
    to: str
    date: str
    text: str
    html: str
    attachments: list[Attachment]


def read_eml(path: PathLike, *, id: str = "") -> Document:
    """Read a mail message as one document: its plain text, else the text of its HTML.

    :param path: a `.eml` file
    :param id: the id of the document; by default the file's name
    :return: a document with the subject as title, `from`, `to` and `date` as meta, and the names of the attached files
        in the field `attachments`
    :raises InputError: if the file is damaged, or the message has neither a body nor a subject
    """
    data = read_bytes(path)
    try:
        texts = _read_message_texts(data)
    except Exception as error:  # a damaged message fails anywhere inside headers, encodings or parts
        reason = error or type(error).__name__
        raise InputError(f"can't be read as a mail message ({reason}); save it anew", location=path) from error
    return make_mail_document(id or Path(path).name, texts.body, texts.subject, texts.headers, texts.file_names, path)


class _MessageTexts(NamedTuple):
    """The texts of a message that its document is made of."""

    body: str
    subject: str
    headers: dict[str, str]  # values of `from`, `to` and `date`
    file_names: list[str]  # of the attachments that have a name


def _read_message_texts(data: bytes) -> _MessageTexts:
    """Parse the bytes of a `.eml` file; of a damaged one, any error of the library may come."""
    message = _parse_message(data)
    body = _read_body(message)
    subject = _read_header(message, "subject")
    headers = {name: _read_header(message, name) for name in ("from", "to", "date")}
    file_names = [part.get_filename() for part in message.iter_attachments()]
    return _MessageTexts(body, subject, headers, [name for name in file_names if name])


def make_mail_document(
    id: str, body: str, subject: str, headers: dict[str, str], attachments: list[str], path: PathLike
) -> Document:
    """Build the document of a mail message.

    :param id: the id of the document
    :param body: the text of the document
    :param subject: its title
    :param headers: values of `from`, `to` and `date`, which become meta; empty ones are left out
    :param attachments: names of the attached files, which become a field
    :param path: the file of the message, which errors name
    :raises InputError: if the message has neither a body nor a subject
    """
    if not body and not subject:
        raise EmptyFileError("no text in the message; give one that has some", location=path)
    meta: dict[str, object] = {name: value for name, value in headers.items() if value}
    return Document(id, body, "", subject, join_fields(attachments=attachments), meta)


def read_attachments(path: PathLike) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield (name, content) of every attachment of a `.eml` file.

    An attached message is named after its subject. Files without a name, and small pictures that the message shows
    inside its text, are left out.
    """
    for part in _parse_message(read_bytes(path)).iter_attachments():
        if part.get_content_type() == "message/rfc822":
            attached_message: EmailMessage = part.get_content()
            subject = _read_header(attached_message, "subject")
            yield make_message_file_name(subject), io.BytesIO(bytes(attached_message))
            continue
        name, content = part.get_filename(), part.get_payload(decode=True)
        if not name or not isinstance(content, bytes):
            continue
        if not is_inline_picture(name, part.get("content-id", ""), len(content)):
            yield name, io.BytesIO(content)


def make_message_file_name(subject: str) -> str:
    """Return the name of a file for an attached message, from its subject."""
    return f"{subject[:80].replace('/', '_') or 'message'}.eml"


def is_inline_picture(name: str, content_id: str, size: int) -> bool:
    """Say whether an attached file is a small picture inside the text, such as the logo of a signature."""
    is_picture = PurePosixPath(name.lower()).suffix in _PICTURE_SUFFIXES
    return is_picture and bool(content_id) and size < MIN_INLINE_PICTURE_BYTES


def build_eml(item: MailItem) -> bytes:
    """Return a message in the format of a `.eml` file: its plain text, or its HTML if it has only that."""
    message = EmailMessage()
    headers = {"Subject": item.subject, "From": item.sender, "To": item.to, "Date": item.date}
    for name, value in headers.items():
        message[name] = " ".join(value.split())
    if item.text or not item.html:
        message.set_content(item.text)
    else:
        message.set_content(item.html, subtype="html")
    for attachment in item.attachments:
        message.add_attachment(
            attachment.content,
            maintype="application",
            subtype="octet-stream",
            filename=attachment.name,
            cid=attachment.content_id or None,
        )
    return message.as_bytes()


def _parse_message(data: bytes) -> EmailMessage:
    return message_from_bytes(data, policy=policy.default)


def _read_body(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = part.get_content()
    except (LookupError, KeyError):  # an unknown encoding
        text = (part.get_payload(decode=True) or b"").decode("utf-8", "replace")  # type: ignore[union-attr]
    text = str(text).replace("\r\n", "\n")
    return extract_visible_text(text) if part.get_content_subtype() == "html" else text.strip()


def _read_header(message: EmailMessage, name: str) -> str:
    return " ".join(str(message.get(name) or "").split())
