"""What recipes learn from, ask and count, with everything that takes time replaced by what says how it was called."""

import gzip
import json
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from paragloss.encoders.bag import BagEncoder, Tower
from paragloss.errors import InputError, LanguageError
from paragloss.lab.recipes import adhoc, originals, page_fields, searchlog, sets, tasks
from paragloss.lab.recipes.runner import Results
from paragloss.lab.recipes.tables import (
    cr5_figure_2,
    cr5_table_1,
    cr5_table_3,
    cr5_table_4,
    knrm_stages,
    linear_maps,
    results,
    smooth_figure_1,
    smooth_figure_2,
    smooth_figure_3,
    smooth_figure_4,
    smooth_figure_5,
    smooth_table_2,
    thesis_head_and_tail,
    thesis_table_5_2,
    thesis_table_5_3,
    thesis_table_6_4,
    thesis_table_6_5,
    thesis_table_6_6,
    thesis_table_6_9,
    thesis_table_6_10,
    thesis_table_6_12,
    xcnn_table_1,
)
from paragloss.types import Alternative, Concept, Document, Hit, Judged, Query, Translation
from paragloss.vocabulary import Vocabulary


def patch(monkeypatch, module, **names):
    for name, value in names.items():
        monkeypatch.setattr(module, name, value)


class Same:
    """Translates every word into itself."""

    def translate(self, query, to):
        return [Translation(word, (Alternative(word, 1.0),)) for word in query.text.split()]


def concepts(count, langs=("en", "it"), first=0):
    return [
        Concept(str(i), {lang: f"{lang} text {i}" for lang in langs}, {lang: f"{lang} title {i}" for lang in langs})
        for i in range(first, first + count)
    ]


# The thesis: logs.


def log(**given):
    judged = Judged(
        [Query(f"q{i}", f"Wort{i} Spiel", "de") for i in range(4)], {}, {f"q{i}": {"d": 1} for i in range(4)}
    )
    native = {f"t{i}": Query(f"t{i}", f"Frage {i}", "de") for i in range(3)}
    english = {f"t{i}": Query(f"t{i}", f"question {i}", "en") for i in range(3)}
    made = {
        "lang": "de", "train": judged, "test": list(native), "native": native, "english": english,
        "shown": {"t0": ["a", "b"], "t1": ["b"], "t2": []}, "documents": {n: Document(n, n, "de") for n in "ab"},
    }  # fmt: skip
    return SimpleNamespace(**{**made, **given})


def test_each_kernel_has_its_weights_pairs_translations_and_what_it_finds_alone(monkeypatch):
    sizes, looked = [], {}
    made = log()

    def bins(model, judged):
        looked[model] = judged
        return [SimpleNamespace(number=i + 1, mean=1 - i / 10, weight=i + len(model), pairs=10 * i) for i in range(2)]

    patch(
        monkeypatch, thesis_table_6_4,
        log=lambda size: sizes.append(size) or made,
        train=lambda judged, seed: f"{judged if isinstance(judged, str) else 'native'}{seed}",
        in_english=lambda made, judged: "english",
        bins=bins,
        rerank=lambda made, model, queries: (model, queries["t0"].text),
        measured=lambda made, run: {"DIFF @10": [0.2, 0.4] if run == ("english7", "question 0") else [0.0]},
        one_at_a_time=lambda model, measure: [measure(model), 2 * measure(model)],
        translation_pairs=lambda *_: [SimpleNamespace(bin=b) for b in (2, 2, 1)],
    )  # fmt: skip
    monkeypatch.setattr(searchlog, "translator", lambda made: None)
    rows = thesis_table_6_4.measure("en-de", 7, smoke=False)
    assert sizes == [searchlog.Size(2000)]
    assert [query.lang for query in looked["english7"].queries] == ["en"] * 3
    assert [query.lang for query in looked["native7"].queries] == ["de"] * 3
    assert looked["native7"].qrels == {"t0": {"a": 0, "b": 0}, "t1": {"b": 0}, "t2": {}}
    columns = ("weight", "pairs", "monolingual weight", "monolingual pairs", "translations", "DIFF @10 alone")
    assert rows["kernel 1, mean 1.0"] == pytest.approx(dict(zip(columns, (8, 0, 7, 0, 1, 0.3), strict=True)))
    assert rows["kernel 2, mean 0.9"] == pytest.approx(dict(zip(columns, (9, 10, 8, 10, 2, 0.6), strict=True)))
    thesis_table_6_4.measure("en-de", 7, smoke=True)
    assert sizes[1] == searchlog.SMOKE


def test_capitals_are_folded_in_training_and_test_queries_alike(monkeypatch):
    learned, asked, sizes = [], [], []
    judged = Judged([Query("q", "red Apple tree", "en"), Query("r", "New York", "en")], {}, {})
    patch(
        monkeypatch, thesis_table_6_5,
        log=lambda size: sizes.append(size) or log(test=["t0"]),
        in_english=lambda made, train: judged,
        translate_queries=lambda queries, by, to: [query._replace(text="my Frage", lang=to) for query in queries],
        train=lambda some, seed: learned.append([query.text for query in some.queries])
        or SimpleNamespace(vocabularies={"en": "x" * len(learned), "de": ""}),
        rerank=lambda made, model, test: asked.append({id: query.text for id, query in test.items()}),
        measured=lambda made, run: {"RAW MRR": 0.5},
    )  # fmt: skip
    monkeypatch.setattr(searchlog, "translator", lambda made: None)
    rows = thesis_table_6_5.measure("en-de", 0, smoke=False)
    mark = "\ua7fa"
    assert learned == [
        [f"{mark}Red {mark}Apple tree", f"{mark}New {mark}York"],
        ["red apple tree", "new york"],
        [f"{mark}Red {mark}Apple tree", f"{mark}New {mark}York"],
    ], "the second words are capitals, so that first ones are taken for names"
    assert asked == [{"t0": f"{mark}My {mark}Frage"}, {"t0": "my frage"}, {"t0": f"{mark}My {mark}Frage"}]
    assert rows["First word to lower case"] == {"RAW MRR": 0.5, "English terms": 3}
    assert list(rows) == ["Bilingual baseline", "All to lower case", "First word to lower case"]
    assert sizes == [searchlog.Size(2000)]


