"""The marks that chat templates put into the text of models: thinking, turns, other tokens. Pure.

A server should take them off. Many don't, or not all of them, or not always.
"""

import re
from functools import cache

# How the tags around thinking are written in the templates of models; closers of a group are mixed
# up by some of them.
_NAMES = "think thinking thought thoughts reasoning reflection scratchpad seed:think longcat_think"
_ANGLED = {f"<{name}>": f"</{name}>" for name in _NAMES.split()}
_OTHERS = {
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
    "<|start_thinking|>": "<|end_thinking|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|thinking|>": "<|/thinking|>",
}
# These closers mean something else when there is no thinking.
_CHANNELS = {
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel>thought": "<channel|>",
    "<|im_start|>think": "<|im_end|>",
}
OPENERS = {
    **dict.fromkeys(_ANGLED, tuple(_ANGLED.values())),
    **{opener: (closer,) for opener, closer in (_OTHERS | _CHANNELS).items()},
}
# A closer without its opener ends thinking that began in the prompt.
STRAY_CLOSERS = (*_ANGLED.values(), *_OTHERS.values())
_HEADS = ("<|im_start|>", "<start_of_turn>", "<|start|>", "<|header_start|>")
# What begins the turn of the model.
OWN_TURNS = (
    *(f"{head}{role}" for head in _HEADS for role in ("assistant", "model")),
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|channel|>final<|message|>",
    "<|channel|>commentary<|message|>",
    "<|begin_of_solution|>",
    "<|end_of_solution|>",
)
# What begins a turn of somebody else: the model goes on after its end, and plays them too.
OTHER_TURNS = (
    *(f"{head}{role}" for head in _HEADS for role in ("user", "system", "tool")),
    *(f"<|start_header_id|>{role}<|end_header_id|>" for role in ("user", "system", "tool")),
    "<|user|>",
    "<｜user｜>",
    "[inst]",
)
_TOKENS = (
    "<end_of_turn>",
    "<start_of_turn>",
    "<end_of_utterance>",
    "<eos>",
    "<bos>",
    "[/inst]",
    "<<sys>>",
    "<</sys>>",
)
_LITERALS = tuple(
    sorted(
        {*OPENERS, *STRAY_CLOSERS, *OWN_TURNS, *OTHER_TURNS, *_TOKENS},
        key=len,
        reverse=True,
    )
)
_TOKEN = r"<[|｜][A-Za-z_▁0-9]{2,40}[|｜]>"
MARK = re.compile("|".join([*map(re.escape, _LITERALS), _TOKEN]), re.IGNORECASE)
_LONGEST = max(map(len, _LITERALS))
_BEGUN = re.compile(r"<[|｜][A-Za-z_▁0-9]{0,40}[|｜]?")
_LAST_END = re.compile(r"</s>\s*")
_FIRST_CHARS = frozenset(literal[0] for literal in _LITERALS)


def unfinished_at(text: str, marks: tuple[str, ...] = _LITERALS) -> int:
    """Where the end of the text may be the beginning of a mark; its length when it is none."""
    for at in range(max(0, len(text) - _LONGEST), len(text)):
        if text[at] not in _FIRST_CHARS:
            continue
        tail = text[at:].lower()
        if any(mark.startswith(tail) and mark != tail for mark in marks):
            return at
        # The token of a turn may be the beginning of a longer mark.
        if marks is _LITERALS and (_BEGUN.fullmatch(tail) or _LAST_END.fullmatch(tail)):
            return at
    return len(text)


@cache
def closing(closers: tuple[str, ...]) -> re.Pattern[str]:
    """Finds any of these closing tags, in any case of letters."""
    return re.compile("|".join(map(re.escape, closers)), re.IGNORECASE)
