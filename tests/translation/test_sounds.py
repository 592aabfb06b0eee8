"""What a name may sound like in another language: shares worked by hand."""

import pytest

from paragloss.translation import sounds
from paragloss.translation.sounds import classify_consonants, list_consonant_variants, list_pronunciations


@pytest.mark.parametrize(("consonants", "channel", "variants"), [
    ("BRN", {"B": {"B": 0.75, "P": 0.25}, "R": {"R": 0.5, "L": 0.5}},
     [("BRN", 0.375), ("BLN", 0.375), ("PRN", 0.125), ("PLN", 0.125)]),
    ("BRN", {}, [("BRN", 1.0)]),  # unlisted consonants stay
    ("BRN", {"B": {"B": 1.0, "P": 0.02}}, [("BRN", 1.0), ("PRN", 0.02)]),
    ("BRN", {"B": {"B": 1.0, "P": 0.019}}, [("BRN", 1.0)]),  # too rare
    ("BRN", {"B": {"": 0.9, "B": 0.1}}, [("BRN", 0.1)]),  # a name needs three consonants
])  # fmt: skip
def test_consonants_have_variants_by_their_probabilities(consonants, channel, variants):
    assert list_consonant_variants(consonants, channel) == variants


def test_variants_with_the_same_sound_are_added_up():
    assert list_consonant_variants("BPRN", {"B": {"B": 0.5, "": 0.5}, "P": {"P": 0.5, "BP": 0.5}})[0] == ("BPRN", 0.5)


def test_eight_variants_are_kept_by_default():
    assert len(list_consonant_variants("BBRN", {"B": dict.fromkeys("BPV", 1 / 3)})) == 8
    channel = {"B": {"B": 0.5, "P": 0.3, "V": 0.2}}
    assert list_consonant_variants("BRN", channel, limit=2) == [("BRN", 0.5), ("PRN", 0.3)]


def test_a_name_needs_three_consonants():
    assert list_pronunciations("Ma", "en", "ru") == ()
    assert list_pronunciations("Mara", "en", "ru") == ()


def test_shares_sum_to_one_into_english_from_it_and_between_others():
    for source, target in (("en", "ar"), ("ar", "en"), ("ru", "ar")):
        assert sum(share for _, share in list_pronunciations("Merkel", source, target)) == pytest.approx(1)
    # Arabic has no P; what is said B there may be a P in English
    assert {"BRS", "PRS"} <= {symbols for symbols, _ in list_pronunciations("باريس", "ar", "en")}
    assert list_pronunciations("Paris", "en", "ar")[0][0] == "BRS"
    assert list_pronunciations("Paris", "ru", "ar") == list_pronunciations("Paris", "en", "ar")
    assert list_pronunciations("Merkel", "en", "xx") == (("MRKL", 1.0),)


def test_names_are_alike_by_the_kinds_of_their_consonants():
    assert classify_consonants("MRKL") == classify_consonants("NLGR")
    assert classify_consonants("HMRKL") == classify_consonants("MRKL")  # H is said or not
    assert classify_consonants("MRKL") != classify_consonants("MRTL")


def test_only_chinese_has_characters_for_names():
    assert "罗" in sounds.read_name_characters("zh")
    assert sounds.read_name_characters("ru") == frozenset()