def shared():
    """Three queries that translate alike, with 1, 3 and 25 documents, and one by itself with two."""
    texts = {"a": ("Ufer", 1), "b": ("Bank", 3), "c": ("Sitzbank", 25), "d": ("Haus", 2)}
    qrels = {id: {f"{id}{n}": 1 for n in range(count)} for id, (_, count) in texts.items()}
    source = Judged([Query(id, text, "de") for id, (text, _) in texts.items()], {}, qrels)
    english = {"a": "bank", "b": "bank", "c": "bank", "d": "house"}
    return source, source._replace(queries=[Query(id, text, "en") for id, text in english.items()])


def test_how_long_the_lists_of_ambiguous_queries_are_and_what_cleaning_leaves(monkeypatch):
    monkeypatch.setattr(thesis_table_6_6, "logs", lambda smoke: (None, *shared()))
    rows = thesis_table_6_6.measure("en-de", 0, smoke=False)
    assert {row: rows[row]["documents"] for row in ("average", "minimum", "maximum", "standard deviation")} == (
        pytest.approx({"average": 29 / 3, "minimum": 1, "maximum": 25, "standard deviation": np.std([1, 3, 25])})
    )
    assert [rows[row]["queries"] for row in ("1 to 20 documents", "21 to 50 documents", "above 100 documents")] == [
        2,
        1,
        0,
    ]
    # One of 25 is more than 20: all three go, and two of 31 pairs are left.
    assert rows["low bound"] == {"share kept": 2 / 31}
    assert rows["middle bound"] == rows["high bound"] == rows["nothing removed"] == {"share kept": 1}


def test_cleaned_logs_stand_beside_as_many_pairs_at_random(monkeypatch):
    made, seeds = log(), []
    patch(
        monkeypatch, thesis_table_6_9,
        logs=lambda smoke: (made, *shared()),
        train=lambda judged, seed: seeds.append(seed) or judged,
        rerank=lambda made, model, queries: (model, queries is made.english),
        measured=lambda made, run: {"pairs": sum(map(len, run[0].qrels.values())), "english": run[1]},
    )  # fmt: skip
    rows = thesis_table_6_9.measure("en-de", 3, smoke=False)
    assert list(rows) == [
        *(f"{name} bound, {how}" for name in ("low", "middle", "high") for how in ("ambiguous", "random")),
        "Nothing removed",
    ]
    assert {row: columns["pairs"] for row, columns in rows.items() if "random" not in row} == {
        "low bound, ambiguous": 2, "middle bound, ambiguous": 31, "high bound, ambiguous": 31, "Nothing removed": 31,
    }  # fmt: skip
    assert rows["low bound, random"]["pairs"] <= 2
    assert all(columns["english"] for columns in rows.values())
    assert seeds == [3] * 7
    assert len(thesis_table_6_9.measure("en-de", 3, smoke=True)) == 3


def test_the_log_that_is_cleaned_has_first_words_and_is_lower_case_in_english(monkeypatch):
    sizes = []
    monkeypatch.setattr(thesis_table_6_9, "log", lambda size: sizes.append(size) or log())
    monkeypatch.setattr(searchlog, "translator", lambda made: Same())
    _, source, translated = thesis_table_6_9.logs(False)
    assert sizes == [searchlog.Size(1000)]
    assert [query.text for query in source.queries][3:5] == ["Wort3 Spiel", "Wort0"]
    assert [(query.text, query.lang) for query in translated.queries][3:5] == [("wort3 spiel", "en"), ("wort0", "en")]


def test_the_thesis_tail_teaches_nothing_or_alone(monkeypatch):
    queries = [Query(f"q{i}", "", "en") for i in range(10)]
    train = Judged(queries, {}, {query.id: {"d": 1} for query in queries})
    made = SimpleNamespace(english="english")
    asked = SimpleNamespace(train=train, common={"q1", "q2", "q3"}, made=made, start="Cr5")
    told, called = [], []
    patch(
        monkeypatch, thesis_head_and_tail,
        unevenly=lambda lang, smoke: called.append((lang, smoke)) or asked,
        train=lambda judged, vectors, seed: told.append((vectors, seed)) or judged,
        rerank=lambda made, model, queries: (sorted(model.qrels), queries),
        by_half=lambda asked, run: {"run": run},
    )  # fmt: skip
    rows = thesis_head_and_tail.measure("en-da", 5, smoke=False)
    assert called == [("da", False)]
    assert told == [("Cr5", 5)] * 4
    names = [f"q{i}" for i in range(10)]
    assert rows["all"] == {"run": (names, "english"), "queries": 10}
    assert rows["asked 50 times or more"] == {"run": (names[1:4], "english"), "queries": 3}
    assert rows["asked fewer than 50 times"] == {"run": ([names[0], *names[4:]], "english"), "queries": 7}
    random = [query.id for query in sets.drawn(queries, 3, 5)]
    assert rows["as many at random"] == {"run": (random, "english"), "queries": 3}


def test_a_log_asked_by_zipf_s_law_has_grades_by_clicks_and_by_what_was_wanted(monkeypatch):
    made = log(
        train=Judged([Query("a", "x", "de")], {}, {"a": {"b": 1}}),
        test=["b"],
        shown={"a": ["a", "b"], "b": ["b", "a"], "c": []},
    )
    habits = searchlog.Wanted({"a": {"a": 0.9, "b": 0.4}, "b": {"b": 0.9, "a": 0.1}},
                              {"a": {"a": 0.5, "b": 0.5}, "b": {"b": 0.8, "a": 0.2}})  # fmt: skip
    seen = {}
    patch(
        monkeypatch, thesis_head_and_tail,
        log=lambda size, lang: seen.update(size=size, lang=lang) or made,
        wanted=lambda shown, documents, lang: habits,
        often=lambda queries: {"a": 60, "b": 49, "c": 1},
        graded=lambda scores: {q: {d: round(100 * s) for d, s in found.items()} for q, found in scores.items()},
        in_english=lambda made, judged: judged,
        shared_vectors=lambda made: "start",
    )  # fmt: skip
    thesis_head_and_tail.unevenly.cache_clear()
    asked = thesis_head_and_tail.unevenly("de", False)
    thesis_head_and_tail.unevenly.cache_clear()
    assert (seen["size"], seen["lang"], asked.start) == (searchlog.Size(2000, 600), "de", "start")
    assert asked.times == Counter(a=60, b=49)
    assert asked.common == {"a"}, "fewer than fifty times is the tail"
    assert set(asked.train.qrels) == {"a"}
    assert asked.labels["wanted"] == {"b": {"b": 72, "a": 2}}, "opened and content: .9 x .8, .1 x .2"
    clicks = asked.labels["clicks"]["b"]
    assert clicks["b"] > clicks["a"]
    assert set(asked.labels["clicks"]) == {"b"}


