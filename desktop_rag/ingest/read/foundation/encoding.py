"""Bytes to text: byte order mark, then UTF-8, then the encoding that looks most like a language.

Each old encoding that is in use for a language is tried, and each character beyond ASCII judged: a
frequent letter of the language and its words speak for it; a sign inside a word, a capital behind a
small letter or a letter of another language speak against it. Mail and web pages name encodings;
`usual_name` is the one they mean. Runs in the parser process.
"""

import codecs
import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from unicodedata import category

from desktop_rag.core.parsed import ENCODING_GUESSED, EncodingHints
from desktop_rag.core.paths import resources_dir
from desktop_rag.ingest.read.foundation.machine_text import without_data

# Of a long text, as much of its lines with characters beyond ASCII.
_SAMPLE_BYTES = 3_000
# Worths are logarithms of likelihood: a letter that is ten times as frequent is worth one more.
_PERCENT = 1.4
_MARK, _STRANGE, _WORD_WORTH = 0.5, -1.5, 1.0
# Only lines with letters beyond ASCII are looked at, so that rare ones are less rare there.
_SHARE = 5
# The frequency falls by e to this from the first letter of an alphabet to the last.
_FALL = 3
# Within this distance another reading is nearly as good; of a text that is long enough this share
# of the words has to be known, as else it is in another language.
_SURE_DISTANCE = 2
_LEAST_KNOWN, _FEW_WORDS = 0.2, 5
# As much less worth may an encoding have that the neighbours of the file have too, and as much more
# is one of the computer's own language worth.
_NEARLY, _AT_HOME = 4, 1
_MARKS = frozenset("“”„\u201a‘’‹›«»–—…§°€•¿¡\xa0")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Reading:
    """An encoding, how well its text fits a language, and whether it is certain.

    The fit is how much likelier its letters are than those of a usual text; `known` the share of
    words that the language is known to have.
    """

    encoding: str
    fit: float
    known: float
    is_sure: bool


@dataclass(frozen=True, slots=True)
class _Language:
    code: str
    weights: Mapping[str, float]
    encodings: tuple[str, ...]
    words: frozenset[str]
    parts: re.Pattern[str]
    usual: float


class _Kind(Enum):
    """What a character is where it stands."""

    LETTER = auto()
    SIGN = auto()
    MISPLACED = auto()


@dataclass(frozen=True, slots=True)
class _Features:
    """The characters beyond ASCII of a decoded text by their kinds, and its words."""

    kinds: Counter[tuple[str, _Kind]]
    words: Counter[str]


@dataclass(frozen=True, slots=True)
class _Found:
    worth: float
    encoding: str
    text: str
    features: _Features
    language: _Language

    def reading(self, other: float) -> Reading:
        """Its certainty follows from the worth of the best other text."""
        letters = max(self.features.kinds.total(), 1)
        fit = _letters_worth(self.features, self.language) / letters - self.language.usual
        known = _known_share(self.features, self.language)
        is_spoken = known >= _LEAST_KNOWN or self.features.words.total() < _FEW_WORDS
        is_far = self.worth - other >= _SURE_DISTANCE
        return Reading(self.encoding, fit, known, is_sure=is_spoken and is_far)


def best_reading(data: bytes, neighbours: Sequence[str] = (), language: str = "") -> Reading | None:
    """The reading that fits best; None where none is possible.

    Where that is not certain an encoding of its neighbours settles it if it fits nearly as well,
    else the language of the computer tips the balance.
    """
    sample = _sample(data)
    if not sample:
        return None
    found: list[_Found] = []
    for encoding, languages in _by_encoding().items():
        if (text := _decoded(sample, encoding)) is None:
            continue
        features = _features(text)
        found += (
            _Found(_worth_in(features, each), encoding, text, features, each) for each in languages
        )
    if not found:
        return None
    found.sort(key=lambda each: -each.worth)
    best = found[0]
    other = next((each.worth for each in found if each.text != best.text), -math.inf)
    reading = best.reading(other)
    if reading.is_sure:
        return reading
    for each in found:
        if each.encoding in neighbours and each.worth >= best.worth - _NEARLY:
            return replace(each.reading(other), is_sure=True)
    likely = max(found, key=lambda each: each.worth + (each.language.code == language) * _AT_HOME)
    return replace(likely.reading(other), is_sure=False)


def _known_share(features: _Features, language: _Language) -> float:
    """How many of the words are of the language, or have parts that are."""
    known = sum(
        count
        for word, count in features.words.items()
        if word in language.words or language.parts.search(word)
    )
    return known / max(features.words.total(), 1)


