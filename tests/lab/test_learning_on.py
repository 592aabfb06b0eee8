"""Training on from a table says what that was worth."""

from paragloss.lab import retrieval_of_tables
from paragloss.lab.commands import training
from paragloss.types import Concept


def test_learning_on_says_by_how_much_it_helps(monkeypatch, capsys):
    asked = {}

    def gain(aligned, **settings):
        asked.update(settings, texts=len(aligned))
        return [retrieval_of_tables.Gain("en", "da", 10, 0.7719, 0.8312)]

    monkeypatch.setattr(retrieval_of_tables, "gain", gain)
    concepts = [Concept(str(i), {"en": f"word {i}", "da": f"ord {i}"}) for i in range(100)]
    training._gained(concepts, {"start": "default", "seed": 1})
    assert asked == {"start": "default", "seed": 1, "texts": 100}
    assert capsys.readouterr().out == "en->da: 10 held-out texts found with RR 0.772 before, 0.831 after\n"


def test_few_texts_can_not_tell(capsys):
    training._gained([Concept("1", {"en": "word", "da": "ord"})], {"start": "default"})
    assert "too few" in capsys.readouterr().out
