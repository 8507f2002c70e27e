"""The prompts of the three stages, their templates, and what their answers say. Any thread."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any

import yaml

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import resources_dir
from desktop_rag.features.rails.rail_events import (
    ActionFinished,
    ActionStatus,
    BotIntent,
    BotSaid,
    RailEvent,
    UserIntent,
    UserSaid,
)

_TAG = re.compile(
    r"\{\{(?P<value>[^{}]*)\}\}|\{%-?\s*(?P<word>if|else|endif)\b(?P<condition>[^%]*?)-?%\}"
)
_FILTER = re.compile(r"(?P<name>\w+)(?:\((?P<number>\d*)\))?")
_NAME = re.compile(r"\$?\w+")


def render(template: str, values: Mapping[str, str]) -> str:
    """Fill in a template; an unknown name is empty. AppError for what is no template.

    Templates have `{{ name }}`, `{{ name | filter(2) }}` and `{% if name %} … {% endif %}`, but no
    expressions and no loops: they insert nothing but text.
    """
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


def _turns(text: str) -> list[str]:
    """A conversation in the notation of flows, split where the user speaks."""
    return [turn for turn in re.split(r'^(?=user ")', text, flags=re.MULTILINE) if turn.strip()]


_FILTERS: dict[str, Callable[[str, int], str]] = {
    # The history is in this notation already.
    "colang": lambda text, _: text,
    "verbose_v1": lambda text, _: text,
    "trim": lambda text, _: text.strip(),
    "first_turns": lambda text, count: "".join(_turns(text)[:count]).rstrip(),
    "last_turns": lambda text, count: "".join(_turns(text)[-count:]).rstrip() if count else "",
    "remove_text_messages": lambda text, _: "\n".join(map(str.strip, text.splitlines())),
}


REMOVE_LAST_MESSAGE = "remove_last_message"
_LONGEST_FORM = 120
# The model is shown the end of a long conversation.
_MOST_TURNS = 10


@cache
def _defaults() -> Mapping[str, Any]:
    """The app's own prompts, in the form in which a configuration has others."""
    file = resources_dir() / "rails" / "language" / "prompts.yml"
    return yaml.safe_load(file.read_text("utf-8"))


class Prompts:
    """The prompts of a configuration; its own templates replace the defaults."""

    def __init__(self, instruction: str, sample: str, templates: Mapping[str, str]) -> None:
        own = _defaults()
        self._instruction = (instruction or own["instructions"][0]["content"]).strip()
        self._sample = (sample or own["sample_conversation"]).strip()
        self._replaced = frozenset(templates)
        self._templates = {p["task"]: p["content"] for p in own["prompts"]} | {**templates}

    def has_own(self, task: str) -> bool:
        """Whether the configuration brings a template for this task."""
        return task in self._replaced

    def write(self, task: str, **values: str) -> str:
        """The prompt of a task; AppError when its template isn't understood."""
        known = {
            "general_instructions": self._instruction,
            "general_instruction": self._instruction,
            "sample_conversation": self._sample,
            **values,
        }
        return render(self._templates[task], known).strip("\n")


# --- the notation --------------------------------------------------------------------------------


def history(events: Sequence[RailEvent]) -> str:
    """The conversation in the notation of flows: each sentence with its form."""
    lines: list[list[str]] = []
    for event in _latest(events):
        match event:
            case UserSaid(content):
                lines.append([f'user "{_one_line(content)}"'])
            case UserIntent(intent) if lines:
                lines[-1].append(f"  {intent}")
            case BotIntent(intent, instruction):
                told = [f"# {line}" for line in instruction.splitlines()]
                lines.append([*told, f"bot {intent}"])
            case BotSaid(content) if lines:
                lines[-1].append(f'  "{_one_line(content)}"')
            case ActionFinished(name, ActionStatus.SUCCESS) if name == REMOVE_LAST_MESSAGE:
                lines = _without_last_message(lines)
            case _:
                pass
    return "\n".join(line for turn in lines for line in turn)


def _latest(events: Sequence[RailEvent]) -> Sequence[RailEvent]:
    begins = (at for at in range(len(events) - 1, -1, -1) if isinstance(events[at], UserSaid))
    return events[next(islice(begins, _MOST_TURNS - 1, None), 0) :]


def user_examples(examples: Iterable[tuple[str, str]]) -> str:
    """Sentences of users, each with its form."""
    return "\n\n".join(f'user "{_one_line(text)}"\n  {form}' for text, form in examples)


def bot_examples(examples: Iterable[tuple[str, str]]) -> str:
    """Forms of the bot, each with a text."""
    return "\n\n".join(f'bot {form}\n  "{_one_line(text)}"' for form, text in examples)


def _without_last_message(lines: list[list[str]]) -> list[list[str]]:
    """Without the bot's last message since the user spoke, and what followed it."""
    for at in range(len(lines) - 1, -1, -1):
        if lines[at][0].startswith('user "'):
            break
        if any(line.startswith('  "') for line in lines[at]):
            return lines[:at]
    return lines


def _one_line(text: str) -> str:
    return " ".join(text.replace('"', "'").split())


# --- answers -------------------------------------------------------------------------------------


def read_form(answer: str) -> str:
    """The canonical form in a model's answer: its first line without notation."""
    for line in answer.strip().splitlines():
        form = line.strip().strip('"`').strip()
        for word in ("user intent:", "intent:", "user ", "bot "):
            form = form[len(word) :].strip() if form.casefold().startswith(word) else form
        if form and not form.startswith("#"):
            return " ".join(form.split())[:_LONGEST_FORM]
    return ""


def read_message(answer: str) -> str:
    """The bot's words in a model's answer, up to where it invents the next turn."""
    text = answer.strip()
    if text.casefold().startswith("bot "):
        text = text.partition("\n")[2].strip() or text
    if text.startswith('"'):
        inside, mark, _ = text[1:].partition('"')
        text = inside if mark else text[1:]
    return text.partition('\nuser "')[0].strip()


def read_yes(answer: str) -> bool | None:
    """Yes or no; None when the answer says neither."""
    word = answer.strip().casefold().lstrip('"*').split(maxsplit=1)
    first = word[0].strip('.,!:;"*') if word else ""
    return {"yes": True, "no": False}.get(first)
