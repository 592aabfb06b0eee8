"""What recipes measure, against independent computations and cases worked out by hand."""

import numpy as np
import pytest
import scipy.special
import scipy.stats

from papers import corpora, nearest_neighbours, original_data, simulated_log
from papers.recipes import Recipe
from papers.tables import cr5, smooth, thesis_clicks, xcnn
from paragloss.analysis import analyzer
from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.lab.descent.loop import EpochProgress
from paragloss.types import Concept, Document, Hit, JudgedCollection, Query
from paragloss.vocabulary import Vocabulary

SIZE = 30
CONCEPTS = [Concept(str(i), dict.fromkeys(("en", "it"), f"w{i}")) for i in range(SIZE)]


def noisy_encoder(seed, noise=0.6):
    """An encoder in which word i of one language is near word i of the other, so that most but not all are found."""
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((SIZE, 4))
    terms = [f"w{i}" for i in range(SIZE)]
    towers = {}
    for lang in ("en", "it"):
        vocabulary = Vocabulary(lang, terms, [1] * SIZE, SIZE, stem=False)
        towers[lang] = Tower(vocabulary, (centers + noise * rng.standard_normal((SIZE, 4))).astype(np.float32))
    return BagEncoder(towers)


def reference_similarity(cosines, rule):
    """The four rules, each read from its paper."""
    if rule == "CSLS":  # a document's mean cosine with its ten nearest queries (Conneau et al., eq. 7)
        return 2 * cosines - np.sort(cosines, axis=0)[::-1][:10].mean(0)
    if rule == "corrected":  # minus the rank of the query in the document's own list (Dinu et al., eq. 3)
        return cosines - np.array([scipy.stats.rankdata(-column, method="ordinal") for column in cosines.T]).T
    if rule == "inverted":  # softmax over queries instead of documents (Smith et al., eq. 9)
        return scipy.special.log_softmax(30.0 * cosines, axis=0)
    return cosines


@pytest.mark.parametrize("rule", nearest_neighbours.SIMILARITIES)
def test_each_similarity_ranks_as_its_paper_defines(rule):
    model = noisy_encoder(1)
    queries, documents = (
        model.encode([c.texts[lang] for c in concepts], lang).astype(float)
        for lang, concepts in (("en", CONCEPTS[:20]), ("it", CONCEPTS))
    )
    scores = reference_similarity(queries @ documents.T, rule)
    ranks = np.array([(row >= row[i]).sum() for i, row in enumerate(scores)])
    columns = nearest_neighbours.measure_translation_retrieval(
        model, CONCEPTS[:20], "en", "it", distractors=CONCEPTS[20:], rule=rule
    )
    for k in (1, 5, 10):
        assert columns[f"P@{k}"] == pytest.approx((ranks <= k).mean())
    assert columns["RR"] == [round(1 / rank, 4) for rank in ranks]


def test_equal_scores_count_against_the_target():
    ranks = nearest_neighbours.rank_of_targets(np.eye(2), np.array([[1.0, 0], [1, 0]]), [0, 1])
    assert ranks.tolist() == [2, 2]


def test_a_sample_does_not_depend_on_which_other_items_exist():
    items = [Query(str(i), "", "en") for i in range(1000)]
    sample = corpora.sample_by_hash(items, 50, seed=1)
    assert len(sample) == 50
    odd_or_sampled = [item for item in items if item in sample or int(item.id) % 2]
    assert corpora.sample_by_hash(odd_or_sampled, 50, seed=1) == sample
    assert corpora.sample_by_hash(items, 50, seed=2) != sample


def test_packages_of_one_source_are_on_one_side_of_a_split():
    assert {corpora.duplicate_group("ddtp", name) for name in ("0ad:1", "0ad-data:2", "0ad-data-common:3")} == {"0ad"}
    assert corpora.duplicate_group("mdn", "Web/API") == "Web/API"


def test_a_known_item_task_finds_texts_by_titles_and_keeps_pages_without_a_title():
    concepts = [Concept("a", {"fr": "texte"}, {"en": "title"}), Concept("b", {"fr": "autre"})]
    queries, documents, qrels = corpora.make_known_item_task(concepts, "en", ["fr"])
    assert [(query.id, query.text) for query in queries] == [("a.en", "title")]
    assert [document.id for document in documents] == ["a.fr", "b.fr"]
    assert qrels == {"a.en": {"a.fr": 1}}


def test_no_bridge_between_two_languages_has_both():
    texts = {"da": "a", "en": "b", "it": "c", "ru": "d"}
    train = [Concept(str(i), dict(list(texts.items())[i % 2 : 3 + i % 2])) for i in range(40)]  # da en it, or en it ru
    bridges = cr5.select_bridges(corpora.Split(train, []), ["da", "ru"], 100, 0)
    assert {tuple(c.texts) for c in bridges} == {("da", "en"), ("ru", "en")}


