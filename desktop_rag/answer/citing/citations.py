"""Reads the notations in which models cite, and what each sentence of an answer cites. Pure.

Models write [1], [1, 3], 【1†source】, ¹ or (source 2); normalised, that is [1], [1][3] and so on,
with the numbers of sources that were sent only. In a finished answer the quoted sentence of each
cited source is found in it, and a sentence without a marker gets one when a source says it word for
word; small models forget them.
"""

import logging
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate

from desktop_rag.core.conversation import SourceRef
from desktop_rag.core.markup.formulas import verbatim_spans
from desktop_rag.core.quotes import CitedQuotes, Span
from desktop_rag.core.text import sentences, with_digits_apart

_LONGEST_LOOK_BACK = 60
# A [1] after one of these is an array element, not a citation.
_ARRAYS = (
    r"arr|args|argv|idx|vec|arrays?|values?|vals|matrix|matrices|list|tuple|dict|vector|tensor|buffer"
    r"|queue|stack|items|elements|elems|nums|strings|params|tokens|rows|cols|columns"
)
_IDENTIFIER = re.compile(rf"(?:^|\W)(?:[a-z]|\w*_\w*|\w*[a-z][A-Z]\w*|{_ARRAYS})$")
# matrix[0], table[i]["name"]: what stands before a further index.
_INDEX = (
    r"""\[(?:0|-\d+|[a-z]\w{0,30}|[^\[\]\n`]{0,20}:[^\[\]\n`]{0,20}"""
    r"""|"[^"\n]{0,30}"|'[^'\n]{0,30}')\]"""
)
_INDEXED = re.compile(rf"\w(?:\[\d{{1,3}}\]){{0,3}}{_INDEX}(?:\[\d{{1,3}}\]){{0,3}}$")
_INDEX_NEXT = re.compile(rf"(?:\[\d{{1,3}}\]){{0,3}}{_INDEX}")
_ASSIGNED = re.compile(r"[ \t]*(?:[-+*/%]?=|[<>]|[+*/%][ \t]*\w)")
_INTERVAL = re.compile(
    r"(?i)(?:\b(?:intervals?|ranges?|interval[loe]?s?|intervalos?|intervalli|bereich|Интервал\w*"
    r"|отрез\w+)[ \t]+(?:(?:of|from|von|de|is|=)[ \t]+)?|区间|區間|範囲|[∈⊂=][ \t]*"
    r"|\b[a-z] in[ \t]+)$"
)
_TWO = re.compile(r"\s*\d+\s*[,;–-]\s*\d+\s*")
_CLOSERS = "*_\"'”’»)"
_CLOSED = re.compile(r"[.,;:!?…。，、！？：；)\]）”’»\"'*_؟،۔।%][ \t]?$")
# A number is raised after these, and so an exponent: units, functions.
_UNITS = frozenset(
    (
        *("sin", "cos", "tan", "cot", "sec", "csc", "log", "exp", "chi", "sigma", "min", "max"),
        *("mol", "var", "bar", "lux", "rad", "mil", "feet", "foot", "inch", "yard", "mile"),
        *("miles", "metre", "metres", "meter", "meters", "acre", "second", "seconds", "kilometre"),
        *("kilometer", "centimetre", "centimeter", "метр", "метра", "length", "width", "height"),
        "radius",
    )
)
_LONGEST_UNIT = 2
_OPERATOR_NEXT = re.compile(r"[ \t]*[=+×·/^*−÷<>≤≥≈]")
_OPERATOR_BEFORE = re.compile(r"[=+×·/^−÷√][ \t]*\w{1,30}$")
_QUOTED = re.compile(
    r'(?m)^[ \t]*>[^\n]*$|"[^"\n]{1,400}"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»'
)
# The first letter of the scripts in which no unit is written by one or two letters.
_LATER_SCRIPTS = "\u0530"


def is_element(text: str, start: int, end: int) -> bool:
    """True when the bracket at [start, end) is the index of an array: values[2], matrix[0][1]."""
    if start == 0 or not (text[start - 1].isalnum() or text[start - 1] in "_]"):
        return False
    before = text[max(0, start - _LONGEST_LOOK_BACK) : start]
    if text[start - 1] == "]":
        return bool(_INDEXED.search(before))
    return bool(
        _IDENTIFIER.search(before) or _INDEX_NEXT.match(text, end) or _ASSIGNED.match(text, end)
    )


