"""Recipes on cases small enough to work by hand, and one cell of each table computed in another way, in plain numpy.

Models are bags whose words are given: what is checked is what a recipe asks of them, which way, and how it counts.
"""

import gzip
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.stats

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.lab.recipes import adhoc, nearest, searchlog, sets, tasks
from paragloss.lab.recipes.tables import (
    cr5_figure_2,
    cr5_table_1,
    cr5_table_3,
    cr5_table_4,
    knrm_stages,
    linear_maps,
    smooth_figure_3,
    smooth_figure_4,
    smooth_figure_5,
    smooth_table_1,
    smooth_table_2,
    smooth_table_3,
    thesis_head_and_tail,
    thesis_table_6_10,
    thesis_table_6_12,
    xcnn_modes,
    xcnn_table_1,
    xcnn_table_2,
    xcnn_table_3,
)
from paragloss.types import Concept, Document, Hit, Judged, Query
from paragloss.vocabulary import Vocabulary

SIZE = 30
TEST = [Concept(str(i), dict.fromkeys(("da", "en", "it", "fr"), f"w{i}")) for i in range(SIZE)]


def bag(seed, langs=("da", "en", "it", "fr"), near=0.6):
    """Word i of every language is near word i of the others, so that most but not all are found."""
    chance = np.random.default_rng(seed)
    middle = chance.standard_normal((SIZE, 4))
    words = [f"w{i}" for i in range(SIZE)]
    return BagEncoder({
        lang: Tower(Vocabulary(lang, words, [1] * SIZE, SIZE, stem=False),
                    (middle + near * chance.standard_normal((SIZE, 4))).astype(np.float32))
        for lang in langs
    })  # fmt: skip


def cosines(model, source, target, asked, found):
    rows = [model.encode([c.texts[lang] for c in some], lang) for lang, some in ((source, asked), (target, found))]
    return rows[0].astype(float) @ rows[1].T.astype(float)


def plain(similar, rule, k=10):
    """The four rules, each read from its paper."""
    if rule == "CSLS":  # r of a document: its mean cosine with the ten queries nearest to it (Conneau et al., eq. 7)
        return 2 * similar - np.sort(similar, axis=0)[::-1][:k].mean(0)
    if rule == "corrected":  # minus the place of the query in the document's own list (Dinu et al., eq. 3)
        return similar - np.array([scipy.stats.rankdata(-column, method="ordinal") for column in similar.T]).T
    if rule == "inverted":  # softmax over queries, not over documents (Smith et al., eq. 9)
        return scipy.special.log_softmax(finding_beta() * similar, axis=0)
    return similar


def finding_beta():
    import inspect

    from paragloss.ranking import inverted_softmax

    return inspect.signature(inverted_softmax).parameters["beta"].default


def precision(scores, k, right=None):
    right = range(len(scores)) if right is None else right
    return np.mean([(row >= row[own]).sum() <= k for row, own in zip(scores, right, strict=True)])


@pytest.mark.parametrize("rule", nearest.RULES)
def test_each_rule_ranks_as_its_paper_says(rule):
    model = bag(1)
    scores = plain(cosines(model, "en", "it", TEST[:20], TEST), rule)
    found = nearest.across(model, TEST[:20], "en", "it", others=TEST[20:], rule=rule)
    for k in (1, 5, 10):
        assert found[f"P@{k}"] == pytest.approx(precision(scores, k))
    assert found["RR"] == [round(1 / (row >= row[i]).sum(), 4) for i, row in enumerate(scores)]


def test_equals_count_against_the_right_one():
    assert nearest.places(np.eye(2), np.array([[1.0, 0], [1, 0]]), [0, 1]).tolist() == [2, 2]


@pytest.fixture
def little(monkeypatch):
    """Every recipe that splits Debian's descriptions gets these concepts."""
    for module in (cr5_table_1, cr5_figure_2):
        monkeypatch.setattr(module, "pages", lambda smoke: sets.Split(TEST, TEST))


def test_back_asks_in_the_other_language(little, monkeypatch):
    model = bag(2)
    model.meta["lambda_"] = 0.3
    monkeypatch.setattr(cr5_table_1, "trained", lambda *_: {"Cr5, joint": model})
    rows = cr5_table_1.measure("da-en", 0, smoke=True)
    test = sets.drawn(TEST, 20, 0)
    rest = [c for c in TEST if c not in test]
    for rule in ("cosine", "CSLS"):
        there, back = (plain(cosines(model, *way, test, test + rest), rule) for way in (("da", "en"), ("en", "da")))
        assert precision(there, 1) != precision(back, 1), "the case tells the directions apart"
        row = rows[f"Cr5, joint, {rule}"]
        assert (row["P@1"], row["back P@1"], row["back P@5"], row["λ"]) == pytest.approx(
            (precision(there, 1), precision(back, 1), precision(back, 5), 0.3)
        )


