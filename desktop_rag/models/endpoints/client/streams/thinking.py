"""Separates a model's thinking, its calls of tools and the marks of its template from its answer
as it comes. Pure.

Thinking is found where it is in each answer, never presumed: many models think only sometimes.
"""

import json
import re
from contextlib import suppress
from functools import cache
from typing import Any, cast

from desktop_rag.models.ports import Delta

# The marks of chat templates, which many servers fail to remove. First the names of tags around
# thinking; some models mix up their closers.
_NAMES = "think thinking thought thoughts reasoning reflection scratchpad seed:think longcat_think"
_ANGLED = {f"<{name}>": f"</{name}>" for name in _NAMES.split()}
_OTHERS = {
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
    "<|start_thinking|>": "<|end_thinking|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|thinking|>": "<|/thinking|>",
}
# These closers mean something else outside of thinking.
_CHANNELS = {
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel>thought": "<channel|>",
    "<|im_start|>think": "<|im_end|>",
}
# Calls of tools that a model writes into its answer.
_CALLS = {
    **{f"<{name}>": f"</{name}>" for name in ("tool_call", "tool_calls", "function_call")},
    "[tool_calls]": "</s>",
    "<|python_tag|>": "<|eom_id|>",
    "<｜tool▁calls▁begin｜>": "<｜tool▁calls▁end｜>",
    "<|channel|>commentary to=": "<|call|>",
}
OPENERS = {
    **dict.fromkeys(_ANGLED, tuple(_ANGLED.values())),
    **{opener: (closer,) for opener, closer in (_OTHERS | _CHANNELS | _CALLS).items()},
}
# A closer without its opener ends thinking that began in the prompt, or lost its marks on the way.
STRAY_CLOSERS = (*_ANGLED.values(), *_OTHERS.values(), "assistantfinal")
_HEADS = ("<|im_start|>", "<start_of_turn>", "<|start|>", "<|header_start|>")
# Marks that begin the turn of the model.
OWN_TURNS = (
    *(f"{head}{role}" for head in _HEADS for role in ("assistant", "model")),
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|channel|>final<|message|>",
    "<|channel|>commentary<|message|>",
    "<|begin_of_solution|>",
    "<|end_of_solution|>",
)
# Marks that begin a turn of somebody else: the model goes on after its end, and plays them too.
OTHER_TURNS = (
    *(f"{head}{role}" for head in _HEADS for role in ("user", "system", "tool")),
    *(f"<|start_header_id|>{role}<|end_header_id|>" for role in ("user", "system", "tool")),
    "<|user|>",
    "<｜user｜>",
    "[inst]",
)
_TOKENS = (
    "<end_of_turn>", "<start_of_turn>", "<end_of_utterance>", "<eos>", "<bos>", "[/inst]",
    "<<sys>>", "<</sys>>",
)  # fmt: skip
# A call without marks around it: an object of these names and no others.
_CALL_START = '{"name":'
_CALL_NAMES = ({"name", "arguments"}, {"name", "parameters"})
_LONGEST_CALL = 8_000
_LITERALS = tuple(
    sorted({*OPENERS, *STRAY_CLOSERS, *OWN_TURNS, *OTHER_TURNS, *_TOKENS}, key=len, reverse=True)
)
_TOKEN = r"<[|｜][A-Za-z_▁0-9]{2,40}[|｜]>"
MARK = re.compile("|".join([*map(re.escape, _LITERALS), _TOKEN]), re.IGNORECASE)
_LONGEST = max(map(len, _LITERALS))
_BEGUN = re.compile(r"<[|｜][A-Za-z_▁0-9]{0,40}[|｜]?")
_LAST_MARK_END = re.compile(r"</s>\s*")
_FIRST_CHARS = frozenset(literal[0] for literal in _LITERALS)


