"""What ordinal's `fit` makes of aligned documents and of settings that were left out, followed to where it acts."""

import numpy as np
import pytest
from corpora import make_sentences

from paragloss.encoders.bag import BagEncoder
from paragloss.errors import InputError, ModelError
from paragloss.lab import judgments
from paragloss.lab.methods import ordinal
from paragloss.types import Concept, Document, JudgedCollection, Query

torch = pytest.importorskip("torch")

from paragloss.lab.descent import graded, towers  # noqa: E402
from paragloss.lab.descent.loop import EpochProgress, History  # noqa: E402

LARGE_CORPUS, SMALL_CORPUS = make_sentences(200, 0), make_sentences(12, 0)
JUDGED = judgments.from_aligned(SMALL_CORPUS, source="en", target="fr", query="text")


@pytest.fixture
def fit_arguments(monkeypatch):
    """What `fit` hands on: training and validation judgments, and settings."""
    captured = {}
    monkeypatch.setattr(ordinal, "fit_judged", lambda *judged, **options: captured.update(training=judged, **options))
    return captured


def test_a_twentieth_of_two_hundred_concepts_chooses_the_epoch(fit_arguments):
    ordinal.fit(LARGE_CORPUS)
    (held_out,) = fit_arguments["validation"]
    assert len({query.id.partition(":")[2] for query in held_out.queries}) == 10
    # Its own document and forty that are irrelevant.
    assert {len(grades) for grades in held_out.qrels.values()} == {41}
    assert (fit_arguments["patience"], fit_arguments["negatives"], fit_arguments["dim"], fit_arguments["seed"]) == (
        5,
        40,
        64,
        0,
    )


def test_fewer_concepts_or_no_patience_leave_nothing_held_out(fit_arguments):
    ordinal.fit(LARGE_CORPUS[:199])
    assert fit_arguments["validation"] == []
    assert len(fit_arguments["training"][0].queries) == 2 * 199  # a first sentence and a text: nobody has a title
    ordinal.fit(LARGE_CORPUS, patience=0)
    assert (fit_arguments["validation"], fit_arguments["patience"]) == ([], None)
    assert len(fit_arguments["training"][0].queries) == 400


def test_no_more_irrelevant_documents_are_held_out_than_there_are(fit_arguments):
    ordinal.fit(LARGE_CORPUS, negatives=1000)
    assert {len(grades) for grades in fit_arguments["validation"][0].qrels.values()} == {200}


def test_fully_linked_concepts_leave_no_validation_set(fit_arguments, tmp_path):
    links = tmp_path / "links.tsv"
    links.write_text("".join(f"{a}\t{b}\n" for a in range(200) for b in range(a)), encoding="utf-8")
    ordinal.fit(LARGE_CORPUS, links=str(links))
    assert fit_arguments["validation"] == []
    # One that nobody links is irrelevant to the rest, and all that they can be held against.
    links.write_text("".join(f"{a}\t{b}\n" for a in range(199) for b in range(a)), encoding="utf-8")
    ordinal.fit(LARGE_CORPUS, links=str(links))
    assert max(len(grades) for grades in fit_arguments["validation"][0].qrels.values()) == 200


def test_validation_that_is_given_is_kept_and_every_language_that_answers_learns(fit_arguments):
    ordinal.fit(make_sentences(12, 0, ("en", "fr", "it")), validation=[JUDGED], batch=7)
    assert (fit_arguments["validation"], fit_arguments["batch"]) == ([JUDGED], 7)
    assert [{document.lang for document in judged.documents.values()} for judged in fit_arguments["training"]] == [
        {"fr"},
        {"it"},
    ]


