"""What an analyzer makes of a sentence, language by language."""

import unicodedata

import pytest

from paragloss.analysis import analyzer
from paragloss.errors import LanguageError

SENTENCES = [
    ("en", "The children's books were returned to the library.", "children book return librari"),
    ("fr", "L'école a reçu des livres pour les élèves d’autrefois.", "ecol recu livr elev autrefois"),
    ("it", "L'acqua fresca scorreva sotto l'antico ponte di città.", "acqua fresc scorr sott antic pont citt"),
    ("es", "Los niños españoles leían canciones antiguas.", "niñ español lei cancion antigu"),
    ("de", "Die Häuser an der alten STRASSE, der alten Straße.", "haus alt strass alt strass"),
    ("pt", "Os pescadores portugueses falam da solidão.", "pescador portugues fal solida"),
    ("nl", "De kinderen hebben oude boeken in de bibliotheek.", "kinder heb oude boek bibliotheek"),
    ("da", "Børnene læste gamle bøger på biblioteket.", "børn læst gaml bøg bibliotek"),
    ("sv", "Barnen läste gamla böcker på biblioteket.", "barn läst gaml böck bibliotek"),
    ("no", "Barna leste gamle bøker på biblioteket.", "barn lest gaml bøk bibliotek"),
    ("fi", "Lapset lukivat vanhoja kirjoja kirjastossa.", "laps lukiv vanho kirj kirjasto"),
    ("ru", "Дети читали старые книги, сидя под ёлкой.", "дет чита стар книг сид елк"),
    ("bg", "Правителството на градовете чете старите книги.", "правителств град чет стар книг"),
    ("sl", "Vlada mesta in otroci s starimi knjigami.", "vlad mest otroc star knjig"),
    ("uk", "Діти читали п'ять старих книжок у бібліотеці.", "діт чит пят стар книжок бібліотец"),
    ("pl", "Dzieci czytały stare książki w bibliotece.", "dziec czyt star książk bibliotec"),
    ("cs", "Děti četly staré knihy v knihovně.", "dět četl star knih knihovn"),
    ("ro", "Copiii citeau cărți vechi în bibliotecă și învăţau.", "copii citeau cart vech bibliotec invat"),
    ("hu", "A gyerekek régi könyveket olvastak a könyvtárban.", "gyerek rég könyv olvast könyvtár"),
    ("tr", "Çocuklar İstanbul'un kütüphanesinde IŞIK gördü.", "çocuk istanbul kütüphane ışık gör"),
    ("el", "Τα παιδιά διάβαζαν παλιά βιβλία στους ΔΡΟΜΟΥΣ.", "πα διαβαζ παλ βιβλ στ δρομ"),
    ("ar", "قرأ الأطفال الكُتُبَ القديمة في المكتبة.", "قرء اطفال كتب قديم مكتب"),
    ("fa", "كودكان كتاب\u200cهای قدیمی را در کتابخانه خواندند.", "کودک کتاب قدیمی کتابخ خواندند"),
    ("he", 'הילדים קראו סְפָרִים ישנים של צה"ל בספרייה.', "ילד קראו ספר ישנ צהל ספריי"),
    ("hi", "बच्चों ने पुस्तकालय में पुरानी हिन्दी किताबें पढ़ीं।", "बच्च पुस्तकालय पुरान हिंद किताब पढ"),
    ("bn", "শিশুরা গ্রন্থাগারে পুরনো বই পড়ছিল।", "শিশু গ্রন্থাগার পুরনো বই পড়"),
    ("ta", "குழந்தைகள் நூலகத்தில் பழைய புத்தகங்களைப் படித்தனர்.", "குழந்தை நூலகம் பழை புத்தகம் படி"),
    ("th", "เด็กอ่านหนังสือเก่าในห้องสมุด", "เด็ก อ่าน หนังสือ เก่า ห้อง สมุด"),
    ("vi", "Trẻ em đọc sách cũ trong thư viện.", "trẻ đọc sách cũ thư viện"),
    ("id", "Anak-anak membaca buku di perpustakaan.", "anak anak baca buku pustaka"),
    ("tl", "Nagbasa ang mga bata ng lumang aklat sa silid-aklatan.", "nagbasa bata lumang aklat silid aklatan"),
    ("sw", "Watoto walisoma vitabu vya zamani kuhusu ng'ombe.", "tot som tab zaman hus ngomb"),
    ("zh", "孩子們在圖書館閱讀舊書。", "孩子 图书馆 阅读 旧书"),
    ("ja", "図書館でコンピューターの本を使用。", "図書館 コンピュータ 本 使用"),
    ("ko", "아이들은 도서관에서 책을 검색합니다.", "아이 도서관 책 검색"),
    # 을 follows a consonant: it is the particle in 책을 (book) and part of the noun in 마을 (village).
    ("ko", "책을 마을을 마을 사과와 사과", "책 마을 마을 사과 사과"),
    ("en", "C# and C", "csharp c"),
    ("mi", "te whare pukapuka", "te whare pukapuka"),  # languages without lists and stemmers of their own
    ("ka", "ძველი წიგნები", "ძველი წიგნები"),
    ("lo", "ພາສາລາວ", "ພາສາ ລາວ"),
    # Words of long lists of stop words that people search for.
    ("en", "the computer index and number of information", "comput index number inform"),
    ("ru", "вода и деньги", "вод деньг"),
    ("pt", "o sistema de viagem", "sistem viag"),
    ("it", "la città e il mondo", "citt mond"),
    # A text of stop words alone keeps them.
    ("en", "to be or not to be", "to be or not to be"),
    ("da", "at være", "at vær"),
    ("zh", "的", "的"),
    ("th", "และ", "และ"),
]


