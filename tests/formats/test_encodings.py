"""Encodings are guessed from the bytes; sentences written for this test."""

import pytest

from paragloss.formats.encodings import detect_encoding
from paragloss.formats.text import read_lines, read_text

TEXTS = {
    "cp1251": "Старый мост закрыли на ремонт, и теперь все едут через соседнюю деревню.",
    "koi8-r": "Старый мост закрыли на ремонт, и теперь все едут через соседнюю деревню.",
    "cp1253": "Η παλιά γέφυρα έκλεισε για επισκευές και όλοι περνούν από το χωριό.",
    "cp1255": "הגשר הישן נסגר לתיקונים וכולם נוסעים דרך הכפר הסמוך",
    "cp1256": "أغلق الجسر القديم للإصلاح والجميع يمرون عبر القرية المجاورة",
    "cp932": "古い橋は修理のために閉鎖され、みんな隣の村を通っています。",
    "euc_jp": "古い橋は修理のために閉鎖され、みんな隣の村を通っています。",
    "gb18030": "这座旧桥因为维修而关闭，人们现在都从旁边的村子里经过，他们说这是一年中最不方便的时候。",
    "cp949": "오래된 다리는 수리를 위해 닫혔고 모두가 옆 마을을 지나고 있습니다.",
    "cp1252": "Le vieux pont a été fermé à cause des réparations, et tout le monde passe par le village voisin.",
    "cp1250": "Starý most byl uzavřen kvůli opravám a všichni teď jezdí přes sousední vesnici.",
    "cp1254": "Eski köprü onarım için kapatıldı ve herkes komşu köyden geçiyor, çünkü başka yol yok.",
    "utf-16-le": "The old bridge was closed for repairs, and everyone goes through the next village.",
    "utf-16": "Старый мост закрыли на ремонт.",
}
UTF8_TEXT = "Старый мост закрыли на ремонт. Le pont est fermé."


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("iso8859-2", "Stary most został zamknięty z powodu remontu, więc wszyscy jeżdżą przez sąsiednią wieś."),
        ("iso8859-2", "Starý most byl uzavřen kvůli opravám a všichni teď jezdí přes sousední vesnici."),
        ("cp852", "Stary most został zamknięty z powodu remontu, więc wszyscy jeżdżą przez sąsiednią wieś."),
        ("cp850", "Die alte Brücke wurde für Reparaturen gesperrt, und alle fahren über die Dörfer."),
        ("cp850", "Il ponte è chiuso e nessuno sa perché: la città dovrà fare più lavori."),
        ("mac_roman", "Le vieux pont a été fermé à cause des réparations, et tout le monde passe par le village."),
    ],
)
def test_encodings_of_old_systems_are_told_by_the_language_s_letters(encoding, text):
    assert text.encode(encoding).decode(detect_encoding(text.encode(encoding))) == text


@pytest.mark.parametrize("encoding", TEXTS)
def test_files_are_read_by_the_encoding_that_their_letters_tell_and_the_guess_is_said(write, encoding):
    path = write("a.txt", f"{TEXTS[encoding]}\nsecond\n".encode(encoding))
    with pytest.warns(UserWarning, match=f"read as {encoding}, which it looks like"):
        assert [line for _, line in read_lines(path)] == [TEXTS[encoding], "second"]
    with pytest.warns(UserWarning, match=f"read as {encoding}"):
        assert read_text(path).split("\n")[0] == TEXTS[encoding]


@pytest.mark.parametrize("data", [UTF8_TEXT.encode(), UTF8_TEXT.encode() + b"\xff", UTF8_TEXT[:29].encode()[:-1]])
def test_a_damaged_utf_8_file_is_no_other_encoding(data):
    assert detect_encoding(data) == "utf-8"


def test_a_long_file_is_judged_where_it_leaves_ascii(write):
    path = write("a.txt", b"plain words of a list\n" * 9000 + TEXTS["cp1251"].encode("cp1251"))
    with pytest.warns(UserWarning, match="read as cp1251"):
        assert read_text(path).endswith(TEXTS["cp1251"])
