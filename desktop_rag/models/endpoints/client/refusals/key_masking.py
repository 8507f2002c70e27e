"""Removes a key from what a server says, also if it is escaped, cut or partly starred. Pure."""

import html
import re
from collections.abc import Callable
from urllib.parse import unquote

_MASK = "…"
# So many characters in a row that are also in the key are a part of it.
_PART_CHARS = 8
# A shorter key is no secret, and removing it would garble the message.
_SHORTEST_KEY_CHARS = 4
# "sk-ab****wxyz", "sk-…wxyz", "gsk_abc...": what servers make of keys.
_STARRED = re.compile(
    r"[\w\-.:/+=]{0,40}(?:\*{3,}|[•●]{3,}|(?<![a-zA-Z])x{4,}|X{4,})[\w\-.:/+=*•●]*"
)
_CUT = re.compile(r"\b[\w\-]{4,60}(?:\.{3}|…)[\w\-]*")
_PREFIXED = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|csk|nvapi|AIza|fw|key|r8|pplx|tgp|fpk)[-_]?[\w\-]{16,}"
)
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\([^\w\s])")


def without_key(said: str, key: str) -> str:
    """The message without the key or parts of it, and without anything that looks like one."""
    key = key.strip()
    if len(key) >= _SHORTEST_KEY_CHARS:
        plain = next((d for d in (decode(said) for decode in _DECODERS) if key in d), said)
        said = _without_parts(plain, key)
    said = _STARRED.sub(_MASK, said)
    said = _PREFIXED.sub(_MASK, said)
    return _CUT.sub(lambda found: _MASK if _is_of(found[0], key) else found[0], said)


def _parts(key: str) -> set[str]:
    size = min(len(key), _PART_CHARS)
    return {key[at : at + size] for at in range(len(key) - size + 1)}


def _without_parts(said: str, key: str) -> str:
    """The message with a mask in place of each run of characters that are also in the key."""
    parts, size = _parts(key), min(len(key), _PART_CHARS)
    kept: list[str] = []
    masked_until = 0
    for at, char in enumerate(said):
        if said[at : at + size] in parts:
            kept += [_MASK] if at >= masked_until else []
            masked_until = at + size
        if at >= masked_until:
            kept.append(char)
    return "".join(kept)


def _is_of(shown: str, key: str) -> bool:
    """True when the beginning or end of this abbreviation is that of the key."""
    head, _, tail = re.sub(r"\.{3}|…", "\0", shown).partition("\0")
    return (len(head) >= 3 and key.startswith(head)) or (len(tail) >= 3 and key.endswith(tail))  # noqa: PLR2004


def _unescaped(said: str) -> str:
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[2], said)


_DECODERS: tuple[Callable[[str], str], ...] = (str, unquote, html.unescape, _unescaped)
