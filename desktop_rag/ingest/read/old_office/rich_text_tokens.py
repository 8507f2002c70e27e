"""The words of Rich Text: tokens of a file, and which code page its bytes are in.

Runs in the parser process.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?[0-9]{1,10})?[ ]?|\\'([0-9A-Fa-f]{2})|\\([^A-Za-z])"
    rb"|([{}])|([^\\{}\r\n\0]+)|[\r\n\0]+|\\"
)
WESTERN = "cp1252"
# Code pages by the number of a font's character set.
_CHARSETS = {
    77: "mac-roman", 78: "cp932", 79: "cp949", 80: "cp936", 81: "cp950", 83: "mac-greek",
    84: "cp1255", 85: "mac-cyrillic", 86: "mac-latin2", 128: "cp932", 129: "cp949",
    130: "johab", 134: "cp936", 136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258",
    177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
    254: "cp437", 255: "cp850",
}  # fmt: skip
_PAGES = {"ansi": WESTERN, "mac": "mac-roman", "pc": "cp437", "pca": "cp850"}
_NAMES = {10000: "mac-roman", 10006: "mac-greek", 10007: "mac-cyrillic", 65001: "utf-8",
          1361: "johab", 708: "iso8859-6", 28591: "latin-1"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RtfToken:
    """One of: a control word with its number, a control sign, a brace, or bytes of text."""

    word: str = ""
    number: int | None = None
    sign: str = ""
    brace: str = ""
    text: bytes = b""


def tokens(data: bytes) -> Iterator[RtfToken]:
    """The tokens of a file; binary data between them is skipped."""
    position = 0
    while found := _TOKEN.match(data, position):
        position = found.end()
        word, number, code, sign, brace, text = found.groups()
        if word is not None:
            value = None if number is None else int(number)
            if word == b"bin":
                position += max(value or 0, 0)
            yield RtfToken(word=word.decode("ascii"), number=value)
        elif code is not None:
            yield RtfToken(text=bytes.fromhex(code.decode("ascii")))
        elif sign is not None:
            yield RtfToken(sign=sign.decode("latin-1"))
        elif brace is not None:
            yield RtfToken(brace=brace.decode("ascii"))
        elif text is not None:
            yield RtfToken(text=text)


def page_of_charset(charset: int) -> str | None:
    """The code page of a font's character set, None if it is that of the document."""
    return _CHARSETS.get(charset)


def page_of_word(word: str, number: int | None) -> str | None:
    """The code page that a control word of the document's head names, None if it names none."""
    if word != "ansicpg":
        return _PAGES.get(word)
    name = _NAMES.get(number or 0, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return WESTERN
