"""The scoring model by hand, and the properties of the default search that follow from scoring documents one by one."""

import itertools
import math

import numpy as np
import pytest

from paragloss.collection import Collection
from paragloss.collection.arguments import SearchOptions
from paragloss.collection.retrieval import collect_candidates
from paragloss.search.clause_table import UNMATCHED_WEIGHT, build_clause_table
from paragloss.search.clauses import split_into_clauses
from paragloss.search.scoring import (
    FEATURE_NAMES,
    QUERY_FEATURES,
    Coefficients,
    MeasuredCandidates,
    ScoringModel,
    compute_probabilities,
    shipped_model,
)
from paragloss.search.similarity import Background, expected_best_of
from paragloss.types import Document, Query

DOCUMENTS = [
    Document("bees", "The bees carry honey into the hive.", "en", "Bees"),
    Document("lava", "Lava flows from the volcano at night.", "en", "Volcano"),
    Document("bread", "The baker sells bread and honey cake.", "en", "Bakery"),
    Document("vulkan", "Aus dem Vulkan fließt nachts Lava.", "de", "Vulkan"),
    Document("bienen", "Die Bienen tragen Honig in den Stock.", "de", "Bienen"),
    Document("brot", "Der Bäcker verkauft Brot und Kuchen.", "de", "Bäckerei"),
    Document("volcan", "La lave coule du volcan pendant la nuit.", "fr", "Volcan"),
    Document("abeilles", "Les abeilles portent le miel dans la ruche.", "fr", "Abeilles"),
]


@pytest.fixture
def make_collection(tmp_path):
    """Make a collection of some documents; it is closed at the end of the test."""
    opened = []

    def make(documents=DOCUMENTS):
        opened.append(Collection.create(str(tmp_path / f"c{len(opened)}"), meaning=False))
        opened[-1].index(documents)
        return opened[-1]

    yield make
    for collection in opened:
        collection.close()


def rank_ids(collection, text, **options):
    return [result.id for result in collection.search(text, lang="en", **options).results]


def score_documents(collection, text):
    (ranking,) = collection.rank([Query("", text, "en")], k=20)
    return {hit.id: hit.score for hit in ranking}


def make_candidates(rows, has_vectors):
    names = [f"d{i}" for i in range(len(rows))]
    return MeasuredCandidates(names, ["en"] * len(rows), np.array(rows, np.float32), np.array(has_vectors))


def make_weights(**values):
    return np.array([values.get(name, 0.0) for name in FEATURE_NAMES])


def test_log_odds_are_a_weighted_sum_and_documents_without_vectors_have_their_own_weights():
    model = ScoringModel(
        Coefficients(-2.0, make_weights(words=3.0, passage_similarity=0.5)), Coefficients(-1.0, make_weights(words=4.0))
    )
    rows = [make_weights(words=0.5, passage_similarity=2.0), make_weights(words=0.5)]
    log_odds = model.log_odds(make_candidates(rows, [True, False]))
    assert log_odds == pytest.approx([-2 + 3 * 0.5 + 0.5 * 2, -1 + 4 * 0.5])
    assert compute_probabilities(log_odds) == pytest.approx([1 / (1 + math.exp(-0.5)), 1 / (1 + math.exp(-1.0))])


def test_the_contributions_of_features_sum_to_the_log_odds():
    rows = np.random.default_rng(0).random((3, len(FEATURE_NAMES)))
    candidates = make_candidates(rows, [True, False, True])
    for row, log_odds in enumerate(shipped_model().log_odds(candidates)):
        parts = shipped_model().explain(candidates.features[row], has_vectors=bool(candidates.has_vectors[row]))
        assert sum(part.log_odds for part in parts) == pytest.approx(log_odds)


def test_a_model_is_read_as_it_was_written(tmp_path):
    model = ScoringModel(Coefficients(-2.5, make_weights(words=3.125)), Coefficients(-1.0, make_weights(coverage=0.5)))
    model.save(tmp_path / "model.json", "by hand")
    copy = ScoringModel.load(tmp_path / "model.json")
    assert copy.with_vectors.intercept == -2.5
    assert copy.with_vectors.weights.tolist() == model.with_vectors.weights.tolist()
    assert copy.without_vectors.weights.tolist() == model.without_vectors.weights.tolist()


