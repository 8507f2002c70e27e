"""Commands with consent: proposed, decided by the person, carried out once, kept.

Worker threads. Nothing is done unless `decide` was told that the person agreed.
"""

import time
import uuid
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from threading import Event, Lock

from desktop_rag.commands.command_book import CommandBook
from desktop_rag.commands.command_doing import CommandDoing, Done
from desktop_rag.commands.command_proposals import CommandProposals, Proposal
from desktop_rag.commands.program_book import ProgramBook
from desktop_rag.core.commands.command import Command, CommandsChanged, CommandState
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.ingest.library import Library
from desktop_rag.notes.note_files import NoteFiles

# Goes on with the conversation after the person's word; what the assistant says then.
GoOn = Callable[[bool], str]
_LONGEST_PROMPT = 8_000
_MOST_TOLD = 8
_LONGEST_TOLD = 200


class Commands:
    """The commands of the app, and the programs that they may run: `programs`."""

    def __init__(self, home: Home, library: Library) -> None:
        """What the last run left open is settled; the file is written with the next change."""
        notes = NoteFiles(home.notes, library)
        self.programs = ProgramBook(home.programs)
        self._book = CommandBook(home.commands, time.time)
        self.proposals = CommandProposals(self.programs, notes, home.program_work)
        self._stop = Event()
        self._doing = CommandDoing(notes, library, self.programs, self.proposals, self._stop)
        self._lock = Lock()
        self._waiting: dict[str, GoOn] = {}
        self._begun: set[str] = set()
        self._listeners: list[Callable[[CommandsChanged], None]] = []

    def all(self) -> list[Command]:
        """All commands, the newest first."""
        return self._book.all()

    def get(self, command_id: str) -> Command | None:
        """The command; None once it was forgotten."""
        return self._book.get(command_id)

    def propose(
        self, proposal: Proposal, prompt: str, conversation_id: str, assistant_id: str
    ) -> Command:
        """Keep a proposal for the person to decide. AppError when it can't be kept."""
        command = Command(
            uuid.uuid4().hex, proposal.kind, proposal.title, prompt[:_LONGEST_PROMPT],
            proposal.details, proposal.target, time.time(), conversation_id, assistant_id,
        )  # fmt: skip
        self._book.add(command)
        self._tell(command)
        return command

    def go_on_with(self, command_id: str, go_on: GoOn) -> None:
        """After the person's word on this command, go on with the conversation."""
        with self._lock:
            self._waiting[command_id] = go_on

    def lapse(self, conversation_id: str) -> None:
        """The person went on without a word: what was proposed there is not done any more."""
        for command in self._book.all() if conversation_id else ():
            if command.conversation_id == conversation_id:
                self._settle(command.command_id, CommandState.PROPOSED, CommandState.LAPSED)

    def decide(self, command_id: str, *, is_agreed: bool) -> Command:
        """The person's word: do it, or leave it. Returns when it has ended.

        AppError when it was decided before; whatever is agreed to is done once.
        """
        with self._lock:
            go_on = self._waiting.pop(command_id, None)
        state = CommandState.RUNNING if is_agreed else CommandState.DECLINED
        command = self._book.change(
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
        self._book.change(
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
        """Do what was agreed to, and keep what came of it; the outcome in words.

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
            done = self._doing.do(command)
        except AppError as exc:
            done = Done(CommandState.FAILED, " ".join(filter(None, (exc.title, exc.hint))))
        ended = self._book.change(
            command_id,
            CommandState.RUNNING,
            lambda c: replace(
                c, state=done.state, outcome=done.outcome, undo=done.undo, ended_at=time.time()
            ),
        )
        return ended or command

    def undo(self, command_id: str) -> Command:
        """Take back what was done. AppError when that can't be."""
        command = self.get(command_id)
        if command is None or not command.can_be_undone:
            raise AppError("This can't be undone.", "Not all can, and nothing twice.")
        self._doing.undo(command)
        self._settle(command_id, CommandState.DONE, CommandState.UNDONE)
        return self.get(command_id) or command

    def forget(self, command_ids: Collection[str]) -> None:
        """Remove commands from the history. What they did stays."""
        self._book.forget(command_ids)
        self._tell(None)

    def take(self, commands: Sequence[Command]) -> int:
        """Keep what a backup tells of; returns how many were new. AppError as for `propose`."""
        news = self._book.take(commands)
        self._tell(None)
        return news

    def keep_only(self, conversation_ids: Collection[str]) -> None:
        """Remove the commands of chats that are gone."""
        gone = [c.command_id for c in self.all() if c.conversation_id not in conversation_ids]
        if gone:
            self.forget(gone)

    def done_before(self, assistant_id: str) -> str:
        """What succeeded with this assistant lately, a line each; "" for nothing.

        Only what the person asked for and agreed to, never what a program wrote.
        """
        lines = [
            " ".join(f"{command.title}: {_told(command)}".split())[:_LONGEST_TOLD]
            for command in self.all()
            if command.assistant_id == assistant_id and command.state is CommandState.DONE
        ]
        return "\n".join(f"- {line}" for line in reversed(lines[:_MOST_TOLD]))

    def subscribe(self, listener: Callable[[CommandsChanged], None]) -> Callable[[], None]:
        """Call the listener, on any thread, after each change; returns what unsubscribes."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def close(self) -> None:
        """End the programs that are running."""
        self._stop.set()

    def _settle(self, command_id: str, before: CommandState, after: CommandState) -> None:
        changed = self._book.change(
            command_id, before, lambda c: replace(c, state=after, ended_at=time.time())
        )
        if changed is not None:
            self._tell(changed)

    def _tell(self, command: Command | None) -> None:
        for listener in list(self._listeners):
            listener(CommandsChanged(command))


def _told(command: Command) -> str:
    """What was given, and when it was done: nothing that a program said."""
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(command.ended_at))
    values = command.target.get("arguments") or [command.target.get("path", "")]
    return f"{' '.join(map(str, values))} ({day})"
