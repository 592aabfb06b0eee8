"""Word vectors of others over our stems: how many terms are found, and what a search with them finds.

No file of fastText's or Cr5's authors is among the data, so files of their kind are made. Shares: words as Tatoeba and
two of Debian's descriptions, LibreOffice help and MDN write them, over the terms of the third. Search: Cr5's own
vectors of unstemmed words, written a file per language and read again, titles asking for held-out pages.

    PARAGLOSS_DATA=... python studies/pretrained_vectors.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from sets import known_item, sentences, split

from paragloss.encoders import published
from paragloss.encoders.bag import BagEncoder
from paragloss.lab.methods import cr5
from paragloss.types import Concept
from paragloss.vocabulary import Vocabulary, by_term

COMMON, SETS = 5000, ("ddtp", "lohelp", "mdn")


def shares(name: str, lang: str) -> list[float]:
    """Of the commonest terms of a collection, how many a file of words has: stems and words spelled alike, and stems
    by the words that become them."""
    others = [split(other, ["en", lang]) for other in SETS if other != name and not (other == "mdn" and lang == "it")]
    written = [c.texts[lang] for parts in (sentences(lang), *others) for part in parts for c in part if lang in c.texts]
    words, _ = Vocabulary.build(written, lang, min_df=2, stem=False)
    texts = [concept.texts[lang] for concept in split(name, ["en", lang]).train if lang in concept.texts]
    stems, plain = (Vocabulary.build(texts, lang, stem=stem)[0].terms[:COMMON] for stem in (True, False))
    known = set(words.terms)
    by_stem = set(by_term(words.terms, np.zeros((len(words), 1), np.float32), lang, stem=True)[0])
    return [float(np.mean([term in have for term in terms])) for terms, have in
            ((stems, known), (plain, known), (stems, by_stem))]  # fmt: skip


def from_files(model: BagEncoder) -> BagEncoder:
    """What published vectors of this model give: a word's is what it adds to a text, its row times its idf."""
    with tempfile.TemporaryDirectory() as folder:
        for lang, tower in model.towers.items():
            rows = tower.table * tower.vocabulary.idf[:, None]
            lines = (
                " ".join([term, *map(repr, row)])
                for term, row in zip(tower.vocabulary.terms, rows.tolist(), strict=True)
            )
            Path(folder, f"joint_2_{lang}.txt").write_text("\n".join(lines), encoding="utf-8")
        return published.encoder(published.files(folder))


def reciprocal(model: BagEncoder, test: list[Concept], lang: str) -> float:
    queries, documents, _ = known_item(test, "en", [lang])
    right = {document.id.rsplit(".", 1)[0]: i for i, document in enumerate(documents)}
    queries = [query for query in queries if query.id.rsplit(".", 1)[0] in right][:500]
    scores = model.encode([q.text for q in queries], "en") @ model.encode([d.whole for d in documents], lang).T
    own = scores[np.arange(len(queries)), [right[query.id.rsplit(".", 1)[0]] for query in queries]]
    return float((1 / (1 + (scores > own[:, None]).sum(1))).mean())


if __name__ == "__main__":
    print(f"share of the {COMMON} commonest terms found")
    print("set lang | stems as spelled | words as spelled | stems by words")
    for name in SETS:
        for lang in ("fr", "de", "it", "ru"):
            if not (name == "mdn" and lang == "it"):
                print(name, lang, "|", " | ".join(f"{share:.3f}" for share in shares(name, lang)), flush=True)
    for name, lang in (("lohelp", "it"), ("mdn", "fr")):
        data = split(name, ["en", lang])
        train = [concept for concept in data.train if len(concept.texts) == 2][:2000]
        plain = cr5.fit(train, stem=False)
        for which, model in (("stemmed", cr5.fit(train)), ("as written", plain), ("its files", from_files(plain))):
            print(f"{name} en-{lang} Cr5 {which:12} RR {reciprocal(model, data.test, lang):.3f}", flush=True)
