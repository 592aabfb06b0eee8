"""Outlook mailboxes (.pst, .ost), by libpff; optional (`archives`).

A mailbox is read in parts of some hundred messages, so that its size is limited neither by memory nor by the room for
unpacked files. Each part is found again by the number of its first message.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from paragloss.errors import InputError, MissingExtraError
from paragloss.formats.eml import Attachment, MailItem, build_eml
from paragloss.formats.encodings import detect_encoding
from paragloss.formats.outlook import choose_body, find_date_header, join_sender
from paragloss.formats.text import MAX_DOCUMENT_BYTES, PathLike
from paragloss.formats.unpacking import MemberWriter

MAILBOX_SUFFIXES = frozenset({".pst", ".ost"})
#: A part of a mailbox ends after so many messages or bytes.
MESSAGES_PER_PART = 500
BYTES_PER_PART = 64 * 2**20
#: Folders inside folders that are followed.
_MAX_FOLDER_DEPTH = 30
# Properties of [MS-OXPROPS] that libpff has no name for.
_DISPLAY_TO, _SENDER_ADDRESS, _SENDER_SMTP_ADDRESS = 0x0E04, 0x0C1F, 0x5D01
_ATTACHMENT_NAME, _ATTACHMENT_LONG_NAME, _ATTACHMENT_CONTENT_ID = 0x3704, 0x3707, 0x3712


class MailboxPart(NamedTuple):
    """How far a mailbox has been read.

    Attributes:
        next_message: the number of the first message of the next part, None after the last one
        problems: why some messages could not be read, each with their number and folder
    """

    next_message: int | None
    problems: list[str]


class _FolderMessage(NamedTuple):
    """The place of a message: its folder, the folder's path, and its number in the folder, from 0."""

    folder: Any
    folder_path: str
    number: int


def unpack_mailbox_part(path: PathLike, writer: MemberWriter, first_message: int) -> MailboxPart:
    """Write some messages of a mailbox as `.eml` files, named after their folder and number: `Inbox/12.eml`.

    :param first_message: how many messages, in the order of folders, are before this part
    """
    mailbox = _open_mailbox(path)
    try:
        return write_messages(mailbox.get_root_folder(), writer, first_message)
    finally:
        mailbox.close()


def write_messages(root: Any, writer: MemberWriter, first_message: int) -> MailboxPart:
    """Write one part of the messages in a folder and the folders below it; one that can't be read is left out.

    :param root: the folder, a `pypff.folder`
    :param writer: writes each message as a `.eml` file
    :param first_message: the number of the first message to write, counted from 0 in the order of folders
    :return: the number of the first message of the next part, None if there is none, and what could not be read
    """
    failures: Counter[tuple[str, str]] = Counter()  # by folder and reason
    next_message = None
    for number, message_place in enumerate(_list_messages(root, first_message), first_message):
        n_written = number - first_message
        is_part_full = n_written >= MESSAGES_PER_PART or writer.bytes_written >= BYTES_PER_PART
        if is_part_full:
            next_message = number
            break
        try:
            _write_message(message_place, writer)
        except OSError as error:  # what libpff raises for damaged items
            failures[message_place.folder_path, _shorten_reason(error)] += 1
    return MailboxPart(next_message, _describe_failures(failures))


def _describe_failures(failures: Mapping[tuple[str, str], int]) -> list[str]:
    """Return a sentence for each folder and reason, whose values are how many messages could not be read."""
    return [
        f"{count} items of the folder {folder.rstrip('/')!r} can't be read ({reason}); the others are read"
        for (folder, reason), count in failures.items()
    ]


def _open_mailbox(path: PathLike) -> Any:
    """Open a mailbox as a `pypff.file`.

    :raises InputError: if the mailbox is damaged
    :raises MissingExtraError: if libpff is not installed
    """
    try:
        import pypff
    except ImportError as error:
        raise MissingExtraError("reading .pst mailboxes", "archives") from error
    mailbox = pypff.file()
    try:
        mailbox.open(str(path))
    except OSError as error:
        reason = f"is no Outlook mailbox, or damaged ({_shorten_reason(error)}); repair it with Outlook's scanpst"
        raise InputError(reason, location=path) from error
    return mailbox


