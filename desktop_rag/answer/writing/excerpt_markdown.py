"""Excerpts as Markdown: sentences, lists and tables, each piece with its [n]. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from desktop_rag.answer.writing.excerpt_candidates import Candidate
from desktop_rag.answer.writing.excerpt_units import Unit
from desktop_rag.core.markup.formulas import formulas


def blocks(chosen: Sequence[Candidate]) -> Iterator[str]:
    """The pieces as Markdown; rows and items of one source stand together, in order."""
    left = list(chosen)
    while left:
        first = left[0]
        together = [c for c in left if _is_together(first, c)]
        left = [c for c in left if c not in together]
        together.sort(key=lambda c: c.unit.start)
        if first.unit.caption:
            yield f"{quoted(first.unit.caption)}: [{first.n}]"
        if first.unit.is_item and first.unit.lead:
            yield f"{quoted(first.unit.lead.removesuffix(':'))}: [{first.n}]"
        if first.unit.header:
            yield _table(together)
        elif first.unit.cells:
            yield "\n".join(f"- {_figures(c.unit)} [{c.n}]" for c in together)
        elif first.unit.is_item:
            yield "\n".join(f"- {quoted(c.text)} [{c.n}]" for c in together)
        else:
            label = f"**{quoted(first.unit.lead)}** " if first.unit.lead else ""
            yield f"{label}{quoted(first.text)} [{first.n}]"
            below = [replace(unit, lead="") for unit in first.listed]
            yield from blocks([replace(first, unit=unit, listed=()) for unit in below])


def _is_together(one: Candidate, other: Candidate) -> bool:
    """True for the same piece, rows of one table, and items of one source."""
    if one.listed or other.listed:
        return one == other
    if one.n != other.n or not (one.unit.cells or one.unit.is_item):
        return one == other
    if one.unit.lead != other.unit.lead:
        return False
    is_row = bool(one.unit.cells and other.unit.cells)
    same_columns = len(one.unit.cells) == len(other.unit.cells)
    same_head = one.unit.header == other.unit.header and one.unit.caption == other.unit.caption
    same_table = is_row and same_columns and same_head
    return same_table or (one.unit.is_item and other.unit.is_item)


def _table(rows: Sequence[Candidate]) -> str:
    """A Markdown table of rows, each cited in its last cell."""
    width = max(len(row.unit.cells) for row in rows)
    names = rows[0].unit.header
    names = names if len(names) >= width else (*names, *("",) * (width - len(names)))
    lines = [_row([quoted(name) for name in names]), _row(["---"] * len(names))]
    for row in rows:
        cells = [quoted(cell) for cell in row.unit.cells]
        cells += [""] * (len(names) - len(cells))
        lines.append(_row([*cells[:-1], f"{cells[-1]} [{row.n}]".strip()]))
    return "\n".join(lines)


def _figures(row: Unit) -> str:
    """A row whose columns have no names, on one line."""
    label, *figures = map(quoted, row.cells)
    scale = f" ({quoted(row.scale)})" if row.scale else ""
    return f"{label}: {' · '.join(figures)}{scale}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def quoted(text: str) -> str:
    """The sentence with Markdown escaped: document text is not our markup, but for formulas."""
    parts: list[str] = []
    done = 0
    for formula in formulas(text):
        parts += [_escaped(text[done : formula.start]), text[formula.start : formula.end]]
        done = formula.end
    return "".join([*parts, _escaped(text[done:])])


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", text)
