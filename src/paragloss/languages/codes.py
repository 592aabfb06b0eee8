"""Codes of languages and their names: ISO 639-1 where a language has one, else ISO 639-3.

The common languages are listed here, the other 7,700 in iso639.txt.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from paragloss.errors import LanguageError

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


#: ISO 639's code for an undetermined language: that of documents without letters.
UNKNOWN = "und"


def normalise(code: str) -> str:
    """Return the base code of a language: `pt` for `pt-br`, `en` for `eng`, `zh` for `zh_Hant`.

    :param code: a code of ISO 639, perhaps with a region, a script or an encoding behind it
    :return: the code of two letters if the language has one, else that of three
    :raises LanguageError: if no language has this code
    """
    subtag = re.split(r"[-_.@]", code.strip().lower(), maxsplit=1)[0]
    base_code = bases().get(subtag)
    if base_code:
        return base_code
    if subtag == UNKNOWN or subtag in _rare_names():
        return subtag
    raise LanguageError(
        f"unknown language code {code!r}; expected an ISO 639 code such as 'en', 'pt-br' or 'swa' "
        "(paragloss.languages.known_codes() lists the usual ones)"
    )


def language_name(code: str) -> str:
    """Return the English name of a language."""
    base = normalise(code)
    return _common_names().get(base) or _rare_names().get(base, "unknown")


@cache
def known_codes() -> tuple[str, ...]:
    """Return the base codes of the common languages, in alphabetical order."""
    return tuple(sorted(_common_names()))


@cache
def _entries() -> tuple[tuple[tuple[str, ...], str], ...]:
    """Return the codes, base code first, and the name of each common language."""
    entries = []
    for entry in _ISO_639.replace("\n", "|").strip("|").split("|"):
        words = entry.split()
        codes = [word for word in words if word.islower()]
        entries.append((tuple(codes), " ".join(word for word in words if not word.islower() and word != "-")))
    return tuple(entries)


@cache
def _common_names() -> dict[str, str]:
    return {codes[0]: name for codes, name in _entries()}


@cache
def _rare_names() -> dict[str, str]:
    """Return the names of the languages in iso639.txt."""
    lines = Path(__file__).with_name("iso639.txt").read_text(encoding="utf-8").splitlines()
    return {line[:3]: line[4:] for line in lines}


@cache
def bases() -> dict[str, str]:
    """Return the base code of every code and alias of the common languages."""
    return {code: codes[0] for codes, _ in _entries() for code in codes} | dict(
        pair.split("=") for pair in _ALIASES.split()
    )
