"""Cuts passages into what can be quoted alone: sentences, list items, rows of tables. Pure.

The text of a PDF has its tables as lines of a label and figures, which run together with the
sentences around them; they are taken apart here.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from operator import itemgetter

from desktop_rag.core.text import ends_sentence, sentences

# What the figures of a table are in, in the words of reports of many languages.
_SCALE_WORD = (
    r"(?:thousands?|millions?|billions?|tausend|tsd|mio|mrd|millionen|milliarden|teur|t€|milliers"
    r"|milliards|miles|millones|migliaia|milioni|miliardi|duizend(?:en)?|miljoen(?:en)?|miljard"
    r"|tys|mln|mld|milhares|milhões)(?!\w)"
)
_SCALE = re.compile(
    rf"(?i)(?:^[(\[]|(?<!\w)(?:in|en|im|w|em|di)\s)\s*(?:(?:US)?[$€£]\s*)?{_SCALE_WORD}"
    rf"|^{_SCALE_WORD}\.?\s*(?:[$€£]|[A-Z]{{3}})?$"
)
_LEADING_SCALE = re.compile(rf"(?i)(?:(?:US)?[$€£]\s*)?{_SCALE_WORD}\s*")
_LONGEST_SCALE = 60
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# A year, a half or a quarter of it; "2022-2021" is a comparison.
_PERIOD = re.compile(
    r"(?<![\w\-–/.,])(?:(?:Q[1-4]|[1-4]Q|H[12]|FY)\s?)*"
    r"(?:(?:19|20)\d\d(?:/\d{2,4})?|(?<=FY)\d\d)(?![\w\-–/]|[.,]\d)(?:\s*\(\w\))?"
)
_AMOUNT = re.compile(r"\d[.,]\d|[$€£]\s?\d")
_DAY = re.compile(r"\d{1,2}[.,]?")
_BRACKETED = re.compile(r"[(\[][^()\[\]]*[)\]]?\s*")
_FEWEST_PERIODS = 2
_MOST_COLUMN_WORDS = 30
_MOST_WORDS_BETWEEN = 5
_SENTENCE_WORDS = 8
_TITLE_LINES = 2
_FEWEST_TITLE_WORDS = 2
_LONGEST_COLUMN_TITLE = 90
_LONGEST_CAPTION = 200
_LINES_KEPT = 6
# On every page of some reports.
LINKS_BACK = ("table of contents", "inhaltsverzeichnis", "table des matières", "índice")


@dataclass(frozen=True, slots=True)
class Column:
    """The name of a column, which is of a period, or compares periods."""

    name: str
    is_period: bool = True


@dataclass(frozen=True, slots=True)
class TableHead:
    """What the lines so far say about the rows that follow.

    `scale` is what figures are in; `recent` are the lines since the last row or sentence.
    """

    caption: str = ""
    columns: tuple[Column, ...] = ()
    scale: str = ""
    recent: tuple[str, ...] = ()

    def below(self, line: str) -> "TableHead":
        """The head after one more line that is no row."""
        said = line.strip()
        if not said:
            return self
        scale = scale_of(said) or self.scale
        if columns := columns_of(said):
            caption = _caption(self.recent) or self.caption
            periods = [column.name for column in columns if column.is_period]
            if len(set(periods)) < len(periods):
                # The line above says what the same periods are repeated for.
                caption = ": ".join(filter(None, [caption, *self.recent[-1:]])).rstrip(",:")
            return TableHead(caption, columns, scale, (said,))
        if self.columns and not self.recent[1:] and _is_comparison(said):
            compared = Column(" ".join(said.split()), is_period=False)
            return replace(self, columns=(*self.columns, compared), scale=scale)
        if ends_sentence(said) and len(said.split()) >= _SENTENCE_WORDS:
            return TableHead(scale=scale_of(said))
        return replace(self, scale=scale, recent=(*self.recent, said)[-_LINES_KEPT:])

    def at_row(self) -> "TableHead":
        """The head for a row that follows, and for those below it."""
        caption = self.caption if self.columns else _caption(self.recent) or self.caption
        return replace(self, caption=caption, recent=())

    def names_of(self, cells: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the columns and the cells below them; () for both when they are unknown.

        A row that leaves out comparisons, as percentages do, has blank cells there.
        """
        names = tuple(column.name for column in self.columns)
        if not names:
            return (), ()
        if len(cells) == len(names):
            return names, tuple(cells)
        if len(cells) == sum(column.is_period for column in self.columns):
            left = iter(cells)
            return names, tuple(next(left) if c.is_period else "" for c in self.columns)
        return (), ()


