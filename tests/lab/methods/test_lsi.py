"""CL-LSI against a dense SVD of the same rows."""

import numpy as np

from paragloss.lab.methods import lsi
from paragloss.types import Concept
from paragloss.vocabulary import weigh

CONCEPTS = [
    Concept("1", {"en": "volcano lava ash", "it": "vulcano lava cenere"}),
    Concept("2", {"en": "volcano mountain", "it": "vulcano montagna"}),
    Concept("3", {"en": "cheese milk", "it": "formaggio latte"}),
    Concept("4", {"en": "cheese goat milk", "it": "formaggio capra latte"}),
    Concept("5", {"en": "mountain goat", "it": "montagna capra"}),
]


def fix_signs(table):
    """Singular vectors are known up to their sign."""
    return table * np.sign(table[np.abs(table).argmax(axis=0), np.arange(table.shape[1])])


def test_the_tables_are_the_singular_vectors_of_the_rows_side_by_side():
    model = lsi.fit(CONCEPTS, dim=3, stem=False)
    joint = np.hstack([
        weigh(tower.vocabulary.counts([c.texts[lang] for c in CONCEPTS]), tower.vocabulary.idf, "tfidf").toarray()
        for lang, tower in model.towers.items()
    ])  # fmt: skip
    expected = np.linalg.svd(joint)[2][:3].T
    tables = np.vstack([tower.table for tower in model.towers.values()])
    np.testing.assert_allclose(fix_signs(tables), fix_signs(expected), atol=1e-5)


def test_words_of_a_single_text_are_left_out_of_a_thousand_texts():
    rare = [Concept("6", {"en": "obsidian geyser", "it": "ossidiana"}), Concept("7", {"en": "geyser", "it": "geyser"})]
    index = lsi.fit(CONCEPTS * 200 + rare, dim=2, stem=False).towers["en"].vocabulary.index
    assert "geyser" in index
    assert "obsidian" not in index


def test_power_one_is_the_classic_fold_in():
    plain, folded = (lsi.fit(CONCEPTS, dim=3, stem=False, power=power) for power in (0.0, 1.0))
    joint = np.hstack([
        weigh(t.vocabulary.counts([c.texts[lang] for c in CONCEPTS]), t.vocabulary.idf, "tfidf").toarray()
        for lang, t in plain.towers.items()
    ])  # fmt: skip
    values = np.linalg.svd(joint)[1][:3]
    np.testing.assert_allclose(folded.towers["en"].table, plain.towers["en"].table / values, rtol=1e-4, atol=1e-6)


def test_the_order_of_concepts_and_languages_changes_no_similarity():
    turned = [c._replace(texts=dict(reversed(c.texts.items()))) for c in reversed(CONCEPTS)]
    similarities = []
    for corpus in (CONCEPTS, turned):
        model = lsi.fit(corpus, dim=3, stem=False)
        similarities.append(model.encode(["goat cheese"], "en") @ model.encode(["capra", "lava"], "it").T)
    np.testing.assert_allclose(*similarities, atol=1e-5)


def test_a_concept_may_lack_a_language():
    concepts = [
        *CONCEPTS,
        Concept("6", {"en": "goat milk", "fr": "chèvre lait"}),
        Concept("7", {"it": "latte", "fr": "lait"}),
    ]
    model = lsi.fit(concepts, dim=4, stem=False)
    assert model.langs == ("en", "fr", "it")
    goat, lava = (model.encode(["chèvre lait"], "fr") @ model.encode(["capra latte", "lava cenere"], "it").T)[0]
    assert goat > lava + 0.3
