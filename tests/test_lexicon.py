"""Words read by the lexicon: a small one made here, and the one in the box."""

from pathlib import Path

import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from paragloss import artefacts
from paragloss.analysis.romanisation import transcribe
from paragloss.cli import app
from paragloss.gloss import gloss, lexicon, rendering
from paragloss.gloss.identifiers import find_code_words
from paragloss.gloss.lexicon import EndingRule, LexiconEntry
from paragloss.gloss.pivoting import translate_entries
from paragloss.translation import default
from paragloss.translation.default.packing import Tables, pack
from paragloss.translation.glossary import Pair, UserGlossary
from paragloss.translation.packed_words import PackedWordList


def make_entries(*texts, sure=True):
    return [LexiconEntry(text, 1 / len(texts), "dictionary", sure) for text in texts]


GERMAN_MEANINGS = """
biene=bee haus=house zug=train verspätung=delay er=he anrufen=call rufen=shout ruft=shouts mich=me an=on schon=already
schön=beautiful arm=poor Arm=arm der=the zu_hause=at_home zu=to hause=house
"""
GERMAN = {
    word.replace("_", " "): make_entries(meaning.replace("_", " "))
    for word, meaning in (pair.split("=") for pair in GERMAN_MEANINGS.split())
} | {"vorrat": make_entries("stash", sure=False)}
RULES = {"de": [EndingRule("n", "", "s", 0.9), EndingRule("uft", "ufen", "", 0.9)]}
KINDS = {"bee": "noun", "call": "verb", "shout": "verb", "shouts": "verb"}
SPOKEN = {
    "names": {"SMPSN": [LexiconEntry("Simpson", 0.5, "texts", False)]},
    "ar": {"طوفان": make_entries("hurricane")},
}
SMALL = lexicon.pack_lexicon({"de": {**GERMAN, "-": make_entries("bees")}, **SPOKEN}, RULES, KINDS)


def gloss_text(text, lang="de", to="en", **sources):
    return gloss(text, lang, to, {"lexicon": SMALL, **sources})


def first_meanings(glossed):
    return {word.text: word.meanings[0].text for word in glossed.words if word.meanings}


@pytest.mark.parametrize(
    ("text", "meanings"),
    [
        # As it is written, with its capital and marks.
        ("der Arm, arm, schon, schön",
         {"der": "the", "Arm": "arm", "arm": "poor", "schon": "already", "schön": "beautiful"}),
        ("er, zu Hause", {"er": "he", "zu Hause": "at home"}),  # the longest phrase is one word
        ("zu: Hause", {"zu": "to", "Hause": "house"}),  # not across a sign
        ("der Bienen", {"der": "the", "Bienen": "bees"}),  # by its ending, and as English shows it
        ("der Zugverspätung", {"der": "the", "Zugverspätung": "train delay"}),  # a compound has its head last
        # A verb is read with its prefix at the end of the clause.
        ("er ruft mich an.", {"er": "he", "ruft": "call", "mich": "me"}),
        ("er ruft mich.", {"er": "he", "ruft": "shouts", "mich": "me"}),
    ],
)  # fmt: skip
def test_words_and_phrases_of_a_sentence_are_found_in_the_lexicon(text, meanings):
    assert first_meanings(gloss_text(text)) == meanings


def test_a_form_that_no_text_has_is_not_made():
    without = lexicon.pack_lexicon({"de": GERMAN}, RULES, KINDS)
    assert first_meanings(gloss("der Bienen", "de", "en", {"l": without}))["Bienen"] == "bee"


@pytest.mark.parametrize(("share", "is_sure"), [(0.9, True), (0.5, False)])
def test_a_form_is_certain_only_if_its_ending_is_reliable(share, is_sure):
    rules = {"de": [EndingRule("n", "", "", share)]}
    word = gloss("Bienen", "de", "en", {"l": lexicon.pack_lexicon({"de": GERMAN}, rules, KINDS)}).words[0]
    assert (word.meanings[0].text, word.sure) == ("bee", is_sure)