def is_interval(text: str, start: int, written: str) -> bool:
    """True for two numbers after a word or sign for an interval, or a list that is assigned."""
    before = text[max(0, start - _LONGEST_LOOK_BACK) : start]
    return bool(_TWO.fullmatch(written) and _INTERVAL.search(before)) or before.rstrip().endswith(
        "="
    )


def is_exponent(text: str, start: int, end: int) -> bool:
    """True when a raised number is no note: m², 10^6, x^2, ²³⁵U."""
    before = text[max(0, start - _LONGEST_LOOK_BACK) : start]
    if _OPERATOR_NEXT.match(text, end) or _OPERATOR_BEFORE.search(before):
        return True
    word = _last_word(before)
    if not word:
        return not _CLOSED.search(before)
    if word[-1] >= _LATER_SCRIPTS:
        return word[-1] in "米里"
    return len(word) <= _LONGEST_UNIT or word.casefold() in _UNITS


def _last_word(text: str) -> str:
    """The word at the end, its combining vowels included; "" when there is none."""
    end = len(text.rstrip(" \t").rstrip(_CLOSERS))
    start = end
    while start and unicodedata.category(text[start - 1])[0] in "LM":
        start -= 1
    return text[start:end]


# Written forms: a bracket, a raised number or a last line "Sources: 1, 2", with numbers inside.

_ZEROS = "0٠۰߀०০੦૦୦௦౦೦൦๐໐༠၀០᠐０"
_BLANK = "[ \\t\u00a0\u2009\u202f\u3000]"
_DASH = "[-–—‑−~〜～]"
# Words that are no English, German or other ordinary word in a bracket before a number.
_SOURCES = (
    r"sources?|src|quellen?|fuentes?|fontes?|fonti|bronnen|bron|källa|källor|kilder?|lähteet|lähde"
    r"|źródł[oa]|zdroje?|forrás(?:ok)?|surs[aăe]|izvori?|kaynak(?:lar)?|nguồn|sumber|источники?"
    r"|джерел[оа]|източни(?:к|ци)|πηγ(?:ή|ές)|מקורות|מקור|(?:ال)?مصدر|(?:ال)?مصادر|منبع|منابع"
    r"|स्रोत|সূত্র|ஆதாரம்|แหล่งที่มา|แหล่งอ้างอิง|出典|出处|出處|来源|來源|资料来源|参考资料|参考文献|출처|자료"
)
_OTHERS = (
    r"documents?|docs?|references?|refs?|citations?|cites?|cit|passages?|excerpts?|ids?|nos?|nr|núm|n\.?[º°]|dokumente?"
    r"|documentos?|документы?|文档|文件|文書|資料|参考|参照|引用|문서|참고|مستند|وثيقة|مرجع|दस्तावेज़|संदर्भ"
)
_SOURCE = rf"(?:{_SOURCES})"
_WORD = rf"(?:{_SOURCES}|{_OTHERS})"
# Not 0, which begins intervals and lists, and not a year.
NUMBER = rf"(?![{_ZEROS}])\d{{1,3}}(?!\d)"
_JOINT = rf"(?:{_BLANK}?[:：.#＃№_-]){{0,2}}{_BLANK}?"
_NAMED = rf"{_WORD}{_JOINT}"
# [S1], [#1], [@1] and [^1] name a source by a sign.
_SIGN = rf"(?:[S#＃@]|№{_BLANK}?)"
_ITEM = rf"(?:{_NAMED})?{NUMBER}(?:{_BLANK}?{_DASH}{_BLANK}?{NUMBER})?"
_SIGNED = rf"{_SIGN}{NUMBER}(?:{_BLANK}?{_DASH}{_BLANK}?{_SIGN}?{NUMBER})?"
_ANDS = r"and|und|et|y|e|en|i|og|och|ja|és|și|ve|và|dan|и|та|και|و|और"
_AND = rf"{_BLANK}?(?:[,;&+，、；،؛]|,?{_BLANK}(?:{_ANDS}){_BLANK}|[和与及と와과])[ \t]?"
_LIST = rf"{_ITEM}(?:{_AND}{_ITEM})*"
_SIGNED_LIST = rf"{_SIGNED}(?:{_AND}(?:{_SIGNED}|{_ITEM}))*"
_FOOTNOTES = rf"\^{NUMBER}\^?(?:{_AND}\^?{NUMBER}\^?)*"
_PAGES = (
    r"pages?|pp?|lines?|ll?|S|Seiten?|sections?|sec|chapters?|ch|Kap|pág(?:ina)?s?|pag(?:ina)?s?|стр|с"
    r"|σελ|§|第|ص|صفحة|पृष्ठ"
)
_PAGE = (
    rf"(?:[,;:，、：]{_BLANK}?(?:{_PAGES})\.?{_BLANK}?\d+(?:{_BLANK}?{_DASH}{_BLANK}?\d+)?"
    rf"{_BLANK}?[页頁ページ쪽]{{0,3}})?"
)
# What a model adds inside: [1†L1-L4], [1: Handbook], [1 – Handbook].
_ADDED = (
    rf"(?:(?::\d+)?†[^\[\]`\n]{{0,120}}"
    rf"|(?::{_BLANK}|{_BLANK}[-–—|]{_BLANK})[^\W\d][^\[\]`\n]{{0,120}})?"
)
_NOTE = rf"(?:{_BLANK}?[:：†,，–—-][^\[\]`\n]{{0,120}})?"
# A link is no citation, unless it leads to a place in the answer.
_NO_LINK = r"(?:\((?:#[^()\s]{0,80}|cite[^()\s]{0,80}|sources?[^()\s.]{0,80})\)|(?!\())"
_RAISED_DIGIT = "[¹²³⁴-⁹][⁰¹²³⁴-⁹]{0,2}"
_RAISED = rf"{_RAISED_DIGIT}(?:(?:[,˒،]{_BLANK}?|[⁻⁃–-]|⁾{_BLANK}?⁽){_RAISED_DIGIT})*"
_RAISED_LIST = rf"{NUMBER}(?:{_BLANK}?(?:[,;]|{_DASH}){_BLANK}?{NUMBER})*"

