"""Templates of prompts: `{{ name }}`, `{{ name | filter(2) }}`, `{% if name %} … {% endif %}`.

No expressions and no loops: what a template inserts is text and nothing else. Any thread.
"""

import re
from collections.abc import Callable, Mapping

from desktop_rag.core.errors import AppError

_TAG = re.compile(
    r"\{\{(?P<value>[^{}]*)\}\}|\{%-?\s*(?P<word>if|else|endif)\b(?P<condition>[^%]*?)-?%\}"
)
_FILTER = re.compile(r"(?P<name>\w+)(?:\((?P<number>\d*)\))?")
_NAME = re.compile(r"\$?\w+")


def render(template: str, values: Mapping[str, str]) -> str:
    """The template with its values; an unknown name is empty. AppError for what is no template."""
    shown = [True]
    parts: list[str] = []
    end = 0
    for tag in _TAG.finditer(template):
        if all(shown):
            parts.append(template[end : tag.start()])
        end = tag.end()
        word = tag["word"]
        if word == "if":
            shown.append(_holds(tag["condition"], values))
        elif word and len(shown) == 1:
            raise AppError("A prompt isn't understood.", f"{{% {word} %}} stands alone.")
        elif word == "else":
            shown[-1] = not shown[-1]
        elif word == "endif":
            shown.pop()
        elif all(shown):
            parts.append(_filtered(tag["value"], values))
    if len(shown) > 1:
        raise AppError("A prompt isn't understood.", "An {% if %} has no {% endif %}.")
    return "".join([*parts, template[end:]])


def _holds(condition: str, values: Mapping[str, str]) -> bool:
    words = condition.split()
    is_negated = words[:1] == ["not"]
    name = words[-1] if words else ""
    if len(words) != 1 + is_negated or not _NAME.fullmatch(name):
        raise AppError("A prompt isn't understood.", f"“{{% if {condition.strip()} %}}”.")
    return bool(values.get(name.lstrip("$"))) is not is_negated


def _filtered(inside: str, values: Mapping[str, str]) -> str:
    name, *filters = (part.strip() for part in inside.split("|"))
    if not _NAME.fullmatch(name):
        raise AppError("A prompt isn't understood.", f"“{{{{ {inside.strip()} }}}}”.")
    text = values.get(name.lstrip("$"), "")
    for written in filters:
        match = _FILTER.fullmatch(written)
        if match is None or match["name"] not in _FILTERS:
            raise AppError("A prompt isn't understood.", f"There is no filter “{written}”.")
        text = _FILTERS[match["name"]](text, int(match["number"] or 0))
    return text


# --- filters -------------------------------------------------------------------------------------


def _turns(text: str) -> list[str]:
    """A conversation in the notation of flows, cut where the user speaks."""
    return [turn for turn in re.split(r'^(?=user ")', text, flags=re.MULTILINE) if turn.strip()]


def _first_turns(text: str, count: int) -> str:
    return "".join(_turns(text)[:count]).rstrip()


def _last_turns(text: str, count: int) -> str:
    return "".join(_turns(text)[-count:]).rstrip() if count else ""


def _unindented(text: str, _: int) -> str:
    return "\n".join(line.strip() for line in text.splitlines())


_FILTERS: dict[str, Callable[[str, int], str]] = {
    # The history is in this notation already.
    "colang": lambda text, _: text,
    "verbose_v1": lambda text, _: text,
    "trim": lambda text, _: text.strip(),
    "first_turns": _first_turns,
    "last_turns": _last_turns,
    "remove_text_messages": _unindented,
}