def test_a_compound_is_a_guess_if_the_meaning_of_one_part_is():
    meanings = [LexiconEntry("freight", 0.8, "texts", False), LexiconEntry("load", 0.2, "dictionary", True)]
    for first_part, is_sure in ((meanings, False), (meanings[1:], True)):
        small = lexicon.pack_lexicon({"de": {"fracht": first_part, "verspätung": make_entries("delay")}})
        word = gloss("Frachtverspätung", "de", "en", {"lexicon": small}).words[0]
        assert (word.meanings[0].text, word.sure) == (f"{first_part[0].text} delay", is_sure)


def test_a_guess_is_marked_as_one():
    glossed = gloss_text("der Vorrat")
    assert (glossed.words[-1].meanings[0].text, glossed.words[-1].sure) == ("stash", False)
    assert glossed.rendering == "the ~stash"
    assert gloss_text("der Arm").words[-1].sure


def test_what_only_the_table_knows_is_a_guess_and_what_nobody_knows_has_no_meaning():
    glossed = gloss_text("der Wasserfall qwxzz", default=default.open())
    assert [(bool(word.meanings), word.sure) for word in glossed.words] == [(True, True), (True, False), (False, False)]


def test_the_readers_glossary_wins_also_in_phrases_and_over_them():
    own = UserGlossary([Pair("de", "Arm", "en", "branch"), Pair("de", "Hause", "en", "den")])
    assert first_meanings(gloss_text("der Arm", glossary=own))["Arm"] == "branch"
    # Neither word of a phrase of the lexicon is read with the other if the glossary has one of them.
    assert gloss_text("er zu Hause", glossary=own).rendering == "he to den"


def test_a_word_that_is_cached_still_means_what_is_asked_for():
    two_senses = lexicon.pack_lexicon({"de": {"bank": make_entries("bank", "bench"), "die": make_entries("the")}})
    queries = ["", "bench", "a shore", "bank", "bench"]
    glosses = [gloss("die Bank", "de", "en", {"l": two_senses}, query=query) for query in queries]
    meanings = [glossed.words[-1].meanings[0].text for glossed in glosses]
    assert meanings == ["bank", "bench", "bank", "bank", "bench"]


def test_names_are_written_out_and_what_is_joined_to_one_is_a_name():
    glossed = gloss_text("طوفان سيمبسون", "ar")
    assert [(word.kind, word.romanised) for word in glossed.words] == [("word", ""), ("name", "Simpson")]
    assert glossed.rendering == "hurricane Simpson"


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("ja", "サーシャ=sasha ウィニペグ=winipegu ヴォルガ=voruga すっぱい=suppai"),
        ("ja", "小田=小田"),  # not as Chinese says it
        ("ko", "해롤드=haeroldeu 진리=jinri 빌라=billa 북악=bugak"),
        ("ru", "Москва=Moskva"),
        ("zh", "小田=XiaoTian"),
    ],
)
def test_words_of_other_scripts_are_written_by_their_sounds(lang, words):
    for word, latin in (pair.split("=") for pair in words.split()):
        assert transcribe(word, lang) == latin


@pytest.mark.parametrize(
    ("word", "lang", "name"),
    [
        ("хатчинсон", "ru", "Hutchinson"),
        ("санторіні", "uk", "Santorini"),
        ("гвен", "ru", "gven"),  # not Gavin: a name that is only somewhat alike is not given
        ("мервин", "ru", "mervin"),
    ],
)
def test_a_name_is_spelled_as_english_spells_it(word, lang, name):
    """The English names come from the lexicon and the default model."""
    assert gloss(word, lang, "en", {"lexicon": lexicon.open()}).words[0].romanised == name


@pytest.mark.parametrize(
    ("word", "lang", "meaning"),
    [("ノスタルジア", "ja", "nostalgia"), ("포트폴리오", "ko", "portfolio"), ("магнетизм", "ru", "magnetism")],
)
def test_a_loan_word_means_the_english_word_it_spells_as_a_guess(word, lang, meaning):
    glossed = gloss(word, lang, "en", {"lexicon": lexicon.open()})
    assert first_meanings(glossed) == {word: meaning}
    assert not glossed.words[0].sure
    assert glossed.rendering == f"~{meaning}"


