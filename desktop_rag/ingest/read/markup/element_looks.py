"""Looks and formulas by the elements of pages and of XML: raised, lowered, crossed out, hidden.

A formula (MathML) becomes one line, as one types it: `(a+b)/2`, `√x`, `x₁²`. Runs in the parser
process.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from desktop_rag.ingest.read.foundation.looks import PLAIN, Look, lowered, raised

_RAISED = {"sup", "superscript"}
_LOWERED = {"sub", "inf", "subscript"}
_CROSSED_OUT = {"del", "s", "strike", "strikethrough"}


def look_of(name: str, style: Mapping[str, str], outer: Look = PLAIN) -> Look:
    """The look of an element by its name and style, within one of the look `outer`."""
    place = style.get("vertical-align", "")
    if name in _RAISED or place == "super":
        outer = replace(outer, is_raised=True)
    if name in _LOWERED or place == "sub":
        outer = replace(outer, is_lowered=True)
    lines = (style.get("text-decoration", ""), style.get("text-decoration-line", ""))
    if name in _CROSSED_OUT or any("line-through" in line for line in lines):
        outer = replace(outer, is_crossed_out=True)
    return outer


def hides(style: Mapping[str, str]) -> bool:
    """True when a style keeps an element from view."""
    return style.get("display") == "none" or style.get("visibility") == "hidden"


_STYLE_BEGIN = re.compile(r"<style\b", re.IGNORECASE)
_STYLE_END = re.compile(r"</style", re.IGNORECASE)
# Comments, and rules that hold for some screens or on paper only. None of these patterns looks at
# a letter of hostile markup more than a few times.
_NO_RULE = re.compile(
    r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)|@[^{};@]*+(?:;|\{(?:[^{}]++|\{[^{}]*+\})*+\})"
)
_RULE = re.compile(r"(?:^|(?<=[{}]))([^{}]++)\{([^{}]*+)\}")
_ONE_NAME = re.compile(r"\w*([.#][\w-]+)")
_NAME = re.compile(r"[.#][\w-]+")


class StyleRules:
    """What the style sheets in a page say of elements by one class or id.

    A name that stands in any other selector is left alone: that rule may show what this one hides.
    """

    def __init__(self, markup: str) -> None:
        self._rules: dict[str, dict[str, str]] = {}
        others: set[str] = set()
        for element in _STYLE_BEGIN.split(markup)[1:]:
            sheet = _STYLE_END.split(element.partition(">")[2], maxsplit=1)[0]
            for selectors, style in _RULE.findall(_NO_RULE.sub("", sheet)):
                for selector in selectors.split(","):
                    if one := _ONE_NAME.fullmatch(selector.strip()):
                        self._rules.setdefault(one[1], {}).update(_declared(style))
                    else:
                        others.update(_NAME.findall(selector))
        for name in others:
            self._rules.pop(name, None)

    def style_of(self, attributes: Mapping[str, str]) -> dict[str, str]:
        """The style of an element with these attributes; its own counts most."""
        style: dict[str, str] = {}
        if self._rules:
            names = [f".{name}" for name in attributes.get("class", "").split()]
            for name in (*names, f"#{attributes.get('id', '')}"):
                style |= self._rules.get(name, {})
        own = attributes.get("style", "")
        return style | _declared(own) if own else style


def _declared(style: str) -> dict[str, str]:
    pairs = (part.partition(":") for part in style.lower().split(";"))
    return {name.strip(): said.replace("!important", "").strip() for name, _, said in pairs}


# The signs before what is raised and lowered around the first child of an element.
_SCRIPTS = {"msup": "^", "msub": "_", "msubsup": "_^", "mover": "^", "munder": "_",
            "munderover": "_^"}  # fmt: skip
_BETWEEN = {"mtable": "; ", "mtr": ", ", "mlabeledtr": ", ", "mfenced": ", "}
# What is not seen, a space, and the border between scripts behind and before their base.
_INSTEAD = {"mphantom": "", "annotation": "", "annotation-xml": "", "mspace": " ",
            "mprescripts": "mprescripts"}  # fmt: skip
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
            return f"{_script('^', parts[1])}√{_grouped(base)}"
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
    has_form = shown != text and not shown.startswith("[")
    if has_form or not any(map(str.isalnum, text)):
        return shown if has_form else text
    return sign + _grouped(text)
