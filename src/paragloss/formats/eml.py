"""Letters (.eml): subject, sender, date and what was written; the names of attachments, not what is in them."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from paragloss.errors import InputError
from paragloss.formats.html import extract_visible_text
from paragloss.formats.text import PathLike, read_bytes
from paragloss.types import Document


def read_eml(path: PathLike, *, id: str = "") -> Document:
    """One document: the plain text of the letter, else its HTML."""
    try:
        letter = message_from_bytes(read_bytes(path), policy=policy.default)
        body, subject = _body(letter), _header(letter, "subject")
        headers = {name: _header(letter, name) for name in ("from", "to", "date")}
        attached = [name for part in letter.iter_attachments() if (name := part.get_filename())]
    except InputError:
        raise
    except Exception as error:  # a damaged letter fails anywhere inside headers, encodings or parts
        raise InputError(
            f"can't be read as a letter ({error or type(error).__name__}); save it anew", place=path
        ) from error
    if not body and not subject:
        raise InputError("no text in the letter; give one that has some", place=path)
    meta: dict[str, object] = {name: value for name, value in headers.items() if value}
    fields = {"attachments": "\n".join(attached)} if attached else {}
    return Document(id or Path(path).name, body, "", subject, fields, meta)


def _body(letter: EmailMessage) -> str:
    part = letter.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = part.get_content()
    except (LookupError, KeyError):  # an encoding nobody knows
        text = (part.get_payload(decode=True) or b"").decode("utf-8", "replace")  # type: ignore[union-attr]
    text = str(text).replace("\r\n", "\n")
    return extract_visible_text(text) if part.get_content_subtype() == "html" else text.strip()


def _header(letter: EmailMessage, name: str) -> str:
    return " ".join(str(letter.get(name) or "").split())
