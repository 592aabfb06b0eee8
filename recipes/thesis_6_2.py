"""Tables 6.1 and 6.2 of Liu's thesis in shape: K-NRM trained on one language and asked in translation, or on two.

Data: `bilingual_log` (simulated readers of real package descriptions, German documents, English queries written by
people), 4,000 training queries where the thesis had 91,313. Dictionary: MUSE en-de, best translation; machine: a
table learned from other packages' short descriptions, which also translates the training queries. The first row is
what the readers were shown, BM25 with the German query; the last of ours, which the thesis has not, starts from
word vectors in a shared space. Run: python recipes/thesis_6_2.py
"""

from __future__ import annotations

from bilingual_log import MEASURES, bilingual, log, measured, rerank, shared_vectors, table_of, train, translator
from sets import folder

from paragloss.formats.dictionaries import read_pairs
from paragloss.translation.dictionary import Dictionary
from paragloss.translation.querylog import translate_queries
from paragloss.types import Hit, Query, Translator

THESIS = {
    "Monolingual baseline": [0.2706, 0.3719, 0.4310, 0.3128, 0.3624, 0.4338, 0.3500],
    "Dictionary translation": [0.2163, 0.3078, 0.3802, 0.2315, 0.2914, 0.3751, 0.2776],
    "Machine translation": [0.2405, 0.3305, 0.3956, 0.2647, 0.3212, 0.4036, 0.3089],
    "Bilingual baseline": [0.2996, 0.3813, 0.4388, 0.3382, 0.3716, 0.4446, 0.3623],
}

if __name__ == "__main__":
    made = log(4000)
    english = [made.english[id] for id in made.test]

    def in_german(words: Translator) -> dict[str, Query]:
        return {query.id: query for query in translate_queries(english, words, "de")}

    words = Dictionary.build(read_pairs(folder() / "muse" / "en-de.tsv.gz"), "en", "de", choose="best")
    as_shown = {id: [Hit(name, -float(place)) for place, name in enumerate(made.shown[id])] for id in made.test}
    one, two = train(made.train), train(bilingual(made))
    started = train(bilingual(made), vectors=shared_vectors())
    rows = {
        "As shown (BM25, German)": measured(made, as_shown),
        "Monolingual baseline": measured(made, rerank(made, one, made.german)),
        "Dictionary translation": measured(made, rerank(made, one, in_german(words))),
        "Machine translation": measured(made, rerank(made, one, in_german(translator()))),
        "Bilingual baseline": measured(made, rerank(made, two, made.english)),
        "Bilingual, started from Cr5": measured(made, rerank(made, started, made.english)),
    }
    print(table_of("Table 6.2: ways across languages", MEASURES, rows, THESIS))
