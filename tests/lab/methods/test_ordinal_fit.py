"""What ordinal's `fit` makes of aligned documents and of settings that were left out, followed to where it acts."""

import numpy as np
import pytest
from corpora import make_sentences

from paragloss.encoders.bag import BagEncoder
from paragloss.errors import InputError, ModelError
from paragloss.lab import judgments
from paragloss.lab.methods import ordinal
from paragloss.types import Concept, JudgedCollection

torch = pytest.importorskip("torch")

from paragloss.lab.descent import graded, towers  # noqa: E402
from paragloss.lab.descent.loop import EpochProgress, History  # noqa: E402

LARGE_CORPUS, SMALL_CORPUS = make_sentences(200, 0), make_sentences(12, 0)
JUDGED = judgments.from_aligned(SMALL_CORPUS, source="en", target="fr", query_kind="text")


@pytest.fixture
def fit_arguments(monkeypatch):
    """What `fit` hands on: training and validation judgments, and settings."""
    captured = {}
    monkeypatch.setattr(ordinal, "fit_judged", lambda *judged, **options: captured.update(training=judged, **options))
    return captured


def test_a_twentieth_of_two_hundred_concepts_chooses_the_epoch(fit_arguments):
    titled = [c._replace(titles={"en": f"title {c.id}"}) for c in LARGE_CORPUS]
    ordinal.fit(titled)
    (training,), (held_out,) = fit_arguments["training"], fit_arguments["validation"]
    trained_ids, held_out_ids = (
        [query.id.partition(":")[2] for query in part.queries] for part in (training, held_out)
    )
    assert (len(set(held_out_ids)), len(held_out_ids)) == (10, 30), "with title, first sentence and text"
    assert not set(held_out_ids) & set(trained_ids)
    assert {len(grades) for grades in held_out.qrels.values()} == {41}  # its own document and forty irrelevant ones
    settings = {"patience": 5, "negatives": 40, "dim": 64, "seed": 0}
    assert {name: fit_arguments[name] for name in settings} == settings
    ordinal.fit(LARGE_CORPUS, negatives=1000)  # more than there are
    assert {len(grades) for grades in fit_arguments["validation"][0].qrels.values()} == {200}


def test_fewer_concepts_or_no_patience_leave_nothing_held_out(fit_arguments):
    for corpus, patience, n_queries in ((LARGE_CORPUS[:199], 5, 2 * 199), (LARGE_CORPUS, 0, 400)):
        ordinal.fit(corpus, patience=patience)
        assert (fit_arguments["validation"], fit_arguments["patience"]) == ([], patience)
        assert len(fit_arguments["training"][0].queries) == n_queries  # a first sentence and a text: nobody has a title


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

    def note(tasks, nets, loss, training, sampling, epsilon, validation):
        captured.update(training._asdict(), **sampling._asdict(), tasks=tasks, loss=loss, nets=nets)
        return History([EpochProgress(n, 3, 0.0, measure) for n, measure in enumerate((0.1, 0.7, 0.4), 1)], 2)

    monkeypatch.setattr(graded, "train_towers", note)
    return captured


def test_what_a_training_came_to_is_recorded(train_arguments):
    meta = ordinal.fit_judged(JUDGED, dim=4).meta
    assert (meta["epochs"], meta["best"], meta["ndcg@5"]) == (3, 2, 0.7)
    assert "found" not in meta
    model = ordinal.fit_judged(JUDGED, dim=4, vectors={"fr": {"frwak": np.arange(4, dtype=np.float32)}})
    tower = model.towers["fr"]
    np.testing.assert_array_equal(tower.table[tower.vocabulary.index["frwak"]], np.arange(4))
    assert 0 < model.meta["found"]["fr"] < 0.2
    assert model.meta["found"]["en"] == 0
    with pytest.raises(ModelError, match="4 dimensions"):
        ordinal.fit_judged(JUDGED, dim=5, vectors={"fr": {"frwak": np.ones(4, np.float32)}})


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


def test_unusable_settings_and_judgments_are_refused(train_arguments):
    high = JudgedCollection(JUDGED.queries, JUDGED.documents, {query.id: {query.id: 3} for query in JUDGED.queries})
    for judged, settings, message in (
        ([high], {}, "grade 3.*grades from 0 to 2 apart"),
        ([high], {"loss": "three-part"}, "grades from 0 to 2 apart"),
        ([JUDGED], {"validation": [high]}, "grade 3"),
        ([JUDGED], {"encoder": "tanh"}, "'tanh'.*average, cnn, lstm"),
        ([JUDGED], {"loss": "hinge"}, "'hinge'.*sosl"),
        ([JUDGED], {"shared_network": True}, "an average has no network to share; choose the encoder cnn or lstm"),
    ):
        with pytest.raises(ModelError, match=message):
            ordinal.fit_judged(*judged, dim=4, **settings)
    assert ordinal.fit_judged(high, dim=4, thresholds=(0.1, 0.2, 0.3)).meta["loss"] == "sosl"
    with pytest.raises(InputError, match="no judgments"):
        ordinal.fit_judged(dim=4)
    with pytest.raises(InputError, match="two languages"):
        ordinal.fit([Concept("a", {"en": "alone"})])


def test_negatives_need_a_document_that_is_not_judged():
    all_judged = {query.id: dict.fromkeys(JUDGED.documents, 1) for query in JUDGED.queries}
    with pytest.raises(ModelError, match="judged all 12 documents"):
        ordinal.fit_judged(JUDGED._replace(qrels=all_judged), dim=4)


def test_texts_become_means_or_sequences(train_arguments):
    ordinal.fit_judged(JUDGED, dim=4)
    (task,) = train_arguments["tasks"]
    assert (task.source, task.target) == ("en", "fr")
    sums = torch.zeros(12).index_add_(
        0, torch.arange(12).repeat_interleave(task.queries.bounds.diff()), task.queries.weights
    )
    torch.testing.assert_close(sums, torch.ones(12))
    ordinal.fit_judged(JUDGED, dim=4, encoder="cnn")
    (task,) = train_arguments["tasks"]
    assert task.queries.bounds.diff().tolist() == [len(query.text.split()) for query in JUDGED.queries]
    assert set(task.queries.weights.tolist()) == {1.0}


def test_a_seed_gives_the_same_start_whatever_was_drawn_before(train_arguments):
    starts = []
    for before in (1, 2):
        torch.manual_seed(before)
        ordinal.fit_judged(JUDGED, dim=4, encoder="cnn", seed=5)
        nets = train_arguments["nets"].values()
        starts.append([part.detach().clone() for net in nets for part in net.parameters()])
    for first, second in zip(*starts, strict=True):
        assert torch.equal(first, second)


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
