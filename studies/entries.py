"""From counts of aligned words, dictionaries and words written by hand to the entries of the lexicon: which meanings a
word has, in which order, which of them are sure, and which endings are exchanged for which (studies/lexicon.py)."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import code_words
import sources

from papers.wordnet import WordNet
from paragloss.analysis import analyzer
from paragloss.analysis._stopwords import _ENGLISH
from paragloss.analysis.sound import phonetic_key
from paragloss.gloss.lexicon import (
    NAMES,
    EndingRule,
    Lexicon,
    LexiconEntry,
    normalize_key,
    pack_lexicon,
    simplify_letters,
)
from paragloss.translation.sounds import MIN_CONSONANTS

SMALL_WORDS = Path(__file__).parent / "small_words.tsv"
COMMON_WORDS = Path(__file__).parent / "common_words"
SMALL = frozenset(_ENGLISH.split())
#: Parts of speech as WordNet numbers them.
_WORDNET = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}
UNSPACED = frozenset({"zh", "ja", "th"})
#: Entries of a language, at most; meanings of a word, and the least share of one.
MAX_ENTRIES, MAX_ENTRIES_BY_LANG = 24_000, {"zh": 40_000, "ja": 40_000, "ru": 30_000, "fi": 30_000, "de": 30_000}
MEANINGS, MIN_SHARE = 5, 0.04
#: Entries of dictionaries that explain instead of translating.
_EXPLAINS = re.compile(
    r"^(variant|surname|see|abbr|old|used|also|classifier|erhua|same|short|one of|a kind|name of|type of|any of)\b"
)
_ENGLISH_WORDS = re.compile(r"[A-Za-zÀ-ž][A-Za-zÀ-ž'. -]*")
ABOUT = {
    "about": "meanings of words for reading; see docs/understand/gloss.md",
    "licence": "CC BY-SA 4.0, attributions in NOTICE",
    "version": 1,
}


class Counts(NamedTuple):
    """`aligning.Counts`, by word."""

    links: dict[str, Counter[str]]
    other: Counter[str]
    english: Counter[str]
    stems: dict[str, Counter[str]]
    other_stems: Counter[str]
    before: dict[str, Counter[str]]


def read(path: Path) -> Counts:
    if not path.exists():
        return Counts({}, Counter(), Counter(), {}, Counter(), {})
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        links, other, english, stems, other_stems, before = json.load(lines)
    return Counts(
        _by(links), _make_counter(other), _make_counter(english), _by(stems), _make_counter(other_stems), _by(before)
    )


def _make_counter(rows: list) -> Counter[str]:
    return Counter(dict(rows))


def _by(rows: list) -> dict[str, Counter[str]]:
    by_word: dict[str, Counter[str]] = defaultdict(Counter)
    for key, value, number in rows:
        by_word[key][value] += number
    return by_word


class English:
    """How often English words stand in all texts, and how they are spelled inside sentences."""

    def __init__(self, counts: Counter[str]) -> None:
        self.counts = counts
        forms: dict[str, Counter[str]] = defaultdict(Counter)
        for word, number in counts.items():
            forms[word.lower()][word] += number
        self._forms = {
            lower: lower if spellings[lower] >= 0.3 * spellings.total() else max(spellings, key=spellings.__getitem__)
            for lower, spellings in forms.items()
        }
        self._max_log_count = math.log1p(max(counts.values()))

    @cache  # noqa: B019
    def cased(self, text: str) -> str:
        return " ".join(self._forms.get(word.lower(), word) for word in text.removeprefix("\0").split())

    @cache  # noqa: B019
    def common(self, text: str) -> float:
        """From 0 to 1 how usual it is to say so; of several words the rarest, and a tenth of it."""
        words = text.lower().split()
        rarest = min((self.counts[w] + self.counts[w.capitalize()] for w in words), default=0)
        return math.log1p(rarest * (0.1 ** (len(words) - 1))) / self._max_log_count


@cache
def stem(text: str, lang: str = "en") -> str:
    terms = analyzer(lang, stop=False).terms(text)
    return terms[-1] if terms else text


def dictionary(lang: str) -> dict[str, dict[str, set[str]]]:
    """Words of a language, lower-case unless German, with their meanings and who lists them."""
    meanings_by_word: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    pairs = [*sources.words(lang), *sources.names(lang)]
    for relative in sources.RELATIVES.get(lang, ()):
        pairs += [pair._replace(source=f"{relative} {pair.source}") for pair in sources.words(relative)]
    for pair in pairs:
        english = re.sub(r"^(to|a|an|the|be) ", "", pair.en.strip())
        other = normalize_key(pair.other, lang).strip(" .")
        if not other or other.count(" ") > 3 or english.count(" ") > 2 or len(other) > 40:
            continue
        if pair.source == "cldr-emoji" and " " in english:
            continue
        if code_words.has_identifier(english) or code_words.has_identifier(other):
            continue
        if _ENGLISH_WORDS.fullmatch(english) and not _EXPLAINS.match(english):
            if other != other.lower() and lang == "de":
                meanings_by_word[other][english].add(pair.source)
            meanings_by_word[other.lower()][english].add(pair.source)
    return meanings_by_word


def entries(lang: str, counts: Counts, english: English) -> dict[str, list[LexiconEntry]]:
    """Meanings of the words of a language."""
    listed = dictionary(lang)
    known_stems = {
        (stem(word, lang), stem(meaning))
        for word, meanings in listed.items()
        if " " not in word
        for meaning in meanings
    }
    entries_found: dict[str, tuple[float, list[LexiconEntry]]] = {}
    usual = {
        key: 2 * math.log1p(counts.other[key])
        + 3 * max((english.common(english.cased(candidate)) for candidate in listed.get(key, ())), default=0.0)
        for key in {*listed, *counts.links}
        if not code_words.has_identifier(key)
        if key in listed
        or (counts.other[key] > 1 and max(counts.links[key].values()) >= (3 if " " in key or lang in UNSPACED else 1))
    }
    for key in sorted(usual, key=lambda candidate: (-usual[candidate], candidate))[
        : 5 * MAX_ENTRIES_BY_LANG.get(lang, MAX_ENTRIES) // 4
    ]:
        phrase = " " in key or (lang in UNSPACED and key not in listed and stem(key, lang) != key)
        word_entries = _make_entries(key, lang, counts, listed.get(key, {}), english, known_stems, phrase)
        if word_entries:
            entries_found[key] = usual[key], word_entries
    most_valuable = dict(
        sorted(entries_found.items(), key=lambda candidate: (-candidate[1][0], candidate[0]))[
            : MAX_ENTRIES_BY_LANG.get(lang, MAX_ENTRIES)
        ]
    )
    return {key: meanings for key, (_, meanings) in most_valuable.items() if _worth(key, meanings, most_valuable, lang)}


def _worth(
    key: str, word_entries: list[LexiconEntry], all_: Mapping[str, tuple[float, list[LexiconEntry]]], lang: str
) -> bool:
    """A capital that changes nothing is left out, and a phrase that says no more than one of its words."""
    if key != key.lower() and key.lower() in all_:
        return word_entries[0].text.lower() != all_[key.lower()][1][0].text.lower()
    if " " in key and word_entries[0].source == "texts":
        return not any(
            part in all_ and stem(all_[part][1][0].text) == stem(word_entries[0].text) for part in key.split()
        )
    return True


def _make_entries(
    key: str,
    lang: str,
    counts: Counts,
    listed: Mapping[str, set[str]],
    english: English,
    known_pairs: set[tuple[str, str]],
    phrase: bool,
) -> list[LexiconEntry]:
    number, linked = counts.other[key], Counter[str]()
    for text, times in counts.links.get(key, {}).items():
        if not code_words.has_identifier(english.cased(text)):
            linked[english.cased(text)] += times
    own = stem(key, lang)
    stems, stems_seen = counts.stems.get(own, Counter()), counts.other_stems[own]
    groups: dict[str, list[str]] = defaultdict(list)  # by English stem
    for text in {*linked, *(english.cased(meaning) for meaning in listed)}:
        groups[stem(text)].append(text)
    votes: Counter[str] = Counter()
    for text, sources_of_text in listed.items():
        votes[english.cased(text)] += len(sources_of_text)
    scored = []
    for root, texts_of_root in groups.items():
        times = sum(linked[text] for text in texts_of_root)
        by_stem = 0.0 if phrase else stems[root] / max(stems_seen, 3)
        total_votes = sum(min(votes[text], 3) * max(english.common(text), 0.1) ** 2 for text in texts_of_root)
        in_dictionary = total_votes > 0 or (not phrase and (own, root) in known_pairs)
        shortest = min(text.count(" ") for text in texts_of_root)
        text = max(
            texts_of_root,
            key=lambda t: ((linked[t] + 0.3 * votes[t]) / 3 ** (t.count(" ") - shortest), english.common(t), t),
        )
        longer = [
            meaning for meaning in texts_of_root if meaning.endswith(f" {text}") and votes[meaning] and not votes[text]
        ]
        text = longer[0] if longer and longer[0].split()[0] in SMALL else text  # this year, not year
        share = times / max(number, 1)
        if phrase:
            good = total_votes > 0 or (times >= 3 and share >= 0.6)
            sure = total_votes > 0 or times >= 5
        else:
            often = times >= 3 and share >= 0.15 and stems[root] >= 4
            good = (in_dictionary and (times or total_votes)) or often or (times >= 2 and by_stem >= 0.2)
            sure = (
                total_votes > 0
                or (in_dictionary and times > 0)
                or (times >= 4 and share >= 0.2)
                or (times >= 2 and by_stem >= 0.4 and stems[root] >= 5)
            )
        if good:
            source = "dictionary and texts" if total_votes and times else "dictionary" if total_votes else "texts"
            score = (
                times * (1 if total_votes or times > 2 else 0.4)
                + 3 * by_stem * min(stems_seen / 4, 1)
                + 1.5 * total_votes
            )
            scored.append((score, share, in_dictionary, LexiconEntry(text, 0.0, source, bool(sure))))
    if any(meaning[2] for meaning in scored):  # who is not listed beside one who is must be frequent
        scored = [
            meaning for meaning in scored if meaning[2] or meaning[1] >= 0.25 or (meaning[0] >= 8 and meaning[1] >= 0.1)
        ]
    total = sum(score for score, *_ in scored)
    ranked = sorted(scored, key=lambda meaning: (-meaning[0], meaning[3].text))[:MEANINGS]
    return [meaning._replace(weight=score / total) for score, *_, meaning in ranked if score >= MIN_SHARE * total]


def rules(words: Mapping[str, Sequence[LexiconEntry]]) -> list[EndingRule]:
    """Endings that may be exchanged without changing the meaning: learned from pairs of words that are known."""
    plain_words = [word for word in words if " " not in word and word == word.lower() and len(word) >= 3][:12_000]
    roots = {word: {stem(entry.text) for entry in words[word][:3]} for word in plain_words}
    bases: dict[str, list[str]] = defaultdict(list)
    for word in plain_words:
        for cut in range(max(2, (len(word) + 1) // 2, len(word) - 5), len(word) + 1):
            bases[word[:cut]].append(word)
    same, all_ = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    effects: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for base, together in bases.items():
        for ending_pair in together if 1 < len(together) <= 12 else ():
            ending = ending_pair[len(base) :]
            for other in together if ending else ():
                if ending[:1] != other[len(base) :][:1]:
                    pair = ending, other[len(base) :]
                    all_[pair] += 1
                    if not roots[ending_pair].isdisjoint(roots[other]):
                        same[pair] += 1
                        effects[pair][_effect(words[ending_pair][0].text, words[other][0].text)] += 1
    rules_found = []
    for pair, times in same.most_common(3000):
        share = times / all_[pair]
        if times >= 4 and share >= 0.45:
            effect, often = effects[pair].most_common(1)[0]
            rules_found.append(EndingRule(*pair, effect if often >= 0.5 * times else "", round(share, 2)))
    return sorted(rules_found[:500], key=lambda rule: (-len(rule.ending), -rule.share))


def _effect(form: str, base: str) -> str:
    """What was added to an English word."""
    for ending in ("s", "ed", "ing"):
        if form in (base + ending, base.removesuffix("e") + ending, base.removesuffix("y") + "ie" + ending):
            return ending if form != base else ""
    return ""


def by_hand(lang: str) -> dict[str, list[LexiconEntry]]:
    """Small words, and common words and phrases that nothing else tells well; of two entries the second stands."""
    path = COMMON_WORDS / f"{lang}.txt"
    entries_by_word = dict(_small_words().get(lang, {}))
    entries_by_word |= _written(path.read_text(encoding="utf-8").splitlines() if path.is_file() else (), lang)
    if lang == "de":
        for word, meanings in list(entries_by_word.items()):
            entries_by_word.setdefault(word.lower(), meanings)
    return entries_by_word


@cache
def _small_words() -> dict[str, dict[str, list[LexiconEntry]]]:
    rows = (line.partition("\t") for line in SMALL_WORDS.read_text(encoding="utf-8").splitlines())
    return {lang: dict(_written(written_entries.split(";"), lang)) for lang, _, written_entries in rows}


def _written(entries: Iterable[str], lang: str) -> Iterator[tuple[str, list[LexiconEntry]]]:
    """Entries as they are written by hand, word=meaning/another: each meaning half as likely as the one before."""
    for word, _, meaning_text in (item.strip().partition("=") for item in entries if item.strip()):
        texts = meaning_text.split("/")
        shares = [2.0**-rank / (2 - 2.0 ** (1 - len(texts))) for rank in range(len(texts))]
        yield (
            normalize_key(word, lang),
            [LexiconEntry(text, share, "hand", True) for text, share in zip(texts, shares, strict=True)],
        )


def _turned(words: Mapping[str, Sequence[LexiconEntry]]) -> dict[str, list[LexiconEntry]]:
    """Small words of English in another language: those that mean it first, in the order they were written."""
    turned: dict[str, list[str]] = defaultdict(list)
    for side in (0, 1):
        for word, meanings in words.items():
            if len(meanings) > side and not meanings[side].text.startswith("("):
                turned[meanings[side].text].append(word)
    return {
        english: [
            LexiconEntry(word, 2.0 ** -(1 + side), "hand", True)
            for side, word in enumerate(dict.fromkeys(meanings[:3]))
        ]
        for english, meanings in turned.items()
    }


def kinds(texts: Iterable[str]) -> dict[str, str]:
    """Parts of speech of English words, by what stands before and behind them."""
    before = {
        "noun": frozenset("the a an his her my your their its our this of many some".split()),  # noqa: SIM905
        "verb": frozenset("to will would can could i you we they he she must should may might not who".split()),  # noqa: SIM905
        "adjective": frozenset("very so too more most is are was were be quite really".split()),  # noqa: SIM905
    }
    endings = {
        "",
        "of",
        "and",
        "is",
        "was",
        "are",
        "were",
        "in",
        "to",
        "on",
        "for",
        "with",
        "that",
        "or",
        "by",
        "has",
        "had",
        "from",
        "at",
        "will",
        "who",
        "which",
    }
    score: dict[str, Counter[str]] = defaultdict(Counter)
    for text in texts:
        words = re.findall(r"[a-z']+|[.,;:!?]", text.lower())
        for last, word, following in zip(["", *words], words, [*words[1:], ""], strict=False):
            closed = following in endings or not following.isalpha()
            score[word]["all"] += 1
            if last in before["noun"]:
                score[word]["noun" if closed else "attribute"] += 1
            score[word]["verb"] += last in before["verb"]
            score[word]["adjective"] += last in before["adjective"] and closed
    kind_by_word = {}
    for word, kind_scores in score.items():
        if kind_scores["all"] >= 4 and word not in SMALL:
            shares = {
                "noun": kind_scores["noun"],
                "verb": kind_scores["verb"],
                "adjective": 3.0 * min(kind_scores["adjective"], kind_scores["attribute"]),
            }
            best = max(shares, key=lambda kind: shares[kind])
            if shares[best] >= max(0.15 * kind_scores["all"], 6 if best == "adjective" else 0):
                kind_by_word[word] = best
    return kind_by_word


def names(english: English) -> dict[str, list[LexiconEntry]]:
    """English names by how they sound."""
    often = Counter[str]()
    for word, number in english.counts.items():
        if word[:1].isupper() and word[1:].islower() and english.cased(word) == word:
            often[word] += number
    for row in sources._json(sources.folder() / "open" / "names" / "geonames.jsonl.xz"):
        for word in row["texts"].get("en", [""])[0].replace("-", " ").split():
            if word[:1].isupper() and word[1:].isalpha():
                often[word] += 1
    names_by_sound: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for word, number in often.items():
        symbols = phonetic_key(word)
        if len(symbols) >= MIN_CONSONANTS:
            names_by_sound[symbols].append((number, word))
    return {
        symbols: [
            LexiconEntry(word, min(math.log1p(number) / 9, 1.0), "texts", False)
            for number, word in sorted(candidates, reverse=True)[:6]
        ]
        for symbols, candidates in names_by_sound.items()
    }


def packed(folder: Path, english: English) -> Lexicon:
    """All languages that were learned, with the words written by hand."""
    words: dict[str, dict[str, list[LexiconEntry]]] = {}
    endings = {}
    for path in sorted(folder.glob("*.entries.gz")):
        lang = path.name.split(".")[0]
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            learned = {
                word: [LexiconEntry(*fields) for fields in entry_rows] for word, entry_rows in json.load(lines).items()
            }
        words[lang] = by_hand(lang)
        words[lang] |= {word: entry_rows for word, entry_rows in learned.items() if word not in words[lang]}
        for word, entry_rows in list(words[lang].items()):
            words[lang].setdefault(simplify_letters(word), entry_rows)
        endings[lang] = rules(words[lang]) if lang not in UNSPACED else []
        words[f"en>{lang}"] = _turned(_small_words().get(lang, {}))
    words[NAMES] = names(english)
    texts = [row["texts"]["en"] for name in ("ntrex", "tico19", "wikidata") for row in sources.rows(name)]
    texts += [pair.en for pair in sources.tatoeba("pt")]
    meanings = {fields.text for entries in words.values() for entry_rows in entries.values() for fields in entry_rows}
    return pack_lexicon(words, endings, parts_of_speech(meanings, kinds(texts)), ABOUT)


def parts_of_speech(meanings: Iterable[str], by_company: Mapping[str, str]) -> dict[str, str]:
    """By WordNet's counts of senses where one part of speech is usual, else by company; of several words the last one's
    if it is a noun, the first one's if it is a verb."""
    wordnet = WordNet()
    counts: Counter[tuple[str, str]] = Counter()
    for line in (wordnet.path / "cntlist.rev").read_text(encoding="utf-8").splitlines():
        sense, _, times = line.split()
        lemma, _, sense_rest = sense.partition("%")
        counts[lemma, _WORDNET[sense_rest[0]]] += int(times)

    @cache
    def of(word: str) -> str:
        counts_by_kind = Counter[str]()
        for part in ("noun", "verb", "adj", "adv"):
            for lemma in wordnet.lemmas(word.lower(), part):
                counts_by_kind[part] += counts[lemma, part] + 1
        best, times = (counts_by_kind.most_common(1) or [("", 0)])[0]
        usual, form = by_company.get(word, ""), word.lower() not in wordnet.lemmas(word.lower(), best or "noun")
        if (
            not best or times < 0.6 * counts_by_kind.total() or word.lower() in SMALL or (form and usual)
        ):  # building, a noun
            return usual
        return {"adj": "adjective", "adv": ""}.get(best, best)

    counts_by_kind = {}
    for text in meanings:
        words = text.split()
        first, last = (of(words[0]), of(words[-1])) if words else ("", "")
        counts_by_kind[text] = last if last == "noun" or len(words) == 1 else first if first == "verb" else ""
    return counts_by_kind