RANGE = re.compile(rf"({NUMBER})(?:{_BLANK}?{_DASH}{_BLANK}?[S#^]?({NUMBER}))?")


@cache
def marker() -> re.Pattern[str]:
    """One citation in any form. Compiling takes a tenth of a second, so not before it is used."""
    return re.compile(
        rf"(?i)\[{_BLANK}?(?:see{_BLANK}|cf\.?{_BLANK})?(?P<named>{_NAMED}{_LIST}){_NOTE}{_BLANK}?\]{_NO_LINK}"
        rf"|\[\[{_BLANK}?(?P<double>\^?(?:{_LIST}|{_SIGNED_LIST})){_BLANK}?\]\]{_NO_LINK}"
        rf"|\[{_BLANK}?(?P<square>{_LIST})\.?(?:{_PAGE}|{_ADDED}){_BLANK}?\]{_NO_LINK}"
        rf"|\[{_BLANK}?(?P<signed>{_SIGNED_LIST})(?:{_PAGE}|{_ADDED}){_BLANK}?\]{_NO_LINK}"
        rf"|\[(?P<footnote>{_FOOTNOTES})\](?!\()"
        rf"|\[\*{{1,2}}(?P<bold>{_LIST})\*{{1,2}}\]{_NO_LINK}"
        rf"|\\\[{_BLANK}?(?P<escaped>\\?\^?(?:{_LIST}|{_SIGNED_LIST})){_BLANK}?\\\]"
        rf"|[【［〔〖﹝⟦❲]{_BLANK}?(?P<lenticular>\^?(?:{_LIST}|{_SIGNED_LIST}))"
        rf"(?:{_BLANK}?[:：†,，][^】］〕〗﹞⟧❳`\n]{{0,120}})?{_BLANK}?[】］〕〗﹞⟧❳]"
        rf"|[(（](?:see{_BLANK}|cf\.?{_BLANK})?(?P<round>{_SOURCE}{_JOINT}{_LIST})"
        rf"(?:{_BLANK}?[:：,，–—-][^()（）`\n]{{0,120}})?[)）]"
        rf"|\$\^\{{?\[?(?P<formula>{_RAISED_LIST})\]?\}}?\$"
        rf"|\\cite[pt]?\{{(?P<latex>{_LIST})\}}"
        rf"|<sup>{_BLANK}?\[(?P<sup>{_LIST})\]{_BLANK}?</sup>"
        rf"|<(?P<tag>cite|ref|citation|source)>{_BLANK}?\[?(?P<tagged>{_LIST})\]?{_BLANK}?</(?P=tag)>"
        rf"|<sup>{_BLANK}?(?P<raised_sup>{_RAISED_LIST}){_BLANK}?</sup>"
        rf"|\^\{{?(?P<raised_caret>{_RAISED_LIST})(?:\}}|\^)?(?![\w.]*\w)"
        rf"|⁽?(?P<raised>{_RAISED})⁾?(?![\w⁰¹²³⁴-⁹⁻⁺ⁿ])"
    )


