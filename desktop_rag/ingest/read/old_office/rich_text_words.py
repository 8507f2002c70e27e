"""The meaning of the control words of Rich Text, and the state that a group inherits.

Runs in the parser process.
"""

from dataclasses import dataclass, field

SIGNS = {"~": " ", "_": "-", "{": "{", "}": "}", "\\": "\\"}
WORDS = {
    "tab": "\t", "line": "\n", "lbr": "\n", "emdash": "—", "endash": "–", "bullet": "•",
    "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emspace": " ",
    "enspace": " ", "qmspace": " ", "nestcell": " ", "nestrow": " ",
}  # fmt: skip
PARAGRAPH_ENDS = {"par", "sect", "page"}
# Groups that are text of their own, and what becomes of it. Whatever else is marked as optional
# is skipped, and so are these groups.
FLOWS = {
    "footnote": "note", "annotation": "comment", "atnauthor": "author", "listtext": "label",
    "pntext": "label", "title": "title", "shptxt": "box", "dptxbxtext": "box",
    **dict.fromkeys(("header", "headerl", "headerr", "headerf"), "margin"),
    **dict.fromkeys(("footer", "footerl", "footerr", "footerf"), "margin"),
}  # fmt: skip
SKIPPED = {
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "nonshppict", "shprslt", "xe", "tc",
    "txe", "rxe", "fldinst", "objdata", "filetbl", "revtbl", "author", "operator", "upr",
    "listtable", "listoverridetable", "list", "listlevel", "leveltext", "levelnumbers",
    "listname", "themedata", "datastore", "bkmkstart", "bkmkend", "sp", "aftnsep", "aftnsepc",
    "aftncn", "ftnsep", "ftnsepc", "ftncn",
}  # fmt: skip
# Groups in which others are looked for although they are optional.
ENTERED = {"shpinst", "do", "upr", "info"}


@dataclass(slots=True)
class Flow:
    """A text of its own: the body, a note, a label."""

    kind: str
    pieces: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The text so far, with halves of characters put together."""
        joined = "".join(self.pieces)
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
    is_hidden: bool = False
    font: int = -1
    fallback_chars: int = 1
    look: RtfParagraphState = field(default_factory=RtfParagraphState)
    opened: Flow | None = None