def head_of(text: str) -> TableHead:
    """The head at the end of a text."""
    head = TableHead()
    for line in text.splitlines():
        head = head.below(line)
    return head


def columns_of(line: str) -> tuple[Column, ...]:
    """The columns that a line names; () for a line with fewer than two periods, or with figures.

    Periods are found by their years, as in "Fiscal 2023 Fiscal 2022 % Change": words that repeat
    before each year belong to its name, any others name a column without a period. Nothing here
    depends on the language, except for the words of scales.
    """
    said = line.replace(COLUMN.strip(), " ").strip()
    said = said[found.end() :] if (found := _BRACKETED.match(said)) else said
    periods = list(_PERIOD.finditer(said))
    is_long = len(said.split()) > _MOST_COLUMN_WORDS or ends_sentence(said)
    if len(periods) < _FEWEST_PERIODS or is_long:
        return ()
    before = said[: periods[0].start()].split()
    between = [said[a.end() : b.start()].split() for a, b in pairwise(periods)]
    after = said[periods[-1].end() :].split()
    shared = [_shared_end(before, words) for words in between]
    others = [words[: len(words) - n] for words, n in zip(between, shared, strict=True)]
    *others, after = (_without_scale(words) for words in (*others, after))
    if any(len(words) > _MOST_WORDS_BETWEEN or _has_figure(words) for words in (*others, after)):
        return ()
    first = max(shared)
    prefixes = [before[len(before) - first :]]
    prefixes += [words[len(words) - n :] for words, n in zip(between, shared, strict=True)]
    columns: list[Column] = []
    for prefix, period, extra in zip(prefixes, periods, [*others, after], strict=True):
        columns.append(Column(" ".join([*prefix, *period[0].split()])))
        columns += [Column(name, is_period=False) for name in _split(extra)]
    return tuple(columns)


def scale_of(line: str) -> str:
    """What figures are in, as "in millions", in brackets or on a line with periods at most."""
    for bracketed in _BRACKETED.findall(line):
        if said := _scale(bracketed):
            return said
    return _scale(line)


def _scale(words: str) -> str:
    said = " ".join(_YEAR.sub("", words).split())
    is_sentence = re.search(r"\w{4}[.!?]$", words.rstrip())
    if is_sentence or len(said) > _LONGEST_SCALE or re.search(r"\d", said):
        return ""
    return said.strip("()[] ") if _SCALE.search(said) else ""


def _shared_end(before: Sequence[str], words: Sequence[str]) -> int:
    """How many words at the end of both are of one kind: the same ones, or a month and a day."""
    count = 0
    for one, other in zip(reversed(before), reversed(words), strict=False):
        is_same = one.casefold() == other.casefold()
        is_day = bool(_DAY.fullmatch(one) and _DAY.fullmatch(other))
        is_month = count > 0 and bool(_DAY.fullmatch(words[-count])) and one[:1].isalpha()
        if not (is_same or is_day or is_month):
            break
        count += 1
    return count


def _without_scale(words: list[str]) -> list[str]:
    """The words behind what the figures of a period are in: "2025 $ million 2024 $ million"."""
    said = " ".join(words)
    return said[found.end() :].split() if (found := _LEADING_SCALE.match(said)) else words


def _has_figure(words: Sequence[str]) -> bool:
    return any(re.search(r"\d", _YEAR.sub("", word)) for word in words)