@cache
def source_line() -> re.Pattern[str]:
    """The last line of an answer or of a paragraph: "Sources: 1, 2"."""
    return re.compile(
        rf"(?im)^[ \t>*_#(-]{{0,8}}{_SOURCE}[*_]{{0,3}}{_BLANK}?[:：]{_BLANK}?[*_]{{0,3}}{_BLANK}?"
        rf"(?P<listed>(?:{_LIST}|{_SIGNED_LIST}))(?=[.。)*_]{{0,3}}[ \t]*(?:\Z|\n[ \t]*(?:\n|\Z)))"
    )


_DEFINITION_START = re.compile(r"(?:^|\n)[ \t>*+-]*$")
_COLONS = re.compile(":*")
_BLANKS = re.compile(r"[ \t]*")
# Removing a marker can form another one from its surroundings, which takes another round.
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation at [start, end) of a text. `is_glued`: it directly follows another one."""

    start: int
    end: int
    numbers: tuple[int, ...]
    is_glued: bool


def normalise(text: str, known: frozenset[int]) -> tuple[str, int]:
    """The text with each citation as [n], and the number of unknown ones that were removed.

    Code, links, quoted footnotes, exponents, boxes, intervals and array elements stay as they are.
    """
    dropped = 0
    for round_number in range(_ROUNDS + 1):
        # In the last round a filler keeps the rest from forming another marker.
        normalised, count = _normalise_once(text, known, "" if round_number < _ROUNDS else "…")
        dropped += count
        if normalised == text:
            break
        text = normalised
    return text, dropped


def citations(text: str) -> Iterator[Citation]:
    """The citations of a text in order, in any notation."""
    # Brackets in formulas are no citations either: \\sqrt[3]{x}.
    code = verbatim_spans(text)
    code_starts = [start for start, _ in code]
    # The footnotes of quotations are those of the document.
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    skipped_end = taken_end = -1
    for match in _matches(text):
        start, end = match.span()
        form = match.lastgroup or ""
        before = bisect_right(code_starts, start) - 1
        if before >= 0 and start < code[before][1] and (start, end) != code[before]:
            continue
        if start == skipped_end or _is_other(text, match, form, quoted):
            skipped_end = end
            continue
        if (
            form in ("square", "footnote")
            and text.startswith(":", end)
            and _DEFINITION_START.search(text[max(0, start - _LONGEST_LOOK_BACK) : start])
        ):
            # "[1]: http://…" would turn every [1] of the answer into a link.
            end = _end_of(_COLONS, text, end)
        first = match.start("listed") if form == "listed" else start
        yield Citation(first, end, _numbers(match[form]), first == taken_end)
        taken_end = end


def _matches(text: str) -> Iterator[re.Match[str]]:
    """The places that look like citations, in order and apart."""
    lines = list(source_line().finditer(text))
    done = 0
    for line in lines:
        yield from marker().finditer(text, done, line.start())
        yield line
        done = line.end()
    yield from marker().finditer(text, done)


def _is_other(text: str, match: re.Match[str], form: str, quoted: Sequence[Span]) -> bool:
    """True for what only looks like a citation."""
    start, end = match.span()
    if form in ("square", "double", "named", "signed") and is_element(text, start, end):
        return True
    if form in ("square", "escaped"):
        return is_interval(text, start, match[form])
    if form.startswith("raised") or form == "footnote":
        is_power = form != "footnote" and is_exponent(text, start, end)
        before = bisect_right(quoted, start, key=lambda span: span[0]) - 1
        return is_power or (before >= 0 and start < quoted[before][1])
    return False


def _numbers(written: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for first, last in RANGE.findall(unicodedata.normalize("NFKC", written)):
        low, high = int(first), int(last or first)
        numbers += range(low, high + 1) if low <= high else (low, high)
    return tuple(dict.fromkeys(numbers))


def _normalise_once(text: str, known: frozenset[int], filler: str) -> tuple[str, int]:
    parts: list[str] = []
    done = dropped = 0
    for run in _runs(text):
        start, end = run[0].start, run[-1].end
        numbers = dict.fromkeys(n for citation in run for n in citation.numbers)
        kept = "".join(f"[{n}]" for n in numbers if n in known)
        dropped += sum(n not in known for n in numbers)
        before = text[done:start]
        if not kept and not filler:
            before, end = _without_gap(text, before, end)
        parts += [before, kept or filler]
        done = end
    return "".join([*parts, text[done:]]), dropped


def _runs(text: str) -> list[list[Citation]]:
    runs: list[list[Citation]] = []
    for citation in citations(text):
        if citation.is_glued:
            runs[-1].append(citation)
        else:
            runs.append([citation])
    return runs


def _without_gap(text: str, before: str, end: int) -> tuple[str, int]:
    """The text before and the end, without one of the gaps around removed citations."""
    following = text[end : end + 1]
    if following and not (following.isspace() or following in ".,;:!?…)"):
        return before, end
    stripped = before.rstrip(" \t")
    if stripped and not stripped.endswith("\n"):
        return stripped, end
    return before, _end_of(_BLANKS, text, end)


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


_ENDS = ".!?…。！？"
# "31." and "ca." look like ends of sentences; the next character decides.
_SHORT_NUMBER = re.compile(r"(?<!\d)\d{1,3}\.$")
_CODE_IN_LINE = re.compile(r"`[^`\n]*`")
_NEXT_ON_LINE = re.compile(r"[^\S\n]*(\S)")
_RULE = re.compile(r"[=*_-]+$")
_NOT_AFTER = ("?", "？", ":", "：")


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence without its markers, at [start, end) of the answer with them, and the cited
    numbers.

    `marker_at` is the position for a new marker, -1 when there must be none.
    """

    text: str
    numbers: tuple[int, ...]
    marker_at: int
    start: int = 0
    end: int = 0