def unfinished_at(text: str, marks: tuple[str, ...] = _LITERALS) -> int:
    """The position where the text may end in an unfinished mark; its length if nowhere."""
    for at in range(max(0, len(text) - _LONGEST), len(text)):
        if text[at] not in _FIRST_CHARS:
            continue
        tail = text[at:].lower()
        if any(mark.startswith(tail) and mark != tail for mark in marks):
            return at
        # The token of a turn may be the beginning of a longer mark.
        if marks is _LITERALS and (_BEGUN.fullmatch(tail) or _LAST_MARK_END.fullmatch(tail)):
            return at
    return len(text)


@cache
def closing(closers: tuple[str, ...]) -> re.Pattern[str]:
    """Finds any of these closing tags, in any case of letters."""
    return re.compile("|".join(map(re.escape, closers)), re.IGNORECASE)


_FENCES = ("```", "~~~")
_LINE_CHARS = 8
_QUOTES = frozenset("\"'“”„‘’«»()（）「」")
_MENTIONING = _QUOTES | {"`"}
_LAST_END = re.compile(r"\s*</s>\s*$")
_CITED = re.compile(r"[\[【]\^?\d")


class _Line:
    """The current line of the answer; tells code from text by backticks."""

    def __init__(self) -> None:
        self._is_in_fence = False
        self._start = ""
        self._ticks = 0
        self.last = "\n"

    @property
    def is_code(self) -> bool:
        is_fence = self._start.lstrip().startswith(_FENCES)
        return self._is_in_fence or is_fence or self._ticks % 2 == 1

    def add(self, text: str) -> None:
        for number, part in enumerate(text.split("\n")):
            if number:
                if self._start.lstrip().startswith(_FENCES):
                    self._is_in_fence = not self._is_in_fence
                self._start, self._ticks = "", 0
            self._start += part[: _LINE_CHARS - len(self._start)]
            self._ticks += part.count("`")
        self.last = text[-1:] or self.last


def _call_length(text: str) -> int:
    """The length of the bare call of a tool that the text begins with; 0 for any other text, -1
    while it may become one.
    """
    begun = "".join(text.split())[: len(_CALL_START)]
    if not begun or not _CALL_START.startswith(begun) or len(text) > _LONGEST_CALL:
        return 0
    start = len(text) - len(text.lstrip())
    with suppress(ValueError):
        value, end = json.JSONDecoder().raw_decode(text, start)
        fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        return end if set(fields) in _CALL_NAMES else 0
    return -1