def _split(words: Sequence[str]) -> list[str]:
    """Names of neighbouring columns: "$ Change % Change" is two."""
    return [name for name in re.split(r"\s+(?=[$€£%]\s*\w)", " ".join(words)) if name]


def _is_comparison(line: str) -> bool:
    return "%" in line and len(line.split()) <= _MOST_WORDS_BETWEEN and not _has_figure([line])


def _caption(lines: Sequence[str]) -> str:
    """The title above a table: the words up to a colon, or the last lines that read as titles."""
    ends = [place for place, line in enumerate(lines) if line.endswith(":")]
    if ends:
        before = lines[: ends[-1]]
        first = max((n + 1 for n, line in enumerate(before) if _is_apart(line)), default=0)
        said = " ".join(" ".join(lines[first : ends[-1] + 1]).split())
        if len(said.split()) > _FEWEST_TITLE_WORDS:
            return _shortened(said.removesuffix(":").rstrip(","), _LONGEST_CAPTION)
    titles = [line.rstrip(",") for line in lines if _is_column_title(line)][-_TITLE_LINES:]
    return ", ".join(" ".join(title.split()) for title in titles)


def _is_apart(line: str) -> bool:
    """True for a line that no sentence goes on from: a title, or the number of a page."""
    is_link = line.casefold() in LINKS_BACK
    return is_link or _is_column_title(line) or not any(map(str.isalpha, line))


def _is_column_title(line: str) -> bool:
    """True for a short line of words, mostly capitalised, without a stop."""
    said = [word for word in line.split() if word[:1].isalpha()]
    if len(said) < _FEWEST_TITLE_WORDS or len(line) > _LONGEST_COLUMN_TITLE or ends_sentence(line):
        return False
    if line.casefold() in LINKS_BACK or _AMOUNT.search(line):
        return False
    return sum(word[0].isupper() for word in said) >= len(said) / 2


ITEM = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s+")
_LABEL = re.compile(
    r"(?:\*\*|__)?(?P<label>[^\W_](?:[^:|.!?()]|\([^:|.!?()]*\)){0,48}):(?:\*\*|__)?\s+\S"
)
_VALUED = re.compile(r":(?:\*\*|__)?\s+[\d€$£]")
_MOST_WORDS = 6
_HEADING_MARK = re.compile(r"^\s*#{1,6}\s")
_LONGEST_HEADING = 70
_LONGEST_LEAD = 200
# Outside of every item.
_OUTSIDE = -1


@dataclass(frozen=True, slots=True)
class Leads:
    """What the pieces so far say about those that follow, as "Not insured are:" above a list.

    `open` are the lines that announce items, each with the indentation of the item that it is, -1
    for none. `label` begins the present line, as in "Outlook for 2027: Sales rise. Costs fall.";
    `in_item` is set within an item.
    """

    open: tuple[tuple[int, str], ...] = ()
    label: str = ""
    in_item: bool = False

    def at(self, gap: str, *, is_item: bool) -> "Leads":
        """What holds for a piece behind the white space `gap`, a new line at the beginning."""
        if "\n" not in gap:
            return self
        indent = _indent(gap)
        if is_item:
            kept = tuple(each for each in self.open if each[0] < indent)
            return Leads(kept, in_item=True)
        return Leads() if self.in_item and not indent else replace(self, label="")

    def announced(self, piece: str) -> str:
        """The line that announces a piece that `at` was called for; "" for none."""
        is_below = self.in_item or label_of(piece)
        return self.open[-1][1] if self.open and is_below else ""

    def below(self, gap: str, piece: str, said: str) -> "Leads":
        """What holds for the next piece; `said` is this one in plain words."""
        label = label_of(piece) or ("" if "\n" in gap else self.label)
        if label_of(piece) and _VALUED.match(piece, piece.find(":")):
            label = ""  # behind a date or an amount the next sentence is about something else
        if said.endswith(":"):
            indent, kept = (_indent(gap), self.open) if self.in_item else (_OUTSIDE, ())
            return replace(self, open=(*kept, (indent, _shortened(said, _LONGEST_LEAD))), label="")
        if self.in_item or label:
            return replace(self, label=label)
        heading = heading_of(piece)
        return Leads(((_OUTSIDE, heading),) if heading else (), label)


