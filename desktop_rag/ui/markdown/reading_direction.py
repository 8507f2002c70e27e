"""Tables and quotes in a text that is read from the right begin there. Pure.

Qt lays out the columns of a table from the left in every language.
"""

import unicodedata
from collections.abc import Sequence

from markdown_it.token import Token

# Of a table or a quote that is read from the right.
IS_MIRRORED = "is_mirrored"
_FROM_THE_RIGHT = {"R", "AL"}
_CELLS = {"th_open", "td_open"}


def is_from_the_right(text: str) -> bool:
    """Whether the first letter of a text belongs to a script that is written from the right."""
    kinds = map(unicodedata.bidirectional, text)
    return next((kind for kind in kinds if kind == "L" or kind in _FROM_THE_RIGHT), "L") != "L"


def mirrored(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, with the cells of each row in reverse where a table is read from the right."""
    shown: list[Token] = []
    row: list[list[Token]] | None = None
    is_table_mirrored = False
    for index, token in enumerate(tokens):
        if token.type in {"table_open", "blockquote_open"}:
            words = next((t.content for t in tokens[index:] if t.type == "inline"), "")
            token.meta[IS_MIRRORED] = is_from_the_right(words)
        if token.type == "table_open":
            is_table_mirrored = token.meta[IS_MIRRORED]
        if token.type == "tr_close" and row is not None:
            shown += [each for cell in reversed(row) for each in cell]
            row = None
        if row is None:
            shown.append(token)
        elif token.type in _CELLS:
            token.attrs.setdefault("style", "text-align:right")
            row.append([token])
        else:
            row[-1].append(token)
        if token.type == "tr_open" and is_table_mirrored:
            row = []
    return shown