def test_training_pairs_have_three_words_of_each_vocabulary():
    texts = [("red green blue", "rouge vert bleu"), ("red green blue", "rouge vert"), ("red pink", "rouge vert bleu")]
    concepts = [Concept(str(i), {"en": a, "fr": b}) for i, (a, b) in enumerate(texts * 2)]
    rare = Concept("rare", {"en": "red green unheard", "fr": "rouge vert bleu"})  # "unheard" is in one text only
    assert [c.id for c in xcnn.select_with_vocabulary([*concepts, rare], ["en", "fr"])] == ["0", "3"]


def test_external_pairs_are_halves_of_sentences_that_are_not_trained_on():
    concepts = [Concept("a", {"en": "one two three four five six"}), Concept("b", {"en": "a b c d e f g"})]
    assert xcnn.make_external_pairs(concepts, {"a"}) == [("a b c", "d e f g")]


def test_a_budget_is_that_of_the_network_whose_best_epoch_was_nearest_to_its_last():
    def fit(train, *, progress):
        for measures in ([0.7, 0.8, 0.9, 0.6], [0.1, 0.4, 0.4, 0.3]):
            for epoch, measure in enumerate(measures, 1):
                progress(EpochProgress(epoch, 50, 1.0, measure))
        return "model"

    assert corpora.fit_with_budget(fit, CONCEPTS) == ("model", {"best epoch": 3.0, "epochs": 4.0})


def test_an_unvalidated_pretraining_says_nothing_about_a_budget():
    def fit(train, *, progress):
        progress(EpochProgress(1, 1, 1.0))
        for epoch, measure in enumerate([0.1, 0.3, 0.2], 1):
            progress(EpochProgress(epoch, 50, 1.0, measure))

    assert corpora.fit_with_budget(fit, CONCEPTS)[1] == {"best epoch": 2.0, "epochs": 3.0}


def test_without_validation_the_last_epoch_is_the_best():
    def fit(train, *, progress):
        progress(EpochProgress(1, 2, 1.0))
        progress(EpochProgress(2, 2, 1.0))

    assert corpora.fit_with_budget(fit, CONCEPTS)[1] == {"best epoch": 2.0, "epochs": 2.0}


def test_packages_of_one_small_source_are_partly_relevant():
    names = ["game:1", "game-data:2", "other:3", *(f"python3-{i}:4" for i in range(9))]
    links = smooth.find_links("ddtp", [Concept(name, {}) for name in names])
    assert links == {"game:1": {"game-data:2"}, "game-data:2": {"game:1"}}, "nine packages are no source"


def test_a_random_order_scores_what_chance_gives():
    queries = [Query(str(i), "", "en") for i in range(2000)]
    qrels = {query.id: {"a": 2, "b": 0, "c": 0, "d": 0} for query in queries}
    judged = JudgedCollection(queries, {name: Document(name, "", "fr") for name in "abcd"}, qrels)
    columns = smooth.measure_random_order(judged, 0)
    assert np.mean(columns["P_mr@1"]) == pytest.approx(1 / 4, abs=0.03)
    assert np.mean(columns["MRR_mr"]) == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, abs=0.03)


def test_each_session_with_one_opened_document_counts_once():
    # Three sessions opened the second document of q1, one its first; one the third of q2. r1 is not among the queries.
    run = {query: [Hit(doc_id, -float(i)) for i, doc_id in enumerate("abc")] for query in ("q1", "q2", "r1")}
    sessions = {"q1": {"b": 3.0, "a": 1.0}, "q2": {"c": 1.0}, "r1": {"a": 9.0}}
    mean = simulated_log.measure_sessions(run, sessions, {"q1", "q2"})
    assert mean == pytest.approx((3 / 2 + 1 + 1 / 3) / 5)
    assert simulated_log.measure_sessions(run, {}, {"q1"}) == 0


def test_the_gradient_of_the_smooth_cosine_is_bounded_by_one_over_epsilon():
    assert smooth.steepest_gradient(0.001, 0.5) == pytest.approx(1 / (0.501 * 1.5), rel=1e-3)
    assert smooth.steepest_gradient(0.001, 0.0) == pytest.approx(1000, rel=1e-3)


def test_the_heat_map_is_the_partial_derivative_of_the_smooth_cosine():
    def smooth_cosine(x1, x2, epsilon):
        return (x1 + x2) / ((np.hypot(x1, x2) + epsilon) * (np.sqrt(2) + epsilon))

    x1, x2, step = np.array([0.3, -0.7, 0.01]), np.array([-0.2, 0.6, 0.02]), 1e-6
    for epsilon in (0.05, 0.5):
        slope = (smooth_cosine(x1 + step, x2, epsilon) - smooth_cosine(x1 - step, x2, epsilon)) / (2 * step)
        assert smooth.differentiate(x1, x2, epsilon) == pytest.approx(slope, rel=1e-5)
    zero = np.zeros(1)
    assert smooth.differentiate(zero, zero, 0.2) == pytest.approx(1 / (0.2 * (np.sqrt(2) + 0.2)))


