"""Training on from a table says what that was worth."""

import random

from paragloss.lab import learning_on
from paragloss.lab.commands import training
from paragloss.lab.methods import table
from paragloss.types import Concept


def test_learning_on_says_by_how_much_it_helps(monkeypatch, capsys):
    arguments = {}

    def gain(aligned, **settings):
        arguments.update(settings, texts=len(aligned))
        return [learning_on.Gain("en", "da", 10, 0.7719, 0.8312)]

    monkeypatch.setattr(learning_on, "measure_gains", gain)
    concepts = [Concept(str(i), {"en": f"word {i}", "da": f"ord {i}"}) for i in range(100)]
    training._print_gain(concepts, {"start": "default", "seed": 1})
    assert arguments == {"start": "default", "seed": 1, "texts": 100}
    assert capsys.readouterr().out == "en->da: 10 held-out texts found with RR 0.772 before, 0.831 after\n"


def test_too_few_texts_give_no_comparison(capsys):
    training._print_gain([Concept("1", {"en": "word", "da": "ord"})], {"start": "default"})
    assert "too few" in capsys.readouterr().out


def test_every_tenth_concept_is_held_out_of_training(tmp_path, monkeypatch):
    training_data = {}
    plain = table.fit
    texts = [Concept(str(i), {"en": f"engine{i % 4}", "de": f"motor{i % 4}"}) for i in range(40)]
    plain(texts[:2]).save(tmp_path / "general")
    monkeypatch.setattr(
        table,
        "fit",
        lambda training_concepts, **options: (
            training_data.update(rest=training_concepts) or plain(training_concepts, **options)
        ),
    )
    gains = learning_on.measure_gains(texts, start=str(tmp_path / "general"))
    assert [concept.id for concept in texts if concept not in training_data["rest"]] == ["0", "10", "20", "30"]
    assert {gain.texts for gain in gains} == {4}
    assert {
        gain.texts for gain in learning_on.measure_gains(texts, start=str(tmp_path / "general"), max_held_out=2)
    } == {2}


def test_continuing_from_a_table_finds_words_it_did_not_know(tmp_path):
    general = [Concept(str(i), {"en": f"dog word{i}", "fr": f"chien mot{i}"}) for i in range(5)]
    table.fit(general).save(tmp_path / "general")
    chance = random.Random(0)
    kinds = [(f"engine{i}", f"moteur{i}") for i in range(8)]
    special = []
    for i in range(200):
        picked = chance.sample(kinds, 3)
        special.append(Concept(str(i), {"en": " ".join(a for a, _ in picked), "fr": " ".join(b for _, b in picked)}))
    [forward, backward] = learning_on.measure_gains(special, start=str(tmp_path / "general"))
    assert (forward.source, forward.target, forward.texts) == ("en", "fr", 20)
    assert forward.before < 0.3 < 0.7 < forward.after
    assert backward.before < 0.3 < 0.7 < backward.after


def test_a_pair_of_languages_that_the_table_did_not_know_gains_everything(tmp_path):
    table.fit([Concept("0", {"en": "dog", "fr": "chien"})]).save(tmp_path / "general")
    texts = [Concept(str(i), {"en": f"engine{i % 4}", "de": f"motor{i % 4}"}) for i in range(40)]
    # Two have French, of which one is held out: too few to tell anything of.
    texts[:2] = [Concept(str(i), {"en": f"dog{i}", "fr": f"chien{i}", "de": f"hund{i}"}) for i in range(2)]
    [to_english, to_german] = learning_on.measure_gains(texts, start=str(tmp_path / "general"))
    assert to_english[:4] == ("de", "en", 4, 0.0)
    assert to_german[:4] == ("en", "de", 4, 0.0)
    assert to_english.after > 0 < to_german.after
