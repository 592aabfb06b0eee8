import gzip

import pytest

from paragloss.errors import InputError
from paragloss.lab.aligned_files import parse_language_pair, read_aligned, read_text_pairs
from paragloss.types import Concept


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("en-de.tsv", ("en", "de")),
        ("x/en-de.tsv.gz", ("en", "de")),
        ("news.en-fr.tsv", ("en", "fr")),
        ("en-pt-br.tsv", ("en", "pt-br")),
        ("zh_hant-en.tsv", ("zh_hant", "en")),
        ("mutual_links.tsv", None),
        ("en.tsv", None),
    ],
)
def test_the_pair_is_in_the_name(name, pair):
    assert parse_language_pair(name) == pair


def test_pairs_become_concepts_called_after_their_line(tmp_path):
    folder = tmp_path / "talks"
    folder.mkdir()
    path = folder / "en-fr.tsv.gz"
    path.write_bytes(gzip.compress(b"rain\tpluie\n\nsun \tsoleil\tunread\n"))
    assert list(read_text_pairs(path)) == [("rain", "pluie"), ("sun", "soleil")]
    assert read_aligned([path]) == [
        Concept("talks/en-fr:1", {"en": "rain", "fr": "pluie"}),
        Concept("talks/en-fr:3", {"en": "sun", "fr": "soleil"}),
    ]


def test_a_line_without_two_texts_is_an_error(tmp_path):
    path = tmp_path / "en-de.tsv"
    path.write_text("good\tgut\nlonely\nhalf\t \nbad\tschlecht\n")
    with pytest.raises(InputError, match=r"en-de.tsv:2: a pair needs two texts with a tab"):
        list(read_text_pairs(path))
    errors = []
    assert list(read_text_pairs(path, on_error=errors.append)) == [("good", "gut"), ("bad", "schlecht")]
    assert len(errors) == 2


def test_kinds_may_be_mixed_and_folders_given(tmp_path):
    (tmp_path / "de.jsonl").write_text('{"concept": "r", "lang": "de", "text": "Regen"}\n')
    (tmp_path / "en-de.tsv").write_text("sun\tSonne\n")
    (tmp_path / "links.tsv").write_text("a\tb\n")  # no pair of languages: not an aligned text
    table = tmp_path / "more" / "t.csv"
    table.parent.mkdir()
    table.write_text("concept,lang,title,text\nr,en,Rain,rain falls\n")
    concepts = read_aligned([tmp_path, table])
    assert concepts[0] == Concept("r", {"de": "Regen", "en": "rain falls"}, {"en": "Rain"})
    assert concepts[1].texts == {"en": "sun", "de": "Sonne"}
    assert len(concepts) == 2
    assert read_aligned(tmp_path / "de.jsonl") == [Concept("r", {"de": "Regen"})]


def test_files_without_aligned_texts_are_an_error(tmp_path):
    with pytest.raises(InputError, match=r"no format for aligned texts ends in '.pdf'; supported: .jsonl"):
        read_aligned([tmp_path / "a.pdf"])
    with pytest.raises(InputError, match="no aligned texts in this folder"):
        read_aligned(tmp_path)
