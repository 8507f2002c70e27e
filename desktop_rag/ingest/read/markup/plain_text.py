"""Plain text and code as they stand, with a mark every few lines. Runs in the parser process."""

from collections.abc import Iterator, Mapping, Sequence

from desktop_rag.core.parsed import HEADING_SEPARATOR, Anchor
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, HeadingPath
from desktop_rag.ingest.read.foundation.source_file import SourceFile

_LINES_PER_MARK = 20


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; there is no title."""
    write(decoded(source, draft), draft)
    return ""


def decoded(source: SourceFile, draft: DocumentDraft) -> str:
    """The text of a file, as much as the limit allows; the draft is told of a doubtful encoding.

    Raises NotTextError for bytes that are something else.
    """
    return draft.fitting(draft.decoded(source.data))


def write(
    text: str,
    draft: DocumentDraft,
    headings: Mapping[int, tuple[int, str]] | None = None,
    numbers: Sequence[int] | None = None,
    by_app: Sequence[tuple[int, int]] = (),
) -> None:
    """Put the whole text into the draft, with line marks.

    `headings` is line (from 1) → level and title. `numbers` are the lines' numbers in the file, if
    some of the file's were left out. The spans of `by_app` are the app's own words.
    """
    headings = headings or {}
    path = HeadingPath()
    here: str | None = None
    offsets = line_offsets(text) if headings else ()
    # Without headings, which is any large text, a list of the lines would outweigh it.
    lines = _with_headings(text, headings, offsets) if headings else marked_lines(text)
    for line, offset in lines:
        if line in headings:
            level, title = headings[line]
            draft.add_heading(level, title, offset)
            here = path.enter(level, title)
        if line in headings or draft.is_mark_due(offset):
            is_own = any(start <= offset < end for start, end in by_app) or None
            number = numbers[line - 1] if numbers else line
            draft.mark(Anchor(heading=here, line=number, by_app=is_own), offset)
    draft.add(text)


def write_below(
    text: str,
    headings: Mapping[int, tuple[int, str]],
    draft: DocumentDraft,
    path: HeadingPath,
    place: str = "",
) -> str:
    """Add a text whose lines are not those of a file; marks are set at its headings only.

    `place` stands behind the path of each. Returns the path at the end, "" without headings.
    """
    begin, offsets = draft.length, line_offsets(text)
    here = ""
    for line, (level, title) in sorted(headings.items()):
        offset = begin + offsets[line - 1]
        if offset < draft.max_chars:
            draft.add_heading(level, title, offset)
            here = path.enter(level, title)
            draft.mark(
                Anchor(heading=f"{here}{HEADING_SEPARATOR}{place}" if place else here), offset
            )
    draft.add(text)
    return here


def _with_headings(
    text: str, headings: Mapping[int, tuple[int, str]], offsets: Sequence[int]
) -> list[tuple[int, int]]:
    lines = {line for line, _ in marked_lines(text)}.union(headings)
    return [(line, offsets[line - 1]) for line in sorted(lines)]


def line_offsets(text: str) -> list[int]:
    """The offset of each line."""
    offsets = [0]
    end = text.find("\n")
    while end >= 0:
        offsets.append(end + 1)
        end = text.find("\n", end + 1)
    return offsets


def marked_lines(text: str) -> Iterator[tuple[int, int]]:
    """(line from 1, offset) of the first line of each paragraph, and of every twentieth inside."""
    is_after_blank = True
    due = line = offset = 0
    # One line at a time: as a list they would take more memory than the text.
    while offset < len(text):
        line += 1
        end = text.find("\n", offset)
        end = len(text) if end < 0 else end
        content = text[offset:end]
        is_blank = not content or content.isspace()
        if not is_blank and (is_after_blank or line >= due):
            yield line, offset
            due = line + _LINES_PER_MARK
        is_after_blank = is_blank
        offset = end + 1