def _list_messages(root: Any, first_message: int) -> Iterator[_FolderMessage]:
    """Yield the places of the messages in all folders; the first ones are counted and not read."""
    for folder, folder_path in _list_folders(root, "", 0):
        n_messages = folder.number_of_sub_messages
        for number in range(min(first_message, n_messages), n_messages):
            yield _FolderMessage(folder, folder_path, number)
        first_message = max(0, first_message - n_messages)


def _list_folders(folder: Any, parent: str, depth: int) -> Iterator[tuple[Any, str]]:
    name = str(folder.name or "").replace("/", "_")
    folder_path = f"{parent}{name}/" if name else parent
    yield folder, folder_path
    if depth < _MAX_FOLDER_DEPTH:
        for child in folder.sub_folders:
            yield from _list_folders(child, folder_path, depth + 1)


def _write_message(message_place: _FolderMessage, writer: MemberWriter) -> None:
    message = message_place.folder.get_sub_message(message_place.number)
    if not hasattr(message, "subject"):  # settings of the mailbox are items without a text
        return
    item = read_message(message)
    if item.text or item.html or item.subject or item.attachments:
        writer.write(f"{message_place.folder_path}{message_place.number + 1}.eml", io.BytesIO(build_eml(item)))


def read_message(message: Any) -> MailItem:
    """Read the headers, the body and the attached files of a message of an Outlook mailbox.

    :param message: a `pypff.message`; messages attached to it are left out.
    """
    properties = _read_texts(message, {_DISPLAY_TO, _SENDER_ADDRESS, _SENDER_SMTP_ADDRESS})
    sender_name = str(message.sender_name or "")
    sender_address = properties.get(_SENDER_SMTP_ADDRESS) or properties.get(_SENDER_ADDRESS, "")
    date_header = find_date_header(str(message.transport_headers or ""))
    delivery_time = str(message.delivery_time or "")
    plain_text = _decode_body(message.plain_text_body)
    html = _decode_body(message.html_body)
    rtf = message.rtf_body or b""
    return MailItem(
        subject=str(message.subject or ""),
        sender=join_sender(sender_name, sender_address),
        to=properties.get(_DISPLAY_TO, ""),
        date=date_header or delivery_time,
        text=choose_body(plain_text, html, rtf),
        html=html,
        attachments=list(_read_attachments(message)),
    )


def _read_attachments(message: Any) -> Iterator[Attachment]:
    for number in range(message.number_of_attachments):
        attachment = message.get_attachment(number)
        texts = _read_texts(attachment, {_ATTACHMENT_NAME, _ATTACHMENT_LONG_NAME, _ATTACHMENT_CONTENT_ID})
        name = texts.get(_ATTACHMENT_LONG_NAME) or texts.get(_ATTACHMENT_NAME, "")
        if name and attachment.get_size() <= MAX_DOCUMENT_BYTES:
            content = attachment.read_buffer(attachment.get_size())
            yield Attachment(name, content, texts.get(_ATTACHMENT_CONTENT_ID, ""))


def _read_texts(item: Any, properties: set[int]) -> dict[int, str]:
    """Return the wanted properties of an item that are text and not empty."""
    texts = {}
    for record_set in item.record_sets:
        for entry in record_set.entries:
            if entry.entry_type in properties and entry.data:
                texts[entry.entry_type] = str(entry.data_as_string or "")
    return texts


def _decode_body(body: bytes | str | None) -> str:
    if isinstance(body, bytes):
        return body.decode(detect_encoding(body), "replace")
    return body or ""


def _shorten_reason(error: OSError) -> str:
    """Return the innermost of the messages that libpff joins: the one behind that of the Python module."""
    sentences = str(error).strip().rstrip(".").split(". ")
    return sentences[min(1, len(sentences) - 1)].partition(": ")[2] or str(error)
