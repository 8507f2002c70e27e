"""Programs that the person registered: their path and arguments with slots, and the file of all.

There is no shell: each line of the template is one argument, and a slot's value stays within it. No
backup contains the file: nobody else's must bring a program. Any thread; the file, worker threads.
"""

import hashlib
import json
import os
import re
import stat
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import ClassVar

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import read_object, write_atomically
from desktop_rag.core.records import encoded, readable_rows

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


_MOST_PROGRAMS = 100
_CHUNK = 1 << 20
# Windows hands these to its shell, with the arguments as a text.
_OF_A_SHELL = {".bat", ".cmd"}


class ProgramBook:
    """Registers programs with the digest of their files."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = Lock()

    def all(self) -> list[RegisteredProgram]:
        """All programs, by name."""
        found: list[RegisteredProgram] = []
        for program in readable_rows(RegisteredProgram, read_object(self._file).get("programs")):
            with suppress(AppError):  # changed by hand into something else: it is not run
                checked_program(program)
                found.append(program)
        return sorted(found, key=lambda program: (program.name.casefold(), program.program_id))

    def get(self, program_id: str) -> RegisteredProgram:
        """The program; AppError when it was removed."""
        for program in self.all():
            if program.program_id == program_id:
                return program
        raise AppError(
            "This program is no longer registered.",
            "Settings, under Commands, lists those that are.",
        )

    def named(self, name: str) -> RegisteredProgram:
        """The program of this name, in any case; AppError when there is none."""
        for program in self.all():
            if program.name.casefold() == name.strip().casefold():
                return program
        raise AppError(
            f"No program “{name}” is registered.", "Register it in Settings, under Commands."
        )

    def put(self, program: RegisteredProgram) -> RegisteredProgram:
        """Register a program, or change the one with its id. AppError when it can't be."""
        program = replace(
            program,
            program_id=program.program_id or uuid.uuid4().hex,
            name=" ".join(program.name.split()),
        )
        checked_program(program)
        path = _checked_path(program.path)
        folder = program.folder and str(_checked_folder(program.folder))
        program = replace(program, path=str(path), folder=folder, digest=digest_of(path))
        with self._lock:
            others = [each for each in self.all() if each.program_id != program.program_id]
            if any(each.name.casefold() == program.name.casefold() for each in others):
                raise AppError("Another program has this name.", "Choose another name.")
            if len(others) >= _MOST_PROGRAMS:
                raise AppError("No more programs can be registered.", "Remove one first.")
            self._write([*others, program])
        return program

    def remove(self, program_id: str) -> None:
        """Forget a program; its file is not touched."""
        with self._lock:
            self._write([each for each in self.all() if each.program_id != program_id])

    def _write(self, programs: list[RegisteredProgram]) -> None:
        content = {"programs": encoded(programs)}
        with os_error_as("The programs can't be kept.", self._file):
            write_atomically(self._file, json.dumps(content, ensure_ascii=False, indent=1))


def digest_of(path: Path) -> str:
    """The hash of a program's file; AppError when it can't be read."""
    digest = hashlib.sha256()
    with os_error_as(f"{path} can't be read."), path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _checked_path(written: str) -> Path:
    """The file of a program; AppError for what is none, or what others could replace."""
    path = Path(written).expanduser()
    if not path.is_absolute():
        raise AppError("Give the whole path of the program.", "Such as /usr/bin/rsync.")
    path = path.resolve()
    if path.suffix.casefold() in _OF_A_SHELL:
        raise AppError(
            "Batch files are run by a shell, which reads the arguments anew.",
            "Register the program itself.",
        )
    if not path.is_file() or not os.access(path, os.X_OK):
        raise AppError(f"{path!s} is no program that you may run.", "Choose its program file.")
    if os.name == "posix" and path.stat().st_mode & stat.S_IWOTH:
        raise AppError(
            f"Everybody on this computer may change {path!s}.", "Take that right from others first."
        )
    return path


def _checked_folder(written: str) -> Path:
    folder = Path(written).expanduser()
    if not folder.is_absolute() or not folder.is_dir():
        raise AppError(f"{written} is no folder.", "Write its whole path, as ~/Documents.")
    return folder.resolve()
