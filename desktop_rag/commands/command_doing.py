"""Carries out what the person agreed to, exactly as it was shown, and takes it back.

Worker threads.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from desktop_rag.commands.command_proposals import CommandProposals
from desktop_rag.commands.program_book import ProgramBook, digest_of
from desktop_rag.commands.program_run import ProgramEnd, run_program
from desktop_rag.core.commands.command import Command, CommandKind, CommandState
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.ingest.library import Library
from desktop_rag.notes.note_files import NoteFiles


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a command, in words, and what takes it back."""

    state: CommandState
    outcome: str
    undo: Mapping[str, Any] = field(default_factory=dict[str, Any])


class CommandDoing:
    """Does commands, one call each; AppError for what failed before anything was changed."""

    def __init__(
        self,
        notes: NoteFiles,
        library: Library,
        programs: ProgramBook,
        proposals: CommandProposals,
        stop: Event,
    ) -> None:
        """`stop` ends running programs."""
        self._notes = notes
        self._library = library
        self._programs = programs
        self._proposals = proposals
        self._stop = stop

    def do(self, command: Command) -> Done:
        """Do it."""
        match command.kind:
            case CommandKind.NOTE:
                return self._save_note(command.target)
            case CommandKind.FOLDER:
                return self._add_folder(command.target)
            case CommandKind.PROGRAM:
                return self._run(command.target)

    def undo(self, command: Command) -> None:
        """Take it back; AppError when what it made was changed since."""
        if command.kind is CommandKind.NOTE:
            self._remove_note(command.undo)
        else:
            self._library.sources.remove(str(command.undo["source_id"]))

    def _save_note(self, target: Mapping[str, Any]) -> Done:
        path, text = Path(str(target["path"])), str(target["text"])
        self._notes.save_new(path, text)
        undo = {"path": str(path), "digest": hashlib.sha256(text.encode()).hexdigest()}
        return Done(CommandState.DONE, tr("Saved as {path}", path=str(path)), undo)

    def _remove_note(self, undo: Mapping[str, Any]) -> None:
        path = Path(str(undo["path"]))
        try:
            content = path.read_text(encoding="utf-8")
            if hashlib.sha256(content.encode()).hexdigest() != undo["digest"]:
                raise AppError(
                    "The note was changed since, so it stays.", f"Delete {path!s} yourself.",
                )  # fmt: skip
            path.unlink()
        except (OSError, UnicodeDecodeError) as exc:
            raise AppError(f"{path!s} can't be removed.", f"{exc}.") from exc
        self._notes.forget(path)

    def _add_folder(self, target: Mapping[str, Any]) -> Done:
        path = Path(str(target["path"]))
        if path.resolve() != path:
            raise AppError(f"{path!s} leads elsewhere now.", "Ask again.")
        source = self._library.sources.add(path)
        outcome = tr("{path} is in the library, and its files are being read", path=str(path))
        return Done(CommandState.DONE, outcome, {"source_id": source.source_id})

    def _run(self, target: Mapping[str, Any]) -> Done:
        program = self._programs.get(str(target["program_id"]))
        path, folder = Path(program.path), self._proposals.folder_of(program)
        shown = [str(argument) for argument in target["arguments"]]
        # Links and files may have been exchanged while the person looked at the proposal.
        arguments = list(self._proposals.arguments(program, target["values"]))
        was = (target["path"], target["folder"], shown, target["timeout_s"], target["digest"])
        now = (program.path, str(folder), arguments, program.timeout_s, program.digest)
        if was != now:
            raise AppError("The program was changed since it was proposed.", "Ask again.")
        if digest_of(path) != program.digest:
            raise AppError(
                f"{path!s} has changed since you registered it.",
                "Look at it, then save it again in Settings, under Commands.",
            )
        return _outcome(run_program(path, arguments, folder, program.timeout_s, self._stop),
                        program.timeout_s)  # fmt: skip


def _outcome(end: ProgramEnd, timeout_s: int) -> Done:
    if end.is_late:
        told = tr("It was ended after {seconds} seconds.", seconds=timeout_s)
    elif end.is_stopped:
        told = tr("It was ended with the app.")
    else:
        told = tr("Ended with status {status}.", status=end.status)
    is_done = end.status == 0 and not (end.is_late or end.is_stopped)
    more = tr("(The rest of its output is left out.)") if end.is_cut else ""
    outcome = "\n".join(filter(None, (told, end.output, more)))
    return Done(CommandState.DONE if is_done else CommandState.FAILED, outcome)
