"""The encoding of a text from before Unicode: the one in which it looks most like a language.

Each encoding that is in use for a language is tried, and each character beyond ASCII judged: a
frequent letter of the language speaks for it; a sign inside a word, a capital behind a small letter
or a letter of another language speaks against it. Runs in the parser process.
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache

from desktop_rag.core.paths import resources_dir

# Of a long text, as much of its lines with characters beyond ASCII.
_SAMPLE_BYTES = 6_000
_LEAST_WEIGHT, _CAPITAL = 0.2, 0.8
_MARK, _SIGN, _STRANGE, _BROKEN = 0.3, 0.1, -1.0, -1.5
# The worth of words of the language, as a share of all words, and of an earlier place in its list
# of encodings.
_WORDS_WORTH, _PLACE_WORTH = 0.6, 0.02
# Below this mean no language fits; within this distance another reading is nearly as good.
_LEAST_FIT = 0.3
_SURE_DISTANCE, _FEW_LETTERS = 0.05, 10
_MARKS = frozenset("“”„\u201a‘’‹›«»–—…§°€•¿¡\xa0")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Reading:
    """An encoding, how well its text fits a language, 1 at best, and whether it is certain."""

    encoding: str
    fit: float
    is_sure: bool


@dataclass(frozen=True, slots=True)
class _Language:
    weights: Mapping[str, float]
    encodings: tuple[str, ...]
    words: frozenset[str]


class _Kind(Enum):
    """What a character is where it stands; BROKEN in no text of any language."""

    SMALL = auto()
    CAPITAL = auto()
    MISPLACED = auto()
    SIGN = auto()
    BROKEN = auto()


@dataclass(frozen=True, slots=True)
class _Features:
    """The characters beyond ASCII of a decoded text by their kinds, and its words."""

    kinds: Counter[tuple[str, _Kind]]
    words: Counter[str]


def best_reading(data: bytes) -> Reading | None:
    """The reading that fits best; None where none is possible."""
    sample = _sample(data)
    readings: list[tuple[float, str, str]] = []
    for encoding, languages in _by_encoding().items():
        if (text := _decoded(sample, encoding)) is None:
            continue
        features = _features(text)
        fit = max(_fit(features, language, encoding) for language in languages)
        readings.append((fit, encoding, text))
    if not readings:
        return None
    readings.sort(key=lambda reading: -reading[0])
    fit, encoding, text = readings[0]
    other = next((reading[0] for reading in readings if reading[2] != text), -1.0)
    letters = sum(not letter.isascii() for letter in text)
    distance = _SURE_DISTANCE * (1 + _FEW_LETTERS / max(letters, 1))
    return Reading(encoding, fit, is_sure=fit >= _LEAST_FIT and fit - other >= distance)


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
        is_foreign = not unicodedata.name(letter, "").startswith("LATIN")
        if is_foreign and any(other.isascii() and other.isalpha() for other in (before, after)):
            return _Kind.BROKEN  # no word mixes alphabets
        if not letter.isupper():
            return _Kind.SMALL
        is_in_capitals = before.isupper() and not after.islower()
        return _Kind.MISPLACED if before.isalpha() and not is_in_capitals else _Kind.CAPITAL
    is_drawn = unicodedata.category(letter)[0] in "CS" and letter not in _MARKS
    is_broken = (is_inside and letter != "’") or (is_drawn and is_beside)
    return _Kind.BROKEN if is_broken else _Kind.SIGN


def _fit(features: _Features, language: _Language, encoding: str) -> float:
    total = sum(features.kinds.values())
    worth = sum(
        count * _worth(letter, kind, language) for (letter, kind), count in features.kinds.items()
    )
    words = sum(features.words.values()) or 1
    known = sum(count for word, count in features.words.items() if word in language.words)
    place = language.encodings.index(encoding)
    return worth / max(total, 1) + _WORDS_WORTH * known / words - _PLACE_WORTH * place


def _worth(letter: str, kind: _Kind, language: _Language) -> float:
    if kind is _Kind.BROKEN:
        return _BROKEN
    weight = language.weights.get(letter)
    if weight is None:
        if kind is not _Kind.SIGN:
            return _STRANGE
        return _MARK if letter in _MARKS else _sign_worth(letter)
    if kind is _Kind.MISPLACED:
        return _STRANGE
    return weight if kind is _Kind.SMALL else _CAPITAL * weight


def _sign_worth(letter: str) -> float:
    is_drawn = unicodedata.category(letter) in {"So", "Cc", "Cn", "Co"} and letter not in "©®°"
    return _STRANGE if is_drawn else _SIGN


# The most frequent characters of Chinese, simplified and traditional.
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
    "強權設記據該規萬觀讓識帶導爭運書元"
)


_KANA, _HANGUL = re.compile("[\u3041-\u30fe]"), re.compile("[\uac00-\ud7a3]")
_HAN = re.compile("[\u4e00-\u9fff]")
_STRANGE_IN_PAIRS = re.compile(
    "[^\0-\x7f\u3000-\u303f\u3041-\u30fe\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e“”‘’–—…·]"
)
# Inside a word of Latin letters stands no other.
_IN_WORD = re.compile(r"(?<=[A-Za-z])[^\0-\x7f]+(?=[A-Za-z])")


def fit_in_pairs(text: str) -> float:
    """How much a text with two bytes a letter looks like Japanese, Korean or Chinese; 1 at best."""
    total = sum(not letter.isascii() for letter in text) or 1
    kana, hangul, han = (len(block.findall(text)) / total for block in (_KANA, _HANGUL, _HAN))
    strange = (len(_STRANGE_IN_PAIRS.findall(text)) + sum(map(len, _IN_WORD.findall(text)))) / total
    if hangul:
        # Korean of today has hardly any Chinese characters, and no kana at all.
        return hangul - kana - han - strange
    frequent = sum(letter in _FREQUENT for letter in text) / total
    return 0.2 * han + 3 * kana + 1.5 * frequent - strange


@cache
def _by_encoding() -> Mapping[str, tuple[_Language, ...]]:
    found: dict[str, list[_Language]] = {}
    for language in _languages():
        for encoding in language.encodings:
            found.setdefault(encoding, []).append(language)
    return {encoding: tuple(languages) for encoding, languages in found.items()}


def _languages() -> Iterator[_Language]:
    path = resources_dir() / "encodings" / "alphabets.toml"
    for fields in tomllib.loads(path.read_text(encoding="utf-8")).values():
        letters = dict.fromkeys(fields["letters"].lower())
        yield _Language(
            dict(_weighted(letters)),
            tuple(fields["encodings"].split()),
            frozenset(fields["words"].split()),
        )


def _weighted(letters: Iterable[str]) -> Iterator[tuple[str, float]]:
    """The letters with weights that fall from 1, by their places."""
    known = list(letters)
    for place, letter in enumerate(known):
        yield letter, 1 - (1 - _LEAST_WEIGHT) * place / len(known)