def label_of(line: str) -> str:
    """The few words up to a colon at the beginning of a line that goes on; "" for none.

    Outside of lists most of them are names or figures: "The reason is simple: …" is a sentence.
    """
    item = ITEM.match(line)
    found = _LABEL.match(line[item.end() :] if item else line)
    said = found["label"].split() if found else []
    if not found or len(said) > _MOST_WORDS:
        return ""
    names = sum(not word[0].islower() for word in said)
    return f"{found['label'].strip()}:" if item or 2 * names >= len(said) else ""


def is_page_mark(text: str) -> bool:
    """True for what stands between two pages: a number, a link to the contents."""
    lines = [line.strip().casefold() for line in text.splitlines() if line.strip()]
    return all(line in LINKS_BACK or not any(map(str.isalpha, line)) for line in lines)


def _indent(gap: str) -> int:
    return len(gap.rpartition("\n")[2].expandtabs(4))


def heading_of(piece: str) -> str:
    """The last line of a piece where it is short and ends without a stop; "" for any other."""
    last = piece.rstrip().rpartition("\n")[2].strip()
    if label_of(last) or is_page_mark(last):
        return ""
    words = _HEADING_MARK.sub("", last).strip(" *_")
    is_heading = words[:1].isupper() or words[:1].isdigit() or bool(_HEADING_MARK.match(last))
    is_long = len(words) > _LONGEST_HEADING or "|" in words
    if (
        not is_heading
        or is_long
        or ends_sentence(words)
        or words.endswith((",", ";", "-", "–", ")"))
    ):
        return ""
    return words


def _shortened(said: str, most: int) -> str:
    """The end of a long text, from the beginning of a word."""
    return said if len(said) <= most else f"… {said[-most:].partition(' ')[2]}"


