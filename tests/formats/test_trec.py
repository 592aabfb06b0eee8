import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paragloss.errors import InputError
from paragloss.formats.trec import (
    read_run,
    read_topics,
    read_trec_documents,
    read_trec_qrels,
    write_qrels,
    write_run,
)
from paragloss.types import Document, Hit, Query


@pytest.fixture
def file(write):
    return lambda text: write("file.trec", text)


def test_a_run_is_ordered_by_score_and_ties_by_rank(file):
    path = file("q1 Q0 low 1 0.5 t\nq1\tQ0\tb 3 2 t\nq1 Q0 a 2 2.0 t\nq2 Q0 x 1 -1e-3 t\n")
    assert read_run(path) == {"q1": [Hit("a", 2.0), Hit("b", 2.0), Hit("low", 0.5)], "q2": [Hit("x", -0.001)]}


def test_a_run_is_written_with_every_digit(tmp_path):
    write_run(tmp_path / "r.run", {"q": [Hit("a", 1 / 3), Hit("b", 0.1)]}, tag="mine")
    assert (tmp_path / "r.run").read_text() == "q Q0 a 1 0.3333333333333333 mine\nq Q0 b 2 0.1 mine\n"


@pytest.mark.parametrize("name", ["", "two words", "tab\tbed", " edge", "nul\0", "no\u00a0break"])
def test_names_that_can_not_stand_in_a_run(tmp_path, name):
    for run in ({name: [Hit("d", 1.0)]}, {"q": [Hit(name, 1.0)]}):
        with pytest.raises(InputError, match="can't stand in a TREC file"):
            write_run(tmp_path / "r", run)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scores", [(1.0, 2.0), (float("nan"), 1.0), (float("inf"), 1.0)])
def test_scores_must_fall(tmp_path, scores):
    with pytest.raises(InputError, match="scores must be finite and fall with the rank"):
        write_run(tmp_path / "r", {"q": [Hit("a", scores[0]), Hit("b", scores[1])]})


ids = st.text(min_size=1, max_size=8).filter(
    lambda s: len(s.split()) == 1 and s == s.strip() and "\0" not in s and not s.startswith("\ufeff")
)
finite = st.floats(allow_nan=False, allow_infinity=False)


def falling(ranking):
    return sorted((Hit(name, score) for name, score in ranking.items()), key=lambda hit: -hit.score)


@settings(deadline=None)
@given(
    st.dictionaries(ids, st.dictionaries(ids, finite, min_size=1).map(falling), min_size=1),
    st.dictionaries(ids, st.dictionaries(ids, st.integers(-2, 4), min_size=1), min_size=1),
)
def test_runs_and_qrels_come_back_as_written(tmp_path_factory, run, qrels):
    folder = tmp_path_factory.getbasetemp()
    write_run(folder / "a.run.gz", run)
    assert read_run(folder / "a.run.gz") == run
    write_qrels(folder / "qrels", qrels)
    assert read_trec_qrels(folder / "qrels") == qrels


def test_qrels_may_repeat_a_grade(file):
    path = file("1 0 a 2\n1 0 b 0\n1 0 a 2\n2 Q0 c -1\n")
    assert read_trec_qrels(path) == {"1": {"a": 2, "b": 0}, "2": {"c": -1}}


@pytest.mark.parametrize(
    ("read", "first", "line", "message"),
    [
        (read_run, "q Q0 a 1 9 t", "q Q0 d 1 0.5", "5 columns where 6 are expected: query Q0 document rank score tag"),
        (read_run, "q Q0 a 1 9 t", "q Q0 d one 0.5 t", "rank 'one' is no whole number"),
        (read_run, "q Q0 a 1 9 t", "q Q0 d 1 high t", "score 'high' is no number"),
        (read_run, "q Q0 a 1 9 t", "q Q0 d 1 nan t", "score 'nan' is not finite"),
        (read_run, "q Q0 a 1 9 t", "q Q0 a 2 0.1 t", "document 'a' comes twice for query 'q'"),
        (read_trec_qrels, "1 0 a 2", "1 0 a", "3 columns where 4"),
        (read_trec_qrels, "1 0 a 2", "1 0 a x", "grade 'x'"),
        (read_trec_qrels, "1 0 a 2", "1 0 a 1", "document 'a' has two"),
    ],
)
def test_bad_lines_of_runs_and_judgments_are_placed(file, read, first, line, message):
    path = file(f"{first}\n{line}\n")
    with pytest.raises(InputError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}:2: ")


