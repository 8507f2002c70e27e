"""Looks of letters by the elements and style sheets of pages. Runs in the parser process."""

import re
from collections.abc import Mapping
from dataclasses import replace

from desktop_rag.ingest.read.foundation.looks import PLAIN, Look

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
