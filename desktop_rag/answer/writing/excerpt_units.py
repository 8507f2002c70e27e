"""Cuts passages into what can be quoted alone: sentences, list items, rows of tables. Pure.

The text of a PDF has its tables as lines of a label and figures, which run together with the
sentences around them; they are taken apart here.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from desktop_rag.answer.writing.figure_columns import TableHead, columns_of, head_of
from desktop_rag.core.text import ends_sentence, sentences

COLUMN = " | "
# List and heading marks at the start, and emphasis; quoted sentences are plain text.
_MARKUP = re.compile(r"^(?:[-+](?![\d.])|[*>|•\s]|#{1,6}\s|\d+[.)]\s)+|\*\*|`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
# LaTeX commands that only style the words inside them, and environments of running text.
_STYLED = re.compile(r"\\(?:text(?:bf|it|md|rm|sc|sf|sl|tt|up)|emph|underline|uline)\{([^{}]*)\}")
_ENVIRONMENT = re.compile(
    r"\\(?:begin|end)\{(?:abstract|center|description|enumerate|itemize|quotation|quote)\}|\\item\b"
)
_ITEM = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s+")
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
_FEWEST_FIGURES = 2
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
    the table.
    """

    text: str
    start: int
    cells: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    is_item: bool = False
    scale: str = ""
    caption: str = ""
    is_figures: bool = False


def units_of(text: str, header: str = "", above: str = "") -> Iterator[Unit]:
    """The pieces of a passage in order.

    `header` is the header row of its table, if known, and `above` the text before the passage,
    which may have the head of its rows of figures.
    """
    names = _cells_of(header)
    rows_before: tuple[str, ...] = ()
    head = head_of(above)
    for start, end in sentences(text):
        piece = text[start:end]
        if COLUMN in piece and "\n" not in piece.strip():
            cells = _cells_of(piece)
            if not names and (not rows_before or _is_title_of(rows_before, cells)):
                rows_before = cells
                continue
            known = names or rows_before
            if cells != known:
                yield Unit(", ".join(filter(None, cells)), start, cells, known)
            continue
        rows_before = ()
        lines = piece.splitlines()
        if sum(map(_is_figures, lines)) >= _FEWEST_FIGURES:
            head = yield from _figures(lines, start, head)
            continue
        for line in lines:
            head = head.below(line)
        yield from _prose(piece, start)


def _prose(piece: str, start: int) -> Iterator[Unit]:
    lines = piece.splitlines()
    if _are_labels(lines):
        return
    while len(lines) > 1 and _is_title(lines[0], lines[1]):
        start += len(lines[0]) + 1
        lines = lines[1:]
    if len(lines) >= _MANY_LINES and sum(map(_ends_in_figure, lines)) >= _FEWEST_FIGURES:
        yield from _wordy_table(lines, start)
        return
    shouted = next((n for n, line in enumerate(lines) if n and is_shouted(line)), len(lines))
    if text := plain("\n".join(lines[:shouted])):
        yield Unit(text, start, is_item=bool(_ITEM.match(lines[0])))


def _wordy_table(lines: Sequence[str], start: int) -> Iterator[Unit]:
    """The rows of a table whose cells hold words too, and the sentences behind it."""
    for is_row, group in groupby(lines, _ends_in_figure):
        run = list(group)
        text = plain("\n".join(run))
        if is_row:
            starts = accumulate((len(line) + 1 for line in run), initial=start)
            yield from (Unit(plain(r), s, is_item=True) for r, s in zip(run, starts, strict=False))
        elif ends_sentence(text):
            yield Unit(text, start)
        start += sum(len(line) + 1 for line in run)


def _is_title_of(row: Sequence[str], following: Sequence[str]) -> bool:
    """True for a row above the names of the columns: it has few cells beside the next one."""
    return 2 * sum(map(bool, row)) <= sum(map(bool, following))


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
    return tuple(plain(cell) for cell in row.strip().split("|")) if row else ()


def _are_labels(lines: Sequence[str]) -> bool:
    """True for the words in a drawing, which the text of a PDF has as short lines in a row."""
    said = [line.strip() for line in lines if line.strip()]
    if len(said) < _MANY_LABELS or ends_sentence(said[-1]):
        return False
    return sum(map(len, said)) <= _LONGEST_LABELS * len(said)


def _ends_in_figure(line: str) -> bool:
    """True for a line such as `Spring 2027 Rail in fresh lead 22,600`, which is no sentence."""
    last = line.split()[-1:]
    return bool(last) and bool(re.fullmatch(_FIGURE, last[0])) and len(line.split()) > 1


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
    return capital >= _TITLE_SHARE * len(said) and following.lstrip()[:1].isupper()
