"""Tables and quotes in a text that is read from the right begin there. Pure.

Qt lays out the columns of a table from the left in every language.
"""

from collections.abc import Sequence

from markdown_it.token import Token

from desktop_rag.ui.foundation.wording import is_right_to_left

# Of a table or a quote that is read from the right.
IS_MIRRORED = "is_mirrored"
_CELLS = {"th_open", "td_open"}


def mirrored(tokens: Sequence[Token]) -> list[Token]:
    """The tokens, with the cells of each row in reverse where a table is read from the right."""
    shown: list[Token] = []
    row: list[list[Token]] | None = None
    is_table_mirrored = False
    for index, token in enumerate(tokens):
        if token.type in {"table_open", "blockquote_open"}:
            words = next((t.content for t in tokens[index:] if t.type == "inline"), "")
            token.meta[IS_MIRRORED] = is_right_to_left(words)
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
