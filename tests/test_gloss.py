import numpy as np
import pytest

from paragloss.analysis import analyzer
from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.gloss import compute_contributions, make_snippet
from paragloss.vocabulary import Vocabulary


def snippet_of(tokenizer, weights, **options):
    return make_snippet(tokenizer.select_weighted(weights), weights, **options)


def list_marks(passage):
    return [passage.text[start:end] for start, end in passage.marks]


def test_the_passage_with_most_different_terms_wins_over_one_repeated():
    text = "Cats cats cats cats. " + "filler words here " * 40 + "A cat met a dog near the river."
    english = analyzer("en")
    weights = dict.fromkeys(english.terms("cat dog river"), 1.0)
    passage = snippet_of(english.tokenize(text), weights, width=60)
    assert {"cat", "dog", "river"} <= set(list_marks(passage))
    assert passage.text.startswith("… ")


def test_without_a_match_the_beginning_is_shown():
    passage = snippet_of(analyzer("en").tokenize("First words of a text."), {"zebra": 1.0})
    assert passage.text == "First words of a text."
    assert passage.marks == ()


@pytest.mark.parametrize(
    ("lang", "text", "word"),
    [("zh", "火山灰落在村庄和田野上。", "村庄"), ("hi", "ज्वालामुखी की राख गाँव पर गिरी।", "राख")],
)
def test_marks_stand_where_the_words_are(lang, text, word):
    tokenizer = analyzer(lang)
    passage = snippet_of(tokenizer.tokenize(text), dict.fromkeys(tokenizer.terms(word), 1.0))
    assert word in list_marks(passage)


def test_white_space_is_folded_and_marks_follow():
    text = "Ash\n\n   lava   river\n\nroof  door"
    passage = snippet_of(analyzer("en").tokenize(text), dict.fromkeys(analyzer("en").terms("lava river door"), 1.0))
    assert passage.text == "Ash lava river roof door"
    assert list_marks(passage) == ["lava", "river", "door"]


def test_contributions_add_up_to_the_score_of_a_linear_model():
    table = np.array([[1, 0], [0.6, 0.8]], np.float32)
    tokenizer = analyzer("en").terms
    words = [tokenizer("lava")[0], tokenizer("ash")[0]]
    encoder = BagEncoder({"en": Tower(Vocabulary("en", words, [1, 1], 1), table)})
    shares = compute_contributions(encoder, np.array([1, 0], np.float32), "lava ash ash", "en")
    # idf is 1 for both; shares are 1/3 x 1 and 2/3 x 0.6
    assert shares == pytest.approx({words[0]: 1 / 3, words[1]: 0.4})


def test_a_passage_ends_between_words():
    text = "Cold floods drown whole villages and fields every single year."
    passage = snippet_of(analyzer("en").tokenize(text), dict.fromkeys(analyzer("en").terms("drown"), 1.0), width=22)
    assert passage.text.removesuffix(" …").split()[-1] in text.split()


def test_a_passage_ends_with_the_last_sentence_that_fits():
    text = "Ash fell on the roofs. Nobody slept. The wind turned. " + "Later the whole village was rebuilt. " * 3
    passage = snippet_of(analyzer("en").tokenize(text), {"ash": 1.0}, width=50)
    assert passage.text == "Ash fell on the roofs. Nobody slept. The wind turned. …"
