"""Separates a model's thinking, its calls of tools and the marks of its template from its answer
as it comes. Pure.

Thinking is found where it is in each answer, never presumed: many models think only sometimes.
"""

import json
import re
from contextlib import suppress
from functools import cache
from typing import cast

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
_CALL_TAGS = "tool_call tool_calls function_call function_calls antml:function_calls tool_code"
_CALLS = {
    **{f"<{name}>": f"</{name}>" for name in _CALL_TAGS.split()},
    "<function=": "</function>",
    "<invoke name=": "</invoke>",
    "```tool_code": "```",
    "[tool_calls]": "</s>",
    "<|python_tag|>": "<|eom_id|>",
    "<|channel|>commentary to=": "<|call|>",
    "assistantcommentary to=": "assistantfinal",
}
# The token that begins calls; the one that ends them says so, or has a slash.
_CALL_TOKEN = re.compile(
    r"<[|｜](?:tool|function)[_▁]calls?(?:[_▁]section)?(?:[_▁](?:begin|start))?[|｜]>"
)
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
# A call without marks around it: an object of these names and no others, or several; in a fence if
# it is the whole answer.
_CALL_ARGUMENTS = {"arguments", "parameters"}
_CALL_EXTRAS = {"id", "type", "index"}
_CALL_STARTS = tuple(
    f'{opener}"{name}":'
    for opener in ("{", "[{")
    for name in ("name", "function", *_CALL_ARGUMENTS, *_CALL_EXTRAS)
)
_LONGEST_CALL = 8_000
_CALL_FENCE = re.compile(r"\s*```[a-z_]{0,12}[ \t]*(?:\n\s*|$)")
_FENCE_BEGUN = re.compile(r"\s*`{1,2}$")
_FENCE_END = re.compile(r"\s*`{0,3}\s*")
# The channels of a model whose server took away the marks between them. What is no answer goes on
# until the last channel begins.
_HARMONY = re.compile(r"\s*(?:analysis(?=[A-Z])|(?:assistant)?commentary to=)")
_HARMONY_STARTS = ("analysisA", "commentary to=", "assistantcommentary to=")
_GOES_ON = ("assistantanalysis", "assistantcommentary")
_HARMONY_ENDS = ("assistantfinal", *_GOES_ON, ".final", "!final", "?final", "\nfinal")
_LITERALS = tuple(
    sorted({*OPENERS, *STRAY_CLOSERS, *OWN_TURNS, *OTHER_TURNS, *_TOKENS}, key=len, reverse=True)
)
_TOKEN = r"<[|｜]/?[A-Za-z_▁0-9]{2,40}[|｜]>"
MARK = re.compile("|".join([*map(re.escape, _LITERALS), _TOKEN]), re.IGNORECASE)
_LONGEST = max(map(len, _LITERALS))
_BEGUN = re.compile(r"<[|｜]/?[A-Za-z_▁0-9]{0,40}[|｜]?")
_LAST_MARK_END = re.compile(r"</s>\s*")
_FIRST_CHARS = frozenset(literal[0] for literal in _LITERALS)


def unfinished_at(text: str, marks: tuple[str, ...] = _LITERALS) -> int:
    """The position where the text may end in an unfinished mark; its length if nowhere."""
    for at in range(max(0, len(text) - _LONGEST), len(text)):
        if marks is _LITERALS and text[at] not in _FIRST_CHARS:
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


def _call_length(text: str, *, is_last: bool) -> int:
    """The length of the bare call of a tool that the text begins with; 0 for any other text, -1
    while it may become one.
    """
    fence = _CALL_FENCE.match(text)
    start = fence.end() if fence else len(text) - len(text.lstrip())
    begun = "".join(text[start:].split())[:20]
    may_be_call = any(name.startswith(begun) or begun.startswith(name) for name in _CALL_STARTS)
    if len(text) > _LONGEST_CALL or not (may_be_call or _FENCE_BEGUN.match(text)):
        return 0
    with suppress(ValueError):
        value, end = json.JSONDecoder().raw_decode(text, start)
        calls = cast("list[object]", value if isinstance(value, list) else [value])
        if not calls or not all(map(_is_call, calls)):
            return 0
        if not fence:
            return end
        if not _FENCE_END.fullmatch(text, end):
            return 0
        return len(text) if is_last else -1
    return -1


def _is_call(value: object) -> bool:
    fields = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    names = set(fields) - _CALL_EXTRAS
    if names == {"function"}:
        return _is_call(fields["function"])
    return names != {"name"} and names - _CALL_ARGUMENTS == {"name"}


def _closers_of(mark: str) -> tuple[str, ...]:
    """The marks that end what this one begins, none for other marks."""
    if not _CALL_TOKEN.fullmatch(mark):
        return OPENERS.get(mark, ())
    closer = mark.replace("begin", "end").replace("start", "end")
    return (closer if closer != mark else f"{mark[:2]}/{mark[2:]}",)


class ThinkingSplitter:
    """Splits one answer. Marks may arrive in pieces, in any case of letters.

    Marks in code or quotes are part of the answer. A closing tag without an opening one turns the
    text before it into thinking: then a delta has `was_thinking`, and `has_stray_end` is True. An
    answer `may_begin_inside` its thinking if earlier ones did: its text is unsure until a tag
    comes. An answer that begins with a bare call of a tool goes on behind it, and one that is a
    call in a fence is none, unless it `may_be_json`. `is_over` is True once the model plays
    somebody else; that text is dropped.
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
        self._is_call = False
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
        is_thinking = bool(self._closers) and not self._is_call
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
        begun = None if self._has_answer else self._take_beginning(is_last)
        if begun is not None:
            return begun
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

    def _take_beginning(self, is_last: bool) -> list[Delta] | None:
        """A call or channel that the answer begins with, nothing while it may become one, and None
        for any other text.
        """
        channel = _HARMONY.match(self._held)
        if channel:
            begun, self._held = channel[0].strip(), self._held[channel.end() :]
            self._open(_HARMONY_ENDS, is_call=begun != "analysis")
            self._thought.append(begun)
            return [Delta(begun, is_thinking=True)]
        call = 0 if self._may_be_json else _call_length(self._held, is_last=is_last)
        if call > 0:
            written, self._held = self._held[:call].strip(), self._held[call:]
            self._had_thinking = True
            return [Delta(written, is_thinking=True)]
        begun = self._held.lstrip()
        is_open = call or any(start.startswith(begun) for start in _HARMONY_STARTS)
        return [] if is_open and not is_last else None

    def _open(self, closers: tuple[str, ...], *, is_call: bool) -> None:
        self._closers, self._thought, self._is_call = closers, [], is_call
        self._had_thinking, self._is_unsure = True, False

    def _heed(self, mark: str) -> None:
        if closers := _closers_of(mark):
            self._open(closers, is_call=mark in _CALLS or mark not in OPENERS)
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
        if closer.lower() in _GOES_ON:
            self._is_call |= "commentary" in closer.lower()
            thought += closer
        elif closer:
            self._closers = ()
        if not thought:
            return []
        self._thought.append(thought)
        return [Delta(thought, is_thinking=True)]
