"""Sentences, words as written and a rough token count; search terms are in `terms`. Pure."""

import math
import re
from collections.abc import Sequence

import regex

_WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*+(?:['’][\p{L}\p{N}][\p{L}\p{N}\p{M}]*+)*+")
# A raised or lowered digit behind a digit is a power, an index or the mark of a note.
_AFTER_DIGIT = re.compile(r"(?<=\d)(?=[⁰¹²³⁴-⁹⁺⁻₀-₉])")
_LATIN = re.compile(r"[A-Za-z]")
_IDEOGRAPH = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")
_LATIN_A_TOKEN = 3.5
_OTHERS_A_TOKEN = 1.5
# A sentence ends at . ! ? or … with its closing quotes or brackets, before a space and a possible
# sentence start; also at a blank line, and before a list item or a table row.
_SENTENCE_END = re.compile(
    r"(?:[.!?…]['\"”’)\]]*(?=\s+[\"“‘'(\[]?[^\Wa-z_])|[。！？]|\n\s*\n"
    r"|\n(?=\s*(?:[-*•|#]|\d+[.)])\s|[^\n]* \| ))"
)
# The stop of a sentence, with what may stand behind it: quotation marks, numbers of notes.
_ENDED = re.compile(r"""[.!?…。！？](?:\s?\[\d{1,4}\]|["'”’»)\]」])*\s*$""")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|No|Nos|Fig|vs|etc|e\.g|i\.e|cf|approx|Inc|Ltd|Co|Corp|Jr|Sr"
    r"|Jan|Jän|Feb|Mar|Mrz|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Okt|Nov|Dec|Dez"
    r"|Str|Nr|Abs|bzw|ca|evtl|ggf|inkl|zzgl|vgl|Hr|Fr|Tel|Sra|Dra|pág)"
    r"|[a-zäöüß]str"
    # An ordinal number in German: "am 18. Juli", "im 2. Stock"; but "I am 18." is English.
    r"|\b(?:(?<!\bI )am|im|der|die|das|dem|den|des|vom|zum|zur|beim|bis|ab|seit)\s+\d{1,2})\.$"
)
# The number of an item or a heading: "2. Charges".
_NUMBERED = re.compile(r"(?m)^[^\S\n]*\d{1,3}\.$")
# The day or the month of a date: "4. März 2026", "4. 3. 2026".
_DAY = re.compile(r"\b\d{1,2}\.$")
_MONTH_NEXT = re.compile(
    # Months that English writes alike are of a date where the year follows.
    r"\s+(?:(?:Januar|Jänner|Februar|März|Mrz|Mai|Juni|Juli|Oktober|Okt|Dezember|Dez)\b"
    r"|(?:\d{1,2}\.|(?:Jan|Feb|Apr|Jun|Jul|Aug|Sep|Nov)[a-z]*\.?)\s+(?:\d\d){1,2}\b)"
)
_MONTH = re.compile(r"\b\d{1,2}\.\s+\d{1,2}\.$")
_YEAR_NEXT = re.compile(r"\s+(?:\d\d){1,2}\b")
# The first half of "e. V." or "z. B.".
_SINGLE_LETTER = re.compile(r"\b[a-zäöü]\.$")
_NEXT_ABBREVIATED = re.compile(r"\s[^\W\d_]{1,3}\.")
_LONGEST_ABBREVIATION = 10


def words(text: str) -> list[str]:
    """The words as written, without punctuation."""
    return _WORD.findall(with_digits_apart(text))


def with_digits_apart(text: str) -> str:
    """The text with a space between a number and raised or lowered digits behind it."""
    return text if text.isascii() else _AFTER_DIGIT.sub(" ", text)


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans [start, end) of the sentences, without surrounding white space."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if _is_abbreviation(text, max(start, match.start() - _LONGEST_ABBREVIATION), match.end()):
            continue
        _append_stripped(spans, text, start, match.end())
        start = match.end()
    _append_stripped(spans, text, start, len(text))
    return spans


def ends_sentence(text: str) -> bool:
    """True when a text ends with a full stop or the like."""
    return bool(_ENDED.search(text))


def _is_abbreviation(text: str, start: int, end: int) -> bool:
    """True when the stop before `end` belongs to a word or number that follows `start`."""
    if _ABBREVIATION.search(text, start, end) or _NUMBERED.search(text, start, end):
        return True
    goes_on = (
        (_DAY, _MONTH_NEXT), (_MONTH, _YEAR_NEXT), (_SINGLE_LETTER, _NEXT_ABBREVIATED)
    )  # fmt: skip
    return any(here.search(text, start, end) and then.match(text, end) for here, then in goes_on)


def _append_stripped(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if end > start:
        spans.append((start, end))


def rough_token_counts(texts: Sequence[str]) -> list[int]:
    """Token estimates without a tokenizer, erring on the high side.

    Tokenizers of chat models need about one token per four English letters, per two letters of most
    other scripts, per Chinese, Japanese or Korean character, and per digit and punctuation mark.
    """
    return [math.ceil(_tokens(text)) for text in texts]


def _tokens(text: str) -> float:
    latin = len(_LATIN.findall(text))
    ideographs = 0 if text.isascii() else len(_IDEOGRAPH.findall(text))
    spaces = text.count(" ")
    others = len(text) - latin - ideographs - spaces
    return latin / _LATIN_A_TOKEN + ideographs + others / _OTHERS_A_TOKEN
