"""What ordinal's `fit` makes of aligned documents and of settings that were left out, followed to where it acts."""

import numpy as np
import pytest
from corpora import sentences

from paragloss.encoders.bag import BagEncoder
from paragloss.errors import InputError, ModelError
from paragloss.lab import judgments
from paragloss.lab.methods import ordinal
from paragloss.types import Concept, JudgedCollection

torch = pytest.importorskip("torch")

from paragloss.lab.descent import graded, towers  # noqa: E402
from paragloss.lab.descent.loop import History, Progress  # noqa: E402

MANY, FEW = sentences(200, 0), sentences(12, 0)
JUDGED = judgments.from_aligned(FEW, source="en", target="fr", query="text")


@pytest.fixture
def given(monkeypatch):
    """What `fit` hands on: training and validation judgments, and settings."""
    seen = {}
    monkeypatch.setattr(ordinal, "fit_judged", lambda *judged, **said: seen.update(training=judged, **said))
    return seen


def test_a_twentieth_of_two_hundred_concepts_chooses_the_epoch(given):
    ordinal.fit(MANY)
    (held,) = given["validation"]
    assert len({query.id.partition(":")[2] for query in held.queries}) == 10
    # Its own document and forty that are irrelevant.
    assert {len(grades) for grades in held.qrels.values()} == {41}
    assert (given["patience"], given["negatives"], given["dim"], given["seed"]) == (5, 40, 64, 0)


def test_of_fewer_concepts_or_without_patience_all_are_learned_from(given):
    ordinal.fit(MANY[:199])
    assert given["validation"] == []
    assert len(given["training"][0].queries) == 2 * 199  # a first sentence and a text: nobody has a title
    ordinal.fit(MANY, patience=0)
    assert (given["validation"], given["patience"]) == ([], None)
    assert len(given["training"][0].queries) == 400


def test_no_more_irrelevant_documents_are_held_out_than_there_are(given):
    ordinal.fit(MANY, negatives=1000)
    assert {len(grades) for grades in given["validation"][0].qrels.values()} == {200}


def test_where_all_concepts_are_linked_none_is_left_to_be_held_against(given, tmp_path):
    links = tmp_path / "links.tsv"
    links.write_text("".join(f"{a}\t{b}\n" for a in range(200) for b in range(a)), encoding="utf-8")
    ordinal.fit(MANY, links=str(links))
    assert given["validation"] == []
    # One that nobody links is irrelevant to the rest, and all that they can be held against.
    links.write_text("".join(f"{a}\t{b}\n" for a in range(199) for b in range(a)), encoding="utf-8")
    ordinal.fit(MANY, links=str(links))
    assert max(len(grades) for grades in given["validation"][0].qrels.values()) == 200


def test_validation_that_is_given_is_kept_and_every_language_that_answers_learns(given):
    ordinal.fit(sentences(12, 0, ("en", "fr", "it")), validation=[JUDGED], batch=7)
    assert (given["validation"], given["batch"]) == ([JUDGED], 7)
    assert [{document.lang for document in judged.documents.values()} for judged in given["training"]] == [
        {"fr"},
        {"it"},
    ]


def test_a_concept_asks_in_every_way_and_links_are_partly_relevant(given, tmp_path):
    titled = [c._replace(titles={"en": "a title", "fr": "un titre"}) for c in FEW]
    links = tmp_path / "links.tsv"
    links.write_text("0\t1\n", encoding="utf-8")
    ordinal.fit(titled, links=str(links))
    (judged,) = given["training"]
    assert [query.id for query in judged.queries if query.id.endswith(":0")] == [
        "title:0", "first-sentence:0", "text:0",
    ]  # fmt: skip
    assert judged.qrels["title:0"] == judged.qrels["text:0"] == {"0": 2, "1": 1}
    assert judged.qrels["text:2"] == {"2": 2}
    ordinal.fit(titled)
    assert given["training"][0].qrels["text:0"] == {"0": 2}


def test_languages_that_never_meet_are_refused():
    apart = [
        Concept("a", {"en": "one", "fr": "un"}),
        Concept("b", {"fr": "deux", "it": "due"}),
        Concept("c", {"en": "x"}),
    ]
    with pytest.raises(InputError, match="no concept has both 'en' and 'it'"):
        ordinal.fit(apart)


@pytest.fixture
def trained(monkeypatch):
    """What training is told; nothing is trained."""
    seen = {}

    def note(tasks, nets, loss, **said):
        seen.update(said, tasks=tasks, loss=loss)
        return History([Progress(n, 3, 0.0, measure) for n, measure in enumerate((0.1, 0.7, 0.4), 1)], 2)

    monkeypatch.setattr(graded, "train", note)
    return seen


@pytest.mark.parametrize(
    ("encoder", "pool", "rate", "decay"),
    [("average", 0, 0.01, 1.0), ("cnn", 128, 0.001, 0.95), ("lstm", 128, 0.001, 0.95)],
)
def test_towers_that_read_in_order_take_shorter_steps_and_a_pool(trained, encoder, pool, rate, decay):
    model = ordinal.fit_judged(JUDGED, dim=4, encoder=encoder)
    assert (trained["pool"], trained["learning_rate"], trained["decay"]) == (pool, rate, decay)
    assert type(model) is (BagEncoder if encoder == "average" else towers.TowerEncoder)
    ordinal.fit_judged(JUDGED, dim=4, encoder=encoder, learning_rate=0.5, decay=0.25)
    assert (trained["learning_rate"], trained["decay"]) == (0.5, 0.25)