def cited_sentences(text: str) -> list[CitedSentence]:
    """The sentences in order."""
    found = list(citations(text))
    plain, places = _without_markers(text, [(c.start, c.end) for c in found])
    spans = [
        span for found_span in sentences(plain) for span in _without_heading(plain, found_span)
    ]
    if not spans:
        numbers = dict.fromkeys(n for citation in found for n in citation.numbers)
        return [CitedSentence("", tuple(numbers), -1)] if numbers else []
    cited: list[list[int]] = [[] for _ in spans]
    starts = [start for start, _ in spans]
    ends = [0] * len(spans)
    for place, citation in zip(places, found, strict=True):
        index = bisect_left(starts, place) - 1
        # A citation at the start of a line belongs to the sentence after it.
        if index < 0 or "\n" in plain[spans[index][1] : place]:
            index = min(index + 1, len(spans) - 1)
        cited[index] += citation.numbers
        ends[index] = citation.end
    layout = _Layout(plain, verbatim_spans(plain), places, [c.end - c.start for c in found])
    return [
        CitedSentence(
            plain[slice(*span)],
            tuple(dict.fromkeys(numbers)),
            layout.marker_place(span),
            layout.in_answer(span[0]),
            max(layout.in_answer(span[1] - 1) + 1, end),
        )
        for span, numbers, end in zip(spans, cited, ends, strict=True)
    ]


def _without_markers(text: str, markers: Sequence[Span]) -> tuple[str, list[int]]:
    """The text without its markers, and the position of each in the result."""
    parts: list[str] = []
    places: list[int] = []
    done = taken = 0
    for start, end in markers:
        parts.append(text[done:start])
        places.append(start - taken)
        done = end
        taken += end - start
    return "".join([*parts, text[done:]]), places