def test_documents(file):
    path = file(
        """
<DOC>
<DOCNO> FT-1 </DOCNO>
<HEADLINE>Rain &amp; sun</HEADLINE><BYLINE>nobody</BYLINE>
<TEXT>
<P>First.</P>
</TEXT><TEXT>Second.</TEXT>
</DOC>
<DOC id="AFP-2"><LANG>FR</LANG><TEXT>Pluie.</TEXT></DOC>
<doc><docno>3</docno><title>T</title>
<p>Only this</p> and that</doc>
"""
    )
    docs = list(read_trec_documents(path, lang="en"))
    assert [(doc.id, doc.lang, doc.title, " ".join(doc.text.split())) for doc in docs] == [
        ("FT-1", "en", "Rain & sun", "First. Second."),
        ("AFP-2", "fr", "", "Pluie."),
        ("3", "en", "T", "Only this and that"),
    ]


def test_bad_documents_are_placed_at_their_start_and_others_may_share_a_line(file):
    path = file(
        "<DOC>\n<TEXT>x</TEXT>\n</DOC>\n<DOC>\n<DOCNO>2</DOCNO>b</DOC><DOC><DOCNO>3</DOCNO>c</DOC>\n"
        "<DOC><DOCNO>lost</DOCNO>\n<DOC><DOCNO>4</DOCNO>d</DOC>\n<DOC>\n<DOCNO>5</DOCNO>\n"
    )
    with pytest.raises(InputError, match=r":1: <DOC> without <DOCNO>"):
        list(read_trec_documents(path))
    errors = []
    documents = list(read_trec_documents(path, on_error=errors.append))
    assert documents == [Document("2", "b", ""), Document("3", "c", ""), Document("4", "d", "")]
    assert [str(error).removeprefix(f"{path}:") for error in errors] == [
        "1: <DOC> without <DOCNO>; give every document its number",
        "6: <DOC> is never closed; end it with </DOC>",
        "8: <DOC> is never closed; end it with </DOC>",
    ]
    with pytest.raises(InputError, match=r"no <DOC> element"):
        list(read_trec_documents(file("just text\n")))


def test_unclosed_markup_costs_one_pass(file):
    [doc] = read_trec_documents(file("<DOC><DOCNO>1</DOCNO>" + "<text>" * 50_000 + "<" + "a" * 500_000 + "</DOC>"))
    assert doc.text.endswith("aaa")


def test_topics_of_several_makers(file):
    text = """<topics><top>
<num> Number: 301
<title> International
  Crime
<desc> Description:
Who does it?
</top>
<top><num>302</num><title>A &amp; B</title></top>
<topic number="1"><query>rain</query></topic>
<top lang="de"><identifier>C042</identifier><title>Regen</title></top>
<top><num>C1</num><FR-title>Pluie</FR-title><FR-desc>Longue</FR-desc></top>
</topics>"""
    assert list(read_topics(file(text), lang="en")) == [
        Query("301", "International Crime", "en"),
        Query("302", "A & B", "en"),
        Query("1", "rain", "en"),
        Query("C042", "Regen", "de"),
        Query("C1", "Pluie", "fr"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing here", r"no <top>"),
        ("<top><num>7<desc>who does it</top>", r":1: topic 7 has no <title>; it has num, desc"),
        ("\n<top><title>x</title></top>", r":2: topic without <num>"),
    ],
)
def test_bad_topics(file, text, message):
    with pytest.raises(InputError, match=message):
        list(read_topics(file(text)))