def test_a_figure_s_point_is_the_mean_of_both_directions(little, monkeypatch):
    one, other = bag(3), bag(4)
    monkeypatch.setattr(cr5_figure_2, "joint", lambda seed, smoke: one if (seed, smoke) == (0, True) else None)
    monkeypatch.setattr(cr5_figure_2.alignment, "fit", lambda *_, **__: other)
    rows = cr5_figure_2.measure("da-it", 0, smoke=True)
    for name, model in (("Cr5, joint", one), ("AdvRefine", other)):
        ways = [plain(cosines(model, *way, TEST, TEST), "CSLS") for way in (("da", "it"), ("it", "da"))]
        for k in (1, 3, 10):
            assert rows[name][f"P@{k}"] == pytest.approx(np.mean([precision(scores, k) for scores in ways]))


def test_what_each_way_of_cr5_learns_from():
    texts = {"da": "a", "en": "b", "it": "c", "ru": "d"}
    train = [Concept(str(i), dict(list(texts.items())[i % 2 : 3 + i % 2])) for i in range(40)]  # da en it, or en it ru
    found = cr5_table_1.bridges(sets.Split(train, []), ["da", "ru"], 100, 0)
    assert {tuple(c.texts) for c in found} == {("da", "en"), ("ru", "en")}, "no concept has both"
    assert len(found) == 40
    assert cr5_table_1.only(train[0], ["en"]) == Concept("0", {"en": "b"}, {})


def learned():
    methods = ("cca", "orthogonal", "svd", "procrustes", "advrefine", "least-squares en", "least-squares it")
    made = {name: bag(10 + n) for n, name in enumerate(methods)}
    return {**made, **{f"cr5 {each:g}": bag(30 + n, near=n / 2) for n, each in enumerate((1.0, 0.1, 0.3, 3.0))}}


def test_sentences_are_found_by_the_map_that_goes_from_those_who_ask(monkeypatch):
    made = learned()  # Cr5 is best with λ = 1, whose two languages are the same
    monkeypatch.setattr(cr5_table_3, "models", lambda *_: made)
    monkeypatch.setattr(cr5_table_3, "sentences", lambda lang: sets.Split(TEST, TEST))
    rows = cr5_table_3.measure("en-it", 0, smoke=True)
    assert rows["Cr5 (cosine)"]["λ"] == 1.0
    assert "λ" not in rows["Cr5, λ = 1 (cosine)"]
    for row, (there, back, rule) in {
        "Mikolov et al.": ("least-squares it", "least-squares en", "cosine"),
        "Dinu et al.": ("least-squares it", "least-squares en", "corrected"),
        "Faruqui and Dyer": ("cca", "cca", "cosine"),
        "Artetxe et al.": ("orthogonal", "orthogonal", "cosine"),
        "Smith et al.": ("svd", "svd", "inverted"),
        "Procrustes (CSLS)": ("procrustes", "procrustes", "CSLS"),
        "AdvRefine (CSLS)": ("advrefine", "advrefine", "CSLS"),
        "Cr5 (CSLS)": ("cr5 1", "cr5 1", "CSLS"),
    }.items():
        for k in (1, 5):
            assert rows[row][f"P@{k}"] == pytest.approx(
                precision(plain(cosines(made[there], "en", "it", TEST, TEST), rule), k)
            )
            assert rows[row][f"back P@{k}"] == pytest.approx(
                precision(plain(cosines(made[back], "it", "en", TEST, TEST), rule), k)
            )


def muse(place, pairs):
    (place / "muse").mkdir()
    with gzip.open(place / "muse" / "en-it.tsv.gz", "wt") as file:
        file.writelines(f"{a}\t{b}\n" for a, b in pairs)


