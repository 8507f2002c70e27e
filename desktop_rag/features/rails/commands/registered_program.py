"""Programs that the person registered: their path, and arguments with slots. Pure.

There is no shell: each line of the template is one argument, and a slot's value stays within it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from desktop_rag.core.errors import AppError

LONGEST_NAME = 60
LONGEST_VALUE = 1_000
MOST_SECONDS = 600
MOST_SLOTS = 5
_MOST_ARGUMENTS = 100
_LONGEST_SENTENCE = 500
_LONGEST_TEMPLATE = 10_000
_SLOT = re.compile(r"\{([a-z_][a-z0-9_]*)(?::(text|number|file|folder))?\}")
_IN_SENTENCE = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
_MARKS = (("“", "”"), ('"', '"'), ("'", "'"), ("«", "»"), ("„", "“"))


class SlotKind(StrEnum):
    """What a slot takes. Files and folders exist, and lie in the folder of the program."""

    TEXT = "text"
    NUMBER = "number"
    FILE = "file"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class RegisteredProgram:
    """A program with its arguments, in which `{name:kind}` is a slot.

    The person says one of `sentences` to run it, with `{name}` for each slot. It works in
    `folder`, "" for one of its own. `digest` is the hash of its file when it was registered.
    """

    needed: ClassVar = frozenset({"arguments", "sentences"})
    program_id: str
    name: str
    path: str
    arguments: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    folder: str = ""
    timeout_s: int = 60
    digest: str = ""

    @property
    def slots(self) -> dict[str, SlotKind]:
        """The kinds of the slots by their names, in the order of the arguments."""
        found: dict[str, SlotKind] = {}
        for argument in self.arguments:
            for name, kind in _SLOT.findall(argument):
                found.setdefault(name, SlotKind(kind or "text"))
        return found

    @property
    def said_by(self) -> tuple[str, ...]:
        """The sentences; without any, `run` with the name and the slots."""
        default = " ".join(["run", self.name, *(f"{{{name}}}" for name in self.slots)])
        return self.sentences or (default,)

    def arguments_with(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """The arguments with filled slots; AppError where a slot would make one an option."""
        return tuple(_filled(argument, values) for argument in self.arguments)

    def values_in(self, sentence: str) -> dict[str, str] | None:
        """The values of the slots in the person's sentence; None when it means something else."""
        said = " ".join(sentence.split())
        if len(said) > _LONGEST_SENTENCE:
            return None
        for pattern in self.said_by:
            for form in (said.rstrip(".!? "), said):
                if match := re.fullmatch(_expression(pattern), form, re.IGNORECASE):
                    return {name: _bare(value) for name, value in match.groupdict().items()}
        return None


def checked_program(program: RegisteredProgram) -> None:
    """AppError, with the way out, for what can't be registered."""
    if not program.name or len(program.name) > LONGEST_NAME or not program.name.isprintable():
        raise AppError("The program needs a name.", "A few words, such as “Backup of my photos”.")
    if not 1 <= program.timeout_s <= MOST_SECONDS:
        most = MOST_SECONDS  # the name is in the translations
        raise AppError(f"A program may run for 1 to {most} seconds.")
    arguments, sentences = program.arguments, program.sentences
    if len(arguments) > _MOST_ARGUMENTS or sum(map(len, arguments)) > _LONGEST_TEMPLATE:
        raise AppError("These are too many arguments.", "Put them into a script.")
    if any("\0" in text for text in (*arguments, *sentences, program.path, program.folder)):
        raise AppError("A character can't be used here.")
    slots = program.slots
    if len(slots) > MOST_SLOTS:
        raise AppError(f"A program may have {MOST_SLOTS} slots.")
    for sentence in sentences:
        named = _IN_SENTENCE.findall(sentence)
        if sorted(named) != sorted(slots):
            raise AppError(
                f"“{sentence}” must name each slot once.",
                f"Slots: {', '.join(f'{{{name}}}' for name in slots) or '–'}",
            )
        if not _IN_SENTENCE.sub("", sentence).strip(" .!?"):
            raise AppError("A sentence needs words besides its slots.")


def checked_text(name: str, value: str, kind: SlotKind) -> str:
    """The value of a slot for a text or a number; AppError for what is neither."""
    value = value.strip()
    if not value or len(value) > LONGEST_VALUE or not value.isprintable():
        raise AppError(
            f"“{name}” has no usable value.",
            f"It may have up to {LONGEST_VALUE} characters, on one line.",
        )
    if kind is SlotKind.NUMBER and not re.fullmatch(r"-?[0-9]{1,15}([.][0-9]{1,15})?", value):
        raise AppError(f"“{name}” must be a number, and is “{value}”.")
    return value


def _filled(argument: str, values: Mapping[str, str]) -> str:
    filled = _SLOT.sub(lambda match: values[match[1]], argument)
    begins = _SLOT.match(argument)
    is_number = begins is not None and begins[2] == "number" and begins.end() == len(argument)
    if begins and filled.startswith(("-", "/" if _is_plain(begins) else "-")) and not is_number:
        raise AppError(
            f"“{filled}” would be read as an option.",
            "A value must not begin with a dash or a slash.",
        )
    return filled


def _is_plain(slot: re.Match[str]) -> bool:
    """Whether a slot takes words, which programs of Windows read as options after a slash."""
    return (slot[2] or "text") == "text"


def _expression(sentence: str) -> str:
    """The regular expression of a sentence, with a group for each slot."""
    parts: list[str] = []
    done = 0
    text = " ".join(sentence.split()).rstrip(".!? ")
    for match in _IN_SENTENCE.finditer(text):
        parts += [re.escape(text[done : match.start()]), f"(?P<{match[1]}>.+?)"]
        done = match.end()
    return "".join([*parts, re.escape(text[done:])])


def _bare(value: str) -> str:
    """The value without the quotation marks around it."""
    for begin, end in _MARKS:
        if len(value) > 1 and value.startswith(begin) and value.endswith(end):
            return value[1:-1]
    return value
