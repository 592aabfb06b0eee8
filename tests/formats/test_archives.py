"""Archives are read like folders, mail attachments as documents of their own; limits hold for hostile files."""

import io
import os
import struct
import tarfile
from email.message import EmailMessage
from types import SimpleNamespace

import pytest
from ole_files import write_ole
from packed_files import pack_zip

from paragloss.errors import InputError
from paragloss.formats.documents import read_documents
from paragloss.formats.eml import build_eml
from paragloss.formats.pst import MESSAGES_PER_PART, read_message, write_messages
from paragloss.formats.unpacking import MemberWriter


def pack_tar(members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def pack_7z(members):
    py7zr = pytest.importorskip("py7zr", reason="needs py7zr")
    buffer = io.BytesIO()
    with py7zr.SevenZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(data, name)
    return buffer.getvalue()


each_archive = pytest.mark.parametrize(
    ("name", "pack"), [("a.zip", pack_zip), ("a.tar.gz", pack_tar), ("a.tgz", pack_tar), ("a.7z", pack_7z)]
)


@each_archive
def test_an_archive_is_read_like_a_folder(write, tmp_path, name, pack):
    members = {"fr/pluie.txt": b"La pluie tombe.", "regen.html": b"<p>Regen</p>", "x.exe": b"MZ"}
    path = write(name, pack(members))
    write("Sun.txt", "Sun")
    sun, *documents = read_documents(tmp_path)
    assert sun.id == "Sun.txt"
    assert [(d.id, d.lang, d.text) for d in documents] == [
        (f"{name}/regen.html", "", "Regen"),
        (f"{name}/fr/pluie.txt", "fr", "La pluie tombe."),
    ]
    assert [d.meta["member"] for d in documents] == ["regen.html", "fr/pluie.txt"]
    assert {d.meta["path"] for d in documents} == {str(path)}


def pack_tnef(attachments, code_page=1252):
    """Pack attributes as [MS-OXTNEF] describes them: level, number, length, content, checksum."""

    def pack_attribute(level, number, content):
        return struct.pack("<BII", level, number, len(content)) + content + struct.pack("<H", sum(content) % 65536)

    attributes = [
        pack_attribute(1, 0x89006, struct.pack("<I", 0x10000)),
        pack_attribute(1, 0x69007, struct.pack("<II", code_page, 0)),
    ]
    for name, content in attachments.items():
        attributes.append(pack_attribute(2, 0x69002, bytes(14)))
        attributes.append(pack_attribute(2, 0x18010, name.encode(f"cp{code_page}") + b"\0"))
        attributes.append(pack_attribute(2, 0x6800F, content))
    return struct.pack("<IH", 0x223E9F78, 1) + b"".join(attributes)


def test_files_that_outlook_packed_into_winmail_dat_are_read(read):
    files = {"погода.txt": "Идёт дождь.".encode(), "../rain.html": b"<p>It rains</p>", "x.exe": b"MZ"}
    assert {(d.id, d.text) for d in read("winmail.dat", pack_tnef(files, code_page=1251))} == {
        ("winmail.dat/rain.html", "It rains"),
        ("winmail.dat/погода.txt", "Идёт дождь."),
    }


@pytest.mark.parametrize("size", [0, 5, 30, 70])
def test_a_damaged_winmail_dat_is_said_to_be_one(read, size):
    with pytest.raises(InputError, match="TNEF"):
        read("winmail.dat", pack_tnef({"rain.txt": b"Rain falls."})[:size])


def test_names_that_lead_out_of_the_folder_stay_inside(read, tmp_path):
    members = {"../../evil.txt": b"one", "/etc/passwd.txt": b"two", "C:\\windows\\x.txt": b"three"}
    assert sorted(d.text for d in read("sub/a.zip", pack_zip(members))) == ["one", "three", "two"]
    assert os.listdir(tmp_path) == ["sub"]


def test_links_in_archives_are_left_out(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("secret.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
        member = tarfile.TarInfo("rain.txt")
        member.size = 4
        archive.addfile(member, io.BytesIO(b"Rain"))
    assert [d.id for d in read_documents(path)] == ["a.tar/rain.txt"]


@each_archive
def test_an_archive_that_unpacks_to_very_much_is_refused(read, name, pack):
    with pytest.raises(InputError, match=r"unpacks to more than [\d,]+ bytes"):
        read(name, pack({"zeros.txt": bytes(40 * 2**20)}))


def test_archives_inside_archives_are_opened_three_deep(read):
    packed = pack_zip({"deep.txt": b"deep"})
    for level in range(1, 5):
        packed = pack_zip({f"{level - 1}.zip": packed, f"level{level}.txt": b"text"})
    errors = []
    documents = read("4.zip", packed, on_error=errors.append)
    assert [d.id for d in documents] == [
        "4.zip/3.zip/2.zip/level2.txt", "4.zip/3.zip/level3.txt", "4.zip/level4.txt",
    ]  # fmt: skip
    assert documents[0].meta["member"] == "3.zip/2.zip/level2.txt"
    assert [error.reason for error in errors] == ["archives inside archives are opened 3 deep; unpack it"]


def test_a_bad_file_in_an_archive_does_not_stop_the_others(read, tmp_path):
    errors = []
    documents = read("a.zip", pack_zip({"bad.docx": b"no zip", "good.txt": b"Rain"}), on_error=errors.append)
    assert [d.id for d in documents] == ["a.zip/good.txt"]
    assert [str(error).removeprefix(str(tmp_path)) for error in errors] == [
        "/a.zip/bad.docx: can't be read as .docx (File is not a zip file); it is damaged or of another format"
    ]


def test_a_damaged_archive_is_an_error(read):
    with pytest.raises(InputError, match=r"can't be unpacked as \.zip \(File is not a zip file\)"):
        read("a.zip", pack_zip({"a.txt": b"Rain"})[:30])


def make_message(subject, attachments):
    message = EmailMessage()
    message["Subject"], message["From"] = subject, "Anna <anna@example.org>"
    message.set_content("Siehe Anhang.")
    for name, data in attachments.items():
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


def test_attachments_are_documents_that_point_to_their_mail(write, tmp_path):
    attachments = {"plan.html": b"<title>Plan</title><p>Regen</p>", "logo.bin": b"x"}
    attachments["files.zip"] = pack_zip({"note.txt": b"Note"})
    attachments["winmail.dat"] = pack_tnef({"rain.txt": b"Rain falls."})
    path = write("fr/letter.eml", make_message("Der Plan", attachments))
    letter, *documents = read_documents(tmp_path)
    assert (letter.id, letter.title, "mail" in letter.meta) == ("fr/letter.eml", "Der Plan", False)
    assert [(d.id.removeprefix("fr/letter.eml/"), d.title) for d in documents] == [
        ("files.zip/note.txt", "Note"), ("plan.html", "Plan"), ("winmail.dat/rain.txt", "Rain falls."),
    ]  # fmt: skip
    assert {(d.meta["mail"], d.meta["path"], d.lang) for d in documents} == {("fr/letter.eml", str(path), "")}


def test_attachments_of_messages_in_an_mbox(write):
    message = make_message("Zwei", {"plan.txt": b"Regen"})
    path = write("inbox.mbox", b"From a\n" + make_message("Eins", {}) + b"\nFrom b\n" + message)
    documents = list(read_documents(path))
    assert [(d.id, d.meta["message"], d.meta.get("mail")) for d in documents] == [
        ("inbox.mbox:1", 1, None), ("inbox.mbox:2", 2, None), ("inbox.mbox:2/plan.txt", 2, "inbox.mbox:2"),
    ]  # fmt: skip
    assert {d.meta["path"] for d in documents} == {str(path)}


@pytest.fixture
def read_msg(tmp_path):
    """Write an Outlook message and read it: a text is stored as UTF-16 under the number of its property."""
    pytest.importorskip("olefile", reason="needs olefile")

    def name_streams(properties):
        streams = {}
        for name, value in properties.items():
            if isinstance(value, str):
                streams[f"__substg1.0_{name}001F"] = value.encode("utf-16-le")
            elif isinstance(value, dict):
                streams[name if name.startswith("__") else f"__substg1.0_{name}000D"] = name_streams(value)
            else:
                streams[f"__substg1.0_{name}0102"] = value
        return streams

    def write_and_read(properties):
        write_ole(tmp_path / "letter.msg", name_streams(properties))
        return list(read_documents(tmp_path / "letter.msg"))

    return write_and_read


def test_an_outlook_message_with_an_attachment(read_msg):
    headers = "Received: by example.org\r\nDate: Mon, 4 May 2020 10:00:00 +0200\r\n"
    texts = {"0037": "Погода", "1000": "Завтра будет\r\nдождь.", "0E04": "Boris", "007D": headers}
    sender = {"0C1A": "Анна", "0C1F": "anna@example.org"}
    attachment = {"3707": "план.txt", "3701": "Дождь".encode()}
    letter, plan = read_msg({**texts, **sender, "__attach_version1.0_#00000000": attachment})
    assert (letter.title, letter.text) == ("Погода", "Завтра будет\nдождь.")
    assert [letter.meta[name] for name in ("from", "to", "date")] == [
        "Анна <anna@example.org>", "Boris", "Mon, 4 May 2020 10:00:00 +0200",
    ]  # fmt: skip
    assert (plan.id, plan.text, plan.meta["mail"]) == ("letter.msg/план.txt", "Дождь", "letter.msg")


def make_pst_message(subject="Wetter", text=b"Morgen regnet es.", attachments=()):
    """An object with the attributes of `pypff.message`: pypff can read mailboxes and not write them."""
    return SimpleNamespace(
        subject=subject, sender_name="Anna", transport_headers="Date: Mon, 4 May 2020 10:00:00 +0200\r\n",
        delivery_time=None, plain_text_body=text, html_body=None, rtf_body=None, record_sets=[],
        number_of_attachments=len(attachments), get_attachment=lambda number: attachments[number],
    )  # fmt: skip


def make_pst_attachment(name, content, content_id=""):
    texts = {0x3707: name, 0x3712: content_id}
    entries = [SimpleNamespace(entry_type=key, data=text, data_as_string=text) for key, text in texts.items()]
    return SimpleNamespace(
        record_sets=[SimpleNamespace(entries=entries)],
        get_size=lambda: len(content), read_buffer=lambda size: content[:size],
    )  # fmt: skip


def make_pst_folder(name, messages, folders=()):
    """An object with the attributes of `pypff.folder`; a message that is an error is raised."""

    def get_sub_message(number):
        if isinstance(messages[number], Exception):
            raise messages[number]
        return messages[number]

    return SimpleNamespace(
        name=name, number_of_sub_messages=len(messages), sub_folders=folders, get_sub_message=get_sub_message
    )


def test_a_message_of_a_pst_mailbox_becomes_a_mail_file(read):
    attachments = [make_pst_attachment("plan.txt", b"Regen"), make_pst_attachment("logo.png", bytes(20_000), "logo@1")]
    errors = []
    eml = build_eml(read_message(make_pst_message(attachments=attachments)))
    letter, plan = read("1.eml", eml, on_error=errors.append)
    assert (letter.title, letter.text, letter.meta["from"]) == ("Wetter", "Morgen regnet es.", "Anna")
    assert (plan.id, plan.text) == ("1.eml/plan.txt", "Regen")
    assert errors == []  # the logo is not taken for a scan


def test_what_cannot_be_read_in_a_mailbox_leaves_the_rest(tmp_path):
    damaged = OSError(
        "pypff_folder_get_sub_message: unable to get item. libpff_x: unsupported value type: 0. libpff_y: no"
    )
    settings = SimpleNamespace()  # an item that is no message has none of its attributes
    inbox = make_pst_folder("Inbox", [make_pst_message("Eins"), damaged, settings, make_pst_message("Zwei")])
    part = write_messages(make_pst_folder(None, [], [inbox]), MemberWriter(__file__, tmp_path), 0)
    assert sorted(path.name for path in (tmp_path / "Inbox").iterdir()) == ["1.eml", "4.eml"]
    assert part.next_message is None
    assert part.problems == [
        "1 items of the folder 'Inbox' can't be read (unsupported value type: 0); the others are read"
    ]


def test_a_large_mailbox_is_read_in_parts(tmp_path):
    messages = [make_pst_message(f"Brief {number}") for number in range(MESSAGES_PER_PART)]
    root = make_pst_folder(None, [], [make_pst_folder("a", messages[:200]), make_pst_folder("b", messages)])
    first_message, subjects = 0, []
    while first_message is not None:
        folder = tmp_path / str(first_message)
        folder.mkdir()
        first_message = write_messages(root, MemberWriter(__file__, folder), first_message).next_message
        files = list(folder.rglob("*.eml"))
        assert len(files) <= MESSAGES_PER_PART
        subjects += [document.title for file in files for document in read_documents(file)]
    assert sorted(subjects) == sorted(
        [f"Brief {n}" for n in range(200)] + [f"Brief {n}" for n in range(MESSAGES_PER_PART)]
    )


def test_a_file_that_is_no_mailbox_is_refused_with_the_reason(read):
    pytest.importorskip("pypff", reason="needs libpff-python")
    with pytest.raises(InputError, match=r"old\.pst: is no Outlook mailbox, or damaged \(.+\); repair it"):
        read("old.pst", b"!BDN" + bytes(600))


def test_a_message_attached_to_an_outlook_message_is_a_document(read_msg):
    inner = {"0037": "Погода", "1000": "Завтра будет дождь."}
    letter, attached = read_msg({"0037": "Weiter", "__attach_version1.0_#00000000": {"3701": inner}})
    assert (letter.title, letter.text) == ("Weiter", "")
    assert (attached.title, attached.text, attached.meta["mail"]) == ("Погода", "Завтра будет дождь.", "letter.msg")


def compress_rtf(tokens):
    """Write bytes, and references of two bytes, in groups of eight behind a byte of flags ([MS-OXRTFCP] 2.1.3.1)."""
    content = b""
    for start in range(0, len(tokens), 8):
        group = tokens[start : start + 8]
        flags = sum((len(token) == 2) << bit for bit, token in enumerate(group))
        content += bytes([flags]) + b"".join(group)
    return content


def test_an_outlook_message_that_has_only_rich_text(read_msg):
    literals = b"{\\rtf1 Regen "
    start, length = 207 + literals.index(b"Regen"), len(b"Regen ")
    reference = (start << 4 | length - 2).to_bytes(2, "big")
    raw_size = len(literals) + length + len(b"}")
    end = ((207 + raw_size) << 4).to_bytes(2, "big")
    content = compress_rtf([*(bytes([byte]) for byte in literals), reference, b"}", end])
    data = struct.pack("<II4sI", len(content) + 12, raw_size, b"LZFu", 0) + content
    (letter,) = read_msg({"0037": "Wetter", "1009": data})
    assert letter.text == "Regen Regen"