@pytest.mark.parametrize(("lang", "sentence", "terms"), SENTENCES, ids=[lang for lang, *_ in SENTENCES])
def test_a_sentence_is_analyzed_into_its_terms_and_spans_point_at_its_words(lang, sentence, terms):
    tokenizer = analyzer(lang)
    assert tokenizer.terms(sentence) == unicodedata.normalize("NFKC", terms).split()
    spans = tokenizer.spans(sentence)
    assert [span.term for span in spans] == tokenizer.terms(sentence)
    for span in spans:
        assert tokenizer.terms(sentence[span.start : span.end]) == [span.term]


@pytest.mark.parametrize(
    ("lang", "first", "second"),
    [
        ("en", "naïve café", "NAIVE CAFE\u0301"),
        ("en", "ﬁle", "file"),
        ("en", "ＦＵＬＬ", "full"),
        ("en", "soft\u00adware", "software"),
        ("en", "the dogs’", "dog's"),
        ("fr", "l'œuvre", "OEUVRE"),
        ("fr", "qu'élève", "élèves"),
        ("it", "dell’università", "università"),
        ("de", "Straße", "STRASSE"),
        ("da", "læser’s", "LÆSER"),
        ("ru", "Ёлка", "елка"),
        ("ru", "за\u0301мок", "замок"),
        ("uk", "об’єкт", "об'єкти"),
        ("ro", "învăţători", "învățători"),
        ("el", "δρόμος", "ΔΡΟΜΟΣ"),
        ("tr", "IŞIK", "ışık"),
        ("tr", "İSTANBUL'DAN", "istanbul"),
        ("ar", "الكِتـــاب", "الكتاب"),
        ("ar", "ﻛﺘﺎﺏ", "كتاب"),
        ("ar", "إسلام ٢٠٢٤", "اسلام 2024"),
        ("fa", "كتاب‌ها", "کتاب ها"),
        ("he", "שָׁלוֹם", "שלום"),
        ("hi", "हिन्दी ज़रूर", "हिंदी जरूर"),
        ("hi", "आँख", "आंख"),
        ("hi", "१२३", "123"),
        ("vi", "tiếng Việt", "TIẾNG VIỆT"),
        ("zh", "資訊檢索", "资讯检索"),
        ("zh", "Ｐｙｔｈｏｎ程式", "python程式"),
        ("ja", "コンピュータ", "コンピューター"),
        ("ja", "ｺﾝﾋﾟｭｰﾀ", "コンピュータ"),
        ("ko", "도서관에서", "도서관을"),
        ("ko", unicodedata.normalize("NFD", "한국어"), "한국어"),
        ("zh-tw", "圖書館", "图书馆"),
        ("pt-br", "canção", "CANÇÃO"),
    ],
)
def test_two_spellings_give_one_term(lang, first, second):
    assert analyzer(lang).terms(first) == analyzer(lang).terms(second)


@pytest.mark.parametrize(
    ("lang", "first", "second"),
    [
        ("es", "año", "ano"),
        ("sv", "häst", "hast"),
        ("da", "bøn", "bon"),
        ("vi", "má", "mà"),
        ("tr", "kız", "kiz"),
        ("ru", "мой", "мои"),
        ("bn", "বাড়", "বাড"),
        ("ja", "ハス", "バス"),
    ],
)
def test_two_words_give_two_terms(lang, first, second):
    plain = analyzer(lang, stem=False, stop=False)
    assert plain.terms(first) != plain.terms(second)


@pytest.mark.parametrize("lang", ["en", "ja", "zh", "th", "ko", "ru"])
def test_technical_words_are_split_at_punctuation(lang):
    tokenizer = analyzer(lang, stem=False)
    assert tokenizer.terms("Array.prototype.map") == ["array", "prototype", "map"]
    assert tokenizer.terms("x11-utils snake_case") == ["x11", "utils", "snake", "case"]
    assert tokenizer.terms("C++") == ["cpp"]


@pytest.mark.parametrize(("lang", "word"), [("ja", "arrays"), ("ru", "arrays"), ("ko", "arrays를")])
def test_an_english_word_is_the_same_term_in_a_page_of_another_script(lang, word):
    assert analyzer(lang).terms(word) == analyzer("en").terms("arrays")


def test_plain_variant_lower_cases_only():
    plain = analyzer("en", stem=False, stop=False)
    assert plain.terms("The Children were running.") == ["the", "children", "were", "running"]
    assert analyzer("en", stem=False).terms("The Children were running.") == ["children", "running"]
    assert analyzer("en", stop=False).terms("The Children were running.") == ["the", "children", "were", "run"]


@pytest.mark.parametrize("text", ["", " \n", "...", "+ # ++", "🙂🙂"])
@pytest.mark.parametrize("lang", ["en", "zh", "ja", "ko"])
def test_texts_without_words_have_no_terms(lang, text):
    assert analyzer(lang).terms(text) == []
    assert analyzer(lang).spans(text) == []


@pytest.mark.parametrize("lang", ["en", "zh", "ja", "th"])
@pytest.mark.parametrize("beginning", ["\ud800 ", "🙂🙂 "])
def test_offsets_are_right_after_half_a_surrogate_pair_and_characters_beyond_the_first_plane(lang, beginning):
    start = len(beginning)
    assert [tuple(span) for span in analyzer(lang).spans(f"{beginning}paper")] == [(start, start + 5, "paper")]


def test_codes_of_one_language_have_one_analyzer():
    assert analyzer("nb").lang == "no"
    assert analyzer("pt-BR") is analyzer("pt")


@pytest.mark.parametrize("lang", ["", "english!", "x", "12"])
def test_an_invalid_language_code_is_quoted_in_the_error(lang):
    with pytest.raises(LanguageError, match=f"'{lang}'"):
        analyzer(lang)