def test_a_concept_asks_in_every_way_and_links_are_partly_relevant(fit_arguments, tmp_path):
    titled = [c._replace(titles={"en": "a title", "fr": "un titre"}) for c in SMALL_CORPUS]
    links = tmp_path / "links.tsv"
    links.write_text("0\t1\n", encoding="utf-8")
    ordinal.fit(titled, links=str(links))
    (judged,) = fit_arguments["training"]
    assert [query.id for query in judged.queries if query.id.endswith(":0")] == [
        "title:0", "first-sentence:0", "text:0",
    ]  # fmt: skip
    assert judged.qrels["title:0"] == judged.qrels["text:0"] == {"0": 2, "1": 1}
    assert judged.qrels["text:2"] == {"2": 2}
    ordinal.fit(titled)
    assert fit_arguments["training"][0].qrels["text:0"] == {"0": 2}


def test_languages_without_shared_concepts_are_refused():
    concepts = [
        Concept("a", {"en": "one", "fr": "un"}),
        Concept("b", {"fr": "deux", "it": "due"}),
        Concept("c", {"en": "x"}),
    ]
    with pytest.raises(InputError, match="no concept has both 'en' and 'it'"):
        ordinal.fit(concepts)


@pytest.fixture
def train_arguments(monkeypatch):
    """What training is told; nothing is trained."""
    captured = {}

    def note(tasks, nets, loss, training, **options):
        captured.update(training._asdict(), **options, tasks=tasks, loss=loss)
        return History([EpochProgress(n, 3, 0.0, measure) for n, measure in enumerate((0.1, 0.7, 0.4), 1)], 2)

    monkeypatch.setattr(graded, "train_towers", note)
    return captured


@pytest.mark.parametrize(
    ("encoder", "pool", "rate", "decay"),
    [("average", 0, 0.01, 1.0), ("cnn", 128, 0.001, 0.95), ("lstm", 128, 0.001, 0.95)],
)
def test_towers_that_read_in_order_take_shorter_steps_and_a_pool(train_arguments, encoder, pool, rate, decay):
    model = ordinal.fit_judged(JUDGED, dim=4, encoder=encoder)
    assert (train_arguments["pool"], train_arguments["learning_rate"], train_arguments["decay"]) == (pool, rate, decay)
    assert type(model) is (BagEncoder if encoder == "average" else towers.TowerEncoder)
    ordinal.fit_judged(JUDGED, dim=4, encoder=encoder, learning_rate=0.5, decay=0.25)
    assert (train_arguments["learning_rate"], train_arguments["decay"]) == (0.5, 0.25)


def test_the_measure_of_the_best_epoch_is_recorded(train_arguments):
    meta = ordinal.fit_judged(JUDGED, dim=4).meta
    assert (meta["epochs"], meta["best"], meta["ndcg@5"]) == (3, 2, 0.7)
    assert "found" not in meta


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
def test_thresholds_are_those_of_the_loss_unless_they_are_given(train_arguments, loss, thresholds, used):
    model = ordinal.fit_judged(JUDGED, dim=4, loss=loss, thresholds=thresholds)
    assert tuple(model.meta["thresholds"]) == used
    scores, grades = torch.tensor([-0.4, 0.6, 0.8]), torch.tensor([0, 1, 2])
    torch.testing.assert_close(train_arguments["loss"](scores, grades), ordinal.LOSSES[loss](scores, grades, used))


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


def test_three_part_tells_three_grades_apart(train_arguments):
    high = JudgedCollection(JUDGED.queries, JUDGED.documents, {query.id: {query.id: 3} for query in JUDGED.queries})
    with pytest.raises(ModelError, match="grades from 0 to 2 apart"):
        ordinal.fit_judged(high, dim=4, loss="three-part")
    assert ordinal.fit_judged(high, dim=4, thresholds=(0.1, 0.2, 0.3)).meta["loss"] == "sosl"
    assert ordinal.fit_judged(JUDGED, dim=4, loss="three-part").meta["loss"] == "three-part"
    with pytest.raises(ModelError, match="grade 3"):
        ordinal.fit_judged(JUDGED, dim=4, validation=[high])
    with pytest.raises(InputError, match="no judgments"):
        ordinal.fit_judged(dim=4)


