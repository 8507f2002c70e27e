"""Bytes to text: byte order mark, then UTF-8, then what the bytes look like.

Mail and web pages name encodings; `usual_name` is the one they mean. Runs in the parser process.
"""

import codecs
import re
from unicodedata import category

from desktop_rag.core.parsed import ENCODING_GUESSED, EncodingHints
from desktop_rag.ingest.read.foundation.machine_text import without_data
from desktop_rag.ingest.read.foundation.old_encodings import best_reading, fit_in_pairs

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
