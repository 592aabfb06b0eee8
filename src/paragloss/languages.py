"""Language codes, their names and scripts, and which language a text is in.

Codes are ISO 639-1 where one exists, else ISO 639-3. Identification is py3langid's naive Bayes over byte n-grams
(Lui and Baldwin, 2012), narrowed first by the scripts each language is written in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from paragloss.errors import LanguageError

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

#: "two-letter three-letter [bibliographic three-letter] Name" in ISO 639; "-" stands for "has no two-letter code".
_ISO_639 = """
aa aar Afar|ab abk Abkhazian|ae ave Avestan|af afr Afrikaans|ak aka Akan|am amh Amharic|an arg Aragonese|ar ara Arabic
as asm Assamese|av ava Avaric|ay aym Aymara|az aze Azerbaijani|ba bak Bashkir|be bel Belarusian|bg bul Bulgarian
bi bis Bislama|bm bam Bambara|bn ben Bengali|bo bod tib Tibetan|br bre Breton|bs bos Bosnian|ca cat Catalan
ce che Chechen|ch cha Chamorro|co cos Corsican|cr cre Cree|cs ces cze Czech|cu chu Church Slavonic|cv chv Chuvash
cy cym wel Welsh|da dan Danish|de deu ger German|dv div Dhivehi|dz dzo Dzongkha|ee ewe Ewe|el ell gre Greek
en eng English|eo epo Esperanto|es spa Spanish|et est Estonian|eu eus baq Basque|fa fas per Persian|ff ful Fulah
fi fin Finnish|fj fij Fijian|fo fao Faroese|fr fra fre French|fy fry Western Frisian|ga gle Irish
gd gla Scottish Gaelic|gl glg Galician|gn grn Guarani|gu guj Gujarati|gv glv Manx|ha hau Hausa|he heb Hebrew
hi hin Hindi|ho hmo Hiri Motu|hr hrv Croatian|ht hat Haitian Creole|hu hun Hungarian|hy hye arm Armenian|hz her Herero
ia ina Interlingua|id ind Indonesian|ie ile Interlingue|ig ibo Igbo|ii iii Sichuan Yi|ik ipk Inupiaq|io ido Ido
is isl ice Icelandic|it ita Italian|iu iku Inuktitut|ja jpn Japanese|jv jav Javanese|ka kat geo Georgian|kg kon Kongo
ki kik Kikuyu|kj kua Kuanyama|kk kaz Kazakh|kl kal Kalaallisut|km khm Khmer|kn kan Kannada|ko kor Korean|kr kau Kanuri
ks kas Kashmiri|ku kur Kurdish|kv kom Komi|kw cor Cornish|ky kir Kyrgyz|la lat Latin|lb ltz Luxembourgish|lg lug Ganda
li lim Limburgish|ln lin Lingala|lo lao Lao|lt lit Lithuanian|lu lub Luba-Katanga|lv lav Latvian|mg mlg Malagasy
mh mah Marshallese|mi mri mao Maori|mk mkd mac Macedonian|ml mal Malayalam|mn mon Mongolian|mr mar Marathi
ms msa may Malay|mt mlt Maltese|my mya bur Burmese|na nau Nauru|nd nde North Ndebele|ne nep Nepali|ng ndo Ndonga
nl nld dut Dutch|nn nno Norwegian Nynorsk|no nor Norwegian|nr nbl South Ndebele|nv nav Navajo|ny nya Nyanja
oc oci Occitan|oj oji Ojibwa|om orm Oromo|or ori Odia|os oss Ossetic|pa pan Punjabi|pi pli Pali|pl pol Polish
ps pus Pashto|pt por Portuguese|qu que Quechua|rm roh Romansh|rn run Rundi|ro ron rum Romanian|ru rus Russian
rw kin Kinyarwanda|sa san Sanskrit|sc srd Sardinian|sd snd Sindhi|se sme Northern Sami|sg sag Sango|si sin Sinhala
sk slk slo Slovak|sl slv Slovenian|sm smo Samoan|sn sna Shona|so som Somali|sq sqi alb Albanian|sr srp Serbian
ss ssw Swati|st sot Southern Sotho|su sun Sundanese|sv swe Swedish|sw swa Swahili|ta tam Tamil|te tel Telugu
tg tgk Tajik|th tha Thai|ti tir Tigrinya|tk tuk Turkmen|tl tgl Tagalog|tn tsn Tswana|to ton Tongan|tr tur Turkish
ts tso Tsonga|tt tat Tatar|tw twi Twi|ty tah Tahitian|ug uig Uyghur|uk ukr Ukrainian|ur urd Urdu|uz uzb Uzbek
ve ven Venda|vi vie Vietnamese|vo vol Volapük|wa wln Walloon|wo wol Wolof|xh xho Xhosa|yi yid Yiddish|yo yor Yoruba
za zha Zhuang|zh zho chi Chinese|zu zul Zulu|- ace Acehnese|- ast Asturian|- bcl Central Bikol|- ceb Cebuano
- ckb Central Kurdish|- crh Crimean Tatar|- fur Friulian|- gom Goan Konkani|- haw Hawaiian|- hsb Upper Sorbian
- ilo Iloko|- kab Kabyle|- lij Ligurian|- ltg Latgalian|- mai Maithili|- mni Manipuri|- nds Low German
- nso Northern Sotho|- pcm Nigerian Pidgin|- sat Santali|- scn Sicilian|- vec Venetian|- war Waray
"""

#: Other codes in use: withdrawn ones, members of a macrolanguage, and varieties written alike.
_ALIASES = """
iw=he in=id ji=yi mo=ro sh=sr nb=no nob=no fil=tl cmn=zh yue=zh wuu=zh arb=ar ary=ar arz=ar apc=ar pes=fa prs=fa swh=sw
zsm=ms ekk=et lvs=lv khk=mn ory=or npi=ne plt=mg azj=az azb=az uzn=uz uzs=uz gaz=om kmr=ku sdh=ckb als=sq pbt=ps fuv=ff
quy=qu gug=gn nno=nn ydd=yi pnb=pa
"""

#: Scripts as ranges of code points: enough to tell whose letters a text is written in.
_SCRIPT_RANGES = {
    "Latn": "A-Za-zªºÀ-ÖØ-öø-ʯḀ-ỿ",
    "Grek": "Ͱ-Ͽἀ-῿",
    "Cyrl": "Ѐ-ԯ",
    "Armn": "Ա-֏",
    "Hebr": "א-ת",
    "Arab": "ؠ-ي\u066e-ۿݐ-ݿﭐ-﷿ﹰ-ﻼ",
    "Ethi": "ሀ-፿",
    "Geor": "Ⴀ-ჿⴀ-ⴭᲐ-Ჿ",
    "Deva": "\u0900-ॿ",
    "Beng": "ঀ-৾",
    "Guru": "\u0a00-੶",
    "Gujr": "\u0a80-૿",
    "Orya": "\u0b00-୷",
    "Taml": "\u0b80-௺",
    "Telu": "\u0c00-౿",
    "Knda": "ಀ-ೳ",
    "Mlym": "\u0d00-ൿ",
    "Sinh": "\u0d80-෴",
    "Thai": "ก-๛",
    "Laoo": "ກ-ໟ",
    "Tibt": "ༀ-࿚",
    "Mymr": "က-႟",
    "Khmr": "ក-៹",
    "Hang": "가-힣ᄀ-ᇿㄱ-ㆎ",
    "Kana": "ぁ-ゖァ-ヺーｦ-ﾟ",
    "Hani": "一-鿿㐀-䶿豈-﫿",
    "Thaa": "ހ-ޱ",
    "Olck": "ᱚ-ᱽ",
    "Mtei": "ꯀ-ꯢ",
}

#: Languages not written in Latin letters only; every other language is taken to be "Latn".
_SCRIPTS_OF = {
    lang: tuple(scripts.split("+"))
    for scripts, langs in {
        "Grek": "el",
        "Cyrl": "ab av ba be bg ce cu cv kk kv ky mk mn os ru tg tt uk",
        "Cyrl+Latn": "bs sr uz",
        "Armn": "hy",
        "Hebr": "he yi",
        "Arab": "ar ckb fa ks ps sd ug ur",
        "Arab+Latn": "ku az",
        "Ethi": "am ti",
        "Geor": "ka",
        "Deva": "hi mr ne sa mai gom pi",
        "Beng": "as bn",
        "Beng+Mtei": "mni",
        "Olck": "sat",
        "Guru+Arab": "pa",
        "Gujr": "gu",
        "Orya": "or",
        "Taml": "ta",
        "Telu": "te",
        "Knda": "kn",
        "Mlym": "ml",
        "Sinh": "si",
        "Thai": "th",
        "Laoo": "lo",
        "Tibt": "bo dz",
        "Mymr": "my",
        "Khmr": "km",
        "Hang+Hani": "ko",
        "Kana+Hani": "ja",
        "Hani": "zh",
        "Thaa": "dv",
    }.items()
    for lang in langs.split()
}

#: One character of these says as much as several letters.
_WEIGHTS = {"Hani": 3, "Kana": 3, "Hang": 2}

#: A document's language shows in its beginning; reading further only costs time.
_ENOUGH_CHARACTERS = 1500


def normalise(code: str) -> str:
    """The base code of a language: `pt-br` -> `pt`, `eng` -> `en`, `zh_Hant` -> `zh`."""
    base = re.split(r"[-_.@]", code.strip().lower(), maxsplit=1)[0]
    known = _bases().get(base)
    if known is None:
        raise LanguageError(
            f"unknown language code {code!r}; expected an ISO 639 code such as 'en', 'pt-br' or 'swa' "
            "(paragloss.languages.known() lists them)"
        )
    return known


def name(code: str) -> str:
    """The English name of a language."""
    return _names()[normalise(code)]


def known() -> tuple[str, ...]:
    """Every base code, in alphabetical order."""
    return tuple(sorted(_names()))


def scripts(code: str) -> tuple[str, ...]:
    """The ISO 15924 codes of the scripts a language is usually written in."""
    return _SCRIPTS_OF.get(normalise(code), ("Latn",))


def identify(texts: Iterable[str], among: Collection[str] | None = None) -> list[str | None]:
    """The language of each text, one of `among` if given; None for a text without letters."""
    candidates = None if among is None else frozenset(map(normalise, among))
    return [_identify(text, candidates) for text in texts]


def identify_one(text: str, among: Collection[str] | None = None) -> str | None:
    """The language of one text: see `identify`."""
    return identify([text], among)[0]


def _identify(text: str, among: frozenset[str] | None) -> str | None:
    text = text[:_ENOUGH_CHARACTERS]
    script = _script(text)
    if script is None:
        return None
    candidates = _written_in(script, among)
    if len(candidates) == 1:
        return next(iter(candidates))
    # The model knows what words begin and end with, but only sees it between spaces.
    for label, _ in _identifier().rank(f" {text} "):
        lang = _bases().get(label)
        if lang in candidates:
            return lang
    return min(candidates)


def _script(text: str) -> str | None:
    """The script of most letters. Any kana makes Han letters Japanese, as Chinese has none."""
    counts = Counter[str]()
    for match in _script_pattern().finditer(text):
        script = match.lastgroup or ""
        counts[script] += len(match[0]) * _WEIGHTS.get(script, 1)
    if not counts:
        return None
    best = counts.most_common(1)[0][0]
    return "Kana" if best == "Hani" and "Kana" in counts else best


@lru_cache(maxsize=1024)
def _written_in(script: str, among: frozenset[str] | None) -> frozenset[str]:
    """The candidates written in a script; all of them if none is, since the caller knows they are the ones."""
    pool = among or frozenset(_names())
    return frozenset(lang for lang in pool if script in scripts(lang)) or pool


@cache
def _script_pattern() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{script}>[{ranges}]+)" for script, ranges in _SCRIPT_RANGES.items()))


@cache
def _identifier() -> LanguageIdentifier:
    # Its own instance, only ever read: `rank` changes nothing, so threads may share it.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


@cache
def _entries() -> tuple[tuple[tuple[str, ...], str], ...]:
    """(codes, base code first; name) of every language."""
    entries = []
    for entry in _ISO_639.replace("\n", "|").strip("|").split("|"):
        words = entry.split()
        codes = [word for word in words if word.islower()]
        entries.append((tuple(codes), " ".join(word for word in words if not word.islower() and word != "-")))
    return tuple(entries)


@cache
def _names() -> dict[str, str]:
    return {codes[0]: name for codes, name in _entries()}


@cache
def _bases() -> dict[str, str]:
    return {code: codes[0] for codes, _ in _entries() for code in codes} | dict(
        pair.split("=") for pair in _ALIASES.split()
    )
