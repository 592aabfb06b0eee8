"""Names across scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paragloss.translation.transliteration import carry, from_latin, to_latin


@pytest.mark.parametrize(
    ("written", "latin"),
    [
        ("Горбачёв", "Gorbachyov"),
        ("Щука", "Shchuka"),
        ("Київ", "Kiyiv"),
        ("Αθήνα", "Athina"),
        ("Σωκράτης", "Sokratis"),
        ("さくら", "sakura"),
        ("カメラ", "kamera"),
        ("부산", "busan"),
        ("Wien 2026", "Wien 2026"),
    ],
)
def test_into_latin(written, latin):
    assert to_latin(written) == latin


def test_out_of_latin_the_longest_rule_comes_first():
    assert from_latin("Chekhov", "Cyrl") == "Чехов"
    assert from_latin("Shchukin", "Cyrl") == "Щукин"
    assert from_latin("Athens", "Grek") == "Αθενσ"


def test_a_word_is_written_in_the_script_of_the_language():
    assert carry("Ivanov", "ru") == "Иванов"
    assert carry("Иванов", "en") == "Ivanov"
    assert carry("Иванов", "el") == "Ιβανοβ"
    assert carry("Ivanov", "de") == "Ivanov"
    assert carry("Ivanov", "th") == "Ivanov"  # no way known: as it is


@given(st.text(max_size=20))
def test_latin_text_is_left_alone_and_nothing_breaks(text):
    assert to_latin(text) == to_latin(to_latin(text))
    carry(text, "ru")