def test_texts_become_means_or_sequences(train_arguments, monkeypatch):
    rows = []
    plain = graded.task
    monkeypatch.setattr(graded, "task", lambda *parts: rows.append(parts[2]) or plain(*parts))
    for encoder in ("average", "cnn"):
        ordinal.fit_judged(JUDGED, dim=4, encoder=encoder)
    assert (train_arguments["tasks"][0].source, train_arguments["tasks"][0].target) == ("en", "fr")
    mean, ordered = rows
    np.testing.assert_allclose(mean.sum(axis=1), 1, rtol=1e-6)
    assert [len(query.text.split()) for query in JUDGED.queries] == np.diff(ordered.indptr).tolist()


def test_a_seed_gives_the_same_start_whatever_was_drawn_before():
    vocabularies = ordinal.pairs.build_vocabularies([JUDGED], max_terms=100, min_df=1)
    initial_parameters = []
    for before in (1, 2):
        torch.manual_seed(before)
        nets, _ = ordinal._make_towers("cnn", vocabularies, 4, {}, 5, "cpu")
        initial_parameters.append([part.detach().clone() for net in nets.values() for part in net.parameters()])
    for first, second in zip(*initial_parameters, strict=True):
        torch.testing.assert_close(first, second, rtol=0, atol=0)


def test_the_share_of_words_with_a_given_vector_is_recorded(train_arguments):
    vectors = {"fr": {"frwak": np.ones(4, np.float32)}}
    shares = ordinal.fit_judged(JUDGED, dim=4, vectors=vectors).meta["found"]
    assert 0 < shares["fr"] < 0.2
    assert shares["en"] == 0


SPOKEN = JudgedCollection(
    [Query("q", "the running dogs", "en")],
    {doc_id: Document(doc_id, text, "fr") for doc_id, text in (("d", "les chiens courants"), ("e", "un chat"))},
    {"q": {"d": 2}},
)


@pytest.mark.parametrize(
    ("stem", "terms"), [(True, ["dog", "run"]), (False, ["dogs", "running", "the"])], ids=["stems", "words"]
)
def test_words_are_stemmed_unless_they_are_taken_as_they_are(stem, terms):
    model = ordinal.fit_judged(SPOKEN, dim=4, epochs=1, negatives=1, stem=stem)
    assert sorted(model.tower("en").vocabulary.terms) == terms


@pytest.mark.parametrize("encoder", ["cnn", "lstm"])
def test_languages_can_share_a_network_but_not_their_words(encoder):
    settings = {"dim": 4, "epochs": 2, "negatives": 4, "encoder": encoder}
    separate, shared = (
        ordinal.fit_judged(JUDGED, shared_network=is_shared, **settings).towers for is_shared in (False, True)
    )
    for is_shared, nets in ((False, separate), (True, shared)):
        english, french = (dict(nets[lang].named_parameters()) for lang in ("en", "fr"))
        same = {name for name in english if english[name].shape == french[name].shape}
        same = {name for name in same if torch.equal(english[name], french[name])}
        assert same == (english.keys() - {"table"} if is_shared else set())
    start = ordinal.fit_judged(JUDGED, shared_network=True, **{**settings, "learning_rate": 1e-12}).towers["fr"]
    assert not torch.equal(start.dense.weight, shared["fr"].dense.weight), "the shared network learns"


def test_a_shared_parameter_is_moved_once_in_a_step():
    # Adam's first step is as long as the learning rate, whatever the gradient.
    net = {"dim": 4, "negatives": 4, "encoder": "cnn", "shared_network": True, "epochs": 1, "batch": 1000}
    start, moved = (ordinal.fit_judged(JUDGED, learning_rate=rate, **net).towers["en"] for rate in (1e-12, 0.01))
    steps = (moved.dense.bias - start.dense.bias).abs().detach()
    assert steps.numpy() == pytest.approx(np.full(4, 0.01), rel=0.01)


def test_an_average_has_no_network_to_share():
    with pytest.raises(ModelError, match="an average has no network to share; choose the encoder cnn or lstm"):
        ordinal.fit_judged(JUDGED, dim=4, epochs=1, shared_network=True)
