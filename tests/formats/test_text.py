import bz2
import gzip
import lzma
import tracemalloc

import pytest

from paragloss.errors import InputError
from paragloss.formats.text import (
    file_stem,
    format_suffix,
    is_language_code,
    open_output,
    parse_language_code,
    parse_lines,
    read_lines,
    read_text,
)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_told_by_the_bytes_not_the_name(write, pack):
    path = write("plain.txt", pack("één\r\n\ntwo".encode()))
    assert list(read_lines(path)) == [(1, "één"), (2, ""), (3, "two")]
    assert read_text(path) == "één\r\n\ntwo"


def test_a_byte_order_mark_is_no_text_and_only_newline_ends_a_line(write):
    path = write("a.txt", "\ufeffone\n\ufefftwo\na\u2028b\x85c\x0cd\n")
    assert list(read_lines(path)) == [(1, "one"), (2, "\ufefftwo"), (3, "a\u2028b\x85c\x0cd")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        ("Café é\nbl\u00fc ".encode() + b"\xe9\n", r":2: byte 0xe9 at offset 14 is not UTF-8.*iconv"),
        (b"ok\n\x00\x01", r":2: a zero byte at offset 3.*binary"),
        ("rain".encode("utf-16")[:-1], "looks like utf-16 and is not"),
        (gzip.compress(b"a line\n" * 1000)[:-20], "damaged or cut off"),
        (gzip.compress(b"a line\n" * 1000)[:-8] + bytes(8), "damaged or cut off"),
    ],
    ids=["empty", "blank", "a bad byte", "binary", "half of utf-16", "cut off", "bad checksum"],
)
@pytest.mark.filterwarnings("ignore:.*read as utf-16")
def test_what_is_no_text_is_one_line_of_error(write, data, message):
    path = write("bad.txt", data)
    with pytest.raises(InputError, match=message) as caught:
        list(read_lines(path))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    for path in (tmp_path / "nowhere.txt", tmp_path):
        with pytest.raises(InputError, match=r"can't be opened"):
            list(read_lines(path))


def test_a_line_over_the_limit_is_reported_and_the_next_one_still_read(write):
    longest = "x" * (2**24 - 1)  # with the newline as long as the limit
    path = write("long.txt", f"{longest}\n{longest}y\n{longest * 3}\nfour\n")
    with pytest.raises(InputError, match=r"long.txt:2: the line is longer than 16,777,216 bytes"):
        list(read_lines(path))
    errors = []
    assert list(read_lines(path, on_error=errors.append)) == [(1, longest), (4, "four")]
    assert len(errors) == 2


def test_an_endless_line_does_not_fill_the_memory(tmp_path):
    # 1 GiB of one line; as a sparse file and as a gzip bomb of about 1 MiB.
    sparse = tmp_path / "sparse.txt"
    with open(sparse, "wb") as out:
        out.truncate(2**30)
    bomb = tmp_path / "bomb.jsonl.gz"
    with gzip.open(bomb, "wb", compresslevel=1) as packed:
        for _ in range(256):
            packed.write(b"a" * 2**20)
    tracemalloc.start()
    try:
        for path in (sparse, bomb):
            with pytest.raises(InputError, match=r":1: the line is longer than 16,777,216 bytes"):
                list(read_lines(path))
        assert tracemalloc.get_traced_memory()[1] < 80 * 2**20
    finally:
        tracemalloc.stop()


def test_rows_give_errors_their_place(write):
    path = write("n.txt", "1\n\nx\n3\n")

    def parse(_, line):
        if not line.isdigit():
            raise InputError(f"{line!r} is no number")
        return int(line)

    with pytest.raises(InputError, match=r"n.txt:3: 'x' is no number"):
        list(parse_lines(path, parse))
    errors = []
    assert list(parse_lines(path, parse, on_error=errors.append)) == [1, 3]
    assert [str(error) for error in errors] == [f"{path}:3: 'x' is no number"]


def test_output_takes_its_name_only_when_complete(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(TypeError), open_output(path) as out:
        out.writelines(["new", None])
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]
    with open_output(path) as out:
        out.write("new é\n")
    assert path.read_bytes() == "new é\n".encode()


def test_gzipped_output_is_the_same_every_time(tmp_path):
    for name in ("a.gz", "b.gz"):
        with open_output(tmp_path / name) as out:
            out.write("same\n")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"same\n"


def test_output_to_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"can't be written"), open_output(tmp_path / "no" / "a.txt"):
        pass


@pytest.mark.parametrize("lang", ["", "e", "english", "e1", "en us", "日本", "xx"])
def test_unknown_languages_are_said(lang):
    with pytest.raises(InputError, match=r"unknown language code .*; expected an ISO 639 code"):
        parse_language_code(lang)


def test_parts_of_names_say_format_and_language():
    assert (file_stem("a/en-de.tsv.gz"), format_suffix("a/en-de.TSV.gz")) == ("en-de", ".tsv")
    assert (file_stem("a/x"), format_suffix("a/x")) == ("x", "")
    assert [part for part in ("fr", "pt-br", "src", "FR") if is_language_code(part)] == ["fr", "pt-br"]
