import gzip
import io
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from vector_files import write_vectors

from paragloss.errors import InputError
from paragloss.formats.vectors import read_vectors

M = np.array([[0.5, -1.25, 3.0], [1e-30, 2.0, 0.1]], dtype=np.float32)


@pytest.fixture
def file(write):
    return lambda data, name="vectors.txt": write(name, data)


@pytest.mark.parametrize("format", ["word2vec", "glove", "binary"])
@pytest.mark.parametrize("name", ["v.txt", "v.vec.gz", "v.bin"])
def test_every_float_comes_back(tmp_path, format, name):
    write_vectors(tmp_path / name, ["été", "水"], M, format=format)
    words, matrix = read_vectors(tmp_path / name)
    assert words == ["été", "水"]
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, M)


finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
word = st.text(min_size=1, max_size=6).filter(
    lambda w: len(w.split()) == 1 and w == w.strip() and "\0" not in w and w[0] != "\ufeff"
)


@settings(max_examples=50, deadline=None)
@given(st.lists(word, min_size=1, max_size=4, unique=True), st.data())
def test_any_words_and_floats_come_back(tmp_path_factory, words, data):
    matrix = data.draw(arrays(np.float32, (len(words), 3), elements=finite))
    for format in ("word2vec", "binary"):
        path = tmp_path_factory.getbasetemp() / "any.vec"
        write_vectors(path, words, matrix, format=format)
        words_read, values = read_vectors(path)
        assert words_read == words
        np.testing.assert_array_equal(values, matrix)


def test_the_word_is_everything_before_the_last_fields(file):
    cr5 = gzip.compress("new york 1 2 3\nthe 4 5 6\na 7 8 9\nno\u00a0break 0 0 1\n".encode())
    words, matrix = read_vectors(file(cr5, "joint_28_en.txt.gz"))
    assert words == ["new york", "the", "a", "no\u00a0break"]
    np.testing.assert_array_equal(matrix, [[1, 2, 3], [4, 5, 6], [7, 8, 9], [0, 0, 1]])
    words, matrix = read_vectors(file("2 3\nthe 1 2 3 \nof 4 5 6 \n"))  # fastText ends lines with a blank
    assert words == ["the", "of"]
    np.testing.assert_array_equal(matrix, [[1, 2, 3], [4, 5, 6]])


def test_many_blocks_agree_with_numpy(file):
    values = np.random.default_rng(0).normal(size=(10_000, 4)).astype(np.float32)
    buffer = io.StringIO()
    for row, line in enumerate(values):
        buffer.write(f"w{row} " + " ".join(map(str, line)) + "\n")
    words, matrix = read_vectors(file(buffer.getvalue()))
    assert words == [f"w{row}" for row in range(10_000)]
    np.testing.assert_array_equal(matrix, values)


def test_of_equal_words_the_first_is_kept(file):
    with pytest.warns(UserWarning, match="1 repeated words"):
        words, matrix = read_vectors(file("a 1 2\nb 3 4\na 5 6\n"))
    assert words == ["a", "b"]
    np.testing.assert_array_equal(matrix, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("a 1 2 3\nshort 1 2\nb 4 5 6\nc 7 8 9\n", ":2: 2 numbers after the word where 3 are expected"),
        ("a 1 2 3\nword 1 two 3\nb 4 5 6\n", ":2: no finite numbers"),
        ("a 1 2 3\nword 1 nan 3\nb 4 5 6\n", ":2: no finite numbers"),
        ("a 1 2 3\nword 1 1e99 3\nb 4 5 6\n", ":2: no finite numbers"),
        ("a 1 2 3\n 1 2 3\nb 4 5 6\n", ":2: 3 numbers after the word"),
        ("\n\n2 3\nrain 1 2 3\nsnow 4 5 6\n", "expected a number of words and one of dimensions, got ''"),
        ("", "empty"),
        ("just words here\nno numbers at\n", "no finite numbers"),
        ("word\nword\n", "expected lines 'word v1 v2 ...'"),
        ("5 2\na 1 2\n", "promises 5 words, the file has 1"),
        (b"2 3\na " + M[0].tobytes() + b"\nb " + M[1].tobytes()[:5], "cut off"),
        (b"2 99999999\na " + M[0].tobytes(), "99999999 dimensions"),
        (b"1 3\n\xff\xfe " + M[0].tobytes(), "word 1 is not UTF-8"),
        (b"9 3\na " + b"\xff" * 12 + b"\n", "cut off"),
    ],
)
def test_bad_files(file, data, message):
    with pytest.raises(InputError, match=message):
        read_vectors(file(data))


@pytest.mark.parametrize("name", ["v.vec.gz", "v.pkl.gz"])
def test_a_damaged_packed_file(file, name):
    packed = bytearray(gzip.compress(b"2 3\na 1 2 3\nb 4 5 6\n" * 50, mtime=0))
    packed[12:30] = b"\xff" * 18
    with pytest.raises(InputError, match="damaged or cut off"):
        read_vectors(file(bytes(packed), name))


@pytest.mark.parametrize("name", ["embeddings_pkl.pkl", "en.vec"])
def test_a_pickle_is_refused_unopened(file, name):
    with pytest.raises(InputError, match="a pickle runs what it says"):
        read_vectors(file(pickle.dumps((("a",), M[:1]), protocol=2), name))