def _sample(data: bytes) -> bytes:
    lines: list[bytes] = []
    size = 0
    for line in data.split(b"\n"):
        if not line.isascii():
            lines.append(line[:_SAMPLE_BYTES])
            size += len(line)
            if size >= _SAMPLE_BYTES:
                break
    return b"\n".join(lines)


def _decoded(sample: bytes, encoding: str) -> str | None:
    try:
        return sample.decode(encoding)
    except (LookupError, ValueError):
        return None


def _features(text: str) -> _Features:
    kinds: Counter[tuple[str, _Kind]] = Counter()
    for place, letter in enumerate(text):
        if not letter.isascii():
            kinds[letter.lower(), _kind(text, place)] += 1
    return _Features(kinds, Counter(_WORD.findall(text.casefold())))


def _kind(text: str, place: int) -> _Kind:
    letter, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    is_inside, is_beside = before.isalpha() and after.isalpha(), before.isalpha() or after.isalpha()
    if letter.isalpha() or unicodedata.combining(letter):
        is_foreign = letter.isalpha() and not unicodedata.name(letter, "").startswith("LATIN")
        # No word mixes alphabets.
        is_mixed = any(other.isascii() and other.isalpha() for other in (before, after))
        is_drawn = before == letter == after
        # In capitals it is a letter like another.
        is_among_capitals = not after.islower() and (before.isupper() or after.isupper())
        is_misplaced = letter.isupper() and before.isalpha() and not is_among_capitals
        is_broken = (is_foreign and is_mixed) or is_drawn or is_misplaced
        return _Kind.MISPLACED if is_broken else _Kind.LETTER
    is_drawn = unicodedata.category(letter)[0] in "CS" and letter not in _MARKS
    is_broken = (is_inside and letter != "’") or (is_drawn and is_beside)
    return _Kind.MISPLACED if is_broken else _Kind.SIGN


def _worth_in(features: _Features, language: _Language) -> float:
    worth = _letters_worth(features, language)
    for word, count in features.words.items():
        if word in language.words:
            worth += count * _WORD_WORTH
        elif not word.isascii():
            worth += count * _WORD_WORTH * len(language.parts.findall(word))
    return worth


def _letters_worth(features: _Features, language: _Language) -> float:
    return sum(
        count * _worth(letter, kind, language) for (letter, kind), count in features.kinds.items()
    )


def _worth(letter: str, kind: _Kind, language: _Language) -> float:
    if kind is _Kind.MISPLACED:
        return _STRANGE
    unknown = _MARK * (letter in _MARKS) if kind is _Kind.SIGN else _STRANGE
    return language.weights.get(letter, unknown)


# The most frequent characters of Chinese, simplified and traditional, and of Korean.
_FREQUENT = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之"
    "年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样"
    "理心她本前开但因只从想实日者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两"
    "高间由问很最重并物手应向头文体政美相见被利什二等产或新己制身果加西月话合回特代内信表化老"
    "给世位次度门任常先海通教原东声提立及比员解水名真论处走义各入几口认条平系气题活更别打女变"
    "四总何电数安少报才结反受目太量再感建务做接必场件计管期市直资命山金指许统区保至形社便空决"
    "治展科司五基书非则听白却界达光放强即难且权思完设式色路记南品住告类求据程北边该交规万取望"
    "觉术领共确传师观清今切院让识候带导争运來這個們為國說時對過發後裡經麼學現當沒動還進樣開與"
    "長機實從問間關點業將兩應頭體見產給話員論處認條係氣題別變總電數報結務場計資許統區決則聽達"
    "強權設記據該規萬觀讓識帶導爭運書元発対経戦実円関当来気総県続学会変図売区収検様払済"
    "이다는에을의가고를은하지로한사아기도어리자인시나대정서그들게라있부전수주보상해일제여만과구것원장오면성동유"
    "공으세조마무적신경연화안우비문스국계생와되방바선없중간말내물음진회업위할당년방러실행산요금개명품드까모"
    "체분미소결합니습입청번재관모든같때거던았었했야된려통치반속호열약건차형료불최감양타임"
)


_KANA, _HANGUL = re.compile("[\u3041-\u30fe]"), re.compile("[\uac00-\ud7a3]")
_HAN = re.compile("[\u4e00-\u9fff]")
_STRANGE_IN_PAIRS = re.compile(
    "[^\0-\x7f\u3000-\u303f\u3041-\u30fe\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e“”‘’–—…·]"
)
# Inside a word of Latin letters stands no other.
_IN_WORD = re.compile(r"(?<=[A-Za-z])[^\0-\x7f]+(?=[A-Za-z])")


