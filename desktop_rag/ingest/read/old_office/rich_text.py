"""Rich Text (RTF), with its styles, lists, tables and notes. Runs in the parser process."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from desktop_rag.ingest.read.foundation.addresses import address_of_field, behind
from desktop_rag.ingest.read.foundation.blocks import BlockWriter, is_for_layout, merged
from desktop_rag.ingest.read.foundation.document_draft import DocumentDraft, one_line
from desktop_rag.ingest.read.foundation.looks import PLAIN, Look, in_looks
from desktop_rag.ingest.read.foundation.ole import encoding_of
from desktop_rag.ingest.read.foundation.ooxml import picture_text
from desktop_rag.ingest.read.foundation.source_file import SourceFile
from desktop_rag.ingest.read.office.sheet_extras import said_by

SIGNS = {"~": " ", "_": "-", "{": "{", "}": "}", "\\": "\\"}
WORDS = {
    "tab": "\t", "line": "\n", "lbr": "\n", "emdash": "—", "endash": "–", "bullet": "•",
    "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emspace": " ",
    "enspace": " ", "qmspace": " ", "nestcell": " ", "nestrow": " ",
}  # fmt: skip
PARAGRAPH_ENDS = {"par", "sect", "page"}
# Groups that are text of their own, and the use of it. Whatever else is marked as optional
# is skipped, and so are these groups.
FLOWS = {
    "footnote": "note", "annotation": "comment", "atnauthor": "author", "listtext": "label",
    "pntext": "label", "title": "title", "shptxt": "box", "dptxbxtext": "box", "fldinst": "code",
    "sn": "property", "sv": "value", "ffl": "choice",
    **dict.fromkeys(("header", "headerl", "headerr", "headerf"), "margin"),
    **dict.fromkeys(("footer", "footerl", "footerr", "footerf"), "margin"),
}  # fmt: skip
SKIPPED = {
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "nonshppict", "shprslt", "xe", "tc",
    "txe", "rxe", "objdata", "filetbl", "revtbl", "author", "operator", "upr",
    "listtable", "listoverridetable", "list", "listlevel", "leveltext", "levelnumbers",
    "listname", "themedata", "datastore", "bkmkstart", "bkmkend", "sp", "aftnsep", "aftnsepc",
    "aftncn", "ftnsep", "ftnsepc", "ftncn",
}  # fmt: skip
# Groups in which others are looked for although they are optional.
ENTERED = {"shpinst", "do", "upr", "info", "pict", "picprop", "formfield"}
_OF_SHAPES = {"box", "property", "value", "choice"}
_TICK_BOX, _FIELD_WORDS = 1, {"fftype", "ffres", "ffdefres"}
# The result of a field that was left as it was.
_UNCHANGED = 25


@dataclass(slots=True)
class Flow:
    """A text of its own: the body, a note, a label."""

    kind: str
    pieces: list[tuple[str, Look]] = field(default_factory=list)

    def text(self) -> str:
        """The text so far, with halves of characters put together."""
        joined = in_looks(self.pieces)
        whole = joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole.replace("\ufeff", "")


@dataclass(frozen=True, slots=True)
class RtfParagraphState:
    """Properties of the paragraph that is being written."""

    style: int = 0
    outline: int | None = None
    list_level: int = 0
    is_in_table: bool = False


@dataclass(slots=True)
class State:
    """The state that a group inherits and that ends with it."""

    flow: Flow
    is_skipped: bool = False
    is_entered: bool = False
    table: str = ""
    look_of_letters: Look = PLAIN
    font: int = -1
    fallback_chars: int = 1
    look: RtfParagraphState = field(default_factory=RtfParagraphState)
    opened: Flow | None = None
    # Of a field that is a link: where it leads, and which piece of the flow its words begin with.
    target: str = ""
    words_from: int = 0


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


def page_of_word(word: str, number: int | None) -> str | None:
    """The code page that a control word of the document's head names, None if it names none."""
    if word != "ansicpg":
        return _PAGES.get(word)
    try:
        return codecs.lookup(encoding_of(number or 0)).name
    except LookupError:
        return WESTERN


_LOOKS = {"v", "deleted", "super", "sub", "nosupersub", "up", "dn", "strike", "striked"}
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_MAX_HEADING = 9
_MAX_CODE = 0x10FFFF