@pytest.mark.parametrize(
    ("word", "meaning", "sure"), [("기회라고", "opportunity", True), ("성공적이었습니까", "success", False)]
)
def test_korean_nouns_are_read_with_what_stands_behind_them(word, meaning, sure):
    """A particle leaves the meaning as it is; a verb made of a noun is a guess."""
    glossed = gloss(word, "ko", "en", {"lexicon": lexicon.open()}).words[0]
    assert (glossed.meanings[0].text, glossed.sure) == (meaning, sure)


def test_of_two_korean_nouns_the_longer_one_is_read():
    small = lexicon.pack_lexicon({"ko": {"학생": make_entries("student"), "학생들": make_entries("students")}})
    assert first_meanings(gloss("학생들은", "ko", "en", {"lexicon": small})) == {"학생들은": "students"}


@pytest.mark.parametrize(("lang", "words", "rendered"), [
    ("es", "la=the casa=house:noun blanca=white:adjective", "the white house"),
    ("de", "er=he hat=has Honig=honey:noun gemacht=made:verb", "he has made honey"),
    ("de", "er=he will=wants das=the nicht=not sehen=see:verb", "he wants not see the"),
    ("de", "weil=because er=he Brot=bread:noun bäckt=bakes:verb", "because he bakes bread"),
    ("de", "weil=because Läden=shops:noun geschlossen=closed:verb sind=are", "because shops are closed"),
    ("fr", "un=a pomme=apple:noun", "an apple"),
    ("ja", "は=(topic) 蜂=bee:noun", "bee"),
    ("ru", "решение=decision:noun новых=new:adjective властей=authorities:noun", "decision of new authorities"),
    ("ru", "торговля=trade:noun лесом=timber:noun", "trade timber"),
    ("ru", "в=in году=year:noun снег=snow:noun растаял=melted:verb", "in year snow melted"),
    ("ar", "اكتشف=found:verb العلماء=the_scholars:noun مدينة=city:noun قديمة=old:adjective",
     "the scholars found old city"),
    ("hi", "हाथी=elephant:noun नदी=river:noun के_पास=near पीता=drinks:verb", "elephant near river drinks"),
    ("ar", "أغلقت=closed:verb المدرسة=the_school:noun أبوابها=doors:noun", "the school closed doors"),
    ("ar", "المدينة=the_city:noun القديمة=old:adjective", "the old city"),
    ("ar", "كتاب=book:noun والقلم=and_the_pen:noun", "book and the pen"),
    ("hi", "स्कूल=school:noun की=of छत=roof:noun पर=on", "on roof of school"),
    ("hi", "वे=they शहर=city:noun में=in रहते=live:verb हैं=are", "they in city live"),
    ("ja", "学校=school:noun の=of 屋根=roof:noun から=from", "from roof of school"),
    ("sw", "nyumba=house:noun", "house"),
])  # fmt: skip
def test_words_stand_in_the_order_of_english_where_simple_rules_do_it(lang, words, rendered):
    rendered_words = []
    for foreign_word, english in (pair.split("=") for pair in words.split()):
        text, _, kind = english.partition(":")
        rendered_words.append(rendering.RenderedWord(text.replace("_", " "), kind, foreign_word))
    assert rendering.render_sentence(rendered_words, lang, "en").text == rendered


@pytest.mark.parametrize(
    ("lang", "text", "rendered"),
    [
        ("fi", "suuressa talossa", "in big house"),
        ("fi", "hallituksen uusi päätös", "the new decision of government"),
        ("tr", "cumhurbaşkanının yeni kararı", "the new decision of president"),
        ("tr", "İstanbul'da büyük okulda", "in Istanbul in big school"),
        ("hu", "a nagy házban", "in the big house"),
        ("ko", "서울에서", "in Seoul"),
        ("ko", "학교와 병원", "school and hospital"),
        ("fi", "kaupungin", "town"),  # the object of a verb may have the ending of an owner
        ("fi", "vuonna", "in the year"),  # the meaning has its preposition already
        ("tr", "oda", "room"),  # the letters of an ending belong to the word
        ("hu", "hiba", "error"),
    ],
)
def test_endings_of_cases_are_english_prepositions(lang, text, rendered):
    assert gloss(text, lang, "en", BOX).rendering == rendered