def bag(langs=("de", "en")):
    rows = np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)
    return BagEncoder({lang: Tower(Vocabulary(lang, ["one", "none"], [1, 1], 2, stem=False), rows) for lang in langs})


def test_vectors_to_start_from_are_as_long_as_drawn_ones(monkeypatch):
    told = {}
    monkeypatch.setattr(searchlog.cr5, "fit", lambda texts, dim: told.update(texts=texts, dim=dim) or bag())
    long = Concept("p", {"de": "x" * 400, "en": "y" * 400}, {"de": "Titel", "en": "title"})
    found = searchlog.shared_vectors(SimpleNamespace(lang="de", learned=[long]))
    assert told["texts"][0].texts == {"de": "Titel\n" + "x" * 300, "en": "title\n" + "y" * 300}
    assert told["dim"] == searchlog.DIM == 100
    # Even in (-1, 1) has a variance of 1/3 in each of 100 dimensions.
    np.testing.assert_allclose(found["de"]["one"], np.sqrt(100 / 3) * np.array([0.6, 0.8]), rtol=1e-6)
    assert np.array_equal(found["en"]["none"], [0, 0])


def test_rankers_of_the_log_learn_in_four_epochs_unless_told_otherwise(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setattr(searchlog.knrm, "fit_judged", lambda judged, **said: said)
    assert searchlog.train("log", seed=3) == {"dim": 100, "epochs": 4, "batch": 32, "per_positive": 2, "seed": 3}
    assert searchlog.train("log", seed=3, epochs=9, off=(0,))["epochs"] == 9


# The thesis: pages.


class FakePages:
    store, statistics, fetch, queries = "store", "statistics", "fetch", {"en": []}

    def idf(self, lang, term):
        return (lang, term)

    def lexical(self, fields=()):
        return ("lexical", tuple(fields))

    def measured(self, searcher, lang):
        return (searcher, lang)

    def translated(self, asked):
        return asked


@contextmanager
def opened(*, smoke):
    yield FakePages()


def test_every_form_of_a_query_is_asked_with_and_without_expansions(monkeypatch, tmp_path):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    patch(
        monkeypatch, thesis_table_5_2,
        opened=opened,
        read_pairs=lambda path: path.name,
        Dictionary=SimpleNamespace(build=lambda *said: said),
        Nested=lambda *index, weights=None: ("nested", *index, weights),
        Expanded=lambda form, fetch, idf: ("after", form, fetch),
        ChainedTranslator=lambda first, second: ("before", first, second),
        expander=lambda pages: "synonyms",
        shutil=SimpleNamespace(which=lambda name: None),
    )  # fmt: skip
    rows = thesis_table_5_2.measure("en-es", 0, smoke=False)
    words = ("en-es.tsv.gz", "en", "es")
    forms = {
        "Nested, title": ("nested", "store", "statistics", {"title": 1.0}),
        "Nested, all fields": ("nested", "store", "statistics", None),
        "Weighted, title": ("lexical", ("title",)),
        "Weighted, all fields": ("lexical", ()),
    }
    expected = {"Monolingual, title": (("lexical", ("title",)), "es")}
    for name, form in forms.items():
        expected[name] = (form, words)
        expected[f"{name}, pre-translation expansion"] = (form, ("before", "synonyms", words))
        expected[f"{name}, post-translation expansion"] = (("after", form, "fetch"), words)
        expected[f"{name}, both expansions"] = (("after", form, "fetch"), ("before", "synonyms", words))
    assert rows == expected


def test_without_wordnet_the_first_english_pages_expand(monkeypatch):
    def none():
        raise InputError("not installed")

    patch(
        monkeypatch, thesis_table_5_2, WordNet=none, FeedbackExpander=lambda own, fetch, idf: (own, fetch, idf("casa"))
    )
    assert thesis_table_5_2.expander(FakePages()) == (("lexical", ()), "fetch", ("en", "casa"))
    monkeypatch.setattr(thesis_table_5_2, "WordNet", lambda: "wordnet")
    assert thesis_table_5_2.expander(FakePages()) == "wordnet"


def test_words_of_two_spaces_translate_into_their_nearest_few(monkeypatch, tmp_path):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    both, told, split = concepts(20, ("en", "es")), {}, []
    patch(
        monkeypatch, thesis_table_5_3,
        opened=opened,
        TAUGHT=2,
        read_pairs=lambda path: [SimpleNamespace(source=f"a{i}", target=f"b{i}") for i in range(3)],
        split=lambda *said, **more: split.append((said, more)) or sets.Split([*both, Concept("x", {"en": "x"})], []),
        EmbeddingTranslator=lambda space, top: (space, top),
    )  # fmt: skip
    monkeypatch.setattr(thesis_table_5_3.alignment, "fit", lambda some, **said: told.update(a=(some, said)) or "maps")
    monkeypatch.setattr(thesis_table_5_3.cr5, "fit", lambda some, **said: told.update(c=(some, said)) or "cr5")
    rows = thesis_table_5_3.measure("en-es", 4, smoke=False)
    learned = sets.drawn(both, 18, 4)
    taught = [("a0", "b0"), ("a1", "b1")]
    assert told["a"] == (learned, {"dim": 200, "seed": 4, "dictionary": {
        ("en", "es"): taught, ("es", "en"): [(b, a) for a, b in taught]}})  # fmt: skip
    assert told["c"] == (learned, {"dim": 200, "seed": 4, "stem": False, "min_df": 2})
    flat = ("lexical", ())
    assert rows == {
        "Monolingual, title": (("lexical", ("title",)), "es"),
        **{f"Top {top}, {name}": (flat, (space, top)) for name, space in (("aligned", "maps"), ("Cr5", "cr5"))
           for top in (1, 3, 5)},
    }  # fmt: skip
    assert split == [(("lohelp", ["en", "es"]), {"lines": None})]


def test_translated_queries_are_measured_over_spanish_pages(monkeypatch):
    asked = []
    pages = page_fields.Pages({}, {}, {"p": "page"}, (), None, None)
    measured = lambda self, searcher, lang: asked.append(lang) or searcher.search  # noqa: E731
    monkeypatch.setattr(page_fields.Pages, "measured", measured)
    monkeypatch.setattr(page_fields, "Translated", lambda inner, words, to: SimpleNamespace(search=(inner, words, to)))
    assert pages.translated({"row": ("form", "words")}) == {"row": ("form", "words", "es")}
    assert asked == ["en"]
    assert pages.fetch(["p"]) == ["page"]


def linked_pages(place, lang):
    """Twelve pages, each linked with the next; the fifth has no English title."""
    (place / "mdn").mkdir()
    for code in ("en", lang):
        with gzip.open(place / "mdn" / f"{code}.jsonl.gz", "wt") as file:
            for i in range(12):
                title = "" if (code, i) == ("en", 5) else f"{code} title {i}"
                text = f"{title} holds words. More."
                file.write(json.dumps({"concept": f"Web/{i}", "lang": code, "title": title, "text": text}) + "\n")
    with gzip.open(place / "mdn" / "mutual_links.tsv.gz", "wt") as file:
        file.writelines(f"Web/{i}\tWeb/{i + 1}\n" for i in range(11))


def test_pages_that_link_to_each_other_are_held_out_together(monkeypatch, tmp_path):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    linked_pages(tmp_path, "fr")

    def held(name, langs, *, tenths, lines):
        assert (name, langs, tenths) == ("mdn", ["en", "fr"], 3)
        read = sets.read(name, ["en", "fr"])
        return sets.Split(read[9:], read[:9])

    monkeypatch.setattr(adhoc, "split", held)
    made = adhoc.pages("en", "fr", smoke=False)
    assert [document.id for document in made.documents] == [f"Web/{i}" for i in range(9)]
    assert (made.documents[0].title, made.documents[0].lang) == ("fr title 0", "fr")
    assert [query.id for query in made.queries] == [f"Web/{i}" for i in range(9) if i != 5], "it has nothing to ask"
    assert made.queries[0].text == "en title 0"
    assert made.qrels["Web/8"] == {"Web/7": 1}, "the next page is not held out"
    assert made.qrels["Web/4"] == {"Web/3": 1, "Web/5": 1}
    assert ([c.id for c in made.learned], made.most) == (["Web/9", "Web/10", "Web/11"], 1500)
    assert adhoc.pages("fr", "fr", smoke=True).most == 100


def test_first_sentences_ask_for_graded_pages(monkeypatch, tmp_path):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    linked_pages(tmp_path, "fr")
    monkeypatch.setattr(tasks, "split", lambda name, langs, lines: sets.Split([], sets.read(name, langs)))
    task = tasks.graded("fr", tasks.Sizes(0, 0, 5, 20), False)
    assert (task.name, task.measure, len(task.queries), len(task.documents)) == ("ad hoc, mdn, en-fr", "nDCG@10", 5, 12)
    assert set(task.qrels) == {query.id for query in task.queries}
    for id, grades in task.qrels.items():
        number = int(id.split("/")[1])
        assert grades == {f"Web/{n}": 2 if n == number else 1 for n in (number - 1, number, number + 1) if 0 <= n < 12}
    assert all("title" not in query.text for query in task.queries)


def test_the_papers_sentences_lie_line_beside_line_and_fire_s_topics_ask(monkeypatch, tmp_path):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    for name in ("wmt14", "fire/hi"):
        (tmp_path / name).mkdir(parents=True)
    for lang in ("en", "hi"):
        (tmp_path / "wmt14" / f"a.{lang}").write_text("".join(f"{lang} {i}\n" for i in range(50)), encoding="utf-8")
    found = originals.sentences("wmt14", "hi")
    assert sorted(c.texts["hi"] for c in [*found.train, *found.test]) == sorted(f"hi {i}" for i in range(50))
    assert all(c.texts["en"].split()[1] == c.texts["hi"].split()[1] for c in found.train)
    (tmp_path / "fire" / "hi" / "1").write_text("<DOC><DOCNO>d1</DOCNO><TEXT>पानी</TEXT></DOC>", encoding="utf-8")
    topic = "<top><num>{0}</num><title>{1}</title></top>"
    said = "\n".join(topic.format(n, f"water {n}") for n in (1, 2))
    (tmp_path / "fire" / "topics.en").write_text(f"<topics>{said}</topics>", encoding="utf-8")
    (tmp_path / "fire" / "qrels").write_text("1 0 d1 1\n", encoding="utf-8")
    made = originals.fire("en", smoke=False)
    assert [(query.id, query.lang) for query in made.queries] == [("1", "en")], "the second was not judged"
    assert [(document.id, document.lang) for document in made.documents] == [("d1", "hi")]
    assert (made.qrels, len(made.learned), made.most) == ({"1": {"d1": 1}}, len(found.train), 100_000)
    assert originals.fire("en", smoke=True).most == 100


# Cr5's tables, maps and K-NRM's stages: what is learned from.


def test_what_each_way_of_cr5_is_taught(monkeypatch):
    langs = ("da", "en", "it", "ru")
    whole, fitted = sets.Split(concepts(30, langs), []), []
    patch(monkeypatch, cr5_table_1, joint=lambda seed, smoke: ("joint", seed, smoke), bridges=lambda *said: said)
    monkeypatch.setattr(cr5_table_1, "validated", lambda some, seed: (some, seed))
    monkeypatch.setattr(cr5_table_1.alignment, "fit", lambda some, **said: fitted.append((some, said)) or "map")
    models = cr5_table_1.trained("da-ru", whole, 3, False)
    own = [cr5_table_1.only(c, ["da", "ru"]) for c in whole.train]
    assert fitted == [(own, {"method": "advrefine", "seed": 3, "dim": 200, "epochs": 3})]
    assert models == {
        "AdvRefine": "map", "Cr5, joint": ("joint", 3, False), "Cr5, pairwise": (own, 3),
        "Cr5, pairwise, a third": (own[:10], 3), "Cr5, transitive": ((whole, ["da", "ru"], 3000, 3), 3),
    }  # fmt: skip
    assert set(cr5_table_1.trained("en-it", whole, 3, False)) == {"AdvRefine", "Cr5, joint", "Cr5, pairwise"}
    assert set(cr5_table_1.trained("it-ru", whole, 3, False)) == {"AdvRefine", "Cr5, joint"}


def test_the_joint_model_learns_from_the_union_of_pairs_with_its_own_lambda(monkeypatch):
    told = {}
    two = [
        Concept("a", {"da": "x", "en": "y"}, {"da": "t"}),
        Concept("b", {"it": "x", "ru": "y"}),
        Concept("c", {"en": ""}),
    ]
    monkeypatch.setattr(
        cr5_table_1, "split", lambda *said, **more: told.update(split=(said, more)) or sets.Split(two, [])
    )
    tune = lambda some, folds, seed: told.update(tune=(some, folds, seed)) or SimpleNamespace(best=0.3)  # noqa: E731
    monkeypatch.setattr(cr5_table_1.cr5, "tune", tune)
    monkeypatch.setattr(cr5_table_1.cr5, "fit", lambda some, seed, lambda_: (some, seed, lambda_))
    cr5_table_1.joint.cache_clear()
    learned = [two[0]._replace(titles={}), two[1]]
    assert cr5_table_1.joint(5, False) == (learned, 5, 0.3)
    assert told["tune"] == (learned, 2, 5)
    assert told["split"] == (("ddtp", ("da", "en", "it", "ru")), {"lines": None})
    cr5_table_1.joint.cache_clear()


def test_maps_on_documents_never_learn_from_all_of_them(monkeypatch):
    told, split = {}, []
    whole = sets.Split(concepts(20), concepts(40, first=100))
    patch(
        monkeypatch, linear_maps,
        split=lambda *said, **more: split.append((said, more)) or whole,
        fitted=lambda train, lang, dim, seed: told.update(train=train, rest=(lang, dim, seed)) or {"Cr5": "model"},
        found=lambda model, test, lang: (model, len(test), lang),
    )  # fmt: skip
    assert linear_maps.measure("lohelp en-it", 2, smoke=False) == {"Cr5": ("model", 40, "it")}
    assert told == {"train": sets.drawn(whole.train, 18, 2), "rest": ("it", 300, 2)}
    assert split == [(("lohelp", ["en", "it"]), {"lines": None})]
    assert linear_maps.measure("lohelp en-it", 2, smoke=True) == {"Cr5": ("model", 30, "it")}


def test_maps_and_cr5_are_taught_by_the_same_pages(monkeypatch):
    train, made = concepts(12), []
    both = {of: SimpleNamespace(vocabulary=of) for of in ("en", "it")}
    counted = lambda some, **said: made.append(said) or (both, 12)  # noqa: E731
    vectors = lambda texts, words, dim: (list(texts)[0], words, dim)  # noqa: E731, RUF015
    patch(monkeypatch, linear_maps, count=counted, text_of=lambda c, of: c.texts[of])
    monkeypatch.setattr(linear_maps.monolingual, "train", vectors)
    monkeypatch.setattr(linear_maps.alignment, "fit", lambda some, **said: (some is train, said))
    monkeypatch.setattr(linear_maps.cr5, "fit", lambda some, dim, seed: (some is train, dim, seed))
    models = linear_maps.fitted(train, "it", 50, 1)
    assert models.pop("Cr5") == (True, 50, 1)
    same = {"en": ("en text 0", "en", 50), "it": ("it text 0", "it", 50)}
    assert models == {
        row: (True, {"method": method, "vectors": same, "seed": 1}) for row, method in linear_maps.METHODS.items()
    }
    assert made == [{"stem": False, "lengths": (1, 10**9)}]


def test_sentences_ask_with_themselves_and_pages_with_titles(monkeypatch):
    held = concepts(3)
    monkeypatch.setattr(knrm_stages, "sentences", lambda lang: sets.Split(["train", lang], held))
    learned, asking = knrm_stages.divided("tatoeba", "it")
    assert learned == ["train", "it"]
    assert [c.titles for c in asking] == [{"en": f"en text {i}"} for i in range(3)]
    split = sets.Split([*held, Concept("x", {"en": "only"})], ["test"])
    monkeypatch.setattr(
        knrm_stages, "split", lambda name, langs: split if (name, langs) == ("mdn", ["en", "it"]) else None
    )
    assert knrm_stages.divided("mdn", "it") == (held, ["test"])


class Saved:
    def __init__(self, size=0):
        self.size = size

    def save(self, path):
        Path(path).mkdir(parents=True)
        Path(path, "bytes").write_bytes(b"x" * self.size)


class Engine:
    """Finds q's own document first with K-NRM, second without."""

    def __init__(self, path, *, models, default):
        assert [Path(model).name for model in models] == ["cr5", "table", "knrm"]
        assert all(Path(model).is_dir() for model in models)
        assert not default

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def index(self, documents):
        self.documents = documents

    def rank(self, queries, *, k, to, pipeline):
        assert (k, to) == (100, ["it"])
        found = [[Hit(query.id, 2.0), Hit("other", 1.0)] for query in queries]
        return found if pipeline.endswith(">knrm") else [hits[::-1] for hits in found]


def test_every_stage_is_asked_with_and_without_what_was_learned_from_the_same(monkeypatch):
    learned, taught = concepts(4), []
    monkeypatch.setattr(knrm_stages, "train", lambda fit, some: taught.append(some) or Saved())
    monkeypatch.setattr(knrm_stages.table, "fit", lambda some, sharpness: taught.append(some) or Saved())
    monkeypatch.setattr(knrm_stages.knrm, "fit", lambda some: taught.append(some) or Saved())
    monkeypatch.setattr(knrm_stages, "Collection", SimpleNamespace(create=Engine))
    queries = [Query("a", "x", "en"), Query("b", "y", "en")]
    found = knrm_stages.reciprocal_ranks(
        learned, queries, [Document("a", "x", "it")], {q.id: {q.id: 1} for q in queries}
    )
    assert taught == [learned] * 3
    assert found == {
        **{stage: {"a": 0.5, "b": 0.5} for stage in knrm_stages.STAGES},
        **{f"{stage}>knrm": {"a": 1.0, "b": 1.0} for stage in knrm_stages.STAGES},
    }


class Searched(Engine):
    def __init__(self, path, *, models, default):
        self.models, self.default = [Path(model).name for model in models], default

    def rank(self, queries, *, k, to, pipeline):
        assert ([query.id for query in queries], k, to, pipeline) == (["a", "b"], 100, ["it"], "table:best")
        assert ([document.lang for document in self.documents], self.models, self.default) == (
            ["it"] * 3,
            ["table"],
            False,
        )
        hits = [Hit(f"x{i}", 9.0 - i) for i in range(5)]
        return [[Hit("a", 99.0), *hits], [*hits, Hit("b", 1.0)]]


def test_words_are_asked_of_the_product_and_a_sentence_without_any_finds_nothing(monkeypatch):
    taught = []
    monkeypatch.setattr(adhoc, "Collection", SimpleNamespace(create=Searched))
    monkeypatch.setattr(xcnn_table_1.table_method, "fit", lambda train: taught.append(train) or Saved())
    test = [Concept(id, {"it": f"testo {id}"}) for id in "abc"]
    queries = [Query("a", "x", "en"), Query("b", "y", "en"), Query("c", " ", "en")]
    found = xcnn_table_1.by_words(queries, test, "it", "table:best", ["train"])
    assert (taught, found["RR"]) == ([["train"]], [1.0, round(1 / 6, 4), 0.0])
    assert [found[f"P@{k}"] for k in (1, 5, 10)] == pytest.approx([1 / 3, 1 / 3, 2 / 3])


# The page of results: which systems, with which models.


@pytest.fixture
def asked(monkeypatch, tmp_path):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    monkeypatch.setenv("PARAGLOSS_HELD", "held/model")
    calls = []

    def note(tasks, models, systems, place, seed=0):
        calls.append(([Path(model).name for model in models], systems, seed))
        return {f"cost | {name}": {"ms/query": 2.0, "documents/s": 10.0} for name in systems}

    monkeypatch.setattr(results, "_asked", note)
    return calls


def test_what_is_given_speaks_for_itself(asked, monkeypatch, tmp_path):
    built = []
    build = lambda *said: built.append(said[1:]) or Saved()  # noqa: E731
    patch(monkeypatch, results, read_pairs=lambda path: path, Dictionary=SimpleNamespace(build=build))
    found = {"apertium": None}
    monkeypatch.setattr(results, "shutil", SimpleNamespace(which=found.get))
    plain = {"BM25": "bm25", "default model": "model", "fast": "bm25+model"}
    results.given("talk da-vi", [], tmp_path / "a")
    results.given("ddtp en-fr", [], tmp_path / "b")
    found["apertium"] = "/usr/bin/apertium"
    results.given("lohelp en-es", [], tmp_path / "c")
    assert asked == [
        (["model"], plain, 0),
        (["model", "muse"], {**plain, "BM25 with a dictionary": "muse"}, 0),
        (
            ["model", "muse"],
            {**plain, "BM25 with a dictionary": "muse", "BM25 with machine translation": "mt:apertium"},
            0,
        ),
    ]
    assert built == [("en", "fr"), ("en", "es")]


def test_what_is_learned_costs_what_it_took_and_weighs(asked, monkeypatch, tmp_path):
    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr(results, "_processor", lambda: next(clock))
    taught = []
    for name, size in (("table", 1_000_000), ("knrm", 2_000_000)):
        fit = lambda learned, size=size, **said: taught.append(said) or Saved(size)  # noqa: E731
        monkeypatch.setattr(getattr(results, name), "fit", fit)
    rows = results.tables("learned", [], 4, tmp_path / "t", False)
    assert rows["cost | BM25 with a table"] == {"seconds": 3, "MB": 1.0, "ms/query": 2.0, "documents/s": 10.0}
    assert rows["cost | K-NRM behind the table"]["MB"] == 2.0
    assert (taught, asked[0][1:]) == ([{}, {"seed": 4}], (
        {"BM25 with a table": "table", "K-NRM behind the table": "table>knrm"}, 4))  # fmt: skip
    monkeypatch.setattr(results, "train", lambda fit, learned, seed: Saved(500_000))
    rows = results.own("learned", [], 4, tmp_path / "o", False)
    assert rows["cost | fast with own table and Cr5"] == {"seconds": 6, "MB": 1.5, "ms/query": 2.0, "documents/s": 10.0}
    assert asked[1] == (["model", "table", "cr5"], {"fast with own table and Cr5": "bm25+model+table+cr5"}, 4)


def test_every_space_is_asked_alone_and_a_smoke_run_is_short(asked, monkeypatch, tmp_path):
    told = {}
    fits = {n: lambda learned, n=n, **said: told.update({n: said}) or Saved(10**6) for n in ("CL-LSI", "XCNN", "SOSL")}
    monkeypatch.setattr(results, "SPACES", fits)
    rows = results.spaces("learned", [], 2, tmp_path / "a", True)
    assert told == {
        "CL-LSI": {"seed": 2},
        "XCNN": {"seed": 2, "epochs": 2},
        "SOSL": {"seed": 2, "epochs": 2, "negatives": 4},
    }
    assert asked == [
        (["cllsi"], {"CL-LSI": "cllsi"}, 2),
        (["xcnn"], {"XCNN": "xcnn"}, 2),
        (["sosl"], {"SOSL": "sosl"}, 2),
    ]
    assert rows["cost | XCNN"].keys() == {"seconds", "MB", "ms/query", "documents/s"}
    results.spaces("learned", [], 2, tmp_path / "b", False)
    assert told["XCNN"] == {"seed": 2}


def test_vectors_from_elsewhere_cost_what_they_would_here(asked, monkeypatch, tmp_path):
    @contextmanager
    def vectors(folder):
        known = SimpleNamespace(owed=lambda query: 8.0 if not query else 99, each=lambda query: 0.5 if query else 99)
        yield known if folder else None

    monkeypatch.setattr(results.precomputed, "vectors", vectors)
    task = tasks.Task("t", [], [Document(str(i), "", "fr") for i in range(20)], {})
    monkeypatch.delenv("PARAGLOSS_VECTORS", raising=False)
    assert results.encoder([task], tmp_path)["cost | e5"] == {"ms/query": 2.0, "documents/s": 10.0}
    assert asked[0] == (["model", "e5"], {"e5": "e5", "best": "bm25+model+e5"}, 0)
    monkeypatch.setenv("PARAGLOSS_VECTORS", "somewhere")
    # Twenty documents at ten a second and eight seconds more; half a second for each query.
    assert results.encoder([task], tmp_path)["cost | best"] == {"ms/query": 502.0, "documents/s": 2.0}


def test_a_part_is_a_group_and_a_family(monkeypatch):
    seen = []
    monkeypatch.setattr(results, "tasks", lambda group, smoke: f"tasks of {group}")
    monkeypatch.setattr(results, "learned_from", lambda group, seed, smoke: (group, seed, smoke))
    for family in ("given", "tables", "spaces", "own", "encoder"):
        monkeypatch.setattr(results, family, lambda *said, family=family: seen.append((family, *said[:3])) or family)
        assert results.measure(f"mdn en-fr: {family}", 6, smoke=True) == family
    whole = ("mdn en-fr", 6, True)
    assert [said[:3] for said in seen[1:4]] == [(f, whole, "tasks of mdn en-fr") for f in ("tables", "spaces", "own")]
    assert (seen[0][:3], seen[4][:2]) == (
        ("given", "mdn en-fr", "tasks of mdn en-fr"),
        ("encoder", "tasks of mdn en-fr"),
    )


def test_a_system_that_does_not_go_between_the_languages_has_no_row(monkeypatch, tmp_path):
    class Half:
        create = classmethod(lambda cls, path, models, default: cls())
        __enter__, __exit__, index = lambda self: self, lambda self, *_: None, lambda self, documents: None

        def rank(self, queries, *, k, to, pipeline):
            if pipeline == "muse":
                raise LanguageError("the other way")
            return [[Hit("d", 1.0)], []]

    monkeypatch.setattr(results, "Collection", Half)
    clock = iter(range(10, 1000, 2))
    monkeypatch.setattr(results, "_processor", lambda: next(clock))
    queries = [Query("a", "x", "en"), Query("b", "y", "en")]
    task = tasks.Task("words", queries, [Document("d", "x", "fr")] * 8, {q.id: {"d": 1} for q in queries})
    rows = results._asked([task], ["m"], {"BM25": "bm25", "dictionary": "muse"}, tmp_path)
    assert rows["words | BM25"] == {"measure": [1.0, 0.0]}
    assert "words | dictionary" not in rows
    assert rows["cost | BM25"] == {"documents/s": 4.0, "ms/query": 1000.0}, "two seconds each for index and queries"


# Sizes, as the recipes' own texts and docs say them.


@pytest.fixture
def sizes(monkeypatch):
    """Notes how many a recipe draws, and with which seed."""

    def noted(module):
        calls = []
        monkeypatch.setattr(module, "drawn", lambda items, most, seed: calls.append((most, seed)) or list(items)[:most])
        return calls

    return noted


def test_descriptions_are_found_among_five_times_as_many(sizes, monkeypatch):
    drawn = sizes(cr5_table_1)
    whole = sets.Split([], concepts(9, ("da", "en")))
    seen = []
    patch(
        monkeypatch, cr5_table_1,
        pages=lambda smoke: whole,
        trained=lambda part, whole, seed, smoke: {"AdvRefine": (part, seed, smoke)},
        across=lambda model, test, one, other, others, rule: seen.append((model, one, other, rule)) or {"P@1": one},
    )  # fmt: skip
    rows = cr5_table_1.measure("da-en", 8, smoke=False)
    assert drawn == [(300, 0), (1500, 1)]
    assert rows["AdvRefine, CSLS"] == {"P@1": "da", "back P@1": "en"}
    assert seen[:2] == [(("da-en", 8, False), *way, "cosine") for way in (("da", "en"), ("en", "da"))]


def test_the_figure_finds_a_thousand_by_maps_of_three_thousand(sizes, monkeypatch):
    drawn, told = sizes(cr5_figure_2), {}
    few = concepts(4, ("da", "en"))
    patch(
        monkeypatch, cr5_figure_2, pages=lambda smoke: sets.Split(few, few), joint=lambda seed, smoke: bag(("da", "en"))
    )
    fit = lambda own, **said: told.update(own=own, said=said) or bag(("da", "en"))  # noqa: E731
    monkeypatch.setattr(cr5_figure_2.alignment, "fit", fit)
    cr5_figure_2.measure("da-en", 6, smoke=False)
    assert drawn == [(3000, 6), (1000, 0)]
    assert told["said"] == {"method": "advrefine", "seed": 6, "dim": 200, "epochs": 3}
    assert told["own"] == [c._replace(titles={}) for c in few]


def test_sentences_words_and_what_teaches_them_are_as_many_as_the_tables_say(sizes, monkeypatch):
    drawn = sizes(cr5_table_3)
    patch(
        monkeypatch, cr5_table_3,
        sentences=lambda lang: sets.Split(concepts(3), concepts(3)),
        models=lambda lang, seed, smoke: (lang, seed, smoke),
        best=lambda learned, score: 0.3,
        taken=lambda learned, method, target, lambda_: (learned, method, target),
        across=lambda model, test, source, target, rule="cosine": {"P@1": (model, source)},
    )  # fmt: skip
    rows = cr5_table_3.measure("en-it", 5, smoke=False)
    assert drawn == [(1000, 0), (500, 5)]
    assert rows["Mikolov et al."]["back P@1"] == ((("it", 5, False), "least-squares", "en"), "it")
    drawn = sizes(cr5_table_4)
    entries = [SimpleNamespace(source=f"a{i}", target=f"b{i}") for i in range(12_000)]
    patch(
        monkeypatch, cr5_table_4,
        models=lambda lang, seed, smoke: {"m": seed},
        read_pairs=lambda path: entries,
        meanings=lambda learned, lang, some: {entry.source: {entry.target} for entry in some},
        best=lambda learned, score: 0.3,
        taken=lambda learned, method, lang, lambda_: method,
        found_at=lambda model, lang, asked, right, rule: {"words": len(asked), "first": asked[0].id},
    )  # fmt: skip
    rows = cr5_table_4.measure("en-it", 5, smoke=False)
    assert drawn == [(500, 5), (500, 0)]
    assert rows["Cr5 (CSLS)"] == {"words": 500, "first": "a10000", "λ": 0.3}, (
        "none of the ten thousand that taught maps"
    )


def test_sizes_of_sentences_pages_and_stages(sizes, monkeypatch, tmp_path):
    drawn, asked = sizes(xcnn_table_1), []
    patch(
        monkeypatch, xcnn_table_1,
        sentences=lambda lang: sets.Split(concepts(3, ("en", "es")), concepts(3, ("en", "es"))),
        METHODS={"XCNN": (lambda train, **said: asked.append(said) or bag(("en", "es")), {"hub": "en"})},
        told=lambda train, langs: train if langs == ["en", "es"] else None,
        by_words=lambda queries, test, lang, pipeline, train=(): {"RR": (queries[0].lang, pipeline, len(train))},
        has_machine=lambda lang: lang == "es",
    )  # fmt: skip
    monkeypatch.setattr(xcnn_table_1.phrasal, "fit", lambda pairs: SimpleNamespace(translate=lambda text: text))
    rows = xcnn_table_1.measure("en-es", 2, smoke=False)
    assert drawn == [(4000, 2), (500, 0)]
    assert asked == [{"seed": 2, "dim": 128, "max_terms": 10_000, "hub": "en"}]
    assert [rows[row]["RR"] for row in ("MT", "MT, phrases", "MT, Apertium")] == [
        ("en", "table:best", 3), ("es", "bm25", 0), ("en", "mt:apertium", 0),
    ]  # fmt: skip
    drawn = sizes(knrm_stages)
    scores = {f"{stage}{more}": {"q": 0.5} for stage in knrm_stages.STAGES for more in ("", ">knrm")}
    patch(
        monkeypatch, knrm_stages,
        divided=lambda name, lang: (concepts(3), concepts(3)) if (name, lang) == ("mdn", "it") else None,
        reciprocal_ranks=lambda learned, queries, documents, qrels: scores,
    )  # fmt: skip
    knrm_stages.measure("mdn en-it", 3, smoke=False)
    assert drawn == [(200, 0), (1997, 0), (500, 3)], "2,000 documents at most, three of them right"
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    linked_pages(tmp_path, "es")
    drawn = sizes(page_fields)
    with page_fields.opened(smoke=False) as pages:
        assert len(pages.queries["en"]) == 11, "one has no English title"
    assert drawn == [(300, 0)]
    drawn = sizes(adhoc)
    adhoc.pages("en", "es", smoke=False)
    assert drawn == [(1500, 0), (200, 0)]


def test_smooth_learning_has_fifteen_hundred_pages_in_families(sizes, monkeypatch, tmp_path):
    monkeypatch.setenv("PARAGLOSS_DATA", str(tmp_path))
    linked_pages(tmp_path, "fr")
    drawn, split, negatives = sizes(smooth_table_2), [], []
    plain = smooth_table_2.judgments.split

    def note(judged, parts, *, seed, family):
        split.append((parts, seed))
        return plain(judged, parts, seed=seed, family=family)

    monkeypatch.setattr(smooth_table_2.judgments, "split", note)
    some = lambda part, number, seed: negatives.append((number, seed)) or part  # noqa: E731
    monkeypatch.setattr(smooth_table_2.judgments, "sample_irrelevant", some)
    train, valid, test = smooth_table_2.divided("fr", 9, pages=1500)
    assert (drawn, split, negatives) == ([(1500, 0)], [((3, 1, 1), 0)], [(40, 0)] * 2)
    assert [len(part.queries) for part in (train, valid, test)] == [7, 3, 2]
    own = [smooth_table_2.linked("ddtp", [Concept(f"{name}:1", {}) for name in some]) for some in (
        ["a", "a-data", "b"], [f"python3-{i}" for i in range(7)], [f"c-{i}" for i in range(6)])]  # fmt: skip
    assert own[0] == {"a:1": {"a-data:1"}, "a-data:1": {"a:1"}}
    assert (own[1], len(own[2])) == ({}, 6), "seven of one source are too many"


# Plots draw what was measured.


def measured(**rows):
    columns = tuple(dict.fromkeys(column for row in rows.values() for column in row))
    return Results("r", "R", columns, (0,), False, "m", 1.0, {"en-fr": rows})


@pytest.mark.parametrize(
    ("module", "draws", "expected"),
    [
        (cr5_figure_2, "lines", ("k", [1, 2, 3, 5, 10, 20, 50, 100], {"log": True})),
        (smooth_figure_2, "lines", ("score", smooth_figure_2.SCORES, {})),
        (smooth_figure_4, "by_row", ("epsilon", ("P_mr@1", "nDCG@5", "MAP", "MRR_mr"), {})),
        (smooth_figure_5, "by_row", ("irrelevant documents", ("P_mr@1", "nDCG@5", "MAP", "MRR_mr"), {})),
    ],
)
def test_figures_have_the_paper_s_axes(monkeypatch, module, draws, expected):
    monkeypatch.setattr(module, draws, lambda results, *said, **more: (results, *said, more))
    assert module.plot("results") == {"figure.svg": ("results", *expected)}


def test_the_bound_is_no_point_of_the_gradient_s_curve(monkeypatch):
    columns = {f"length {x}": [1.0] for x in smooth_figure_1.LENGTHS}
    made = measured(**{"epsilon 1.0": {**columns, "bound": [9.0]}})
    (axes,) = smooth_figure_1.plot(made)["figure.svg"].axes
    (line,) = axes.get_lines()
    assert np.array_equal(line.get_xydata(), [[x, 1.0] for x in smooth_figure_1.LENGTHS])
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_xlabel()) == ("log", "log", "|x|")


