"""Formulas of office files on one line: those of Word and PowerPoint, and those of OpenDocument.

A line that left out the signs between numbers would show others: 3/4 as 34, ∛27 as 27. Powers and
indices are raised and lowered, columns of a matrix parted by commas, its rows by semicolons. Runs
in the parser process.
"""

import re
from collections.abc import Callable

from desktop_rag.ingest.read.foundation.looks import lowered, raised
from desktop_rag.ingest.read.foundation.ooxml import Element, attribute, child, children, local_name

_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}
_PLAIN = re.compile(r"\w*|[\d.,]+|\([^()]*\)")
_MARKS = ("[", "^", "_")
_COLUMN, _ROW = ", ", "; "


def formula(part: Element, text_of: Callable[[Element], str]) -> str | None:
    """The line of a structure of Office Math, None for any other element.

    `text_of` says what stands inside an element.
    """
    name = local_name(part)
    if "/math}" not in part.tag:
        return None
    if name in _STRUCTURES:
        names, line = _STRUCTURES[name]
        inner = (child(part, each) for each in names)
        return line(*("" if each is None else text_of(each).strip() for each in inner))
    items = [text_of(each).strip() for each in children(part, "e")]
    if name == "nary":
        scripts = (child(part, each) for each in ("sub", "sup"))
        limits = _scripts(*("" if each is None else text_of(each).strip() for each in scripts))
        return f"{_sign(part, 'chr', '∫')}{limits} {''.join(items)}"
    if name == "d":
        inside = _sign(part, "sepChr", "|").join(items)
        return f"{_sign(part, 'begChr', '(')}{inside}{_sign(part, 'endChr', ')')}"
    if name == "mr":
        return _COLUMN.join(items)
    rows = [formula(row, text_of) or "" for row in children(part, "mr")] or items
    return _ROW.join(rows) if name in ("m", "eqArr") else None


def mathml(element: Element) -> str:
    """The line of a formula in MathML."""
    name = local_name(element)
    if name in ("annotation", "annotation-xml"):
        return ""
    parts = [mathml(each) for each in children(element)]
    line = _MATHML.get(name)
    return line(*parts) if line else (element.text or "").strip() + "".join(parts)


def _sign(part: Element, kind: str, default: str) -> str:
    """A sign that a structure says in its properties, or that goes without saying."""
    said = child(child(part, f"{local_name(part)}Pr"), kind)
    return default if said is None else attribute(said)


def _fraction(upper: str = "", lower: str = "", *_: str) -> str:
    return f"{_together(upper)}/{_together(lower)}"


def _root(inside: str = "", degree: str = "", *_: str) -> str:
    return f"{_ROOTS.get(degree) or _script(degree, raised, '^') + '√'}{_together(inside)}"


def _scripted(base: str = "", index: str = "", power: str = "", *_: str) -> str:
    return f"{_together(base)}{_scripts(index, power)}"


def _powered(base: str = "", power: str = "", *_: str) -> str:
    return _scripted(base, "", power)


def _scripts(index: str, power: str) -> str:
    return f"{_script(index, lowered, '_')}{_script(power, raised, '^')}"


def _script(text: str, shifted: Callable[[str], str], sign: str) -> str:
    """A power or an index, behind a sign where its letters have no form of their own."""
    shown = shifted(text)
    has_form = shown != text and not shown.startswith(_MARKS)
    return shown if has_form else text and f"{sign}{_together(text)}"


def _together(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else f"({text})"


# The parts of structures of Office Math, and the line that they make.
_STRUCTURES: dict[str, tuple[tuple[str, ...], Callable[..., str]]] = {
    "f": (("num", "den"), _fraction),
    "rad": (("e", "deg"), _root),
    **dict.fromkeys(("sSup", "sSub", "sSubSup"), (("e", "sub", "sup"), _scripted)),
    "sPre": (("sub", "sup", "e"), lambda sub, sup, e: f"{_scripts(sub, sup)}{_together(e)}"),
    "limLow": (("e", "lim"), _scripted),
    "limUpp": (("e", "lim"), _powered),
    "func": (("fName", "e"), lambda name, e: f"{name} {e}"),
}
# … and those of MathML.
_MATHML: dict[str, Callable[..., str]] = {
    "mfrac": _fraction,
    "mroot": _root,
    "msqrt": lambda *parts: _root("".join(parts)),
    **dict.fromkeys(("msub", "munder", "msubsup", "munderover"), _scripted),
    **dict.fromkeys(("msup", "mover"), _powered),
    "mtable": lambda *rows: _ROW.join(rows),
    "mtr": lambda *cells: _COLUMN.join(cells),
}