def test_more_evidence_never_lowers_a_probability():
    """Matching words lower what a similar passage adds, but by less than they add themselves, if they are as rare as a
    word that one of fifty documents has: few candidates are more similar than 5 standard deviations."""
    query_weight = math.log(50)
    added_by_words = query_weight / (query_weight + UNMATCHED_WEIGHT)
    for coefficients in (shipped_model().with_vectors, shipped_model().without_vectors):
        by_name = dict(zip(FEATURE_NAMES, coefficients.weights.tolist(), strict=True))
        assert min(value for name, value in by_name.items() if name not in QUERY_FEATURES) >= 0
        assert by_name["words"] * added_by_words >= 5 * by_name["passage_similarity"]


def test_lexical_evidence_is_bm25_with_title_and_text_added_before_they_saturate(build_index):
    documents = [
        Document("both", "volcano island", "en", "volcano"),
        Document("text", "volcano island", "en", "honey"),
        Document("none", "honey bread", "en", "island"),
    ]
    index, store = build_index(documents, fields=("title", "text"))
    query = Query("", "volcano", "en")
    table = build_clause_table(query, [("en", split_into_clauses(query))], index.statistics)
    languages, rows = store.read_sparse("terms", ["both", "text", "none"])
    evidence = table.measure(languages, rows)
    matches = table.attribute_score("en", store.read_sparse("terms", ["both"])[1])
    # All texts and all titles are of average length: an occurrence counts 1, one in the title twice as much.
    matched_share = [3 / (3 + 1.2), 1 / (1 + 1.2), 0.0]
    assert evidence.combined_share == pytest.approx(matched_share)
    body_idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))  # two of three texts, and one of three titles, have the word
    title_idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    combined_weight = body_idf * np.array(matched_share)
    title_weight = title_idf * np.array([1 / (1 + 1.2), 0.0, 0.0])
    assert evidence.combined_evidence == pytest.approx(combined_weight / (body_idf + UNMATCHED_WEIGHT))
    assert evidence.title_evidence == pytest.approx(title_weight / (title_idf + UNMATCHED_WEIGHT))
    assert evidence.scores == pytest.approx((combined_weight + title_weight) / (body_idf + title_idf))
    rate = (2 + 1) / (3 + 2)  # two of three documents match
    assert evidence.match_rarity == pytest.approx([-math.log(rate) - math.log(3)] * 2 + [-math.log(3)])
    # What the pairs of words contribute sums to the score.
    assert sum(match.score for match in matches) == pytest.approx(evidence.scores[0])


def standardize(cosine, lang, **samples):
    """Standardize the cosine of one document, given the cosines of a background of each language."""
    background = Background.from_samples({
        name: np.array([[value, 0.0] for value in values], np.float32) for name, values in samples.items()
    })  # fmt: skip
    query_vector = np.array([1.0, 0.0], np.float32)
    return background.standardize(query_vector, [lang], np.array([cosine], np.float32))[0]


def test_a_similarity_is_standard_deviations_above_the_sample_of_its_language():
    assert standardize(0.5, "en", en=[0.2, 0.4] * 500) == pytest.approx(2.0, rel=1e-3)  # mean .3, deviation .1


def test_a_language_with_one_document_leans_on_the_background_of_the_others():
    standardized = standardize(0.9, "de", en=[0.2, 0.4] * 500, de=[0.9])
    # The mean of both languages is .6; one document moves it by an eleventh of the way to .9.
    assert standardized == pytest.approx((0.9 - (0.9 + 10 * 0.6) / 11) / (0.05 * 10 / 11) ** 0.5 / 0.1**0.5, rel=0.05)


def test_the_best_of_one_passage_is_not_corrected():
    assert expected_best_of([1.0, math.e**2]).tolist() == pytest.approx([0.0, 2.0])


def test_results_are_sorted_by_the_probability_that_is_shown(make_collection):
    results = make_collection().search("volcano lava honey", lang="en").results
    fits = [result.fit for result in results]
    assert fits == sorted(fits, reverse=True)
    assert [result.score for result in results] == fits
    assert all(0 < fit < 1 for fit in fits)


def test_a_copy_changes_neither_the_order_of_the_others_nor_the_place_of_the_original(make_collection):
    """A copy changes the statistics of the collection, and with them every probability a little: documents that are
    about as likely may change places."""
    copy = DOCUMENTS[3]._replace(id="vulkan-copy")
    original, with_copy = make_collection(), make_collection([*DOCUMENTS, copy])
    for text in ("volcano lava", "honey", "the night"):
        before, after = (score_documents(collection, text) for collection in (original, with_copy))
        assert after.keys() - {copy.id} == before.keys()
        for better, worse in itertools.permutations(before, 2):
            if before[better] > before[worse] + 0.03:
                assert after[better] > after[worse]