_PAIRS_SAMPLE = 4_000
_FIRST_LEVELS = {
    "gb2312": range(0xB0, 0xD8), "big5": range(0xA4, 0xC7), "euc_jp": range(0xB0, 0xD0),
    "euc_kr": range(0xB0, 0xC9),
}  # fmt: skip


def fit_in_pairs(text: str) -> float:
    """How much a text with two bytes a letter looks like Japanese, Korean or Chinese; 1 at best."""
    text = text[:_PAIRS_SAMPLE]
    total = sum(not letter.isascii() for letter in text) or 1
    kana, hangul, han = (len(block.findall(text)) / total for block in (_KANA, _HANGUL, _HAN))
    strange = (len(_STRANGE_IN_PAIRS.findall(text)) + sum(map(len, _IN_WORD.findall(text)))) / total
    frequent = sum(letter in _FREQUENT for letter in text) / total
    common = sum(letter in _common() for letter in text) / total
    # Korean of today has hardly any Chinese characters, and no kana at all.
    mixed = kana + han if hangul else 0
    rare = han + hangul - common
    return 0.4 * common + 1.2 * kana + 1.5 * frequent - 0.8 * rare - strange - mixed


@cache
def _common() -> frozenset[str]:
    """The characters that the standards of Asia have in their first levels."""
    pairs = (
        bytes((high, low)).decode(encoding, "ignore")
        for encoding, levels in _FIRST_LEVELS.items()
        for high in levels
        for low in range(0x40, 0xFF)
    )
    return frozenset(letter for pair in pairs for letter in pair if not letter.isascii())


@cache
def _by_encoding() -> Mapping[str, tuple[_Language, ...]]:
    found: dict[str, list[_Language]] = {}
    for language in _languages():
        for encoding in language.encodings:
            found.setdefault(encoding, []).append(language)
    return {encoding: tuple(languages) for encoding, languages in found.items()}


def _languages() -> Iterator[_Language]:
    path = resources_dir() / "encodings" / "alphabets.toml"
    for code, fields in tomllib.loads(path.read_text(encoding="utf-8")).items():
        share = math.sqrt(_SHARE * fields["share"])
        parts = fields["parts"].casefold().split()
        shares = _shares(list(dict.fromkeys(fields["letters"].lower())))
        weights = {letter: _PERCENT + math.log10(share * part) for letter, part in shares.items()}
        yield _Language(
            code,
            weights,
            tuple(fields["encodings"].split()),
            frozenset(fields["words"].casefold().split()),
            re.compile("|".join(sorted(parts, key=len, reverse=True)) or "(?!)"),
            sum(part * weights[letter] for letter, part in shares.items()),
        )


def _shares(letters: Sequence[str]) -> dict[str, float]:
    """The letters, the frequent ones first, with the share that each has among them."""
    falling = [math.exp(-_FALL * place / len(letters)) for place in range(len(letters))]
    return {letter: part / sum(falling) for letter, part in zip(letters, falling, strict=True)}


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_GUESS_BYTES = 256 * 1024
_PEEK_BYTES = 64 * 1024
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b"))
_MAX_CONTROL_SHARE = 0.02
_HARMLESS_CONTROLS = 4
_MIN_JUDGED_BYTES = 200
# ASCII in UTF-16 is every other byte zero; so are at least the spaces and digits of other scripts.
_MIN_WIDE_SHARE = 0.2
_MAX_STRAY_SHARE = 0.01
_WIDE_PEEK_BYTES = 4096
# Of alphabets and syllables: the bytes of other texts are none of these the wrong way round.
_NARROW_LETTER = re.compile(
    r"[\t\n\r -~\xa0-\u139f\u1780-\u17ff\u1c90-\u1cbf\u1e00-\u1fff\u200b-\u203a\u20a0-\u20bf]"
)
_LEAST_NARROW, _LEAST_WIDE_BYTES = 0.98, 8
_WESTERN_LETTER = re.compile(r"[À-ÖØ-öø-ÿ]")
# Other encodings are valid UTF-8 here and there by chance.
_MIN_VALID, _MIN_VALID_AS_STRAYS = 2, 4
# Encodings of two bytes a letter, which have no alphabet.
_WIDE_LETTERS = ["cp932", "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949"]
# From this fit on, and with a word of its language, it is a text in letters, however well it fits
# one in pairs of bytes.
_CERTAIN_FIT = -0.3
# Bytes by chance reach less; within this distance another reading in pairs is nearly as good.
_LEAST_FIT_IN_PAIRS, _FIT_AS_NEIGHBOURS, _SURE_IN_PAIRS = 0.4, 0.2, 0.15
_WESTERN = "cp1252"
# How Python keeps a byte that is no UTF-8, and what it is in a Western file. The last two letters
# of that are in no word one meets.
_STRAY_BYTES = frozenset(map(chr, range(0xDC80, 0xDD00)))
_WESTERN_STRAYS = {
    0xDC00 + byte: bytes([byte]).decode(_WESTERN, "replace") for byte in range(0x80, 0xFE)
} | {0xDCFE: "\N{REPLACEMENT CHARACTER}", 0xDCFF: "\N{REPLACEMENT CHARACTER}"}
_LINE_ENDS = re.compile(r"\r\n?")

