import warnings

import pytest

from paragloss.analysis import analyzer, check_yield

THAI = "เด็กอ่านหนังสือเก่าในห้องสมุด" * 12


def test_alarm_for_text_of_another_language():
    texts = [THAI, "A short English sentence about nothing at all. " * 10]
    counts = [len(analyzer("en").terms(text)) for text in texts]
    with pytest.warns(UserWarning, match=r"1 of 2 texts in 'en' .*such as 1 from \d+ letters") as caught:
        assert check_yield(texts, counts, "en") == 1
    assert len(caught) == 1


def test_no_alarm_for_text_of_its_own_language_nor_for_short_text_and_signs():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_yield([THAI], [len(analyzer("th").terms(THAI))], "th") == 0
        assert check_yield(["x" * 200, "-" * 5000, ""], [1, 0, 0], "en") == 0


def test_a_text_needs_more_than_one_term_per_forty_letters():
    # 201 letters need more than 5 terms: 40 * 5 = 200 < 201 <= 40 * 6.
    with pytest.warns(UserWarning, match="1 of 2"):
        assert check_yield(["x" * 201] * 2, [5, 6], "en") == 1
