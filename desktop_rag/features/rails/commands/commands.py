"""Commands with consent: proposed, decided by the person, carried out once, kept.

Worker threads. Nothing is done before `decide` is told that the person agreed.
"""

import contextlib
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from threading import Event, Lock
from typing import Any

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import persons_mask, read_object, write_atomically
from desktop_rag.core.language.translation import tr
from desktop_rag.core.paths import Home
from desktop_rag.features.rails.commands.command import (
    MOST_KEPT,
    Command,
    CommandKind,
    CommandsChanged,
    CommandState,
    from_content,
    merged,
    settled,
    to_text,
)
from desktop_rag.features.rails.commands.command_proposals import CommandProposals
from desktop_rag.features.rails.commands.registered_program import ProgramBook, digest_of
from desktop_rag.features.schedules.notes.notes import NoteFiles
from desktop_rag.ingest.library import Library

MOST_OUTPUT_BYTES = 64 * 1024
_CHUNK = 8192
_LOOK_S = 0.05
# A program that is gone may have left another one that holds its output open.
_AFTER_END_S = 1.0
_KEPT_NAMES = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "USER", "LOGNAME")
_KEPT_ON_WINDOWS = ("SYSTEMROOT", "SYSTEMDRIVE", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP",
                    "TMP", "COMSPEC", "PATHEXT")  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How a program ended: its exit status, its output, whether a limit ended it."""

    status: int
    output: str
    is_cut: bool = False
    is_late: bool = False
    is_stopped: bool = False


def run_program(
    path: Path, arguments: Sequence[str], folder: Path, timeout_s: float, stop: threading.Event
) -> ProgramEnd:
    """Run a program without a shell, and wait; it is ended after `timeout_s` or when `stop` is set.

    Its children end with it, where the system has process groups. AppError when it can't start.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with persons_mask():
            process = subprocess.Popen(
                [str(path), *arguments],
                cwd=folder,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                creationflags=_creation_flags(),
            )
    except (OSError, ValueError) as exc:
        reason = getattr(exc, "strerror", None) or str(exc)
        raise AppError(f"{path!s} can't be started.", f"{reason}.") from exc
    assert isinstance(process.stdout, BufferedReader)
    reader = _Reader(process.stdout)
    ends = time.monotonic() + timeout_s
    while process.poll() is None and time.monotonic() < ends and not stop.wait(_LOOK_S):
        pass
    is_over = process.poll() is not None
    _end(process)
    status = process.wait()
    reader.join(_AFTER_END_S)
    is_stopped = not is_over and stop.is_set()
    return ProgramEnd(
        status, reader.text, reader.is_cut, not is_over and not is_stopped, is_stopped
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        process.kill()
        return
    # There are none when all of them have ended.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


class _Reader(threading.Thread):
    """Reads the output to its end, and keeps its beginning."""

    def __init__(self, output: BufferedReader) -> None:
        super().__init__(name="program-output", daemon=True)
        self._output = output
        self._kept = bytearray()
        self.is_cut = False
        self.start()

    @property
    def text(self) -> str:
        """The kept output without control characters."""
        text = bytes(self._kept).decode("utf-8", "replace").replace("\r\n", "\n")
        return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text).strip()

    def run(self) -> None:
        with self._output:
            while chunk := self._output.read1(_CHUNK):
                room = MOST_OUTPUT_BYTES - len(self._kept)
                self._kept += chunk[:room]
                self.is_cut = self.is_cut or len(chunk) > room


