"""Sets the library up as an MCP server of other programs, and checks it. Worker threads."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import HOME_VARIABLE, find_home
from desktop_rag.desktop.launching import terminal_command
from desktop_rag.serve.mcp_programs.known_programs import (
    PROGRAMS,
    MCPProgram,
    Surroundings,
    program_named,
)
from desktop_rag.serve.mcp_programs.program_files import ProgramFile, ProgramFiles, Written


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """What was written for a program, and the tools that its entry was seen to offer."""

    title: str
    path: Path
    backup: Path | None
    is_changed: bool
    tools: tuple[str, ...]
    restart: str


class ProgramSetup:
    """Enters this installation's command in the files of programs."""

    def __init__(self, around: Surroundings | None = None) -> None:
        """`around` has the folders of the person, by default those of this process."""
        chosen = os.environ.get(HOME_VARIABLE)
        environment = {HOME_VARIABLE: str(find_home().root)} if chosen else {}
        self._files = ProgramFiles(
            terminal_command("mcp"), environment, around or Surroundings.current()
        )

    def look(self) -> Sequence[ProgramFile]:
        """The state of each program."""
        return [self._files.look(program) for program in PROGRAMS]

    def listed(self) -> Sequence[tuple[str, str, str]]:
        """The name, the title and the state of each program."""
        return [(f.program.name, f.program.title, f.state.value) for f in self.look()]

    def set_up(self, name: str) -> CheckedProgram:
        """Enter the command for the program of this name and start it once as the program would.

        AppError for an unknown program, one that is not there, a file that can't be read, and a
        command that doesn't answer.
        """
        program = program_named(name)
        if program is None:
            known = ", ".join(each.name for each in PROGRAMS)
            raise AppError(f"“{name}” is not a known program.", f"There are: {known}.")
        written = self._files.write(program)
        return self._checked(program, written)

    def _checked(self, program: MCPProgram, written: Written) -> CheckedProgram:
        # The client of the protocol takes long to import, and few look at this more than once.
        from desktop_rag.serve.mcp_programs.connection_check import tools_of

        entry = self._files.entry(program)
        assert entry is not None, "it was just written"
        tools = tools_of(entry)
        return CheckedProgram(
            program.title, written.path, written.backup, written.is_changed, tuple(tools),
            program.restart,
        )  # fmt: skip
