"""Archives are read like folders, mail attachments as documents of their own; limits hold for hostile files."""

import io
import os
import struct
import tarfile
import zipfile
from email.message import EmailMessage
from types import SimpleNamespace

import pytest
from ole_files import write_ole

from paragloss.errors import InputError
from paragloss.formats.documents import read_documents
from paragloss.formats.eml import build_eml
from paragloss.formats.pst import MESSAGES_PER_PART, read_message, write_messages
from paragloss.formats.unpacking import MemberWriter


def write_zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def write_tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


def write_7z(path, members):
    py7zr = pytest.importorskip("py7zr", reason="needs py7zr")
    with py7zr.SevenZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(data, name)
    return path


@pytest.mark.parametrize(
    ("name", "write_archive"), [("a.zip", write_zip), ("a.tar.gz", write_tar), ("a.tgz", write_tar), ("a.7z", write_7z)]
)
def test_an_archive_is_read_like_a_folder(tmp_path, name, write_archive):
    path = write_archive(
        tmp_path / name, {"fr/pluie.txt": b"La pluie tombe.", "regen.html": b"<p>Regen</p>", "x.exe": b"MZ"}
    )
    documents = list(read_documents(path))
    assert [(d.id, d.lang, d.text) for d in documents] == [
        (f"{name}/regen.html", "", "Regen"),
        (f"{name}/fr/pluie.txt", "fr", "La pluie tombe."),
    ]
    assert [d.meta["member"] for d in documents] == ["regen.html", "fr/pluie.txt"]
    assert {d.meta["path"] for d in documents} == {str(path)}


def test_an_archive_among_other_files_of_a_folder(tmp_path):
    write_zip(tmp_path / "b.zip", {"rain.txt": b"Rain falls."})
    (tmp_path / "a.txt").write_text("Sun")
    assert [d.id for d in read_documents(tmp_path)] == ["a.txt", "b.zip/rain.txt"]


def write_tnef(path, attachments, code_page=1252):
    """Write attributes as [MS-OXTNEF] describes them: level, number, length, content, checksum."""

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
    path.write_bytes(struct.pack("<IH", 0x223E9F78, 1) + b"".join(attributes))
    return path


def test_files_that_outlook_packed_into_winmail_dat_are_read(tmp_path):
    files = {"погода.txt": "Идёт дождь.".encode(), "../rain.html": b"<p>It rains</p>", "x.exe": b"MZ"}
    path = write_tnef(tmp_path / "winmail.dat", files, code_page=1251)
    assert {(d.id, d.text) for d in read_documents(path)} == {
        ("winmail.dat/rain.html", "It rains"),
        ("winmail.dat/погода.txt", "Идёт дождь."),
    }


def test_a_mail_with_winmail_dat_has_the_files_in_it(tmp_path):
    packed = write_tnef(tmp_path / "winmail.dat", {"rain.txt": b"Rain falls."}).read_bytes()
    message = EmailMessage()
    message["Subject"], message["From"] = "Weather", "anna@example.org"
    message.set_content("See the file.")
    message.add_attachment(packed, maintype="application", subtype="ms-tnef", filename="winmail.dat")
    (tmp_path / "winmail.dat").unlink()
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    assert [(d.id, d.text) for d in read_documents(tmp_path)][1:] == [("a.eml/winmail.dat/rain.txt", "Rain falls.")]


@pytest.mark.parametrize("size", [0, 5, 30, 70])
def test_a_damaged_winmail_dat_is_said_to_be_one(tmp_path, size):
    path = write_tnef(tmp_path / "winmail.dat", {"rain.txt": b"Rain falls."})
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(InputError, match="TNEF"):
        list(read_documents(path))


def test_names_that_lead_out_of_the_folder_stay_inside(tmp_path):
    members = {"../../evil.txt": b"one", "/etc/passwd.txt": b"two", "C:\\windows\\x.txt": b"three"}
    (tmp_path / "sub").mkdir()
    path = write_zip(tmp_path / "sub" / "a.zip", members)
    assert sorted(d.text for d in read_documents(path)) == ["one", "three", "two"]
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


@pytest.mark.parametrize(("name", "write_archive"), [("a.zip", write_zip), ("a.tar.gz", write_tar), ("a.7z", write_7z)])
def test_an_archive_that_unpacks_to_very_much_is_refused(tmp_path, name, write_archive):
    path = write_archive(tmp_path / name, {"zeros.txt": bytes(40 * 2**20)})
    with pytest.raises(InputError, match=r"unpacks to more than [\d,]+ bytes"):
        list(read_documents(path))


def test_archives_inside_archives_are_opened_three_deep(tmp_path):
    path = write_zip(tmp_path / "0.zip", {"deep.txt": b"deep"})
    for level in range(1, 5):
        path = write_zip(tmp_path / f"{level}.zip", {path.name: path.read_bytes(), f"level{level}.txt": b"text"})
    errors = []
    documents = list(read_documents(path, on_error=errors.append))
    assert [d.id for d in documents] == [
        "4.zip/3.zip/2.zip/level2.txt", "4.zip/3.zip/level3.txt", "4.zip/level4.txt",
    ]  # fmt: skip
    assert documents[0].meta["member"] == "3.zip/2.zip/level2.txt"
    assert [error.reason for error in errors] == ["archives inside archives are opened 3 deep; unpack it"]


def test_a_bad_file_in_an_archive_does_not_stop_the_others(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"bad.docx": b"no zip", "good.txt": b"Rain"})
    errors = []
    assert [d.id for d in read_documents(path, on_error=errors.append)] == ["a.zip/good.txt"]
    assert [str(error).removeprefix(str(tmp_path)) for error in errors] == [
        "/a.zip/bad.docx: can't be read as .docx (File is not a zip file); it is damaged or of another format"
    ]


