"""Formulas of pages and office files on one line, as one types them: `(a+b)/2`, `√x`, `x₁²`.

A line that left out the signs between numbers would show others: 3/4 as 34, ∛27 as 27. Runs in the
parser process.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from desktop_rag.ingest.read.foundation.looks import lowered, raised
from desktop_rag.ingest.read.foundation.ooxml import Element, attribute, child, children, local_name

# The signs before what is raised and lowered around the first child of an element.
_SCRIPTS = {"msup": "^", "msub": "_", "msubsup": "_^", "mover": "^", "munder": "_",
            "munderover": "_^"}  # fmt: skip
_BETWEEN = {"mtable": "; ", "mtr": ", ", "mlabeledtr": ", ", "mfenced": ", "}
# What is not seen, a space, and the border between scripts behind and before their base.
_INSTEAD = {"mphantom": "", "annotation": "", "annotation-xml": "", "mspace": " ",
            "mprescripts": "mprescripts"}  # fmt: skip
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}
# It is typed without brackets: a word or number, one sign, or what has brackets already.
_SINGLE = re.compile(r"[\w.,]+|.|\([^()]*\)")
# Signs that are not seen: "apply", "times" and "," between factors and indices.
_UNSEEN = dict.fromkeys(range(0x2061, 0x2065))
# What is nested deeper is text of the element around it.
_MAX_DEPTH = 60


@dataclass(slots=True)
class _Open:
    tag: str
    attributes: Mapping[str, str]
    parts: list[str] = field(default_factory=list[str])


class Formula:
    """Takes a formula as events. Call `start` with `math` first."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._deeper = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        if len(self._open) < _MAX_DEPTH:
            self._open.append(_Open(tag.rpartition(":")[2], attributes))
        else:
            self._deeper += 1

    def data(self, text: str) -> None:
        """Text in the element that began last."""
        inner = self._open[-1]
        if words := text.translate(_UNSEEN).split():
            inner.parts.append(text if inner.tag == "mtext" else " ".join(words))

    def end(self) -> str | None:
        """The element that began last ends; if it was the first, the text of the formula."""
        if self._deeper:
            self._deeper -= 1
            return None
        ended = self._open.pop()
        text = _typed(ended.tag, ended.attributes, ended.parts)
        if not self._open:
            return text
        parts = self._open[-1].parts
        is_mixed = ended.tag == "mfrac" and parts and parts[-1][-1:].isdecimal()
        parts.append(f" {text}" if is_mixed else text)
        return None


def _typed(tag: str, attributes: Mapping[str, str], parts: Sequence[str]) -> str:
    base = parts[0] if parts else ""
    match tag:
        case "mfrac" if len(parts) > 1:
            return "/".join(map(_grouped, parts))
        case "msqrt":
            return f"√{_grouped(''.join(parts))}"
        case "mroot" if len(parts) > 1:
            return f"{_ROOTS.get(parts[1]) or _script('^', parts[1]) + '√'}{_grouped(base)}"
        case "mmultiscripts":
            return _with_scripts(base, parts[1:])
        case "mfenced":
            inner = _BETWEEN[tag].join(parts)
            return f"{attributes.get('open', '(')}{inner}{attributes.get('close', ')')}"
        case _ if tag in _SCRIPTS:
            scripts = zip(_SCRIPTS[tag], parts[1:], strict=False)
            return _grouped(base) + "".join(_script(sign, part) for sign, part in scripts)
        case _:
            return _INSTEAD.get(tag, _BETWEEN.get(tag, "").join(parts))


def _with_scripts(base: str, scripts: Sequence[str]) -> str:
    """The base with the pairs of lowered and raised behind it, and those before it."""
    border = scripts.index("mprescripts") if "mprescripts" in scripts else len(scripts)
    signs = "_^" * len(scripts)
    behind, before = (
        "".join(_script(sign, part) for sign, part in zip(signs, side, strict=False))
        for side in (scripts[:border], scripts[border + 1 :])
    )
    return before + _grouped(base) + behind


def _grouped(text: str) -> str:
    return text if not text or _SINGLE.fullmatch(text) else f"({text})"


def _script(sign: str, text: str) -> str:
    """The text raised or lowered; where its letters have no such form, behind the sign for it."""
    shown = raised(text) if sign == "^" else lowered(text)
    has_form = shown != text and not shown.startswith(("[", "^", "_"))
    if has_form or not any(map(str.isalnum, text)):
        return shown if has_form else text
    return sign + _grouped(text)


def mathml(math: Element) -> str:
    """The line of a formula in MathML that is a tree."""
    from lxml import etree

    formula, said = Formula(), None
    events = cast("Iterator[tuple[str, Element]]", etree.iterwalk(math, events=("start", "end")))
    for event, element in events:
        if event == "start":
            formula.start(local_name(element), element.attrib)
            formula.data(element.text or "")
        else:
            said = formula.end()
            if said is None:
                formula.data(element.tail or "")
    return said or ""


# The structures of Office Math that MathML has too, and the parts of them.
_STRUCTURES = {
    "f": ("mfrac", "num", "den"), "rad": ("mroot", "e", "deg"), "limLow": ("munder", "e", "lim"),
    "limUpp": ("mover", "e", "lim"), "sSup": ("msup", "e", "sup"), "sSub": ("msub", "e", "sub"),
    "sSubSup": ("msubsup", "e", "sub", "sup"), "func": ("mrow", "fName", "e"),
}  # fmt: skip


def office_math(part: Element, text_of: Callable[[Element], str]) -> str | None:
    """The line of a structure of Office Math, None for any other element.

    `text_of` says what stands inside an element.
    """
    name = local_name(part)
    if "/math}" not in part.tag:
        return None

    def said(name: str) -> list[str]:
        return [text_of(each).strip() for each in children(part, name)]

    def sign(kind: str, default: str) -> str:
        found = child(child(part, f"{name}Pr"), kind)
        return default if found is None else attribute(found)

    items = said("e")
    match name:
        case _ if name in _STRUCTURES:
            tag, *names = _STRUCTURES[name]
            parts = [next(iter(said(each)), "") for each in names]
            return " ".join(parts) if name == "func" else _typed(tag, {}, parts)
        case "sPre":
            return _with_scripts("".join(items), ["mprescripts", *said("sub"), *said("sup")])
        case "nary":
            limits = _typed("msubsup", {}, [sign("chr", "∫"), *said("sub"), *said("sup")])
            return f"{limits} {''.join(items)}"
        case "d":
            inside = sign("sepChr", "|").join(items)
            return f"{sign('begChr', '(')}{inside}{sign('endChr', ')')}"
        case "mr":
            return _BETWEEN["mtr"].join(items)
        case "m" | "eqArr":
            rows = [office_math(row, text_of) or "" for row in children(part, "mr")] or items
            return _BETWEEN["mtable"].join(rows)
        case _:
            return None