class ThinkingSplitter:
    """Splits one answer. Marks may arrive in pieces, in any case of letters.

    Marks in code or quotes are part of the answer. A closing tag without an opening one turns the
    text before it into thinking: then a delta has `was_thinking`, and `has_stray_end` is True. An
    answer `may_begin_inside` its thinking if earlier ones did: its text is unsure until a tag
    comes. An answer that begins with a bare call of a tool goes on behind it, unless it
    `may_be_json`. `is_over` is True once the model plays somebody else; that text is dropped.
    """

    def __init__(self, *, may_begin_inside: bool = False, may_be_json: bool = False) -> None:
        self._may_be_json = may_be_json
        self.has_stray_end = False
        self.is_over = False
        self._is_unsure = may_begin_inside
        self._held = ""
        self._line = _Line()
        self._closers: tuple[str, ...] = ()
        self._thought: list[str] = []
        self._has_answer = self._has_cited = self._had_thinking = False
        # After a closing tag without an opening one: the blanks that came since, else None.
        self._gap: str | None = None
        self._is_tag_alone = False

    def note_thinking(self) -> None:
        """Note thinking in a field of its own, which no tag ends."""
        self._had_thinking, self._is_unsure = True, False

    def feed(self, text: str) -> list[Delta]:
        """The pieces that this text makes certain."""
        self._held += text
        return self._take(is_last=False)

    def finish(self, *, is_whole: bool = True) -> list[Delta]:
        """The rest, at the end of the stream; unclosed thinking of a whole answer is its text."""
        self._held = _LAST_END.sub("", self._held)
        deltas = self._take(is_last=True)
        is_thinking = bool(self._closers) and self._closers[0] not in _CALLS.values()
        if is_thinking and is_whole and (unclosed := "".join(self._thought).strip()):
            deltas += self._answer(unclosed)
        return deltas

    def _take(self, *, is_last: bool) -> list[Delta]:
        deltas: list[Delta] = []
        while self._held and not self.is_over:
            before = len(self._held)
            deltas += self._take_thought(is_last) if self._closers else self._take_text(is_last)
            if len(self._held) == before:
                break
        return deltas

    def _take_text(self, is_last: bool) -> list[Delta]:
        """The answer up to the next mark, or up to what may be the start of one."""
        call = 0 if self._has_answer or self._may_be_json else _call_length(self._held)
        if call > 0:
            written, self._held = self._held[:call].strip(), self._held[call:]
            self._had_thinking = True
            return [Delta(written, is_thinking=True)]
        if call and not is_last:
            return []
        end = len(self._held) if is_last else unfinished_at(self._held)
        found = MARK.search(self._held)
        if found and found.start() >= end:
            found = None
        text = self._held[: found.start() if found else end]
        deltas = self._answer(text)
        mark = found[0] if found else ""
        rest = self._held[len(text) + len(mark) :]
        is_quoted = self._line.last in _QUOTES
        if mark and is_quoted and not rest and not is_last:
            # What follows tells whether the mark is only mentioned.
            self._held = mark
            return deltas
        self._held = rest
        if mark and (self._line.is_code or (is_quoted and rest[:1] in _QUOTES)):
            return deltas + self._answer(mark)
        self._heed(mark.lower())
        return deltas

    def _heed(self, mark: str) -> None:
        if mark in OPENERS:
            self._closers, self._thought = OPENERS[mark], []
            self._had_thinking, self._is_unsure = True, False
        elif mark in STRAY_CLOSERS:
            self._gap, self._is_tag_alone = "", self._line.last == "\n"
        elif mark in OTHER_TURNS:
            # Before the answer it is a template that is repeated.
            self.is_over = self._has_answer

    def _answer(self, text: str) -> list[Delta]:
        deltas: list[Delta] = []
        if not self._has_answer:
            text, self._gap = text.lstrip(), None
        elif self._gap is not None and text:
            text, self._gap = self._gap + text, None
            if text.isspace():
                self._gap = text
                return []
            if self._ends_thinking(text):
                deltas.append(Delta("", was_thinking=True))
                self.has_stray_end = self._had_thinking = True
                text, self._is_unsure, self._line = text.lstrip(), False, _Line()
        if not text:
            return deltas
        self._has_answer = True
        self._has_cited = self._has_cited or _CITED.search(text) is not None
        self._line.add(text)
        return [*deltas, Delta(text, is_unsure=self._is_unsure)]

    def _ends_thinking(self, following: str) -> bool:
        """True when the closing tag before this text ended thinking, and is no slip.

        It then stands alone or ends a line, or nothing was cited before it.
        """
        is_alone = self._is_tag_alone or following.startswith("\n")
        is_likely = is_alone or self._is_unsure or not self._has_cited
        return is_likely and not self._had_thinking

    def _take_thought(self, is_last: bool) -> list[Delta]:
        """The thinking up to its closing tag, or up to what may be the start of that tag."""
        closer = ""
        at = len(self._held) if is_last else unfinished_at(self._held, self._closers)
        for found in closing(self._closers).finditer(self._held):
            before = "".join([*self._thought[-1:], self._held[: found.start()]])[-1:]
            after = self._held[found.end() :][:1]
            is_quoted = bool(before) and before in _MENTIONING
            if is_quoted and after and after in _MENTIONING:
                continue  # only mentioned
            at = found.start()
            closer = "" if is_quoted and not after and not is_last else found[0]
            break
        thought, self._held = self._held[:at], self._held[at + len(closer) :]
        if closer:
            self._closers = ()
        if not thought:
            return []
        self._thought.append(thought)
        return [Delta(thought, is_thinking=True)]