def test_the_share_above_counts_pairs():
    assert smooth.share_above(np.array([0.1, 0.5]), np.array([0.2, 0.4, 0.6])) == pytest.approx(2 / 6)


def test_pages_of_a_limited_vocabulary_have_no_other_words():
    documents = [Document("d", "A dog, a cat.", "en", "Cats")]
    task = xcnn.SearchTask([Query("q", "Running dogs", "en")], documents, {}, [], 0)
    restricted = task.restrict_vocabulary({"dog", "run"})
    assert restricted.queries[0].text == "Running dogs"
    assert (restricted.documents[0].text, restricted.documents[0].title) == ("dog", "")


def test_a_query_without_words_finds_nothing_and_a_page_does_not_find_itself():
    queries = [Query("a", "", "en"), Query("d", "dog", "en")]
    documents = [Document("d", "A dog.", "en"), Document("e", "Two dogs.", "en")]
    run = xcnn.SearchTask(queries, documents, {}, [], 0).search_by_pipeline("bm25")
    assert (run["a"], [hit.id for hit in run["d"]]) == ([], ["e"])


def test_one_word_queries_have_the_judgments_of_all_queries_that_begin_with_the_word():
    queries = [Query("a", "mail reader", "de"), Query("b", "mail, server", "de")]
    judged = JudgedCollection(queries, {}, {"a": {"x": 1, "y": 2}, "b": {"x": 3}})
    extended = thesis_clicks.add_first_words(judged)
    assert [query.text for query in extended.queries] == ["mail reader", "mail, server", "mail"]
    assert extended.qrels["word mail"] == {"x": 3, "y": 2}


@pytest.mark.parametrize(
    ("translated", "category"),
    [
        ("a mail reader", "Good"),
        ("mail program", "Imperfect"),
        ("reader of many long texts", "Imperfect"),
        ("green house", "Not correct"),
        ("Postleser", "Untranslatable"),
    ],
)
def test_translations_are_judged_by_the_terms_they_share_with_the_corrected_query(translated, category):
    assert thesis_clicks.categorize("Postleser", translated, "mail reader") == category


def test_parts_on_the_papers_own_data_exist_where_their_files_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    files = {f"lsclir en-{lang}": ("lsclir/wiki_en.queries", f"lsclir/en2{lang}.rel") for lang in ("fr", "sw", "tl")}
    recipe = Recipe("any", parts=("en-fr",), original_parts={**files, "dinu en-it": ("dinu/*test*",)})
    assert recipe.list_parts(smoke=False) == ["en-fr"]
    (tmp_path / "lsclir").mkdir()
    for name in ("wiki_en.queries", "en2fr.rel", "en2sw.rel"):
        (tmp_path / "lsclir" / name).touch()
    assert recipe.list_parts(smoke=False) == ["en-fr", "lsclir en-fr", "lsclir en-sw"]


def test_europarl_has_as_many_candidates_as_the_paper_where_it_has_the_sentences():
    sentences = corpora.Split(CONCEPTS[:20], CONCEPTS[20:])
    test = CONCEPTS[20:25]
    others = cr5.select_distractors(sentences, test)
    assert others == [*CONCEPTS[:20], *CONCEPTS[25:]]
    assert len(cr5.select_distractors(sentences, test, candidates=12)) == 7


def test_lsclir_queries_keep_only_documents_that_are_present(tmp_path, monkeypatch):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    (tmp_path / "lsclir").mkdir()
    (tmp_path / "lsclir" / "wiki_en.queries").write_text("1\tBee\tAn insect.\n2\tSun\tA star.\n")
    (tmp_path / "lsclir" / "wiki_fr.documents").write_text("10\tAbeille\tUn insecte.\n")
    (tmp_path / "lsclir" / "en2fr.rel").write_text("1\t10\t2\n1\t11\t1\n2\t12\t2\n")
    judged = original_data.read_lsclir("fr", 10)
    assert [query.id for query in judged.queries] == ["1"]
    assert judged.qrels == {"1": {"10": 2}}


def test_the_first_letter_is_capitalised_and_the_rest_stays():
    assert thesis_clicks.fold_case(str, "live Video") == thesis_clicks.mark_capitals("Live Video")


def test_marked_capitals_survive_analysis():
    tokenize = analyzer("en").terms
    low, high = tokenize(thesis_clicks.mark_capitals("apple pie")), tokenize(thesis_clicks.mark_capitals("Apple pie"))
    assert low == tokenize("apple pie")
    assert low[0] != high[0]
    assert low[1] == high[1]