def test_a_case_is_read_only_where_another_form_means_the_same():
    meanings = {"kala": "fish", "kalalla": "fish", "perusta": "foundation", "perun": "cancel"}
    kinds = {"fish": "noun", "foundation": "noun"}
    small = lexicon.pack_lexicon({"fi": {word: make_entries(text) for word, text in meanings.items()}}, {}, kinds)
    renderings = [gloss(word, "fi", "en", {"lexicon": small}).rendering for word in ("kalalla", "perusta")]
    assert renderings == ["on fish", "foundation"]


def test_a_translated_meaning_counts_by_the_english_meanings_that_it_has_too():
    """The model likes the curl that "Locke" is better than the lock that "Schloss" is."""
    english, german = ["lock"], ["locke", "schloss"]
    from_english, to_english = sp.csr_matrix([[0.6, 0.4]]), sp.csr_matrix([[1.0], [1.0]])
    model = pack({"de": Tables(english, english, german, ["Locke", "Schloss"], from_english, to_english)}, exact=True)
    small = lexicon.pack_lexicon({"de": {"locke": make_entries("curl"), "schloss": make_entries("lock")}})
    translated = translate_entries(tuple(make_entries("lock")), "de", model, small)
    # .4 times (.1 + an overlap of 1), and .6 times .1
    assert [(entry.text, entry.sure) for entry in translated] == [("Schloss", True), ("Locke", False)]
    assert [entry.weight for entry in translated] == pytest.approx([0.44 / 0.5, 0.06 / 0.5])


def test_a_saved_lexicon_says_the_same(tmp_path):
    SMALL.save(tmp_path / "lexicon")
    loaded = lexicon.Lexicon.load(tmp_path / "lexicon")
    assert loaded.find_entries("biene", "de") == SMALL.find_entries("biene", "de") != ()
    assert loaded.find_entries("bien", "de") == loaded.find_entries("biene", "fr") == ()


BOX = {"default": default.open(), "lexicon": lexicon.open()}


@pytest.mark.parametrize(("lang", "to", "text", "has", "hasnt"), [
    ("de", "en", "Die Bienen sammeln Nektar von den Blüten und machen daraus Honig.",
     "bees nectar honey", "blood evil"),
    ("de", "en", "Im Winter lebt das Volk von diesem Vorrat.",
     "winter lives people supply", "People's detrimental one"),
    ("zh", "en", "蜜蜂采集花蜜并酿成蜂蜜，冬天靠它为生。", "bees gather honey winter it", "purest salesman"),
    ("ru", "de", "Пчёлы собирают нектар с цветов и делают из него мёд.", "Nektar Honig", "gehen Farbe"),
    ("ar", "en", "طوفان سفير-سيمبسون", "Safir Simpson", "ambassador smpswn"),
    ("de", "en", "das Blut ist schon da", "blood already", "blossoms beautiful"),
    ("de", "en", "ist schön", "beautiful", "already"),
    ("fr", "en", "le pape", "Pope", "dad"),
    ("ru", "en", "и мёд", "honey", "copper"),
    ("ru", "en", "и мед", "honey", "copper"),
])  # fmt: skip
def test_the_shipped_lexicon_reads_what_the_table_misread(lang, to, text, has, hasnt):
    rendered = gloss(text, lang, to, BOX).rendering.replace("~", "").replace(".", "").replace(",", "").split()
    assert set(has.split()) <= set(rendered), rendered
    assert not set(hasnt.split()) & set(rendered), rendered


def test_what_is_written_by_hand_is_in_the_box():
    """Every fiftieth entry: who edits the lists packs the lexicon again (studies/lexicon.py)."""
    paths = sorted((Path(__file__).parents[1] / "studies" / "common_words").glob("*.txt"))
    assert len(paths) == 46
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len({line.partition("=")[0] for line in lines}) == len(lines), path.stem
        for word, _, meanings in (line.partition("=") for line in lines[::50]):
            entries = lexicon.open().find_entries(word, path.stem)
            assert [entry.text for entry in entries] == meanings.split("/"), (path.stem, word)