def test_every_map_has_the_same_vectors_and_all_but_one_the_dictionary(monkeypatch, tmp_path):
    muse(tmp_path, [("w1", "w2"), ("w3", "w4"), ("w5", "w6")])
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    monkeypatch.setattr(cr5_table_3, "TAUGHT", 2)
    monkeypatch.setattr(cr5_table_3, "split", lambda *_, **__: sets.Split([c for c in TEST for _ in range(3)], []))
    told, spaces = {}, {}
    note = lambda train, **said: told.update({(said["method"], said["onto"]): said})  # noqa: E731
    monkeypatch.setattr(cr5_table_3.alignment, "fit", note)
    given = lambda texts, words, **said: (len(list(texts)), words.lang, said)  # noqa: E731
    monkeypatch.setattr(cr5_table_3.monolingual, "train", given)
    monkeypatch.setattr(cr5_table_3.cr5, "fit", lambda train, **said: spaces.update({said["lambda_"]: said}))
    cr5_table_3.models.cache_clear()
    made = cr5_table_3.models("it", 3, True)
    alone = ("cca", "orthogonal", "svd", "procrustes", "advrefine")
    assert list(told) == [("least-squares", "en"), ("least-squares", "it"), *((method, "") for method in alone)]
    assert {"least-squares en", "least-squares it", "cca", "cr5 0.1", "cr5 1"} <= set(made)
    taught = [("w1", "w2"), ("w3", "w4")]
    for (method, _), said in told.items():
        both = {("en", "it"): taught, ("it", "en"): [(b, a) for a, b in taught]}
        assert said.get("dictionary") == (None if method == "advrefine" else both)
        assert said["vectors"] is told["cca", ""]["vectors"]
        assert (said["seed"], said.get("steps")) == (3, 20 if method == "advrefine" else None)
    made_of = {lang: (90, lang, {"dim": 50, "seed": 3}) for lang in ("en", "it")}
    assert told["cca", ""]["vectors"] == made_of
    assert set(spaces) == set(cr5_table_3.cr5.LAMBDAS)
    assert all((said["seed"], said["stem"]) == (3, False) for said in spaces.values())
    cr5_table_3.models.cache_clear()


def test_words_find_any_of_their_translations_that_no_map_was_taught(monkeypatch, tmp_path):
    made = learned()
    pairs = [
        *((f"w{i}", f"w{i}") for i in range(10)),
        *((f"W{i}", f"w{i}") for i in range(8, 30)),
        ("w12", "w13"),
        ("w29", "x"),
    ]
    muse(tmp_path, pairs)
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    monkeypatch.setattr(cr5_table_4, "TAUGHT", 10)
    monkeypatch.setattr(cr5_table_4, "models", lambda *_: made)
    rows = cr5_table_4.measure("en-it", 0, smoke=True)
    assert rows["Faruqui and Dyer"]["words"] == 20, "w8 and w9 taught a map; x is no word of the models"
    assert rows["Cr5 (CSLS)"]["λ"] == 1.0
    for row, name, rule in (
        ("Mikolov et al.", "least-squares it", "cosine"),
        ("Procrustes (CSLS)", "procrustes", "CSLS"),
    ):
        scores = plain(cosines(made[name], "en", "it", TEST[10:], TEST), rule)
        best = np.argsort(-scores, axis=1)
        for k in (1, 5):
            hits = [{10 + i, *([13] if i == 2 else [])} & set(row[:k]) for i, row in enumerate(best)]
            assert rows[row][f"P@{k}"] == pytest.approx(np.mean([bool(hit) for hit in hits]))


def test_maps_on_documents_are_measured_from_english(monkeypatch):
    model = bag(5)
    found = linear_maps.found(model, TEST, "it")
    similar = cosines(model, "en", "it", TEST, TEST)
    assert found["P@1"] == pytest.approx(precision(similar, 1))
    assert found["P@1, CSLS"] == pytest.approx(precision(plain(similar, "CSLS"), 1))
    scores = plain(similar, "CSLS")
    assert np.mean(found["RR, CSLS"]) == pytest.approx(
        np.mean([1 / (row >= row[i]).sum() for i, row in enumerate(scores)]), abs=1e-4
    )


# Smooth learning: every query ranks what is judged for it.

QUERIES = [Query(f"q{i}", f"w{i}", "en") for i in range(8)]
PAGES = {f"d{i}": Document(f"d{i}", f"w{i}", "fr") for i in range(SIZE)}
GRADES = {f"q{i}": {f"d{i}": 2, f"d{i + 8}": 1, **{f"d{j}": 0 for j in range(16, SIZE)}} for i in range(8)}
JUDGED = Judged(QUERIES, PAGES, GRADES)


def ndcg(model, judged, k=5):
    """Linear gain, as the authors'."""
    found = []
    for query in judged.queries:
        names = list(judged.qrels[query.id])
        rows = model.encode([judged.documents[name].text for name in names], "fr")
        order = np.argsort(-(rows @ model.encode([query.text], "en")[0]))
        gains = np.array([judged.qrels[query.id][names[i]] for i in order])
        discounts = 1 / np.log2(np.arange(k) + 2)
        found.append((gains[:k] * discounts).sum() / (np.sort(gains)[::-1][:k] * discounts).sum())
    return found


def test_a_query_ranks_what_is_judged_for_it():
    model = bag(6)
    assert list(smooth_table_2.scored(model, JUDGED, ["nDCG@5"])["nDCG@5"].values()) == pytest.approx(
        ndcg(model, JUDGED)
    )