COLUMN = " | "
# List and heading marks at the start, and emphasis; quoted sentences are plain text.
_MARKUP = re.compile(r"^(?:[-+](?![\d.])|[*>|•\s]|#{1,6}\s|\d+[.)]\s)+|\*\*|`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
# LaTeX commands that only style the words inside them, and environments of running text.
_STYLED = re.compile(r"\\(?:text(?:bf|it|md|rm|sc|sf|sl|tt|up)|emph|underline|uline)\{([^{}]*)\}")
_ENVIRONMENT = re.compile(
    r"\\(?:begin|end)\{(?:abstract|center|description|enumerate|itemize|quotation|quote)\}|\\item\b"
)
_FIGURE = r"(?:[(\-−–+]?(?:[$€£]\s?)?\d[\d.,]*\s?%?\)?(?:\s?%)?|[—–-])"
# A label, then two figures or more; notes such as "(1)" may follow the label.
_FILLER = re.compile(r"(?:[._‥…·=~-]{4,}\s*|(?:[._·] ){3,}[._·]?\s*)+")
# The number of a note behind a label.
_NOTE = re.compile(r"\(\d\)")
_CELL = re.compile(rf"(?:[$€£]\s*)?{_FIGURE}")
_FIGURES = re.compile(
    r"^(?P<label>[^\d$€£|]*?[^\W\d][^\d$€£|]*?)\s+"
    rf"(?P<cells>{_CELL.pattern}(?:\s+{_CELL.pattern})+)\s*$"
)
_YEARLY = re.compile(
    rf"^\s*(?P<year>(?:19|20)\d\d)\s+(?P<cells>{_CELL.pattern}(?:\s+{_CELL.pattern})*)\s*$"
)
# The number of a paragraph: "(1) The price …".
_NUMBER_BEFORE = re.compile(r"\(?\d{1,2}[.)]\s+")
_FEWEST_FIGURES = 2
_FEWEST_LABELLED = 2
_LONGEST_ROW = 60
_SHORT_SHARE = 0.7
_RULES = re.compile(r"(?m)^[\s|:-]*-{3}[\s|:-]*\n?\Z")
_ENDS_IN_YEAR = re.compile(r"\b(?:19|20)\d\d$")
_ENDS_IN_FIGURE = re.compile(rf"\S\s+{_FIGURE}$")
_LONGEST_LABEL = 80
_LONGEST_TITLE = 70
_TITLE_SHARE = 0.6
_SHOUTED_SHARE = 0.8
_MANY_LINES = 3
_DEEPEST_STYLE = 3
# Labels of a drawing: many lines in a row, each of a word or two, without a stop at the end.
_MANY_LABELS = 6
_LONGEST_LABELS = 16


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece at `start` of a passage, in plain words.

    A row of a table has `cells`, and the names of its columns in `header` if they are known. For a
    row of figures, `scale` is what they are in, "dollars in millions", and `caption` the title of
    the table. `lead` is what the piece stands under, see `Leads`; `title` the heading above it.
    """

    text: str
    start: int
    cells: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    is_item: bool = False
    scale: str = ""
    caption: str = ""
    is_figures: bool = False
    lead: str = ""
    title: str = ""


def units_of(text: str, header: str = "", above: str = "") -> Iterator[Unit]:
    """The pieces of a passage in order.

    `header` is the header row of its table, if known, and `above` the text before the passage,
    which may have the head of its rows of figures.
    """
    names = _cells_of(header)
    rows_before: tuple[str, ...] = ()
    head, leads = head_of(above), _leads_of(above)
    done, title = 0, ""
    for start, end in sentences(text):
        piece, gap = _RULES.sub("", text[start:end]), text[done:start] if done else _gap_of(above)
        done = end
        if COLUMN in piece and "\n" not in piece.strip():
            leads = Leads()
            cells = _cells_of(piece)
            # A title above the names of the columns has few cells beside these.
            is_title = 2 * sum(map(bool, rows_before)) <= sum(map(bool, cells))
            if not names and (not rows_before or is_title):
                rows_before = cells
                continue
            known = names or rows_before
            if cells != known:
                yield Unit(", ".join(filter(None, cells)), start, cells, known)
            continue
        rows_before = ()
        lines = piece.splitlines()
        if sum(map(_is_figures, lines)) >= _FEWEST_FIGURES:
            leads = Leads()
            head = yield from _figures(lines, start, head)
            continue
        for line in lines:
            head = head.below(line)
        found = list(_prose(piece, start))
        leads, led = _led(leads, gap, piece, found)
        title = _title_in(piece, found, start) or title
        yield from (replace(unit, title=title) for unit in led)


def _led(leads: Leads, gap: str, piece: str, found: Sequence[Unit]) -> tuple[Leads, Sequence[Unit]]:
    """The units of a piece with what they stand under, and what the next piece does."""
    if is_page_mark(piece):
        return leads, found
    said = found[-1].text if found else plain(piece)
    leads = leads.at(gap, is_item=bool(found and found[0].is_item and ITEM.match(piece)))
    announced = leads.announced(piece)
    if leads.label and not label_of(piece):  # "Address: … Phone: …" are two
        led = [replace(unit, lead=leads.label) for unit in found]
    elif announced:
        led = [unit if unit.lead else replace(unit, lead=announced, is_item=True) for unit in found]
    else:
        led = found
    return leads.below(gap, piece, said), led


def _title_in(piece: str, found: Sequence[Unit], start: int) -> str:
    """The heading that a piece begins with or is; "" for none."""
    above = piece[: found[0].start - start] if found else piece
    return plain(above.rstrip().rpartition("\n")[2]) if heading_of(above) else ""


def _leads_of(above: str) -> Leads:
    """What the piece behind a text stands under."""
    leads, done = Leads(), 0
    for start, end in sentences(above):
        piece, gap = above[start:end], above[done:start] if done else "\n"
        leads, _ = _led(leads, gap, piece, list(_prose(piece, start)))
        done = end
    return leads


def _gap_of(above: str) -> str:
    """The white space between a text and the passage below it; a new line without a text."""
    return above[len(above.rstrip()) :] if above.strip() else "\n"


def _prose(piece: str, start: int) -> Iterator[Unit]:
    lines = piece.splitlines()
    if sum(bool(_YEARLY.match(line)) for line in lines) >= _MANY_LINES:
        yield from _years(lines, start)
        return
    if _are_labels(lines):
        return
    if _is_form(lines):
        yield from _form(lines, start)
        return
    while len(lines) > 1 and ((is_row := _is_row_above(lines)) or _is_title(lines[0], lines[1])):
        if is_row:
            yield Unit(plain(lines[0]), start, is_item=True)
        start += len(lines[0]) + 1
        lines = lines[1:]
    if len(lines) >= _MANY_LINES and sum(_rows_of(lines)) >= _FEWEST_FIGURES:
        yield from _wordy_table(lines, start)
        return
    shouted = next((n for n, line in enumerate(lines) if n and is_shouted(line)), len(lines))
    if text := plain("\n".join(lines[:shouted])):
        yield Unit(text, start, is_item=bool(ITEM.match(lines[0])))


def _years(lines: Sequence[str], start: int) -> Iterator[Unit]:
    """The rows of a table with a row for each year, below the names of its columns."""
    first = next(n for n, line in enumerate(lines) if _YEARLY.match(line))
    above = [line for line in lines[:first] if not is_page_mark(line)]
    names = above[-1].split(maxsplit=1) if above else []
    caption = plain(above[-2]) if len(above) > 1 else ""
    for line in lines:
        if match := _YEARLY.match(line):
            cells = (match["year"], *_CELL.findall(match["cells"]))
            header = tuple(names) if len(cells) == len(names) else ()
            said = f"{header[1]} {cells[1]}" if header else ", ".join(cells[1:])
            yield Unit(
                f"{cells[0]}: {said}", start, cells, header, caption=caption, is_figures=True
            )
        start += len(line) + 1


def _is_form(lines: Sequence[str]) -> bool:
    """True when half of the lines, and more than one, begin with a label."""
    labelled = sum(bool(label_of(line)) for line in lines)
    return labelled >= _FEWEST_LABELLED and 2 * labelled >= len(lines)


def _form(lines: Sequence[str], start: int) -> Iterator[Unit]:
    """Each label with what is behind it, below the heading of the form."""
    first = next(n for n, line in enumerate(lines) if label_of(line))
    heading = heading_of(lines[first - 1]) if first else ""
    starts = list(accumulate((len(line) + 1 for line in lines), initial=start))
    begins = [n for n, line in enumerate(lines) if label_of(line)]
    for begin, end in pairwise([*begins, len(lines)]):
        text = plain("\n".join(lines[begin:end]))
        yield Unit(text, starts[begin], is_item=True, lead=plain(heading))


def _wordy_table(lines: Sequence[str], start: int) -> Iterator[Unit]:
    """The rows of a table whose cells hold words too, and the sentences behind it."""
    announced = ""
    for is_row, group in groupby(zip(_rows_of(lines), lines, strict=True), itemgetter(0)):
        run = [line for _, line in group]
        text = plain("\n".join(run))
        if is_row:
            starts = accumulate((len(line) + 1 for line in run), initial=start)
            rows = zip(run, starts, strict=False)
            yield from (Unit(plain(r), s, is_item=True, lead=announced) for r, s in rows)
        elif ends_sentence(text):
            yield Unit(text, start)
        elif last := [n for n, line in enumerate(run, 1) if line.rstrip().endswith(":")]:
            announced = plain("\n".join(run[: last[-1]]))
            yield Unit(announced, start)
        start += sum(len(line) + 1 for line in run)


def _figures(lines: Sequence[str], start: int, head: TableHead) -> Generator[Unit, None, TableHead]:
    """A row for each line of a label and figures, and the sentence behind the last one."""
    last = max(n for n, line in enumerate(lines) if _is_figures(line))
    for line in lines[: last + 1]:
        match = _FIGURES.match(line.strip())
        if columns_of(line) or not match or len(match["label"]) > _LONGEST_LABEL:
            head = head.below(line)
        else:
            head = head.at_row()
            yield _row(match, start, head)
        start += len(line) + 1
    behind = lines[last + 1 :]
    for line in behind:
        head = head.below(line)
    if behind and ends_sentence(behind[-1]):
        yield from _prose("\n".join(behind), start)
    return head


def _row(match: re.Match[str], start: int, head: TableHead) -> Unit:
    found = tuple(" ".join(cell.split()) for cell in _CELL.findall(match["cells"]))
    label = match["label"].strip(" .:…")
    names, cells = head.names_of(found)
    if not names and _NOTE.fullmatch(found[0]):
        names, cells = head.names_of(found[1:])
    pairs = zip(names, cells, strict=True) if names else (("", cell) for cell in found)
    said = ", ".join(" ".join(pair).strip() for pair in pairs if pair[1])
    header = (head.scale, *names) if names else ()
    return Unit(
        f"{label}: {said}", start, (label, *(cells or found)), header,
        scale=head.scale, caption=head.caption, is_figures=True,
    )  # fmt: skip


def _is_figures(line: str) -> bool:
    return bool(_FIGURES.match(line.strip())) and not columns_of(line)


def plain(text: str) -> str:
    """The text on one line, without marks of lists, headings, emphasis and styles.

    What fills a line up to a page number, or is to be filled in, becomes "…".
    """
    words = _ENVIRONMENT.sub(" ", _LINK.sub(r"\1", _FILLER.sub(" … ", text)))
    for _ in range(_DEEPEST_STYLE):
        words = _STYLED.sub(r"\1", words)
    return " ".join(_MARKUP.sub("", words).split())


def _cells_of(row: str) -> tuple[str, ...]:
    """The cells of a row; a row of Markdown has a bar on either side as well."""
    said = row.strip()
    said = said[1:-1] if said[:1] == "|" == said[-1:] else said
    return tuple(plain(cell) for cell in said.split("|")) if said else ()


def _are_labels(lines: Sequence[str]) -> bool:
    """True for the words in a drawing, which the text of a PDF has as short lines in a row."""
    said = [line.strip() for line in lines if line.strip()]
    if len(said) < _MANY_LABELS or ends_sentence(said[-1]):
        return False
    return sum(map(len, said)) <= _LONGEST_LABELS * len(said)


def _rows_of(lines: Sequence[str]) -> list[bool]:
    """Which lines are rows such as `Spring 2027 Rail in fresh lead 22,600`.

    They end in a figure, and the next one does not go on with the sentence.
    """
    following = [*lines[1:], ""]
    return [
        bool(_ENDS_IN_FIGURE.search(line.rstrip())) and not below.lstrip()[:1].islower()
        for line, below in zip(lines, following, strict=True)
    ]


def _is_row_above(lines: Sequence[str]) -> bool:
    """True when the first line is a row above a paragraph, which has longer lines."""
    is_short = len(lines[0]) <= _SHORT_SHARE * max(map(len, lines))
    is_dated = bool(_ENDS_IN_YEAR.search(lines[0].rstrip()))
    return is_short and not is_dated and len(lines[0]) <= _LONGEST_ROW and _rows_of(lines)[0]


def is_shouted(line: str) -> bool:
    """True for words in capitals, such as the names of columns or of a company on a cover."""
    letters = [character for character in line if character.isalpha()]
    capitals = sum(map(str.isupper, letters))
    return len(letters) > _FEWEST_FIGURES and capitals >= _SHOUTED_SHARE * len(letters)


def _is_title(line: str, following: str) -> bool:
    """True for a line above a paragraph that is a heading: short, capitalised, without a stop."""
    said = [word for word in line.split() if word[:1].isalpha()]
    if not said or len(line) > _LONGEST_TITLE or line.rstrip()[-1:] in ".,;:!?-":
        return False
    capital = sum(word[0].isupper() for word in said)
    begins = _NUMBER_BEFORE.sub("", following.lstrip())[:1]
    return capital >= _TITLE_SHARE * len(said) and begins.isupper()
