"""What a piece of text stands under, without which it may say something else. Pure.

"Not insured are:" above the items of a list, the heading right above one, and the label of a line
whose further sentences follow: "Outlook for 2027: Sales rise. Costs fall."
"""

import re
from dataclasses import dataclass, replace

from desktop_rag.answer.writing.figure_columns import LINKS_BACK
from desktop_rag.core.text import ends_sentence

ITEM = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s+")
_LABEL = re.compile(
    r"(?:\*\*|__)?(?P<label>[^\W_](?:[^:|.!?()]|\([^:|.!?()]*\)){0,48}):(?:\*\*|__)?\s+\S"
)
_MOST_WORDS = 6
_HEADING_MARK = re.compile(r"^\s*#{1,6}\s")
_LONGEST_HEADING = 70
_LONGEST_LEAD = 200
# Outside of every item.
_OUTSIDE = -1


@dataclass(frozen=True, slots=True)
class Leads:
    """What the pieces so far say about those that follow.

    `open` are the lines that announce items, each with the indentation of the item that it is, -1
    for none. `label` begins the present line; `in_item` is set within an item.
    """

    open: tuple[tuple[int, str], ...] = ()
    label: str = ""
    in_item: bool = False

    def at(self, gap: str, *, is_item: bool) -> "Leads":
        """What holds for a piece behind the white space `gap`, a new line at the beginning."""
        if "\n" not in gap:
            return self
        indent = _indent(gap)
        if is_item:
            kept = tuple(each for each in self.open if each[0] < indent)
            return Leads(kept, in_item=True)
        return Leads() if self.in_item and not indent else replace(self, label="")

    def announced(self, piece: str) -> str:
        """The line that announces a piece that `at` was called for; "" for none."""
        is_below = self.in_item or label_of(piece)
        return self.open[-1][1] if self.open and is_below else ""

    def below(self, gap: str, piece: str, said: str) -> "Leads":
        """What holds for the next piece; `said` is this one in plain words."""
        label = label_of(piece) if "\n" in gap else self.label
        if said.endswith(":"):
            indent, kept = (_indent(gap), self.open) if self.in_item else (_OUTSIDE, ())
            return replace(self, open=(*kept, (indent, _shortened(said))), label="")
        if self.in_item or label:
            return replace(self, label=label)
        heading = heading_of(piece)
        return Leads(((_OUTSIDE, heading),) if heading else (), label)


def label_of(line: str) -> str:
    """The few words up to a colon at the beginning of a line that goes on; "" for none.

    Outside of lists most of them are names or figures: "The reason is simple: …" is a sentence.
    """
    item = ITEM.match(line)
    found = _LABEL.match(line[item.end() :] if item else line)
    said = found["label"].split() if found else []
    if not found or len(said) > _MOST_WORDS:
        return ""
    names = sum(not word[0].islower() for word in said)
    return f"{found['label'].strip()}:" if item or 2 * names >= len(said) else ""


def is_page_mark(text: str) -> bool:
    """True for what stands between two pages: a number, a link to the contents."""
    lines = [line.strip().casefold() for line in text.splitlines() if line.strip()]
    return all(line in LINKS_BACK or not any(map(str.isalpha, line)) for line in lines)


def _indent(gap: str) -> int:
    return len(gap.rpartition("\n")[2].expandtabs(4))


def heading_of(piece: str) -> str:
    """The last line of a piece where it is short and ends without a stop; "" for any other."""
    last = piece.rstrip().rpartition("\n")[2].strip()
    if label_of(last) or is_page_mark(last):
        return ""
    words = _HEADING_MARK.sub("", last).strip(" *_")
    is_heading = words[:1].isupper() or words[:1].isdigit() or bool(_HEADING_MARK.match(last))
    is_long = len(words) > _LONGEST_HEADING or "|" in words
    if (
        not is_heading
        or is_long
        or ends_sentence(words)
        or words.endswith((",", ";", "-", "–", ")"))
    ):
        return ""
    return words


def _shortened(said: str) -> str:
    if len(said) <= _LONGEST_LEAD:
        return said
    return f"… {said[-_LONGEST_LEAD:].partition(' ')[2]}"