VALID = Judged(QUERIES[:4], PAGES, {q: GRADES[q] for q in ("q0", "q1", "q2", "q3")})
REST = Judged(QUERIES[4:], PAGES, {q: GRADES[q] for q in ("q4", "q5", "q6", "q7")})


@pytest.fixture
def fitted(monkeypatch):
    """Every fit is another bag and is remembered with its settings; validation and test have other queries."""
    calls = []

    def fit(train, **settings):
        calls.append((settings, bag(40 + len(calls), near=1.2)))
        return calls[-1][1]

    asked = []
    for module in (smooth_table_2, smooth_table_3, smooth_figure_3, smooth_figure_4, smooth_figure_5):
        monkeypatch.setattr(module.ordinal, "fit_judged", fit)
        monkeypatch.setattr(module, "divided", lambda *a, **k: asked.append(k) or [JUDGED, VALID, REST])
    return SimpleNamespace(calls=calls, asked=asked)


def best_of(calls):
    return max((model for _, model in calls), key=lambda model: np.mean(ndcg(model, VALID)))


def test_each_loss_is_asked_with_what_was_best_on_validation_queries(fitted):
    rows = smooth_table_2.measure("en-fr", 0, smoke=False)
    assert list(rows) == ["SOSL", "3-part", "MSE", "PO_S"]
    assert (fitted.asked[0]["pages"], {settings["epochs"] for settings, _ in fitted.calls}) == (1500, {12})
    for number, (row, loss) in enumerate(smooth_table_2.LOSSES.items()):
        calls = fitted.calls[6 * number : 6 * number + 6]
        assert {settings["loss"] for settings, _ in calls} == {loss}
        assert len({(settings["thresholds"], settings["epsilon"]) for settings, _ in calls}) == 6
        assert rows[row]["nDCG@5"] == pytest.approx(ndcg(best_of(calls), REST))


def test_a_set_s_queries_documents_and_partly_relevant_ones_are_counted(monkeypatch):
    irrelevant = REST._replace(qrels={q: {**grades, "d1": 1} for q, grades in REST.qrels.items()})
    monkeypatch.setattr(smooth_table_1, "divided", lambda *_, **__: [VALID, irrelevant])
    # Eight queries with one each, and four of them with another.
    assert smooth_table_1.measure("en-fr", 0, smoke=True) == {
        "all": {"queries": 8, "documents": SIZE, "partly relevant": 12 / 8}
    }


def test_thresholds_are_chosen_anew_for_each_epsilon(fitted):
    rows = smooth_figure_4.measure("en-fr", 0, smoke=False)
    assert all(float(label) == pytest.approx(given, abs=1e-5) for label, given in smooth_figure_4.EPSILONS.items())
    for number, (label, epsilon) in enumerate(smooth_figure_4.EPSILONS.items()):
        calls = fitted.calls[4 * number : 4 * number + 4]
        assert {(settings["epsilon"], settings["epochs"]) for settings, _ in calls} == {(epsilon, 12)}
        assert len({settings["thresholds"] for settings, _ in calls}) == 4
        assert rows[f"epsilon {label}"]["nDCG@5"] == pytest.approx(ndcg(best_of(calls), REST))


def test_as_many_irrelevant_documents_in_training_as_in_test(fitted):
    rows = smooth_figure_5.measure("en-fr", 0, smoke=False)
    for (settings, model), asked, number in zip(fitted.calls, fitted.asked, (20, 40, 60, 80, 100), strict=True):
        assert settings["negatives"] == asked["negatives"] == number
        assert (settings["epochs"], asked["pages"]) == (12, 1500)
        assert rows[f"negatives {number}"]["nDCG@5"] == pytest.approx(ndcg(model, REST))


def test_each_network_has_its_row(fitted):
    rows = smooth_table_3.measure("en-fr", 0, smoke=False)
    told = [tuple(settings.get(key) for key in ("encoder", "epochs", "batch")) for settings, _ in fitted.calls]
    assert told == [(None, 12, None), ("cnn", 8, 16), ("lstm", 6, 16)]
    assert fitted.asked[0]["pages"] == 1000
    for (_, model), row in zip(fitted.calls, rows.values(), strict=True):
        assert row["nDCG@5"] == pytest.approx(ndcg(model, REST))