def test_the_measure_of_the_best_epoch_is_told(trained):
    about = ordinal.fit_judged(JUDGED, dim=4).meta
    assert (about["epochs"], about["best"], about["ndcg@5"]) == (3, 2, 0.7)
    assert "found" not in about


@pytest.mark.parametrize(
    ("loss", "thresholds", "used"),
    [
        ("sosl", (), (0.2, 0.7)),
        ("mse", (), (0.2, 0.7)),
        ("three-part", (), (0.2, 0.55, 0.9)),
        ("sosl", (0.1, 0.3), (0.1, 0.3)),
        ("three-part", (0.1, 0.3, 0.5), (0.1, 0.3, 0.5)),
    ],
)
def test_thresholds_are_those_of_the_loss_unless_they_are_given(trained, loss, thresholds, used):
    model = ordinal.fit_judged(JUDGED, dim=4, loss=loss, thresholds=thresholds)
    assert tuple(model.meta["thresholds"]) == used
    scores, grades = torch.tensor([-0.4, 0.6, 0.8]), torch.tensor([0, 1, 2])
    torch.testing.assert_close(trained["loss"](scores, grades), ordinal.LOSSES[loss](scores, grades, used))


def test_losses_have_the_thresholds_of_their_papers():
    # 0.45 is 0.25 above 0.2; 0.5 is 0.2 below 0.7. Three-part: 0.65 is 0.1 above 0.55, 0.8 is 0.1 below 0.9.
    value = ordinal.sosl(torch.tensor([0.45, 0.5]), torch.tensor([0, 2]))
    torch.testing.assert_close(value, torch.tensor([0.0625, 0.04]))
    value = ordinal.three_part(torch.tensor([0.5, 0.65, 0.8]), torch.tensor([0, 1, 2]))
    torch.testing.assert_close(value, torch.tensor([0.09, 0.01, 0.01]))
    with pytest.raises(ModelError, match="expected three"):
        ordinal.three_part(torch.tensor([0.5]), torch.tensor([0]), (0.2, 0.7))


@pytest.mark.parametrize("thresholds", [(-1.5, 0.2), (-1.0, 0.2), (0.2, 1.0), (-1.2,)])
def test_thresholds_lie_between_minus_one_and_one(thresholds):
    with pytest.raises(ModelError, match="between -1 and 1"):
        ordinal.sosl(torch.tensor([0.5]), torch.tensor([0]), thresholds)


def test_three_part_tells_three_grades_apart(trained):
    high = JudgedCollection(JUDGED.queries, JUDGED.documents, {query.id: {query.id: 3} for query in JUDGED.queries})
    with pytest.raises(ModelError, match="grades from 0 to 2 apart"):
        ordinal.fit_judged(high, dim=4, loss="three-part")
    assert ordinal.fit_judged(high, dim=4, thresholds=(0.1, 0.2, 0.3)).meta["loss"] == "sosl"
    assert ordinal.fit_judged(JUDGED, dim=4, loss="three-part").meta["loss"] == "three-part"
    with pytest.raises(ModelError, match="grade 3"):
        ordinal.fit_judged(JUDGED, dim=4, validation=[high])
    with pytest.raises(InputError, match="no judgments"):
        ordinal.fit_judged(dim=4)


def test_texts_are_read_as_means_or_in_their_order(trained, monkeypatch):
    rows = []
    plain = graded.task
    monkeypatch.setattr(graded, "task", lambda *parts: rows.append(parts[2]) or plain(*parts))
    for encoder in ("average", "cnn"):
        ordinal.fit_judged(JUDGED, dim=4, encoder=encoder)
    assert (trained["tasks"][0].source, trained["tasks"][0].target) == ("en", "fr")
    mean, ordered = rows
    np.testing.assert_allclose(mean.sum(axis=1), 1, rtol=1e-6)
    assert [len(query.text.split()) for query in JUDGED.queries] == np.diff(ordered.indptr).tolist()


def test_a_seed_begins_alike_whatever_was_drawn_before():
    vocabularies = ordinal.pairs.vocabularies([JUDGED], max_terms=100, min_df=1)
    begun = []
    for before in (1, 2):
        torch.manual_seed(before)
        nets, _ = ordinal._begun("cnn", vocabularies, 4, {}, 5, "cpu")
        begun.append([part.detach().clone() for net in nets.values() for part in net.parameters()])
    for one, other in zip(*begun, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_the_share_of_words_that_began_at_a_given_vector_is_told(trained):
    vectors = {"fr": {"frwak": np.ones(4, np.float32)}}
    found = ordinal.fit_judged(JUDGED, dim=4, vectors=vectors).meta["found"]
    assert 0 < found["fr"] < 0.2
    assert found["en"] == 0
