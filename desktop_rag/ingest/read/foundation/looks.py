"""How letters look in a document, where that changes what they say: raised, lowered, crossed out.

Plain text would join the mark of a note to a figure ("482¹" to 4821) and show a price that is
crossed out as one in force. Digits and signs become the raised or lowered ones of Unicode, which
are no part of a number; what is crossed out stands between ~~ and ~~, as in Markdown. Runs in the
parser process.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

_RAISED = dict(zip("0123456789+-−–=()nix", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱˣ", strict=True))
_LOWERED = dict(zip("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎", strict=True))
# Marks of notes that Unicode has no raised form of stand apart.
_NOTE_MARKS = frozenset("*†‡§¶")
# Nor has it a raised or lowered point.
_DECIMAL = re.compile(r"[-+−]?\d+\.\d+")
_CROSSED_OUT = "~~"
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
# A short word with a digit, which would run into a figure before it.
_FIGURE = re.compile(r"[^\s([{]{0,20}\d[^\s[{]{0,20}")


@dataclass(frozen=True, slots=True)
class Look:
    """The look of a run of letters."""

    is_raised: bool = False
    is_lowered: bool = False
    is_crossed_out: bool = False
    is_hidden: bool = False


PLAIN = Look()
OFF = frozenset({"0", "false", "off", "none"})


def look_in_word(said: Mapping[str, str]) -> Look:
    """The look by the properties of a run of Word, their names in lower case."""
    is_on = {name for name, value in said.items() if value not in OFF}
    place = said.get("vertalign", "")
    is_crossed_out = not is_on.isdisjoint(("strike", "dstrike"))
    return Look(place == "superscript", place == "subscript", is_crossed_out, "vanish" in is_on)


def look_in_open_document(said: Mapping[str, str]) -> Look:
    """The look by the text properties of OpenDocument, their names without namespaces."""
    place = said.get("text-position", "0")
    is_lowered = place.startswith(("sub", "-"))
    is_raised = not is_lowered and not place.startswith("0")
    lines = {said.get(f"text-line-through-{what}", "none") for what in ("style", "type")}
    return Look(is_raised, is_lowered, lines != {"none"}, said.get("display") == "none")


def in_looks(runs: Iterable[tuple[str, Look]]) -> str:
    """The text of runs that follow one another."""
    visible = ((text, look) for text, look in runs if not look.is_hidden)
    shown = ((_shifted(text, look), look.is_crossed_out) for text, look in visible)
    joined = ((key, "".join(text for text, _ in run)) for key, run in groupby(shown, _is_crossed))
    return "".join(crossed_out(text) if is_crossed else text for is_crossed, text in joined)


def _is_crossed(run: tuple[str, bool]) -> bool:
    return run[1]


def crossed_out(text: str) -> str:
    """The text with each line between marks, without the white space around it."""
    return _LINE.sub(rf"{_CROSSED_OUT}\g<0>{_CROSSED_OUT}", text)


def raised(text: str) -> str:
    """Raised letters: a power or the mark of a note; others, such as "th", as they are."""
    return _mapped(text, _RAISED, "^")


def lowered(text: str) -> str:
    """Lowered letters: an index; those without a form of their own as they are."""
    return _mapped(text, _LOWERED, "_")


def _shifted(text: str, look: Look) -> str:
    if look.is_raised:
        return raised(text)
    return lowered(text) if look.is_lowered else text


def _mapped(text: str, forms: dict[str, str], sign: str) -> str:
    letters = text.strip()
    if not letters or any(letter not in forms and letter not in " ,;" for letter in letters):
        if _DECIMAL.fullmatch(letters):
            return f"{sign}{letters}"
        # A note "a" behind a figure must not become a part of it.
        is_mark = len(letters) == 1 and (letters.isalpha() or letters in _NOTE_MARKS)
        if is_mark and forms is _RAISED:
            return f"[{letters}]"
        return f"{sign}({letters})" if _FIGURE.fullmatch(letters) else text
    return "".join(forms.get(letter, letter) for letter in text)