def test_a_damaged_archive_is_an_error(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"a.txt": b"Rain"})
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(InputError, match=r"can't be unpacked as \.zip \(File is not a zip file\)"):
        list(read_documents(path))


def make_message(subject, attachments):
    message = EmailMessage()
    message["Subject"], message["From"] = subject, "Anna <anna@example.org>"
    message.set_content("Siehe Anhang.")
    for name, data in attachments.items():
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


def test_attachments_are_documents_that_point_to_their_mail(tmp_path):
    attachments = {"plan.html": b"<title>Plan</title><p>Regen</p>", "logo.bin": b"x", "files.zip": b""}
    attachments["files.zip"] = write_zip(tmp_path / "files.zip", {"note.txt": b"Note"}).read_bytes()
    path = tmp_path / "letter.eml"
    path.write_bytes(make_message("Der Plan", attachments))
    letter, note, plan = read_documents(path)
    assert (letter.id, letter.title, "mail" in letter.meta) == ("letter.eml", "Der Plan", False)
    assert (note.id, note.text) == ("letter.eml/files.zip/note.txt", "Note")
    assert (plan.id, plan.title) == ("letter.eml/plan.html", "Plan")
    assert {d.meta["mail"] for d in (note, plan)} == {"letter.eml"}
    assert {d.meta["path"] for d in (note, plan)} == {str(path)}


def test_attachments_of_messages_in_an_mbox(tmp_path):
    path = tmp_path / "inbox.mbox"
    message = make_message("Zwei", {"plan.txt": b"Regen"})
    path.write_bytes(b"From a\n" + make_message("Eins", {}) + b"\nFrom b\n" + message)
    documents = list(read_documents(path))
    assert [(d.id, d.meta["message"], d.meta.get("mail")) for d in documents] == [
        ("inbox.mbox:1", 1, None), ("inbox.mbox:2", 2, None), ("inbox.mbox:2/plan.txt", 2, "inbox.mbox:2"),
    ]  # fmt: skip
    assert {d.meta["path"] for d in documents} == {str(path)}


def test_an_outlook_message_with_an_attachment(tmp_path):
    pytest.importorskip("olefile", reason="needs olefile")
    path = tmp_path / "letter.msg"
    utf16 = lambda text: text.encode("utf-16-le")  # noqa: E731
    attachment = {
        "__substg1.0_3707001F": utf16("план.txt"),
        "__substg1.0_37010102": "Дождь".encode(),
    }
    headers = "Received: by example.org\r\nDate: Mon, 4 May 2020 10:00:00 +0200\r\n"
    streams = {
        "__substg1.0_0037001F": utf16("Погода"),
        "__substg1.0_1000001F": utf16("Завтра будет\r\nдождь."),
        "__substg1.0_0C1A001F": utf16("Анна"),
        "__substg1.0_0C1F001F": utf16("anna@example.org"),
        "__substg1.0_0E04001F": utf16("Boris"),
        "__substg1.0_007D001F": utf16(headers),
        "__attach_version1.0_#00000000": attachment,
    }
    write_ole(path, streams)
    letter, plan = read_documents(path)
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


def test_a_message_of_a_pst_mailbox_becomes_a_mail_file(tmp_path):
    attachments = [make_pst_attachment("plan.txt", b"Regen"), make_pst_attachment("logo.png", bytes(20_000), "logo@1")]
    path = tmp_path / "1.eml"
    path.write_bytes(build_eml(read_message(make_pst_message(attachments=attachments))))
    errors = []
    letter, plan = read_documents(path, on_error=errors.append)
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


def test_a_file_that_is_no_mailbox_is_refused_with_the_reason(tmp_path):
    pytest.importorskip("pypff", reason="needs libpff-python")
    (tmp_path / "old.pst").write_bytes(b"!BDN" + bytes(600))
    with pytest.raises(InputError, match=r"old\.pst: is no Outlook mailbox, or damaged \(.+\); repair it"):
        list(read_documents(tmp_path / "old.pst"))


def test_a_message_attached_to_an_outlook_message_is_a_document(tmp_path):
    pytest.importorskip("olefile", reason="needs olefile")
    inner = {
        "__substg1.0_0037001F": "Погода".encode("utf-16-le"),
        "__substg1.0_1000001F": "Завтра будет дождь.".encode("utf-16-le"),
    }
    streams = {
        "__substg1.0_0037001F": "Weiter".encode("utf-16-le"),
        "__attach_version1.0_#00000000": {"__substg1.0_3701000D": inner},
    }
    write_ole(tmp_path / "letter.msg", streams)
    letter, attached = read_documents(tmp_path / "letter.msg")
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


def test_an_outlook_message_that_has_only_rich_text(tmp_path):
    pytest.importorskip("olefile", reason="needs olefile")
    literals = b"{\\rtf1 Regen "
    start, length = 207 + literals.index(b"Regen"), len(b"Regen ")
    reference = (start << 4 | length - 2).to_bytes(2, "big")
    raw_size = len(literals) + length + len(b"}")
    end = ((207 + raw_size) << 4).to_bytes(2, "big")
    content = compress_rtf([*(bytes([byte]) for byte in literals), reference, b"}", end])
    data = struct.pack("<II4sI", len(content) + 12, raw_size, b"LZFu", 0) + content
    write_ole(tmp_path / "a.msg", {"__substg1.0_0037001F": "Wetter".encode("utf-16-le"), "__substg1.0_10090102": data})
    (letter,) = read_documents(tmp_path / "a.msg")
    assert letter.text == "Regen Regen"