def test_the_probability_of_a_document_does_not_depend_on_what_else_is_retrieved(make_collection):
    collection = make_collection()
    scores = {
        result.score
        for options in ({}, {"k": 1}, {"to": ["de"]}, {"to": ["de"], "k": 1})
        for result in collection.search("volcano lava", lang="en", **options).results
        if result.id == "vulkan"
    }
    assert max(scores) == pytest.approx(min(scores), rel=1e-12)


def test_unrelated_documents_may_be_removed_without_reordering_the_rest(make_collection):
    collection = make_collection()
    before = rank_ids(collection, "volcano lava")
    collection.delete(["brot", "bread"])
    assert rank_ids(collection, "volcano lava") == [id for id in before if id not in ("brot", "bread")]


def test_the_only_document_of_a_language_gains_nothing_by_it(make_collection):
    stranger = Document("stranger", "Een bakker verkoopt brood in de nacht.", "nl", "Bakkerij")
    ids = rank_ids(make_collection([*DOCUMENTS, stranger]), "volcano lava")
    assert set(ids[:3]) == {"lava", "vulkan", "volcan"}
    assert "stranger" not in ids


def test_a_query_that_nothing_answers_has_no_results_and_says_what_was_searched(make_collection):
    answer = make_collection().search("xyzzyqwv", lang="en")
    assert answer.results == []
    assert set(answer.searched) == {"de", "en", "fr"}


def test_candidates_have_a_row_of_features_each(make_collection):
    state = make_collection().state
    candidates = collect_candidates(state, "volcano lava", SearchOptions(lang="en", to=["de", "fr"]))
    assert set(candidates.languages) <= {"de", "fr"}
    assert candidates.features.shape == (len(candidates.doc_ids), len(FEATURE_NAMES))
    assert not candidates.has_vectors.any()
    words = dict(zip(candidates.doc_ids, candidates.features[:, FEATURE_NAMES.index("words")], strict=True))
    assert words["vulkan"] > words.get("bienen", 0.0)


def test_parts_of_a_compound_in_a_title_count_as_words_of_a_title_of_so_many_words(make_collection):
    """A word with more parts makes a title no longer."""
    titles = {"two parts": "Zugverkehr", "three parts": "Zugverkehrsordnung"}
    documents = [Document(id, "Hier steht anderer Text.", "de", title) for id, title in titles.items()]
    state = make_collection([*documents, Document("other", "Kuchen mit Sahne.", "de", "Kuchen")]).state
    candidates = collect_candidates(state, "train", SearchOptions(lang="en"))
    title_words = dict(zip(candidates.doc_ids, candidates.features[:, FEATURE_NAMES.index("title_words")], strict=True))
    assert title_words["two parts"] == pytest.approx(title_words["three parts"])
    assert title_words["two parts"] > 0
    assert "other" not in title_words


def test_an_explanation_is_said_in_a_sentence_that_names_the_words(make_collection):
    collection = make_collection()
    answer = collection.search("volcano lava", lang="en", to=["de"])
    explanation = answer.why(answer.results[0].id)
    assert explanation["sentence"].startswith(f"{answer.results[0].fit:.0%} likely, because of matching words (")
    assert "volcano – Vulkan" in explanation["sentence"]
    assert "lava – Lava" in explanation["sentence"]
    of_a_pipeline = collection.search("volcano", lang="en", pipeline="bm25")
    assert of_a_pipeline.why("lava")["sentence"] == ""


def test_the_score_of_a_translator_in_a_pipeline_is_a_share_that_pairs_of_words_sum_to(make_collection):
    answer = make_collection().search("volcano lava", lang="en", to=["de"], pipeline="default")
    assert [result.id for result in answer.results] == ["vulkan"]
    assert 0.2 < answer.results[0].score < 1
    parts = answer.why("vulkan")["parts"]
    assert sum(part["score"] for part in parts) == pytest.approx(answer.results[0].score)


def test_a_field_that_a_pipeline_names_alone_is_searched_alone(make_collection):
    collection = make_collection()
    assert rank_ids(collection, "night", to=["de"], pipeline="default") == ["vulkan"]
    assert rank_ids(collection, "night", to=["de"], pipeline="default:title") == []