class _Layout:
    """The code and formulas, and the removed markers, around the sentences of a text."""

    def __init__(
        self, plain: str, code: Sequence[Span], places: Sequence[int], lengths: Sequence[int]
    ) -> None:
        """`places` are the positions of the removed markers, ascending, `lengths` their lengths."""
        self._plain = plain
        self._code = code
        self._code_starts = [start for start, _ in code]
        self._places = places
        self._taken = [0, *accumulate(lengths)]

    def in_answer(self, place: int) -> int:
        """The position in the answer of a character of the text without markers."""
        return place + self._taken[bisect_right(self._places, place)]

    def marker_place(self, span: Span) -> int:
        """The position in the answer for a marker of this sentence; -1 when there must be none."""
        start, _ = span
        sentence = self._plain[slice(*span)]
        place = start + len(sentence.rstrip(_ENDS))
        if self._is_in_code(span, place) or _is_layout(sentence):
            return -1
        if not _ends_there(self._plain, span):
            return -1
        return place + self._taken[bisect_right(self._places, start)]

    def _is_in_code(self, span: Span, place: int) -> bool:
        """True when the sentence is code or a formula, or a marker would be inside one."""
        start, end = span
        before = self._code_before(start)
        around = self._code_before(place - 1)
        return (before is not None and end <= before[1]) or (
            around is not None and place < around[1]
        )

    def _code_before(self, place: int) -> Span | None:
        index = bisect_right(self._code_starts, place) - 1
        return self._code[index] if index >= 0 else None


def _without_heading(plain: str, span: Span) -> Iterator[Span]:
    """Split a heading from the text that follows it without a blank line."""
    start, end = span
    line_end = plain.find("\n", start, end)
    if plain[start] == "#" and line_end > 0:
        yield start, line_end
        start = line_end + 1
        while plain[start].isspace():
            start += 1
    yield start, end


def _is_layout(sentence: str) -> bool:
    """True for a heading, a table row, a question, or the introduction of a list."""
    is_ruled = bool(_RULE.fullmatch(sentence.splitlines()[-1].strip()))
    is_row = "|" in _CODE_IN_LINE.sub("", sentence)
    return is_ruled or sentence[0] == "#" or is_row or sentence.endswith(_NOT_AFTER)


def _ends_there(plain: str, span: Span) -> bool:
    """True when the rest of the line begins another sentence."""
    following = _NEXT_ON_LINE.match(plain, span[1])
    if following is None:
        return True
    goes_on = following[1].isdigit() or following[1].islower()
    return not goes_on and not _SHORT_NUMBER.search(plain[slice(*span)])


def citing_sentences(text: str) -> dict[int, list[str]]:
    """The sentences of an answer that cite a source, by the number of the source."""
    citing: dict[int, list[str]] = {}
    for sentence in cited_sentences(text):
        for n in sentence.numbers:
            citing.setdefault(n, []).append(sentence.text)
    return citing


log = logging.getLogger(__name__)

# A shorter sentence may be a heading or a phrase.
_LEAST_LETTERS = 12
_MARKS = re.compile(r"[*_`~\\]|^\s*(?:>\s*)*[-+•]?\s+")
_QUOTES = str.maketrans(
    "\u2018\u2019\u201a\u201c\u201d\u201e«»\u2013\u2014\u2212", 3 * "'" + 5 * '"' + 3 * "-"
)
_AROUND = " \t\n.!?…。！？,;:\"'()"


def _verbatim(sources: Sequence[SourceRef]) -> dict[str, int]:
    """The number of the first source with each sentence, in plain words.

    A source that says a sentence word for word certainly supports it. Anything less is uncertain:
    the context may deny it ("it is a myth that"). White space, case, Markdown, and the kinds of
    quotes and dashes are ignored.
    """
    found: dict[str, int] = {}
    for source in sources:
        for start, end in sentences(source.text):
            plain = _plain(source.text[start:end])
            if len(plain) >= _LEAST_LETTERS:
                found.setdefault(plain, source.n)
    return found


def _plain(sentence: str) -> str:
    folded = unicodedata.normalize("NFKC", with_digits_apart(sentence))
    plain = _MARKS.sub("", f" {folded}").translate(_QUOTES)
    return " ".join(plain.casefold().split()).strip(_AROUND)