_NO_HINTS = EncodingHints()


class NotTextError(ValueError):
    """The bytes are not text in any encoding."""


def looks_like_text(data: bytes, *, is_doubtful: bool = False) -> bool:
    """True for UTF-16, marked Unicode, and bytes with hardly any control characters; with none
    of them where it is doubtful, as with a name that promises nothing.
    """
    peek = data[:_PEEK_BYTES]
    if _wide(data) or any(peek.startswith(bom) for bom, _ in _BOMS[1:]):
        return True
    controls = len(peek) - len(peek.translate(None, _CONTROLS))
    if is_doubtful:
        return not controls
    return controls <= max(_HARMLESS_CONTROLS, len(peek) * _MAX_CONTROL_SHARE)


def decode(data: bytes, declared: str = "", hints: EncodingHints = _NO_HINTS) -> tuple[str, str]:
    """The text, its lines ended as Unix does, and a warning or "".

    `declared` is the encoding the file itself names; it counts if it fits, else what is chosen.
    Raises NotTextError for bytes that are something else.
    """
    text, warning = _decode(data, declared, hints)
    text = _LINE_ENDS.sub("\n", text) if "\r" in text else text
    # What is read of a text is limited, and data would use that up.
    return without_data(text), warning


def certain_encoding(data: bytes) -> str:
    """The encoding from before Unicode that a file certainly has; "" for any other."""
    sample = data[:_GUESS_BYTES]
    if sample.isascii() or _wide(data) or not looks_like_text(data) or _is_usual(sample):
        return ""
    encoding, is_sure = _guess(sample, _NO_HINTS)
    return encoding if is_sure else ""


def _decode(data: bytes, declared: str, hints: EncodingHints) -> tuple[str, str]:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(encoding, "replace"), ""
    if hints.chosen and not declared and not _is_unicode(data):
        text = data.decode(hints.chosen, "replace")
        lost = text.count("\N{REPLACEMENT CHARACTER}")
        return text, f"{lost:,} characters do not fit {hints.chosen}." if lost else ""
    wide = _wide(data)
    if wide:
        return data.decode(wide, "replace"), ""
    if not looks_like_text(data):
        raise NotTextError
    # Japanese mail is ASCII with escapes, so that it would pass for UTF-8.
    if b"\x1b$" in data[:_PEEK_BYTES]:
        return _guessed(data, declared, hints)
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        return _damaged_utf8(data) or _guessed(data, declared, hints)


def _is_unicode(data: bytes) -> bool:
    """True for letters beyond ASCII in UTF-8, which bytes of other encodings are not by chance."""
    return not data.isascii() and _is_usual(data)


def _wide(data: bytes) -> str:
    """The codec of UTF-16 without a byte order mark, or "".

    Its zeros are all on one side; where it has none, it is in letters of few alphabets, or fits
    a language of two bytes a letter.
    """
    peek = data[:_PEEK_BYTES]
    units = len(peek) // 2
    sides = (("utf-16-be", peek[::2], peek[1::2]), ("utf-16-le", peek[1::2], peek[::2]))
    for encoding, high, low in sides:
        is_wide = high.count(0) > units * _MIN_WIDE_SHARE
        controls = len(low) - len(low.translate(None, _CONTROLS))
        if is_wide and controls <= units * _MAX_STRAY_SHARE:
            return encoding
    if len(data) % 2 or len(data) < _LEAST_WIDE_BYTES or _is_usual(peek):
        return ""
    peek = peek[:_WIDE_PEEK_BYTES]
    texts = {encoding: _strict(peek, encoding) for encoding, _, _ in sides}
    return next((name for name, text in texts.items() if text and _is_in_letters(text)), "")


def _is_usual(peek: bytes) -> bool:
    """True for UTF-8 and ASCII, as far as they are looked at, without control characters."""
    return len(peek.translate(None, _CONTROLS)) == len(peek) and bool(_strict(peek, "utf-8"))


