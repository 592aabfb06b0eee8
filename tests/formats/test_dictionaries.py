import gzip
import json

import pytest

from paragloss.errors import InputError
from paragloss.formats.dictionaries import Entry, read_cedict, read_dictd, read_pairs, read_tei, read_wiktionary


@pytest.fixture
def file(write):
    return lambda text, name="dictionary.txt": write(name, text)


def test_pairs_of_every_kind(file):
    path = file(
        "cat chat\ndog\tchien\nhot dog\tsaucisse chaude\tnoun\nrun\tcourir\tverb\t0.5\nold\tvieux\t0.25\n\u3000x y\n"
    )
    assert list(read_pairs(path)) == [
        Entry("cat", "chat"),
        Entry("dog", "chien"),
        Entry("hot dog", "saucisse chaude", "noun"),
        Entry("run", "courir", "verb", 0.5),
        Entry("old", "vieux", "", 0.25),
        Entry("x", "y"),
    ]


def test_bad_pairs(file):
    path = file("alone\ncat chat\n\tx\na\tb\t-1\nc\td\tnan\n")
    with pytest.raises(InputError, match=r"dictionary.txt:1: a pair needs two texts"):
        list(read_pairs(path))
    errors = []
    assert list(read_pairs(path, on_error=errors.append)) == [Entry("cat", "chat")]
    assert [str(error).split(":")[1] for error in errors] == ["1", "3", "4", "5"]


def test_cedict(file):
    path = file(
        "# CC-CEDICT\n#! version=1\n"
        "貓 猫 [mao1] /cat (animal)/CL:隻|只[zhi1]/to hide (dialect); to lurk/\n"
        "人 人 [ren2] /person/lit. man/variant of 仁[ren2]/\n"
        "貓兒 猫儿 [mao1 r5] /kitten of 貓|猫[mao1]/\n"
    )
    assert list(read_cedict(path)) == [
        Entry("猫", "cat"), Entry("貓", "cat"),
        Entry("猫", "hide", "verb"), Entry("貓", "hide", "verb"),
        Entry("猫", "lurk", "verb"), Entry("貓", "lurk", "verb"),
        Entry("人", "person"), Entry("人", "man"),
        Entry("猫儿", "kitten of"), Entry("貓兒", "kitten of"),
    ]  # fmt: skip
    with pytest.raises(InputError, match=r":1: not an entry"):
        list(read_cedict(file("cat\n")))


DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def base64(number):
    return (base64(number // 64) if number >= 64 else "") + DIGITS[number % 64]


@pytest.fixture
def dictd(write):
    """Write the two files of a dictionary, articles by their headwords; a headword may come twice."""

    def write_dictd(articles, packed=False):
        data, index = b"", ""
        for headword, article in articles:
            raw = article.encode()
            index += f"{headword}\t{base64(len(data))}\t{base64(len(raw))}\n"
            data += raw
        write("eng-fra.dict.dz" if packed else "eng-fra.dict", gzip.compress(data) if packed else data)
        return write("eng-fra.index", index)

    return write_dictd


ARTICLES = [
    ("00databaseinfo", "00-database-info\nA dictionary\n"),
    ("cat", 'cat /kæt/ <N>\n1. chat <masc>, matou [fam.]\n      "the cat" - le chat\n2. félin; fauve\n see: {dog}\n\n'),
    ("andor", "and/or\net/ou\n"),
    ("dog", "dog /dɒɡ/\nchien\n"),
]


@pytest.mark.parametrize("packed", [True, False])
def test_dictd(dictd, packed):
    path = dictd(ARTICLES, packed)
    path.write_text(path.read_text("utf-8") + path.read_text("utf-8").splitlines()[1] + "\n", "utf-8")  # a second key
    assert list(read_dictd(path)) == [
        *[Entry("cat", target, "n") for target in ("chat", "matou", "félin", "fauve")],
        Entry("and/or", "et/ou"),
        Entry("dog", "chien"),
    ]


def test_a_mark_behind_a_translation_says_its_part_of_speech(dictd):
    article = "bank\nbanque <fem, sg> (de <x>, y), rive <fem>; pencher <v, intr>\n"
    assert list(read_dictd(dictd([("bank", article)]))) == [
        Entry("bank", "banque", "fem sg"),
        Entry("bank", "rive", "fem"),
        Entry("bank", "pencher", "v intr"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("cat\tA", ":1: 2 columns where 3"),
        ("cat\tA\t!", "no number in dictd's base 64"),
        ("cat\t//\tA", "don't belong together"),
    ],
)
def test_bad_dictd(dictd, file, line, message):
    dictd(ARTICLES[1:], packed=True)
    with pytest.raises(InputError, match=message):
        list(read_dictd(file(f"{line}\n", "eng-fra.index")))


def test_an_article_that_is_not_utf_8_is_placed(dictd):
    path = dictd(ARTICLES[3:])
    data = path.with_suffix(".dict")
    data.write_bytes(data.read_bytes().replace(b"chien", b"chi\xe9n"))
    errors = []
    assert list(read_dictd(path, on_error=errors.append)) == []
    (error,) = errors
    assert "eng-fra.index:1: byte 0xe9 " in str(error)


def test_dictd_without_its_other_half(file):
    with pytest.raises(InputError, match=r"no x.dict.dz or x.dict beside it"):
        list(read_dictd(file("cat\tA\tB\n", "x.index")))


TEI = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE TEI SYSTEM "freedict-P5.dtd">
<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>
<entry><form><orth>cat</orth><pron>kæt</pron></form><gramGrp><pos>n</pos></gramGrp>
 <sense><cit type="trans"><quote>chat</quote></cit><cit type="trans"><quote>matou (fam.)</quote></cit></sense>
 <sense><cit type="example"><quote>the cat</quote><cit type="trans"><quote>le chat</quote></cit></cit></sense></entry>
<entry><form><orth>dog</orth></form><sense><cit type="trans"><quote>chien</quote></cit></sense></entry>
<entry><form/></entry>
</body></text></TEI>"""


def test_tei(file):
    errors = []
    assert list(read_tei(file(TEI), on_error=errors.append)) == [
        Entry("cat", "chat", "n"),
        Entry("cat", "matou", "n"),
        Entry("dog", "chien"),
    ]
    assert "entry:3: no <orth>" in str(errors[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<!DOCTYPE a [<!ENTITY x "y">]><TEI>&x;</TEI>', "declares an entity, 'x', which is not allowed"),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><TEI>&x;</TEI>', "declares an entity"),
        ("<TEI>\n<entry>", ":2: not XML"),
        ("", "not XML"),
    ],
)
def test_tei_that_is_not_safe_or_not_whole(file, text, message):
    with pytest.raises(InputError, match=message):
        list(read_tei(file(text)))


CAT_TRANSLATIONS = [
    {"code": "fr", "lang": "French", "word": "chat"},
    {"lang_code": "de", "word": "Katze"},
    {"code": "fr", "note": "no word"},
]
CAT_SENSES = [{"glosses": ["An animal."], "translations": [{"code": "fr", "word": "chatte"}]}]
CHAT_SENSES = [
    {"glosses": ["cat (feline), tomcat"]},
    {"glosses": ["a game that children play by running after one another"]},
    {"glosses": ["plural of x"], "form_of": [{"word": "x"}]},
]
WORDS = [
    {"word": "cat", "lang_code": "en", "pos": "noun", "translations": CAT_TRANSLATIONS, "senses": CAT_SENSES},
    {"word": "chat", "lang_code": "fr", "pos": "noun", "senses": CHAT_SENSES},
    {"redirect": "elsewhere", "title": "x"},
]


def test_wiktionary(file):
    path = file("\n".join(json.dumps(word) for word in WORDS))
    assert list(read_wiktionary(path, "en", "fr")) == [Entry("cat", "chat", "noun"), Entry("cat", "chatte", "noun")]
    assert list(read_wiktionary(path, "fr", "en")) == [
        Entry("chat", "cat", "noun"),
        Entry("chatte", "cat", "noun"),
        Entry("chat", "cat", "noun"),
        Entry("chat", "tomcat", "noun"),
    ]
    assert list(read_wiktionary(path, "en", "de")) == [Entry("cat", "Katze", "noun")]
    with pytest.raises(InputError, match=":1: no 'word'"):
        list(read_wiktionary(file("{}"), "en", "fr"))
