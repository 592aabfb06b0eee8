"""Made-up languages that the encoders of this folder learn from, and how well they have."""

import numpy as np

from paragloss.types import Concept

#: Words of each language, by meaning. A sentence of `topics` holds words of one topic.
MEANINGS, TOPICS = 60, 12


def make_sentences(count, seed, langs=("en", "fr"), noise=0):
    """Sentences of four of forty words, written alike in every language but for its code in front; `noise` further
    words of each text are its own."""
    rng = np.random.default_rng(seed)
    names = [f"w{a}{b}" for a in "abcdefgh" for b in "klmno"]
    concepts = []
    for i in range(count):
        words = rng.choice(40, 4, replace=False)
        texts = {lang: " ".join(lang + names[w] for w in [*words, *rng.choice(40, noise)]) for lang in langs}
        concepts.append(Concept(str(i), texts))
    return concepts


def make_topic_texts(count, seed, forms=("",)):
    """Sentences of three words of one topic and one of any; English words have the endings `forms` in turn."""
    rng = np.random.default_rng(seed)
    concepts = []
    for i in range(count):
        topic = rng.integers(TOPICS)
        words = [*(5 * topic + rng.choice(5, 3, replace=False)), *rng.choice(MEANINGS, 1)]
        form = forms[i % len(forms)]
        concepts.append(Concept(str(i), {"en": spell_words(words, "en", form), "fr": spell_words(words, "fr")}))
    return concepts


def spell_words(words, lang, form=""):
    return " ".join(f"{lang}{'abcdefghijkl'[w // 5]}{'klmno'[w % 5]}{form}q" for w in words)


def measure_precision(model, concepts, pair=("en", "fr")):
    """How often a text's counterpart is nearer than all texts with other words."""
    left, right = (model.encode([c.texts[lang] for c in concepts], lang) for lang in pair)
    scores = left @ right.T
    words = [frozenset(c.texts[pair[1]].split()) for c in concepts]
    same = np.array([[a == b for b in words] for a in words])
    return np.mean(scores.diagonal() > np.where(same, -1, scores).max(1))
