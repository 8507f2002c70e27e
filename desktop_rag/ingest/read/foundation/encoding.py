"""Bytes to text: byte order mark, then UTF-8, then what the bytes look like.

Mail and web pages name encodings; `usual_name` is the one they mean. Runs in the parser process.
"""

import codecs
import re

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
# Other encodings are valid UTF-8 here and there by chance.
_MIN_VALID_PER_STRAY = 1
_MIN_VALID = 2
# Without this list two bytes of any file are "text" in some rare code page.
_LIKELY = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp932",
    "euc_jp", "iso2022_jp", "gb18030", "big5", "cp949", "koi8_r", "tis_620", "iso8859_2",
    "mac_roman", "cp866",
]  # fmt: skip
# Often all of these fit a Western text; then it is the Western one.
_LATIN = {"cp1250", "cp1257", "iso8859_2", "mac_roman"}
_WESTERN = "cp1252"
# How Python keeps a byte that is no UTF-8, and what it is in a Western file. The last two letters
# of that are in no word one meets.
_STRAY_BYTES = frozenset(map(chr, range(0xDC80, 0xDD00)))
_WESTERN_STRAYS = {
    0xDC00 + byte: bytes([byte]).decode(_WESTERN, "replace") for byte in range(0x80, 0xFE)
} | {0xDCFE: "\N{REPLACEMENT CHARACTER}", 0xDCFF: "\N{REPLACEMENT CHARACTER}"}
_LINE_ENDS = re.compile(r"\r\n?")


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


def decode(data: bytes, declared: str = "") -> tuple[str, str]:
    """The text, its lines ended as Unix does, and a warning or "".

    `declared` is the encoding the file itself names; it counts if it fits.
    Raises NotTextError for bytes that are something else.
    """
    text, warning = _decode(data, declared)
    return (_LINE_ENDS.sub("\n", text) if "\r" in text else text), warning


def _decode(data: bytes, declared: str) -> tuple[str, str]:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return data[len(bom) :].decode(encoding, "replace"), ""
    wide = _wide(data)
    if wide:
        return data.decode(wide, "replace"), ""
    if not looks_like_text(data):
        raise NotTextError
    # Japanese mail is ASCII with escapes, so that it would pass for UTF-8.
    if b"\x1b$" in data[:_PEEK_BYTES]:
        return _guessed(data, declared)
    try:
        return data.decode("utf-8"), ""
    except UnicodeDecodeError:
        return _damaged_utf8(data) or _guessed(data, declared)


def _wide(data: bytes) -> str:
    """The codec of UTF-16 without a byte order mark, whose zeros are all on one side, or ""."""
    peek = data[:_PEEK_BYTES]
    units = len(peek) // 2
    sides = (("utf-16-be", peek[::2], peek[1::2]), ("utf-16-le", peek[1::2], peek[::2]))
    for encoding, high, low in sides:
        is_wide = high.count(0) > units * _MIN_WIDE_SHARE
        controls = len(low) - len(low.translate(None, _CONTROLS))
        if is_wide and controls <= units * _MAX_STRAY_SHARE:
            return encoding
    return ""


def _damaged_utf8(data: bytes) -> tuple[str, str] | None:
    """UTF-8 with some bytes that are none: damage, or lines that came from a Western file."""
    text = data.decode("utf-8", "surrogateescape")
    letters = sum(not char.isascii() for char in text[:_GUESS_BYTES])
    strays = sum(char in _STRAY_BYTES for char in text[:_GUESS_BYTES])
    if letters - strays < max(_MIN_VALID_PER_STRAY * strays, _MIN_VALID):
        return None
    repaired = text.translate(_WESTERN_STRAYS)
    lost = repaired.count("\N{REPLACEMENT CHARACTER}") - text.count("\N{REPLACEMENT CHARACTER}")
    if lost:
        return repaired, f"{lost:,} characters are damaged."
    return repaired, "It mixes encodings; some characters may be wrong."


def _guessed(data: bytes, declared: str) -> tuple[str, str]:
    peek = data[:_PEEK_BYTES]
    if len(peek) > _MIN_JUDGED_BYTES and b" " not in peek and b"\n" not in peek:
        # Not even spaces are where every encoding but those of mainframes has them.
        raise NotTextError
    for encoding in (declared, _guess(data[:_GUESS_BYTES])):
        try:
            if encoding:
                return data.decode(encoding), ""
        except (LookupError, ValueError):
            continue
    text = data.decode(_guess(data[:_GUESS_BYTES]) or _WESTERN, "replace")
    return text, "The file does not name its encoding; some characters may be wrong."


def _guess(sample: bytes) -> str:
    """The encoding whose text looks most like a language, or ""."""
    from charset_normalizer import from_bytes

    matches = from_bytes(sample, cp_isolation=_LIKELY)
    best = matches.best()
    if best is None:
        return ""
    possible = {
        name for match in matches for name in (match.encoding, *match.could_be_from_charset)
    }
    return _WESTERN if best.encoding in _LATIN and _WESTERN in possible else best.encoding


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