def read(source: SourceFile, draft: DocumentDraft) -> str:
    """Fill the draft; the title is the first Title paragraph, else that of the properties."""
    blocks = BlockWriter(draft)
    reader = _Reader(blocks)
    for token in tokens(source.data):
        reader.take(token)
    reader.finish()
    return blocks.title or reader.title


def _changed(look: Look, word: str, number: int | None) -> Look:
    """The look of the letters behind a control word."""
    is_on = number != 0
    match word:
        case "super" | "sub" | "nosupersub" | "up" | "dn":
            is_raised = word in ("super", "up") and is_on
            is_lowered = word in ("sub", "dn") and is_on
            return replace(look, is_raised=is_raised, is_lowered=is_lowered)
        case "strike" | "striked":
            return replace(look, is_crossed_out=is_on)
        case _:
            return replace(look, is_hidden=is_on)


class _Reader:
    """Takes token after token and writes blocks."""

    def __init__(self, blocks: BlockWriter) -> None:
        self.title = ""
        self._blocks = blocks
        self._body = Flow("body")
        self._state = State(self._body)
        self._stack: list[State] = []
        self._is_optional = False
        self._to_skip = 0
        self._bytes = bytearray()
        self._page = WESTERN
        self._pages: dict[int, str] = {}
        self._default_font = 0
        self._levels: dict[int, int] = {}
        # The looks of styles by their word and number: ("cs", 15).
        self._looks: dict[tuple[str, int], Look] = {}
        self._style = RtfParagraphState()
        self._style_key = ("s", 0)
        self._label = ""
        self._author = ""
        self._note_count = 0
        self._target = ""
        self._boxes: list[str] = []
        # Of a shape: the property whose value follows, and whether it is hidden.
        self._property = ""
        # Of a field of a form: its kind, result and default, and the texts to choose from.
        self._field: dict[str, int] = {}
        self._choices: list[str] = []
        self._is_unseen = False
        self._margins: list[str] = []
        self._cell: list[str] = []
        self._row: list[list[str]] = []
        # How each cell of a row is joined with another, and the texts of the row before.
        self._joins: list[str] = []
        self._join = ""
        self._above: list[str] = []

    def take(self, token: RtfToken) -> None:
        """Take the next token."""
        if token.text:
            self._take_text(token.text)
            return
        if self._to_skip and (token.sign or token.word):
            self._to_skip -= 1 if token.sign else self._to_skip
        self._flush()
        if token.brace == "{":
            self._stack.append(self._state)
            self._state = replace(self._state, opened=None, target="")
            if self._state.table == "stylesheet":
                self._style, self._style_key = RtfParagraphState(), ("s", 0)
                self._open("style")
        elif token.brace == "}":
            self._close()
        elif token.sign:
            self._take_sign(token.sign)
        elif token.word:
            self._take_word(token.word, token.number)
        if token.brace:
            self._to_skip = 0

    def finish(self) -> None:
        """Write what is left, and the headers and footers."""
        self._flush()
        while self._stack:
            self._close()
        self._end_paragraph()
        self._end_row()
        self._blocks.add_margins(self._margins)
        self._blocks.finish()

    # --- text ------------------------------------------------------------------------------------

    def _take_text(self, text: bytes) -> None:
        # The characters after a Unicode one are for readers that know none.
        skipped = min(self._to_skip, len(text))
        self._to_skip -= skipped
        if not self._state.is_skipped or self._state.table:
            self._bytes += text[skipped:]

    def _flush(self) -> None:
        """Decode the bytes that wait, since a character may be several of them."""
        if self._bytes:
            font = self._state.font if self._state.font >= 0 else self._default_font
            text = self._bytes.decode(self._pages.get(font) or self._page, "replace")
            self._bytes.clear()
            self._write(text)

    def _write(self, text: str) -> None:
        is_style = self._state.flow.kind == "style"
        if not self._state.is_skipped or is_style:
            self._state.flow.pieces.append((text, self._state.look_of_letters))

    def _take_sign(self, sign: str) -> None:
        if sign == "*":
            self._is_optional = True
        elif sign in "\r\n":
            self._take_word("par", None)
        elif sign in SIGNS:
            self._write(SIGNS[sign])

    # --- control words ---------------------------------------------------------------------------

    def _take_word(self, word: str, number: int | None) -> None:
        is_optional, self._is_optional = self._is_optional, False
        is_style = word == "cs" and self._state.table == "stylesheet"
        if page := page_of_word(word, number):
            self._page = page
        elif word in FLOWS or word in SKIPPED or (is_optional and not is_style):
            self._take_destination(word)
        elif self._state.table:
            self._take_definition(word, number)
        elif word in WORDS:
            self._write(WORDS[word])
        elif word in _FIELD_WORDS:
            self._field[word] = number or 0
        elif word == "fldrslt":
            self._state.target, self._target = self._target, ""
            self._write(self._field_text())
            self._state.words_from = len(self._state.flow.pieces)
        elif word == "u" and number is not None:
            code = number + 0x10000 if number < 0 else number
            if 0 < code <= _MAX_CODE:
                self._write(chr(code))
            self._to_skip = self._state.fallback_chars
        elif not self._take_formatting(word, number):
            self._take_border(word)

    def _field_text(self) -> str:
        """What the field of a form shows that has no text of its own: its tick, or its choice."""
        said, choices = self._field, self._choices
        self._field, self._choices = {}, []
        result = said.get("ffres", _UNCHANGED)
        result = said.get("ffdefres", 0) if result == _UNCHANGED else result
        if said.get("fftype") == _TICK_BOX:
            return "☒" if result else "☐"
        return choices[result] if 0 <= result < len(choices) else ""

    def _take_destination(self, word: str) -> None:
        state = self._state
        if word == "ud":
            # The better of two versions of a text.
            state.is_skipped = False
        elif word in {"fonttbl", "stylesheet"}:
            state.table, state.is_skipped = word, True
        elif word in FLOWS and self._may_open(word):
            state.is_skipped = state.is_entered = False
            self._open(FLOWS[word])
            if word == "footnote":
                self._note_count += 1
                self._body.pieces.append((f"[{self._note_count}]", PLAIN))
        else:
            state.is_skipped = True
            state.is_entered = state.is_entered or word in ENTERED
            self._is_unseen &= word not in ENTERED

    def _may_open(self, word: str) -> bool:
        """Inside a skipped group only the title and text boxes are read."""
        if word == "title":
            return self._state.is_entered
        is_of_shape = self._state.is_entered and FLOWS[word] in _OF_SHAPES
        return is_of_shape or not self._state.is_skipped

    def _open(self, kind: str) -> None:
        self._state.flow = self._state.opened = Flow(kind)

    def _take_definition(self, word: str, number: int | None) -> None:
        """Take a word in the table of fonts or styles."""
        if self._state.table == "fonttbl":
            if word == "f":
                self._state.font = number or 0
            elif word == "fcharset" and (page := _CHARSETS.get(number or 0)):
                self._pages[self._state.font] = page
        elif word in ("s", "cs"):
            self._style_key = (word, number or 0)
        elif word in _LOOKS:
            look = self._looks.get(self._style_key, PLAIN)
            self._looks[self._style_key] = _changed(look, word, number)
        elif word == "outlinelevel":
            self._style = replace(self._style, outline=number)

    def _take_formatting(self, word: str, number: int | None) -> bool:
        """Take a formatting word; True when the token was one."""
        match word:
            case "f":
                self._state.font = number or 0
            case "deff":
                self._default_font = number or 0
            case "plain":
                self._state.font, self._state.look_of_letters = -1, PLAIN
            case "cs":
                look = self._state.look_of_letters
                self._state.look_of_letters = self._looks.get((word, number or 0), look)
            case _ if word in _LOOKS:
                self._state.look_of_letters = _changed(self._state.look_of_letters, word, number)
            case "uc":
                self._state.fallback_chars = max(number or 0, 0)
            case _:
                return self._take_paragraph_look(word, number)
        return True

    def _take_paragraph_look(self, word: str, number: int | None) -> bool:
        look = self._state.look
        match word:
            case "pard":
                if ("s", look.style) in self._looks:
                    self._state.look_of_letters = PLAIN
                look = RtfParagraphState()
            case "s":
                look = replace(look, style=number or 0)
                said = self._looks.get(("s", look.style))
                self._state.look_of_letters = said or self._state.look_of_letters
            case "outlinelevel":
                look = replace(look, outline=number)
            case "ilvl":
                look = replace(look, list_level=max(number or 0, 0))
            case "intbl":
                look = replace(look, is_in_table=True)
            case _:
                return False
        self._state.look = look
        return True

    def _take_border(self, word: str) -> None:
        """Take a word that ends a paragraph, a cell or a row."""
        if self._state.is_skipped:
            return
        if self._state.flow is not self._body:
            if word in PARAGRAPH_ENDS or word == "cell":
                self._write("\n")
        elif word in PARAGRAPH_ENDS:
            self._end_paragraph()
        elif word == "cell":
            self._row.append([*self._cell, self._numbered(self._taken())])
            self._cell = []
        elif word == "row":
            self._end_row()
        elif word == "trowd":
            self._joins = []
        elif word in ("clmrg", "clvmrg"):
            self._join = "left" if word == "clmrg" else "above"
        elif word == "cellx":
            self._joins.append(self._join)
            self._join = ""

    # --- ends ------------------------------------------------------------------------------------

    def _close(self) -> None:
        """End a group, and the text that began with it."""
        if not self._stack:
            return
        opened = self._state.opened
        self._end_link(self._state)
        self._state = self._stack.pop()
        if opened is not None:
            self._take_whole(opened.kind, opened.text().strip())

    def _take_whole(self, kind: str, text: str) -> None:
        """Take a text of its own that has ended."""
        match kind:
            case "note":
                self._blocks.add_note(f"[{self._note_count}] {text}")
            case "comment":
                self._blocks.add_note(f"[Comment{said_by(self._author, '')}: {text}]")
            case "author" | "label" | "property":
                setattr(self, f"_{kind}", text)
            case "title":
                self.title = one_line(text) or self.title
            case "code":
                self._target = address_of_field(text)
            case "box":
                self._boxes.append("" if self._is_unseen else text)
            case "choice":
                self._choices.append(text)
            case "value":
                self._is_unseen |= self._property == "fHidden" and text != "0"
                is_said = self._property == "wzDescription"
                self._boxes.append(picture_text(text) if is_said else "")
            case "margin":
                self._margins += text.split("\n")
            case _:
                self._add_style(text)

    def _end_link(self, state: State) -> None:
        if state.target:
            words = "".join(text for text, _ in state.flow.pieces[state.words_from :])
            state.flow.pieces.append((behind(words, state.target), PLAIN))

    def _add_style(self, name: str) -> None:
        name = name.rstrip(";").strip()
        heading = _HEADING.match(name)
        kind, number = self._style_key
        if kind == "cs":
            return
        if heading and heading[1] != "0":
            self._levels[number] = int(heading[1])
        elif name.lower() == "title":
            self._levels[number] = 0
        elif self._style.outline is not None and 0 <= self._style.outline < _MAX_HEADING:
            self._levels[number] = self._style.outline + 1

    def _taken(self) -> str:
        """Take the text of the paragraph that ends here."""
        text = self._body.text().strip()
        self._body.pieces.clear()
        return text

    def _end_paragraph(self) -> None:
        text = self._taken()
        if self._state.look.is_in_table:
            if text:
                self._cell.append(self._numbered(text))
            return
        self._end_row()
        self._write_paragraph(text)

    def _numbered(self, text: str) -> str:
        """The text of a paragraph behind its number, if it has one."""
        label, self._label = self._label, ""
        return f"{label} {text}" if any(map(str.isalnum, label)) else text

    def _write_paragraph(self, text: str) -> None:
        label, self._label = self._label, ""
        level = self._levels.get(self._state.look.style)
        outline = self._state.look.outline
        if outline is not None:
            level = outline + 1 if 0 <= outline < _MAX_HEADING else None
        if text and level is not None:
            self._label = label
            self._blocks.add_heading(level, self._numbered(text))
        elif text and label:
            label = label if any(map(str.isalnum, label)) else "-"
            self._blocks.add_item(self._state.look.list_level, label, text)
        else:
            self._blocks.add_paragraph(text)
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            for line in box.split("\n"):
                self._blocks.add_paragraph(line)

    def _end_row(self) -> None:
        row, self._row = [*self._row, *filter(None, [self._cell])], []
        self._cell = []
        if not row:
            return
        if is_for_layout(row):
            for text in (text for cell in row for text in cell):
                self._blocks.add_paragraph(text)
        else:
            texts = [" ".join(cell) for cell in row]
            joins = zip_longest(texts, self._joins[: len(texts)], fillvalue="")
            self._above = merged(((text, join, 1) for text, join in joins), self._above)
            self._blocks.add_row(self._above)
            self._label = ""
