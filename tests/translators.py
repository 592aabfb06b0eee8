"""What tests of translators share: a translator with a few words, and translations as dictionaries."""

from paragloss.analysis import analyzer
from paragloss.errors import LanguageError
from paragloss.types import Alternative, Query, Translation


class FixedTranslator:
    """Translates the content words that it is given, {word: {text: weight}}, from any language; other words stay.

    With `parts`, {word: [part, ...]}, a word is translated as the parts of a compound. With `targets` it refuses to
    translate into other languages.
    """

    def __init__(self, words=None, *, parts=None, targets=None):
        self.words, self.parts, self.targets = words or {}, parts or {}, targets

    def knows(self, source, target):
        return self.targets is None or target in self.targets

    def translate(self, query, to):
        if not self.knows(query.lang, to):
            raise LanguageError(f"no {to}")
        clauses = []
        for span in analyzer(query.lang).spans(query.text):
            written = query.text[span.start : span.end]
            for word in self.parts.get(written.lower(), [written]):
                alternatives = self.words.get(word.lower(), {word: 1.0}).items()
                clauses.append(Translation(word, tuple(Alternative(text, weight) for text, weight in alternatives)))
        return clauses


def list_weights(clauses):
    """{source: {alternative: weight}}; the weight of an alternative is multiplied by that of its clause."""
    return {
        clause.source: {text: round(clause.weight * weight, 6) for text, weight, _ in clause.alternatives}
        for clause in clauses
    }


def translate_weights(translator, text, source="en", to="de"):
    """Translate a text into {word: {translation: weight}}."""
    return list_weights(translator.translate(Query("q", text, source), to))


def translate_texts(translator, text, source="en", to="de"):
    """Translate a text into {word: [translation, ...]}, best first."""
    clauses = translator.translate(Query("q", text, source), to)
    return {clause.source: [alternative.text for alternative in clause.alternatives] for clause in clauses}


def translate_best(translator, text, source="en", to="de"):
    """Translate a text into a list of (word, its best translation)."""
    return [(word, texts[0]) for word, texts in translate_texts(translator, text, source, to).items()]