_TOKEN = (
    r"<[|｜][A-Za-z_▁0-9]{2,40}[|｜]>|<(?:start|end)_of_turn>(?:model\b)?|\[/?INST\]"
    r"|<</?SYS>>|</s>(?=\s*\Z)|\ue200[^\ue201\n]{0,200}\ue201"
)
_TOKENS = re.compile(_TOKEN)
_LAST_TOKENS = re.compile(rf"(?:\s*(?:{_TOKEN}))+\s*\Z")
_FENCED = re.compile(
    r"\s*(?P<fence>`{3,}|~{3,})(?P<kind>[ \t]*\w*)[ \t]*\n(?P<body>.*)\n(?P=fence)\s*", re.S
)
_PROSE_KINDS = ("markdown", "md")
_PLAIN_KINDS = ("", "text", "txt", "plaintext", "plain")


def unwrapped(text: str, known: frozenset[int]) -> str:
    """The answer without a fence around the whole and without tokens of a template.

    A fence without a language stays unless there are citations of `known` sources in it: it may be
    the code or the text that was asked for.
    """
    end = _LAST_TOKENS.search(text[-400:])
    if end:
        text = text[: len(text) - len(end[0])]
    text = _without_fence(text, known)
    if not _TOKENS.search(text):
        return text
    code = verbatim_spans(text)
    parts: list[str] = []
    done = 0
    for start, stop in [*code, (len(text), len(text))]:
        parts += [_TOKENS.sub("", text[done:start]), text[start:stop]]
        done = stop
    return "".join(parts)


def _without_fence(text: str, known: frozenset[int]) -> str:
    found = _FENCED.fullmatch(text)
    if found is None:
        return text
    body, kind = found["body"], found["kind"].strip().lower()
    # Two blocks of code with text between them are no fence around the whole.
    fences = [line for line in body.split("\n") if line.startswith(found["fence"])]
    if len(fences) % 2 or (fences and fences[0] == found["fence"]):
        return text
    cites = normalise(body, known)[0] != normalise(body, frozenset())[0]
    return body if kind in _PROSE_KINDS or (kind in _PLAIN_KINDS and cites) else text


def finish_answer(text: str, sources: Sequence[SourceRef]) -> tuple[str, tuple[SourceRef, ...]]:
    """The text with valid citations only, and the sources with the cited ones located.

    `sources` are those that were sent, each with its passage as `text` and the position of the
    passage in the document as `start`. A cited one gets the `quote` with its `start` and `end`.
    """
    known = frozenset(source.n for source in sources)
    finished, dropped = normalise(unwrapped(text, known), known)
    if dropped:
        log.info("Removed citations of sources that were not sent: %d", dropped)
    finished = _with_missing(finished, sources)
    return finished, _located(sources, citing_sentences(finished))


def cited_places(text: str, sources: Sequence[SourceRef]) -> dict[int, list[Span]]:
    """Where each source says what a finished answer cites it for, in the text of the source."""
    quotes = CitedQuotes([source for source in sources if source.is_cited and not source.query])
    return {n: quotes.places(n, sentences) for n, sentences in citing_sentences(text).items()}


def _with_missing(text: str, sources: Sequence[SourceRef]) -> str:
    """The text with a marker after each unmarked sentence that a source certainly supports."""
    support = _verbatim(sources)
    parts: list[str] = []
    done = 0
    for sentence in cited_sentences(text):
        if sentence.numbers or sentence.marker_at < 0:
            continue
        if n := support.get(_plain(sentence.text)):
            parts += [text[done : sentence.marker_at], f" [{n}]"]
            done = sentence.marker_at
    return "".join([*parts, text[done:]])


def _located(
    sources: Sequence[SourceRef], citing: Mapping[int, Sequence[str]]
) -> tuple[SourceRef, ...]:
    if not citing:
        return tuple(sources)
    quotes = CitedQuotes(sources)
    return tuple(
        _quoted(source, quotes, citing[source.n]) if source.n in citing else source
        for source in sources
    )


def _quoted(source: SourceRef, quotes: CitedQuotes, citing: Sequence[str]) -> SourceRef:
    """The source, quoting the sentence or row that has most in common with a citing one."""
    # The text of a query is a result, which is not in the document.
    place = None if source.query else quotes.place(source.n, citing)
    cited = replace(source, is_cited=True)
    if not place:
        return cited
    start, end = place
    return replace(
        cited, quote=source.text[start:end], start=source.start + start, end=source.start + end
    )