def _is_in_letters(text: str) -> bool:
    letters = _NARROW_LETTER.findall(text)
    is_in_words = " " in text or "\n" in text or text.isalpha()
    if is_in_words and len(letters) >= _LEAST_NARROW * len(text):
        return "Cn" not in map(category, letters)
    return fit_in_pairs(text) >= _LEAST_FIT_IN_PAIRS


def _damaged_utf8(data: bytes) -> tuple[str, str] | None:
    """UTF-8 with some bytes that are none: damage, or lines that came from a Western file."""
    text = data.decode("utf-8", "surrogateescape")
    letters = sum(not char.isascii() for char in text[:_GUESS_BYTES])
    strays = sum(char in _STRAY_BYTES for char in text[:_GUESS_BYTES])
    valid = letters - strays
    is_western = len(_WESTERN_LETTER.findall(text[:_GUESS_BYTES])) == valid
    fewest = _MIN_VALID_AS_STRAYS if valid == strays and not is_western else _MIN_VALID
    if valid < max(strays, fewest):
        return None
    repaired = text.translate(_WESTERN_STRAYS)
    lost = repaired.count("\N{REPLACEMENT CHARACTER}") - text.count("\N{REPLACEMENT CHARACTER}")
    if lost:
        return repaired, f"{lost:,} characters are damaged."
    return repaired, "It mixes encodings; some characters may be wrong."


def _guessed(data: bytes, declared: str, hints: EncodingHints) -> tuple[str, str]:
    sample, peek = data[:_GUESS_BYTES], data[:_PEEK_BYTES]
    if len(peek) > _MIN_JUDGED_BYTES and b" " not in peek and b"\n" not in peek:
        # Every encoding but those of mainframes has spaces there; two bytes a letter need none.
        encoding, is_sure = _wide_letters(sample)
        if not encoding:
            raise NotTextError
    else:
        encoding, is_sure = _guess(sample, hints)
    for name in (declared, encoding):
        try:
            if name:
                is_said = is_sure or name == declared
                return data.decode(name), "" if is_said else _unsure(name)
        except (LookupError, ValueError):
            continue
    return data.decode(encoding or _WESTERN, "replace"), _unsure(encoding or _WESTERN)


def _unsure(encoding: str) -> str:
    return f"{ENCODING_GUESSED} {encoding}; some letters may be wrong."


def _guess(sample: bytes, hints: EncodingHints) -> tuple[str, bool]:
    """The encoding whose text looks most like a language, or "", and whether that is certain."""
    for name in hints.neighbours:
        if name in _WIDE_LETTERS and fit_in_pairs(_strict(sample, name)) >= _FIT_AS_NEIGHBOURS:
            return name, True
    reading = best_reading(sample, hints.neighbours, hints.language)
    if reading and reading.fit >= _CERTAIN_FIT and reading.known:
        return reading.encoding, reading.is_sure
    encoding, is_sure = _wide_letters(sample)
    if encoding:
        return encoding, is_sure
    return (reading.encoding, reading.is_sure) if reading else ("", False)


def _wide_letters(sample: bytes) -> tuple[str, bool]:
    """The encoding of two bytes a letter that fits best, or "", and whether that is certain."""
    texts = {name: text for name in _WIDE_LETTERS if (text := _strict(sample, name))}
    fits = sorted(((fit_in_pairs(text), name) for name, text in texts.items()), reverse=True)
    if not fits or fits[0][0] < _LEAST_FIT_IN_PAIRS:
        return "", False
    best, encoding = fits[0]
    other = next((fit for fit, name in fits if texts[name] != texts[encoding]), 0)
    return encoding, best - other >= _SURE_IN_PAIRS


def _strict(sample: bytes, encoding: str) -> str:
    """The text, "" if it is not in this encoding; a character may be cut at its end."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        return decoder.decode(sample)
    except ValueError:
        return ""


# Programs name the old set and write its extension. After the Encoding Standard of the WHATWG.
_USUAL = {
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-1": "cp1252", "latin1": "cp1252",
    "latin-1": "cp1252", "iso-8859-9": "cp1254", "iso-8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "big5": "big5hkscs",
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "x-mac-roman": "mac-roman",
    "iso-8859-8-i": "iso-8859-8", "unicode-1-1-utf-7": "utf-7",
}  # fmt: skip
# In these every byte is ASCII, so that nothing but the name tells what they are.
DISGUISED = {"utf-7", "hz", "hz-gb-2312", "iso-2022-kr"}


def usual_name(declared: str) -> str:
    """The codec that a mail or web page means by this name."""
    name = declared.strip().lower()
    return _USUAL.get(name, name)