def test_densities_are_differences_of_shares():
    edges = smooth_figure_3.EDGES
    shares = {f"{c} {edge}": [float(place >= 20 + k)] for k, c in enumerate(smooth_figure_3.CLASSES)
              for place, edge in enumerate(edges)}  # fmt: skip
    (axes,) = smooth_figure_3.plot(measured(SOSL=shares))["figure.svg"].axes
    for k, line in enumerate(axes.get_lines()):
        at, height = line.get_xydata().T
        assert height.tolist() == [float(place == 19 + k) for place in range(40)]
        assert at[19 + k] == pytest.approx((edges[19 + k] + edges[20 + k]) / 2)
    assert (axes.get_title(), axes.get_xlabel()) == ("SOSL", "score")


def test_kernels_are_drawn_by_pairs_weight_size_and_what_they_find_alone():
    row = lambda w, p, a: {"pairs": [p], "monolingual pairs": [p + 1], "weight": [w, -w / 2], "DIFF @10 alone": [a]}  # noqa: E731
    figure = thesis_table_6_4.plot(measured(one=row(2.0, 10, 0.5), two=row(-4.0, 20, 0.4)))["figure.svg"]
    first, *bars = figure.axes
    assert [line.get_ydata().tolist() for line in first.get_lines()] == [[10, 20], [11, 21]]
    heights = [[bar.get_height() for bar in axis.patches] for axis in bars]
    assert heights == [[0.5, -1.0], [1.5, 3.0], [0.5, 0.4]]
    assert figure.axes[3].get_ylim()[0] == pytest.approx(0.36)


def test_sizes_and_categories_have_their_figures(monkeypatch):
    monkeypatch.setattr(thesis_table_6_10, "by_row", lambda results, axis, columns: columns)
    drawn = thesis_table_6_10.plot("results")
    assert drawn == {
        "figure-6-5.svg": ("SAME @5", "SAME @10", "DIFF @5", "DIFF @10", "RAW MRR"),
        "figure-6-6.svg": ("terms",),
    }
    rows = {
        "Good, monolingual": {"queries": [12]},
        "Good, bilingual": {"queries": [12]},
        "Bad, bilingual": {"queries": [5]},
    }
    (axes,) = thesis_table_6_12.plot(measured(**rows))["figure-6-9.svg"].axes
    assert [bar.get_height() for bar in axes.patches] == [12, 5]
    assert axes.figure.get_figwidth() == 5
