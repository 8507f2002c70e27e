"""Judges whether the text that a PDF gives is legible, and has pypdf read pages where it isn't.

The map from signs to characters may be missing or broken; the letters are then others than those
on the page. No dictionary is needed to see the worst of it. Runs in the parser process.
"""

import io
import logging
import re
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from desktop_rag.ingest.read.foundation.encryption import encrypted
from desktop_rag.ingest.read.foundation.source_file import SourceFile

if TYPE_CHECKING:
    from pypdf import PdfReader

log = logging.getLogger(__name__)

# The character for a sign whose meaning the file does not tell.
_MEANINGLESS = re.compile("[\ufffd\ue000-\uf8ff\x01-\x08\x0e-\x1f\x7f-\x9f]")
_MAX_MEANINGLESS = 0.5
# The language of pages itself: strings in hexadecimal digits, objects, operators behind numbers.
_SYNTAX = re.compile(
    r"<\s*(?:[0-9A-Fa-f]{2}\s?){8,}>|\b\d+ \d+ obj\b|\bend(?:obj|stream)\b"
    r"|/[A-Z]\w* [\d.]+ Tf\b|[\d.]+ [\d.]+ T[dm]\b|[)>\]] ?T[jJ]\b|<<\s*/[A-Z]\w+"
)
_MAX_SYNTAX = 0.5
_WORD = re.compile(r"[^\W\d_]+")
_MIN_LETTERS = 20
# A word of several scripts is one of these, or a mistake.
_TOGETHER = (
    frozenset({"LATIN", "GREEK"}),
    frozenset({"LATIN", "CYRILLIC"}),
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}),
)
_OF_SCRIPT = {"FULLWIDTH": "LATIN", "HALFWIDTH": "KATAKANA", "IDEOGRAPHIC": "CJK"}
_ANYWHERE = frozenset(
    {
        "MODIFIER", "MICRO", "FEMININE", "MASCULINE", "MATHEMATICAL", "DOUBLE", "SCRIPT", "BLACK",
        "ANGSTROM", "OHM", "KELVIN", "SUPERSCRIPT",
    }
)  # fmt: skip
_MAX_MIXED = 0.25
# Vietnamese, with the most accents, has them on two letters in five.
_MAX_ACCENTED = 0.6
_VOWELS = re.compile("[aeiouy]", re.IGNORECASE)
_MIN_LATIN_WORDS, _MIN_LATIN_CHARS = 20, 4
# A third of the letters at least in any language; of letters shifted in the alphabet a seventh.
_MIN_VOWELS = 0.2


def is_legible(text: str) -> bool:
    """False for meaningless signs, mixed scripts, shifted letters or the syntax of the file."""
    solid = sum(map(len, text.split()))
    if not solid:
        return True
    if len(_MEANINGLESS.findall(text)) > solid * _MAX_MEANINGLESS:
        return False
    if sum(len(match[0]) for match in _SYNTAX.finditer(text)) > solid * _MAX_SYNTAX:
        return False
    words = _WORD.findall(unicodedata.normalize("NFC", text))
    letters = sum(map(len, words))
    if letters < _MIN_LETTERS:
        return True
    mixed = sum(len(word) for word in words if not word.isascii() and _is_mixed(word))
    return mixed <= letters * _MAX_MIXED and _are_words(words)


def _is_mixed(word: str) -> bool:
    scripts = {_script(char) for char in word} - _ANYWHERE
    return len(scripts) > 1 and not any(scripts <= family for family in _TOGETHER)


@cache
def _script(char: str) -> str:
    """The first word of the character's name, which for letters is their script."""
    first = re.split("[ -]", unicodedata.name(char, ""), maxsplit=1)[0]
    return _OF_SCRIPT.get(first, first)


def _are_words(words: list[str]) -> bool:
    """False when the Latin words are accented, or short of vowels, as in no language."""
    latin = [w for w in words if w.isascii() or all(_script(char) == "LATIN" for char in w)]
    letters = sum(map(len, latin))
    accented = sum(not char.isascii() for word in latin if not word.isascii() for char in word)
    if letters >= _MIN_LETTERS and accented > letters * _MAX_ACCENTED:
        return False
    long = [word for word in latin if len(word) >= _MIN_LATIN_CHARS]
    vowels = len(_VOWELS.findall(unicodedata.normalize("NFD", "".join(long))))
    return len(long) < _MIN_LATIN_WORDS or vowels >= sum(map(len, long)) * _MIN_VOWELS


# It is slow, and the pages of a scan have no text for any reader.
_MAX_BYTES = 32_000_000
_MAX_IN_VAIN = 8


def pypdf_reader(source: SourceFile) -> "tuple[PdfReader, bool]":
    """The file opened with pypdf, and True when it took a password.

    Raises Unreadable when none of the passwords is right, and anything for a damaged file.
    """
    import pypdf

    # It remarks on everything that is odd; what matters becomes a warning of the document.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    reader = pypdf.PdfReader(io.BytesIO(source.data), strict=False)
    is_locked = reader.is_encrypted and not reader.decrypt("")
    if is_locked and not any(map(reader.decrypt, source.passwords)):
        raise encrypted()
    return reader, is_locked


class SecondReader:
    """Reads with pypdf, opened at the first such page, where PDFium finds nothing legible.

    Each knows files that the other does not.
    """

    def __init__(self, source: SourceFile, *, has_hidden_layers: bool = False) -> None:
        self.has_hidden_layers = has_hidden_layers
        self._source = source
        self._reader: PdfReader | None = None
        self._left = _MAX_IN_VAIN if len(source.data) <= _MAX_BYTES else 0

    def text(self, index: int) -> str:
        """The text of a page (from 0); "" if it finds none either, or none that is legible."""
        if not self._left:
            return ""
        try:
            text = self._opened().pages[index].extract_text()
        except Exception:  # pypdf lets any error of a damaged file through, also of memory
            log.info("page %s can't be read by the second reader", index + 1, exc_info=True)
            text = ""
        if text.strip() and is_legible(text):
            self._left = _MAX_IN_VAIN
            return text
        self._left -= 1
        return ""

    def _opened(self) -> "PdfReader":
        self._reader = self._reader or pypdf_reader(self._source)[0]
        return self._reader