def test_how_often_a_lower_class_is_above_a_higher_one(fitted, monkeypatch):
    monkeypatch.setattr(smooth_figure_3.judgments, "sample_irrelevant", lambda judged, *_, **__: judged)
    rows = smooth_figure_3.measure("en-fr", 0, smoke=False)
    _, model = fitted.calls[0]
    similar = model.encode([f"w{i}" for i in range(SIZE)], "en") @ model.encode([f"w{i}" for i in range(SIZE)], "fr").T
    high, middle = [similar[i, i] for i in range(8)], [similar[i, i + 8] for i in range(8)]
    low = similar[:8, 16:].ravel()
    assert rows["SOSL"]["mean SR"] == pytest.approx(np.mean(middle), abs=1e-6)
    wins = scipy.stats.mannwhitneyu(middle, high).statistic  # pairs in which the first is above
    assert rows["SOSL"]["SR above MR"] == pytest.approx(wins / 64)
    assert rows["SOSL"]["NR above SR"] == pytest.approx(
        scipy.stats.mannwhitneyu(low, middle).statistic / (8 * len(low))
    )
    assert rows["SOSL"]["NR 0.0"] == pytest.approx(np.mean(low <= 0))


# XCNN: sentences, and pages of which a title's own is no answer.

PAIRS = {"red": "rot", "green": "gruen", "blue": "blau", "house": "haus", "tree": "baum", "river": "fluss"}