def _environment() -> dict[str, str]:
    """The few variables that a program needs: no keys or tokens of the app."""
    if sys.platform == "win32":
        kept = {name: os.environ[name] for name in _KEPT_ON_WINDOWS if name in os.environ}
        root = kept.get("SYSTEMROOT", "C:\\Windows")
        return {**kept, "PATH": f"{root}\\System32;{root}"}
    kept = {name: os.environ[name] for name in _KEPT_NAMES if name in os.environ}
    return {**kept, "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}


def _creation_flags() -> int:
    if sys.platform == "win32":
        return subprocess.CREATE_NO_WINDOW
    return 0


# The state of a command that has ended, its outcome in words, and what takes it back.
Done = tuple[CommandState, str, Mapping[str, Any]]


class CommandDoing:
    """Carries out commands exactly as shown; AppError for a failure before any change."""

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
        """Carry out a command."""
        match command.kind:
            case CommandKind.NOTE:
                return self._save_note(command.target)
            case CommandKind.FOLDER:
                return self._add_folder(command.target)
            case CommandKind.PROGRAM:
                return self._run(command.target)

    def undo(self, command: Command) -> None:
        """Take a command back; AppError when what it made was changed since."""
        if command.kind is CommandKind.NOTE:
            self._remove_note(command.undo)
        else:
            self._library.sources.remove(str(command.undo["source_id"]))

    def _save_note(self, target: Mapping[str, Any]) -> Done:
        path, text = Path(str(target["path"])), str(target["text"])
        self._notes.save_new(path, text)
        undo = {"path": str(path), "digest": hashlib.sha256(text.encode()).hexdigest()}
        return CommandState.DONE, tr("Saved as {path}", path=str(path)), undo

    def _remove_note(self, undo: Mapping[str, Any]) -> None:
        path = Path(str(undo["path"]))
        with os_error_as(f"{path} can't be removed."):
            content = path.read_text(encoding="utf-8")
            if hashlib.sha256(content.encode()).hexdigest() != undo["digest"]:
                raise AppError(
                    "The note was changed since, so it stays.", f"Delete {path!s} yourself.",
                )  # fmt: skip
            path.unlink()
        self._notes.forget(path)

    def _add_folder(self, target: Mapping[str, Any]) -> Done:
        path = Path(str(target["path"]))
        if path.resolve() != path:
            raise AppError(f"{path!s} leads elsewhere now.", "Ask again.")
        source = self._library.sources.add(path)
        outcome = tr("{path} is in the library, and its files are being read", path=str(path))
        return CommandState.DONE, outcome, {"source_id": source.source_id}

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
    return CommandState.DONE if is_done else CommandState.FAILED, outcome, {}


class CommandBook:
    """Keeps the newest commands in a file of the home. Any thread.

    A change is on the disk before it is acted upon, so that a crash is noticed.
    """

    def __init__(self, file: Path, now: Callable[[], float]) -> None:
        """Settles what the last run of the app left open: nothing of it is ever done."""
        self._file = file
        self._now = now
        self._lock = Lock()
        found = from_content(read_object(file))
        self._commands = {command.command_id: settled(command, now()) for command in found}

    def all(self) -> list[Command]:
        """All commands, the newest first."""
        with self._lock:
            return list(reversed(self._commands.values()))

    def get(self, command_id: str) -> Command | None:
        """The command, unless it was forgotten."""
        with self._lock:
            return self._commands.get(command_id)

    def add(self, command: Command) -> None:
        """Keep a new command. AppError when it can't be written."""
        with self._lock:
            kept = list(self._commands.values())[-(MOST_KEPT - 1) :]
            self._write({each.command_id: each for each in [*kept, command]})

    def change(
        self, command_id: str, state: CommandState, change: Callable[[Command], Command]
    ) -> Command | None:
        """Change a command that is in this state; None when it is in another, or gone.

        So only one of two callers decides a command. AppError when it can't be written.
        """
        with self._lock:
            command = self._commands.get(command_id)
            if command is None or command.state is not state:
                return None
            changed = change(command)
            self._write({**self._commands, command_id: changed})
            return changed

    def take(self, commands: Sequence[Command]) -> int:
        """Keep finished commands that are unknown here; how many. AppError as for `add`."""
        with self._lock:
            news = [
                command
                for command in commands
                if command.state.is_over and command.command_id not in self._commands
            ]
            if news:
                both = merged(list(self._commands.values()), news)
                self._write({command.command_id: command for command in both})
            return len(news)

    def forget(self, command_ids: Collection[str]) -> None:
        """Remove commands, except running ones."""
        with self._lock:
            kept = {
                key: command
                for key, command in self._commands.items()
                if key not in command_ids or command.state is CommandState.RUNNING
            }
            self._write(kept)

    def _write(self, commands: dict[str, Command]) -> None:
        with os_error_as("Commands can't be kept, so nothing is done.", self._file):
            write_atomically(self._file, to_text(commands.values()))
        self._commands = commands


# Continues the conversation after the person's word; returns the assistant's words.
GoOn = Callable[[bool], str]
_LONGEST_PROMPT = 8_000
_MOST_TOLD = 8
_LONGEST_TOLD = 200


class Commands(CommandBook):
    """The commands of the app, and the programs that they may run: `programs`."""

    def __init__(self, home: Home, library: Library) -> None:
        """Settles what the last run left open; the next change writes the file."""
        notes = NoteFiles(home.notes, library)
        self.programs = ProgramBook(home.programs)
        super().__init__(home.commands, time.time)
        self.proposals = CommandProposals(self.programs, notes, home.program_work)
        self._stop = Event()
        self._doing = CommandDoing(notes, library, self.programs, self.proposals, self._stop)
        self._waiting: dict[str, GoOn] = {}
        self._begun: set[str] = set()
        self._publish = library.changes.publish

    def propose(
        self, made: Command, prompt: str, conversation_id: str, assistant_id: str
    ) -> Command:
        """Keep a command of `proposals` for the person to decide; AppError where it can't be."""
        command = replace(
            made, command_id=uuid.uuid4().hex, prompt=prompt[:_LONGEST_PROMPT],
            proposed_at=time.time(), conversation_id=conversation_id, assistant_id=assistant_id,
        )  # fmt: skip
        self.add(command)
        self._tell(command)
        return command

    def go_on_with(self, command_id: str, go_on: GoOn) -> None:
        """Continue the conversation after the person's word on this command."""
        with self._lock:
            self._waiting[command_id] = go_on

    def lapse(self, conversation_id: str) -> None:
        """Give up what was proposed in a chat: the person went on without deciding."""
        for command in self.all() if conversation_id else ():
            if command.conversation_id == conversation_id:
                self._settle(command.command_id, CommandState.PROPOSED, CommandState.LAPSED)

    def decide(self, command_id: str, *, is_agreed: bool) -> Command:
        """Carry out or decline a command, as the person said; returns when it has ended.

        AppError when it was decided before, so that it is done once.
        """
        with self._lock:
            go_on = self._waiting.pop(command_id, None)
        state = CommandState.RUNNING if is_agreed else CommandState.DECLINED
        command = self.change(
            command_id,
            CommandState.PROPOSED,
            lambda found: replace(found, state=state, decided_at=time.time()),
        )
        if command is None:
            raise AppError("This was decided already.", "Ask again to have it done.")
        self._tell(command)
        said = go_on(is_agreed) if go_on else ""
        if is_agreed and not go_on:
            self._carried_out(command_id)
        self.change(
            command_id,
            CommandState.DONE,
            lambda found: found if said in found.outcome else replace(found, said=said),
        )
        if is_agreed and command_id not in self._begun:
            # Flows that stop before the action leave it undone, and nothing else can begin it.
            self._settle(command_id, CommandState.RUNNING, CommandState.LAPSED)
        done = self.get(command_id) or command
        self._tell(done)
        return done

    def carry_out(self, command_id: str) -> str:
        """Do what was agreed to and keep the outcome; returns it in words.

        AppError, which is kept too, when it failed. Only for what `decide` began.
        """
        done = self._carried_out(command_id)
        if done.state is CommandState.FAILED:
            raise AppError(done.outcome)
        return done.outcome

    def _carried_out(self, command_id: str) -> Command:
        command = self.get(command_id)
        with self._lock:
            is_new = command_id not in self._begun
            self._begun.add(command_id)
        if command is None or command.state is not CommandState.RUNNING or not is_new:
            raise AppError("Nobody agreed to this, or it was done already.", "Ask for it again.")
        try:
            state, outcome, undo = self._doing.do(command)
        except AppError as exc:
            state, outcome, undo = CommandState.FAILED, str(exc), {}
        ended = replace(command, state=state, outcome=outcome, undo=undo, ended_at=time.time())
        return self.change(command_id, CommandState.RUNNING, lambda _: ended) or command

    def undo(self, command_id: str) -> Command:
        """Take back what was done; AppError when it can't be."""
        command = self.get(command_id)
        if command is None or not command.can_be_undone:
            raise AppError("This can't be undone.", "Not all can, and nothing twice.")
        self._doing.undo(command)
        self._settle(command_id, CommandState.DONE, CommandState.UNDONE)
        return self.get(command_id) or command

    def forget(self, command_ids: Collection[str]) -> None:
        """Remove commands from the history. What they did stays."""
        super().forget(command_ids)
        self._tell(None)

    def take(self, commands: Sequence[Command]) -> int:
        """Keep the commands of a backup; returns how many were new. AppError as for `propose`."""
        news = super().take(commands)
        self._tell(None)
        return news

    def keep_only(self, conversation_ids: Collection[str]) -> None:
        """Remove the commands of chats that are gone."""
        gone = [c.command_id for c in self.all() if c.conversation_id not in conversation_ids]
        if gone:
            self.forget(gone)

    def done_before(self, assistant_id: str) -> str:
        """The latest commands that succeeded with this assistant, a line each, without output."""
        lines = [
            " ".join(f"{command.title}: {_told(command)}".split())[:_LONGEST_TOLD]
            for command in self.all()
            if command.assistant_id == assistant_id and command.state is CommandState.DONE
        ]
        return "\n".join(f"- {line}" for line in reversed(lines[:_MOST_TOLD]))

    def close(self) -> None:
        """End the programs that are running."""
        self._stop.set()

    def _settle(self, command_id: str, before: CommandState, after: CommandState) -> None:
        changed = self.change(
            command_id, before, lambda c: replace(c, state=after, ended_at=time.time())
        )
        if changed is not None:
            self._tell(changed)

    def _tell(self, command: Command | None) -> None:
        self._publish(CommandsChanged(command))


def _told(command: Command) -> str:
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(command.ended_at))
    values = command.target.get("arguments") or [command.target.get("path", "")]
    return f"{' '.join(map(str, values))} ({day})"
