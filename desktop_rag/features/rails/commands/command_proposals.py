"""Works out what a command would do before it is proposed. Changes nothing. Worker threads."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.features.rails.commands.command import Command, CommandKind
from desktop_rag.features.rails.commands.registered_program import (
    ProgramBook,
    RegisteredProgram,
    SlotKind,
    checked_text,
)
from desktop_rag.features.schedules.notes.notes import NoteFiles, free_path, persons_note

_LONGEST_TOPIC = 120
_MOST_NOTE_CHARS = 200_000
_PATH = re.compile(r"[\"“'„](?P<quoted>[^\"”“'„]+)[\"”“']|(?P<bare>(?:~|[A-Za-z]:\\|/)\S*)")
_ADD = re.compile(r"\s*(?:please\s+)?add\s+(?:the\s+|my\s+)?folder\b(.+)", re.IGNORECASE)
_SAVE = re.compile(
    r"\s*(?:please\s+)?(?:save|keep)\s+(?:this|that|it|the answer|this answer|that answer)"
    r"\s+(?:as|in)\s+a\s+note(?:\s+(?:called|named|about)\s+(?P<topic>.+?))?[.!\s]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Answered:
    """The last answer of the chat: what was asked, what was said, a line for each cited source."""

    question: str
    text: str
    sources: Sequence[str] = ()


class CommandProposals:
    """Makes commands that could be proposed; AppError, with the reason, where there can be none."""

    def __init__(self, programs: ProgramBook, notes: NoteFiles, work: Path) -> None:
        """Programs without a folder get one below `work`."""
        self._programs = programs
        self._notes = notes
        self._work = work

    def of(
        self, action: str, values: Mapping[str, Any], words: str, last: Answered | None
    ) -> Command:
        """The command of an action with these values, asked for in these `words`."""
        given = {name: str(value) for name, value in values.items()}
        match action:
            case "save_note":
                return self._note(given.get("topic", ""), last)
            case "add_folder":
                return self._folder(given.get("path", "") or _path_in(words))
            case "run_program":
                name = given.pop("name", "")
                program = self._programs.named(name) if name else self._said(words)[0]
                return self._program(program, given or (program.values_in(words) or {}))
            case "do_as_asked":
                return self._as_asked(words, last)
            case _:
                raise AppError(f"There is no command “{action}”.")

    def is_asked_for(self, words: str) -> bool:
        """Whether this sentence asks for a command word for word."""
        if _SAVE.fullmatch(words) or (_ADD.fullmatch(words) and _PATH.search(words)):
            return True
        return any(program.values_in(words) is not None for program in self._programs.all())

    def _as_asked(self, words: str, last: Answered | None) -> Command:
        if match := _SAVE.fullmatch(words):
            return self._note(match["topic"] or "", last)
        if _ADD.fullmatch(words):
            return self._folder(_path_in(words))
        program, values = self._said(words)
        return self._program(program, values)

    def _said(self, words: str) -> tuple[RegisteredProgram, dict[str, str]]:
        found = [
            (program, values)
            for program in self._programs.all()
            if (values := program.values_in(words)) is not None
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            raise AppError(
                "No registered program is run by this sentence.",
                "Settings, under Commands, lists the sentences of your programs.",
            )
        names = ", ".join(program.name for program, _ in found)
        raise AppError(
            f"This sentence means several programs: {names}.",
            "Say it in the words of one of them: Settings, under Commands, lists them.",
        )

    def _note(self, topic: str, last: Answered | None) -> Command:
        if last is None or not last.text.strip():
            raise AppError("There is no answer to save yet.", "Ask something first.")
        topic = " ".join((topic or last.question).split())[:_LONGEST_TOPIC].strip(" .!?\"“”'")
        path = free_path(self._notes.suggested_folder(), topic)
        text = persons_note(topic, last.text[:_MOST_NOTE_CHARS], last.sources)
        details = [(tr("New file"), str(path))]
        if not self._notes.is_searchable(path.parent):
            details.append((tr("Added to the library"), str(path.parent)))
        details.append((tr("Content"), text))
        title = tr("Save the note “{topic}”", topic=topic)
        target = {"path": str(path), "text": text}
        return Command("", CommandKind.NOTE, title, "", tuple(details), target, 0.0)

    def _folder(self, written: str) -> Command:
        if not written:
            raise AppError("Which folder?", "Write its path, such as: add the folder ~/Documents")
        path = Path(written).expanduser()
        if not path.is_absolute() or not path.is_dir():
            raise AppError(f"{written} is no folder.", "Write its whole path, as ~/Documents.")
        path = path.resolve()
        title = tr("Add the folder “{name}” to the library", name=path.name or str(path))
        details = ((tr("Folder"), str(path)),)
        return Command("", CommandKind.FOLDER, title, "", details, {"path": str(path)}, 0.0)

    def _program(self, program: RegisteredProgram, values: Mapping[str, str]) -> Command:
        arguments = self.arguments(program, values)
        folder = self.folder_of(program)
        shown = "\n".join(_literally(argument) for argument in arguments)
        details = (
            (tr("Program"), program.path),
            (tr("Arguments, one a line"), shown or tr("none")),
            (tr("Works in"), str(folder)),
            (tr("Ends after"), tr("{seconds} seconds at most", seconds=program.timeout_s)),
        )
        target = {
            "program_id": program.program_id, "path": program.path, "digest": program.digest,
            "arguments": list(arguments), "folder": str(folder), "timeout_s": program.timeout_s,
            "values": dict(values),
        }  # fmt: skip
        title = tr("Run “{name}”", name=program.name)
        return Command("", CommandKind.PROGRAM, title, "", details, target, 0.0)

    def folder_of(self, program: RegisteredProgram) -> Path:
        """The folder that a program works in."""
        return Path(program.folder) if program.folder else self._work / program.program_id

    def arguments(self, program: RegisteredProgram, values: Mapping[str, str]) -> tuple[str, ...]:
        """The arguments with these values; AppError for a value that its slot doesn't take."""
        slots = program.slots
        if unknown := sorted(set(values) - set(slots)):
            raise AppError(f"“{program.name}” has no slot {unknown[0]}.")
        if missing := [name for name in slots if not values.get(name)]:
            hint = f"Say: {program.said_by[0]}"
            raise AppError(f"A value is missing: {', '.join(missing)}.", hint)
        folder = self.folder_of(program)
        filled = {name: _value(name, values[name], kind, folder) for name, kind in slots.items()}
        return program.arguments_with(filled)


def _value(name: str, value: str, kind: SlotKind, folder: Path) -> str:
    value = checked_text(name, value, kind)
    if kind in (SlotKind.TEXT, SlotKind.NUMBER):
        return value
    path = (folder / Path(value).expanduser()).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise AppError(
            f"{value} is not in the folder of this program.",
            f"It may be given what lies in {folder!s}.",
        )
    if not (path.is_file() if kind is SlotKind.FILE else path.is_dir()):
        raise AppError(f"{path!s} does not exist.", "Check the name.")
    return str(path)


def _path_in(words: str) -> str:
    match = _PATH.search(words)
    return (match["quoted"] or match["bare"].rstrip(".!?,;")) if match else ""


def _literally(argument: str) -> str:
    return argument if argument.isprintable() and argument.strip() else repr(argument)