def colours(count):
    """Two words each, alike in both languages but for their order."""
    words = list(PAIRS)
    told = [(words[i % 6], words[(i * 5 + i // 6 + 1) % 6]) for i in range(count)]
    return [Concept(f"c{i}", {"en": f"{a} {b} the", "de": f"{PAIRS[b]} {PAIRS[a]}"}) for i, (a, b) in enumerate(told)]


def test_translated_words_find_the_sentence_that_has_them():
    train, test = colours(60), [Concept("x", {"en": "red tree", "de": "baum rot"}), *colours(3)]
    queries = [Query(c.id, c.texts["en"], "en") for c in test]
    found = xcnn_table_1.by_words(queries, test, "de", "table:best", train)
    assert found["RR"][0] == 1.0
    assert found["P@1"] == pytest.approx(np.mean([rank == 1 for rank in found["RR"]]))
    assert found["P@5"] == 1.0


def test_every_method_has_the_same_sentences_and_width(monkeypatch):
    seen = {}
    methods = {
        name: (lambda train, name=name, **said: seen.update({name: (train, said)}) or bag(50), {})
        for name in ("CL-LSI", "XCNN")
    }
    monkeypatch.setattr(xcnn_table_1, "METHODS", methods)
    monkeypatch.setattr(xcnn_table_1, "sentences", lambda lang: sets.Split(TEST, TEST))
    monkeypatch.setattr(xcnn_table_1, "told", lambda train, langs: train)
    asked = []
    monkeypatch.setattr(xcnn_table_1, "by_words", lambda *said: asked.append(said[0][3]) or {"RR": [0.5]})
    rows = xcnn_table_1.measure("en-fr", 0, smoke=True)
    assert seen["CL-LSI"] == seen["XCNN"]
    assert (seen["XCNN"][1]["dim"], seen["XCNN"][1]["max_terms"]) == (128, 10_000)
    assert rows["XCNN"]["P@1"] == pytest.approx(precision(cosines(bag(50), "en", "fr", TEST, TEST), 1))
    assert rows["MT"] == rows["MT, phrases"] == {"RR": [0.5]}
    assert asked == [Query("3", "w3", "en"), Query("3", "w3", "fr")], "once as it is, once translated"


def test_the_papers_own_modes_stand_beside_ours(monkeypatch):
    told = {"XCNN": [], "BAE": []}
    whole = sets.Split([Concept(str(i), {"en": f"w{i}", "fr": f"w{i}"}) for i in range(5000)], TEST)
    monkeypatch.setattr(xcnn_modes, "sentences", lambda lang: whole)
    for name, module in (("XCNN", xcnn_modes.xcnn), ("BAE", xcnn_modes.bae)):
        note = lambda train, name=name, **said: told[name].append((len(train), said)) or bag(51)  # noqa: E731
        monkeypatch.setattr(module, "fit", note)
        rows = xcnn_modes.measure(f"en-fr: {name}", 1, smoke=False)
        assert all(row["P@1"] == precision(cosines(bag(51), "en", "fr", TEST, TEST), 1) for row in rows.values())
    paper = {"optimizer": "cg", "hub_loss": "difference", "negatives": 1, "hub_bias": -1.0, "bias": -1.5}
    assert [(count, said["hub"], said["seed"]) for count, said in told["XCNN"]] == [(4000, "en", 1)] * 3
    assert told["XCNN"][2][1].items() >= {**paper, "hub_epochs": 10, "epochs": 15, "max_terms": 10_000}.items()
    assert [(count, said["max_terms"], said.get("layers")) for count, said in told["BAE"]] == [
        (3000, 3000, None), *[(3000, 3000, 3)] * 3,
    ]  # fmt: skip
    assert told["BAE"][3][1]["pretraining_epochs"] == 30
    xcnn_modes.measure("en-fr: XCNN", 1, smoke=True)
    assert told["XCNN"][3][0] == 100
    assert told["XCNN"][3][1]["epochs"] == 1


@pytest.fixture
def pages():
    queries = [Query(f"d{i}", f"w{i}", "en") for i in range(6)]
    qrels = {f"d{i}": {f"d{i + 6}": 1, f"d{i + 7}": 1} for i in range(6)}
    return adhoc.Pages(queries, list(PAGES.values()), qrels, [], 0)


def linked(model, made):
    """nDCG@5 of two linked pages each, the page that asks taken out."""
    found = []
    for number, query in enumerate(made.queries):
        scores = model.encode([f"w{i}" for i in range(SIZE)], "fr") @ model.encode([query.text], "en")[0]
        order = [i for i in np.argsort(-scores) if i != number]
        gains = [i in (number + 6, number + 7) for i in order[:5]]
        found.append(sum(g / np.log2(place + 2) for place, g in enumerate(gains)) / (1 + 1 / np.log2(3)))
    return found


def test_a_page_is_no_answer_to_its_own_title(pages):
    model = bag(7)
    assert adhoc.measured(pages, adhoc.by_vectors(model, pages))["nDCG@5"] == pytest.approx(
        linked(model, pages), abs=1e-4
    )
    some = adhoc.measured(pages, adhoc.by_vectors(model, pages), ["d2", "d4"])["nDCG@5"]
    assert some == pytest.approx([linked(model, pages)[i] for i in (2, 4)], abs=1e-4)


def test_known_queries_have_four_words_of_five_in_the_vocabulary(pages, monkeypatch):
    train = [Concept(str(i), {"en": "red green blue house", "fr": "rouge vert bleu maison"}) for i in range(3)]
    texts = ["red green blue house tree", "red green blue tree", "tree", "red", "river red", "house"]
    asked = pages._replace(queries=[q._replace(text=text) for q, text in zip(pages.queries, texts, strict=True)])
    asked = asked._replace(learned=train, most=10)
    model = bag(8)
    monkeypatch.setattr(xcnn_table_3, "pages", lambda *_, **__: asked)
    monkeypatch.setattr(xcnn_table_3, "METHODS", {"XCNN": (lambda *_, **__: model, {})})
    monkeypatch.setattr(xcnn_table_3, "by_vectors", lambda model, made: adhoc.by_vectors(model, pages))
    rows = xcnn_table_3.measure("en-fr", 0, smoke=True)
    assert rows["XCNN"]["nDCG@5"] == pytest.approx(linked(model, pages), abs=1e-4)
    assert rows["XCNN, known"]["nDCG@5"] == pytest.approx([linked(model, pages)[i] for i in (0, 3, 5)], abs=1e-4)
    assert set(rows) == {"XCNN", "MT", "XCNN, known", "MT, known"}


def test_bm25_has_the_model_s_words_or_all(pages, monkeypatch):
    monkeypatch.setattr(xcnn_table_2, "pages", lambda *_, **__: pages)
    told = []
    monkeypatch.setattr(xcnn_table_2.xcnn, "fit", lambda _, **said: told.append(said) or bag(9, ("en", "fr")))
    monkeypatch.setattr(xcnn_table_2, "by_pipeline", lambda made, pipeline: (made, pipeline))
    monkeypatch.setattr(xcnn_table_2, "only_words", lambda made, known: (made, sorted(known)))
    monkeypatch.setattr(xcnn_table_2, "measured", lambda made, run: run)
    rows = xcnn_table_2.measure("fr", 3, smoke=False)
    assert told == [{"hub": "fr", "dim": 128, "max_terms": 10_000, "epochs": 0, "hub_epochs": 5, "seed": 3}]
    assert rows["BM25, all words"] == (pages, "bm25")
    assert rows["BM25"] == ((pages, sorted(f"w{i}" for i in range(SIZE))), "bm25")
    assert {q: [h.id for h in hits] for q, hits in rows["mono-XCNN"].items()} == {
        q: [h.id for h in hits] for q, hits in adhoc.by_vectors(bag(9, ("en", "fr")), pages).items()
    }


# K-NRM: behind a first stage, and over a search log.


def test_better_and_worse_are_sure_differences(monkeypatch):
    before = {f"q{i}": 0.2 for i in range(20)}
    after = {"bm25": 0.9, "table": 0.1, "cr5": 0.2}
    scores = dict.fromkeys(knrm_stages.STAGES, before)
    scores |= {f"{stage}>knrm": dict.fromkeys(before, after.get(stage, 0.2)) for stage in knrm_stages.STAGES}
    monkeypatch.setattr(knrm_stages, "divided", lambda *_: (TEST, TEST))
    monkeypatch.setattr(knrm_stages, "reciprocal_ranks", lambda *_: scores)
    rows = knrm_stages.measure("tatoeba en-it", 0, smoke=True)
    told = {stage: (rows[f"{stage}>knrm"]["better"], rows[f"{stage}>knrm"]["worse"]) for stage in knrm_stages.STAGES}
    assert told == {"bm25": (1, 0), "table": (0, 1), "cr5": (0, 0), "bm25+cr5+table": (0, 0)}
    assert rows["table"]["RR"] == [0.2] * 20
    assert rows["table>knrm"]["RR"] == [0.1] * 20


def test_what_is_asked_for_is_there_with_others_beside(monkeypatch):
    held = [Concept(str(i), {"it": f"testo {i}"}, {"en": f"title {i}"} if i < 5 else {}) for i in range(12)]
    monkeypatch.setattr(knrm_stages, "MOST", 6)
    queries, documents, qrels = knrm_stages.asked(held, "it", 3)
    assert (len(queries), len(documents), len(qrels)) == (3, 6, 3)
    assert {id for grades in qrels.values() for id in grades} <= {document.id for document in documents}
    assert len({document.id for document in documents}) == 6


def log(**given):
    shown = {"a": ["x", "y", "z"], "b": ["x"], "c": []}
    documents = {name: Document(name, name, "de") for name in "xyz"}
    labels = SimpleNamespace
    made = {
        "test": ["a", "b", "c"],
        "shown": shown,
        "documents": documents,
        "labels": [{"a": {"x": 1, "y": 2}}, {"a": {"z": 1}, "b": {"x": 1}}, {"a": {"y": 1}, "b": {"y": 1}}],
    }
    return labels(**made, **given)


class Backwards:
    """Scores documents by the place of their name, backwards in the alphabet."""

    def score(self, query, documents):
        return [float(ord(document.id)) for document in documents]


def test_a_log_s_documents_in_the_model_s_order_by_three_labels():
    made = log()
    run = searchlog.rerank(made, Backwards(), {"a": Query("a", "", "de"), "b": Query("b", "", "de")})
    assert [hit.id for hit in run["a"]] == ["z", "y", "x"]
    assert run["c"] == []
    rows = searchlog.measured(made, run)
    # SAME of a: z 0, y 2, x 1, so 2 / log2(3) + 1 / 2 of 2 + 1 / log2(3). DIFF: z first, and x alone.
    # RAW: y is second, and not there.
    assert rows["SAME @1"] == [0]
    assert rows["SAME @5"] == pytest.approx([(2 / np.log2(3) + 1 / 2) / (2 + 1 / np.log2(3))])
    assert rows["DIFF @1"] == [1, 1]
    assert rows["RAW MRR"] == [0.5, 0]
    assert searchlog.measured(made, run, ["a"])["RAW MRR"] == [0.5]


def test_the_commoner_half_of_the_queries_is_the_head():
    made = SimpleNamespace(test=["a", "b", "c", "d", "never"])
    asked = SimpleNamespace(made=made, times={"a": 5, "b": 90, "c": 7, "d": 60}, labels={
        "clicks": {q: {"x": 1} for q in "abcd"}, "wanted": {"b": {"y": 1}, "a": {"x": 1}},
    })  # fmt: skip
    run = {q: [Hit("x", 1.0)] if q in "ab" else [Hit("y", 1.0)] for q in "abcd"}
    found = thesis_head_and_tail.by_half(asked, run)  # the head: b and d, the tail: c and a
    assert found == {"head, clicks": [1, 0], "tail, clicks": [1, 0], "head, wanted": [0], "tail, wanted": [1]}
    times = thesis_head_and_tail.often([str(i) for i in range(40)])
    assert sorted(times.values(), reverse=True)[:3] == [5000, round(5000 * 2**-0.8), round(5000 * 3**-0.8)]


def test_shares_of_a_log_are_spread_over_its_alphabet(monkeypatch):
    queries = [Query(f"q{i:03}", "", "en") for i in range(160)]
    judged = Judged(queries, {}, {query.id: {"d": 1, "e": 0} for query in queries})
    monkeypatch.setattr(thesis_table_6_10, "log", lambda size: SimpleNamespace(train=judged, english={}, size=size))
    monkeypatch.setattr(thesis_table_6_10, "in_english", lambda made, judged: judged)
    monkeypatch.setattr(thesis_table_6_10, "train", lambda some, seed: some)
    monkeypatch.setattr(thesis_table_6_10, "rerank", lambda made, model, queries: made.size)
    monkeypatch.setattr(thesis_table_6_10, "measured", lambda made, run: {"RAW MRR": run.train})
    monkeypatch.setattr(
        thesis_table_6_10, "seen_terms", lambda model, some: [query.id for query in some.queries][-1][1:]
    )
    rows = thesis_table_6_10.measure("en-de", 0, smoke=False)
    # 5.8 % of 160 are nine, every eighth from the first; 11.7 % are 19.
    assert rows["share 5.8"] == {"RAW MRR": 4000, "pairs": 18, "terms": 64}
    assert rows["share 11.7"]["pairs"] == 38
    assert rows["share 100.0"] == {"RAW MRR": 4000, "pairs": 320, "terms": 159}
    assert list(thesis_table_6_10.measure("en-de", 0, smoke=True)) == ["share 5.8", "share 100.0"]


def test_categories_of_fewer_than_ten_queries_are_left_out(monkeypatch):
    ids = [f"q{i}" for i in range(19)]
    native = {id: Query(id, "Spiel" if i < 10 else "Tetris", "de") for i, id in enumerate(ids)}
    english = {id: Query(id, "game", "en") for id in ids}
    made = SimpleNamespace(test=ids, native=native, english=english, shown={id: ["d"] for id in ids}, train="de")
    monkeypatch.setattr(thesis_table_6_12, "log", lambda size: made)
    monkeypatch.setattr(thesis_table_6_12.searchlog, "translator", lambda made: None)
    said = lambda queries, *_: [q._replace(text="game" if q.text == "Spiel" else q.text) for q in queries]  # noqa: E731
    monkeypatch.setattr(thesis_table_6_12, "translate_queries", said)
    monkeypatch.setattr(thesis_table_6_12, "in_english", lambda made, judged: "en")
    monkeypatch.setattr(thesis_table_6_12, "train", lambda judged, seed: judged)
    monkeypatch.setattr(thesis_table_6_12, "rerank", lambda made, model, queries: (model, queries["q0"].text))
    monkeypatch.setattr(thesis_table_6_12, "measured", lambda made, run, among: {"run": run, "among": among})
    counted = lambda model, queries: SimpleNamespace(unknown=1, words=4)  # noqa: E731
    monkeypatch.setattr(thesis_table_6_12, "unknown_words", counted)
    rows = thesis_table_6_12.measure("en-de", 0, smoke=False)
    assert list(rows) == ["Good, monolingual", "Good, bilingual", "Good, corrected"], "nine are untranslatable"
    assert [row["run"] for row in rows.values()] == [("de", "Spiel"), ("en", "game"), ("en", "game")]
    assert rows["Good, bilingual"] == {"run": ("en", "game"), "among": ids[:10], "queries": 10, "unknown words": 0.25}
    assert "Untranslatable, monolingual" in thesis_table_6_12.measure("en-de", 0, smoke=True)


# The page of results: what is asked.


def test_neighbouring_words_ask_for_the_passage_they_stand_in(monkeypatch):
    said = [{"en": f"alpha{i} beta{i} gamma{i} delta{i}", "fr": f"un{i} deux{i}"} for i in range(6)]
    monkeypatch.setattr(tasks, "rows", lambda name: said if name == "ntrex" else [])
    monkeypatch.setattr(tasks, "run_part", lambda name, number: "test")
    task = tasks.questions("en", ["fr"], tasks.SMOKE)
    assert [document.id for document in task.documents] == ["0.fr", "1.fr"]
    assert task.documents[1].text == "un4 deux4 un5 deux5", "passages of four sentences"
    assert task.qrels == {f"{i // 4}.{i % 4}": {f"{i // 4}.fr": 1} for i in range(6)}
    assert task.queries[5].text == "alpha5 beta5 gamma5 delta5"
    assert tasks.neighbours("alpha beta", "en", 5, "0") == "", "too short to ask"
    assert len(tasks.neighbours("one two three four five six seven eight", "en", 5, "0").split()) == 5


def test_titles_ask_for_pages_among_held_out_ones(monkeypatch):
    held = [Concept(str(i), {"en": f"text {i}", "fr": f"texte {i}"}, {"en": f"title {i}"}) for i in range(5)]
    untitled = Concept("6", {"fr": "sans titre"})
    monkeypatch.setattr(
        tasks, "split", lambda *_, **__: sets.Split([], [*held, untitled, Concept("7", {"en": "only"})])
    )
    task = tasks.titles("ddtp", "fr", tasks.SMOKE, True)
    assert {document.id for document in task.documents} == {"0", "1", "2", "3", "4", "6"}
    assert task.qrels == {str(i): {str(i): 1} for i in range(5)}
    assert (task.name, task.targets) == ("documents, ddtp, en-fr", ["fr"])
