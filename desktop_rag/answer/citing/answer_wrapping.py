"""Takes off what a model's template or habit puts around an answer. Pure, any thread.

A code fence around the whole answer would show it as code; the tokens of a chat template are no
part of it.
"""

import re

from desktop_rag.answer.citing.citations import normalise
from desktop_rag.core.markup.formulas import verbatim_spans

_TOKEN = (
    r"<[|｜][A-Za-z_▁0-9]{2,40}[|｜]>|<(?:start|end)_of_turn>(?:model\b)?|\[/?INST\]"
    r"|<</?SYS>>|</s>(?=\s*\Z)|\ue200[^\ue201\n]{0,200}\ue201"
)
_TOKENS = re.compile(_TOKEN)
_LAST_TOKENS = re.compile(rf"(?:\s*(?:{_TOKEN}))+\s*\Z")
_FENCED = re.compile(
    r"\s*(?P<fence>`{3,}|~{3,})(?P<kind>[ \t]*\w*)[ \t]*\n(?P<body>.*)\n(?P=fence)\s*", re.S
)
_PROSE_KINDS = ("markdown", "md")
_PLAIN_KINDS = ("", "text", "txt", "plaintext", "plain")


def unwrapped(text: str, known: frozenset[int]) -> str:
    """The answer without a fence around the whole and without tokens of a template.

    A fence without a language stays unless there are citations of `known` sources in it: it may be
    the code or the text that was asked for.
    """
    end = _LAST_TOKENS.search(text[-400:])
    if end:
        text = text[: len(text) - len(end[0])]
    text = _without_fence(text, known)
    if not _TOKENS.search(text):
        return text
    code = verbatim_spans(text)
    parts: list[str] = []
    done = 0
    for start, stop in [*code, (len(text), len(text))]:
        parts += [_TOKENS.sub("", text[done:start]), text[start:stop]]
        done = stop
    return "".join(parts)


def _without_fence(text: str, known: frozenset[int]) -> str:
    found = _FENCED.fullmatch(text)
    if found is None:
        return text
    body, kind = found["body"], found["kind"].strip().lower()
    # Two blocks of code with text between them are no fence around the whole.
    fences = [line for line in body.split("\n") if line.startswith(found["fence"])]
    if len(fences) % 2 or (fences and fences[0] == found["fence"]):
        return text
    cites = normalise(body, known)[0] != normalise(body, frozenset())[0]
    return body if kind in _PROSE_KINDS or (kind in _PLAIN_KINDS and cites) else text