#: Brands, names, units and terms in the lexicon that are written as identifiers are, but stand in dictionaries or were
#: written by hand.
DICTIONARY_WORDS_LIKE_CODE = """
1b 2D 3D A4 AutoCorrect AutoFilter AutoFormat AutoPilot AutoText AvtoVAZ BaNegev BankID BungoTakada CO2 CoV DeBary
DeKalb DeLand DeSoto DesMoines DiCaprio DoD DoI DoJ DoS DoT E2 F2 G3 GiB GnRH H1N1 HaEmeq HaSharon IPv4 IPv6 IgM
JavaScript JoJo JoongAng K2 K9 KakaoTalk KamAZ KiB LaTeX LeRoi LeZiyyon LinkedIn LuGanda M1 M16 M17 M2 MP3 MacDonald
MacGregor MasterCard McAlester McAllen McCarthy McCoy McDonald McDonald's McDonough McGill McHenry McKeesport
McKinley McKinney McLean McMath McMinnville McMurdo McMurray MediaWiki MiB MoD MusicBrainz NaMo NbE NbW NemID
NetEase OpenStreetMap OĽaNO PayPal PhD PiS PlayCanvas PlayStation PreCure PrivatBank R0 RuBisCO S1 SeaTac
SignWriting SoftBank StB SweSAT TeX TikTok TikToks UnionPay WeChat WhatsApp WikiProject WordNet WordPress YouTube
YouTuber a1 a3 a7 bTV c1 cDNA d4 d6 dB e1 e5 eBay f1 f3 g1 g3 g7 iOS iPad iPhone iPod kB kJ kW mL mRNA mSv macOS mp3
pH v1
"""


def test_no_meaning_in_the_box_is_an_identifier_of_software():
    saved = artefacts.load(Path(lexicon.__file__).parent / "lexicon", kind=lexicon.KIND)
    meanings = PackedWordList(saved.arrays["english"], saved.arrays["groups"], int(saved.meta["english"]))
    words_like_code = {word for meaning in meanings for word in find_code_words(meaning)}
    assert words_like_code == set(DICTIONARY_WORDS_LIKE_CODE.split())


def test_no_word_in_the_box_is_an_identifier_of_software():
    identifiers = """
    addeventlistener onsecuritypolicyviolation getelementbyid innerhtml bgra8unorm uint32 rfc3966 udisks2
    settingsprivacy ctrlc myapplication1 myextension2 expression1 complex2 string1 value1 range1 p2834 q28390 b0at1
    """
    for lang in lexicon.open().langs:
        assert not [word for word in identifiers.split() if lexicon.open().find_entries(word, lang)], lang


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("vi", "Sự kiện onSecurityPolicyViolation dùng bgra8unorm khi addEventListener được gọi."),
        ("de", "Die Funktion addEventListener gibt onSecurityPolicyViolation und bgra8unorm zurück."),
        ("ja", "関数 addEventListener は onSecurityPolicyViolation と bgra8unorm を返します。"),
    ],
)
def test_identifiers_in_a_foreign_text_have_no_meaning(lang, text):
    identifiers = {"addEventListener", "onSecurityPolicyViolation", "bgra8unorm"}
    glossed = gloss(text, lang, "en", BOX)
    assert not [word for word in glossed.words if word.text in identifiers and word.meanings]
    assert identifiers <= set(glossed.rendering.replace(".", " ").split())


def test_not_is_said_in_every_language():
    words = """
    de nicht|fr pas|es no|it non|pt não|nl niet|da ikke|sv inte|no ikke|fi ei|pl nie|ru не|uk не|cs ne|sk nie|sl ne
    hr ne|bg не|hu nem|ro nu|el δεν|tr değil|ar لا|he לא|hi नहीं|bn না|ta இல்லை|th ไม่|vi không|id tidak|ms tidak
    tl hindi|zh 不|ja ない|ko 안|ca no|ha ba|yo kò|am አይደለም"""
    for lang, word in (pair.split() for pair in words.strip().replace("\n", "|").split("|")):
        assert "not" in " ".join(entry.text for entry in lexicon.open().find_entries(word, lang)).split(), lang


def test_the_commands_answer_without_a_model(tmp_path):
    (tmp_path / "honig.txt").write_text("Die Bienen machen Honig.", encoding="utf-8")
    rendered = CliRunner().invoke(app, ["gloss", str(tmp_path / "honig.txt"), "--lang", "de"])
    assert "Bienen‹bees" in rendered.output
    translation = CliRunner().invoke(app, ["translate", "Bienen machen Honig", "--lang", "de", "--to", "en"])
    assert "bees" in translation.output
