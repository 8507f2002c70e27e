"""Sets the library up as an MCP server of other programs, and checks it. Worker threads."""

import asyncio
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.core.paths import HOME_VARIABLE, find_home
from desktop_rag.desktop.launching import terminal_command

# The first start after an update reads all of the program from the disk.
_LIMIT_S = 60.0


def tools_of(entry: Mapping[str, Any]) -> list[str]:
    """The tools that an entry's command offers. AppError when it doesn't answer as an MCP server.

    It is started as programs start it: with little of this process's environment.
    """
    command = str(entry.get("command", ""))
    if shutil.which(command) is None:
        raise AppError("The command was not found.", f"“{command}” is not a program.")
    parameters = StdioServerParameters(
        command=command,
        args=[str(each) for each in entry.get("args", ())],
        env=get_default_environment() | {str(k): str(v) for k, v in entry.get("env", {}).items()},
    )
    try:
        return asyncio.run(_asked(parameters))
    except TimeoutError as exc:
        raise _silent(f"It said nothing for {_LIMIT_S:.0f} seconds.") from exc
    except (OSError, MCPError, ExceptionGroup) as exc:
        raise _silent(f"{type(exc).__name__}: {exc}") from exc


async def _asked(parameters: StdioServerParameters) -> list[str]:
    # Its own output is for the log of the program; the window has none.
    with Path(os.devnull).open("w") as nowhere:
        async with (
            asyncio.timeout(_LIMIT_S),
            Client(stdio_client(parameters, errlog=nowhere)) as client,
        ):
            return [tool.name for tool in (await client.list_tools()).tools]


def _silent(hint: str) -> AppError:
    return AppError("The command doesn't answer as an MCP server.", hint)


_STORE_PACKAGES = "Claude_*/LocalCache/Roaming/Claude"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The system (as `sys.platform`) and the folders of the person."""

    system: str
    home: Path
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def current(cls) -> "Surroundings":
        """Those of this process."""
        return cls(sys.platform, Path.home(), os.environ)

    @property
    def settings(self) -> Path:
        """The folder of programs' settings."""
        match self.system:
            case "win32":
                return self._named("APPDATA", self.home / "AppData" / "Roaming")
            case "darwin":
                return self.home / "Library" / "Application Support"
            case _:
                return self._named("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def data(self) -> Path:
        """The folder of programs' data: apart from the settings on Linux only."""
        if self.system in ("win32", "darwin"):
            return self.settings
        return self._named("XDG_DATA_HOME", self.home / ".local" / "share")

    @property
    def packages(self) -> Path:
        """On Windows the folder of packages from the store, which see files of their own."""
        local = self._named("LOCALAPPDATA", self.home / "AppData" / "Local")
        return local / "Packages"

    def _named(self, variable: str, usual: Path) -> Path:
        given = Path(self.environment.get(variable, ""))
        return given if given.is_absolute() else usual


Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MCPProgram:
    """A program, the name of the list of servers in its file, and what else an entry has.

    A file with comments is refused where the program itself would not read it. `restart` says how
    the program takes notice.
    """

    name: str
    title: str
    place: Callable[[Surroundings], Path]
    servers: str = "mcpServers"
    entry: Entry = field(default_factory=dict[str, Any])
    has_comments: bool = False
    restart: str = ""

    def entry_for(self, command: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
        """The entry that starts this command."""
        started: dict[str, Any] = {"command": command[0], "args": [*command[1:]]}
        return {**started, **self.entry} | ({"env": dict(environment)} if environment else {})


def _claude(around: Surroundings) -> Path:
    file = "claude_desktop_config.json"
    if around.system == "win32":
        # From the store it reads a copy of this folder in its package.
        packaged = sorted(around.packages.glob(_STORE_PACKAGES))
        packaged.sort(key=lambda folder: not (folder / file).exists())
        if packaged:
            return packaged[0] / file
    return around.settings / "Claude" / file


def _zed(around: Surroundings) -> Path:
    if around.system == "darwin":
        return around.home / ".config" / "zed" / "settings.json"
    name = "Zed" if around.system == "win32" else "zed"
    return around.settings / name / "settings.json"


def _lm_studio(around: Surroundings) -> Path:
    pointer = around.home / ".lmstudio-home-pointer"
    try:
        chosen = Path(pointer.read_text("utf-8").strip())
    except (OSError, ValueError):
        chosen = Path()
    return (chosen if chosen.is_absolute() else around.home / ".lmstudio") / "mcp.json"


def _jan(around: Surroundings) -> Path:
    try:
        read: object = json.loads((around.data / "Jan" / "settings.json").read_text("utf-8"))
        chosen = cast("dict[str, Any]", read).get("data_folder") if isinstance(read, dict) else ""
        folder = Path(str(chosen or ""))
    except (OSError, ValueError, RecursionError):
        folder = Path()
    usual = around.data / "Jan" / "data"
    return (folder if folder.is_absolute() else usual) / "mcp_config.json"


# The places are those of their documentation or source in November 2026.
PROGRAMS = (
    MCPProgram("claude", "Claude Desktop", _claude, restart="Quit Claude Desktop and start it."),
    MCPProgram(
        "cursor", "Cursor", lambda around: around.home / ".cursor" / "mcp.json",
        has_comments=True, restart="Restart Cursor.",
    ),
    MCPProgram(
        "vscode", "VS Code", lambda around: around.settings / "Code" / "User" / "mcp.json",
        "servers", {"type": "stdio"}, has_comments=True,
        restart="VS Code asks whether you trust the server when it is first started.",
    ),
    MCPProgram(
        "zed", "Zed", _zed, "context_servers", {"source": "custom", "enabled": True},
        has_comments=True, restart="Zed takes notice at once.",
    ),
    MCPProgram("lmstudio", "LM Studio", _lm_studio, restart="Restart LM Studio."),
    MCPProgram(
        "jan", "Jan", _jan, entry={"type": "stdio", "active": True}, restart="Restart Jan."
    ),
)  # fmt: skip


def program_named(name: str) -> MCPProgram | None:
    """The program of this name or title, ignoring case; None for an unknown one."""
    for program in PROGRAMS:
        if name.casefold() in (program.name, program.title.casefold()):
            return program
    return None


# JSON with comments, changed in one place: all else keeps its bytes.

_STRING = r'"(?:[^"\\]|\\.)*"'
_OR_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
_OR_COMMA = re.compile(rf"{_STRING}|,(?=[ \t\r\n]*[}}\]])", re.DOTALL)
_BLANK = " \t\r\n"
_NOT_BLANK = re.compile(rf"[^{_BLANK}]")
_STEP = "  "


def _refuse(constant: str) -> None:
    raise ValueError(constant)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


class NotJSONError(ValueError):
    """The text is no JSON; `line` counts from 1."""

    def __init__(self, text: str, at: int) -> None:
        self.line = text.count("\n", 0, at) + 1
        super().__init__(f"line {self.line}")


@dataclass(frozen=True, slots=True)
class Node:
    """A value at [start, end) of the text; of equal names in `members` the last one counts."""

    start: int
    end: int
    value: Any
    members: Mapping[str, "Node"] = field(default_factory=dict[str, "Node"])
    # The end of the last member, 0 without one; and whether a comma follows it.
    last: int = 0
    has_last_comma: bool = False


def parse(text: str, *, comments: bool = True) -> Node | None:
    """The value in the text, None where there is only blank space.

    Raises NotJSONError, also for comments and trailing commas where `comments` is False.
    """
    plain = text.replace("\ufeff", " ", 1) if text.startswith("\ufeff") else text
    # Blanks in their place, so that all else stays where it is.
    plain = _OR_COMMENT.sub(_blanked, plain) if comments else plain
    strict = _OR_COMMA.sub(_without_last, plain) if comments else plain
    if not strict.strip(_BLANK):
        return None
    try:
        _DECODER.decode(strict)
        return _node(strict, plain, _place(strict, 0))
    except json.JSONDecodeError as exc:
        raise NotJSONError(text, exc.pos) from exc
    except (ValueError, RecursionError) as exc:
        raise NotJSONError(text, 0) from exc


def _blanked(found: re.Match[str]) -> str:
    is_string = found[0].startswith('"')
    return found[0] if is_string else re.sub(r"[^\n]", " ", found[0])


def _without_last(found: re.Match[str]) -> str:
    """A blank for a comma after the last of several values."""
    is_last = found[0] == "," and found.string[: found.start()].rstrip(_BLANK)[-1:] not in "{[,:"
    return " " if is_last else found[0]


def _place(strict: str, at: int) -> int:
    """The place after blank space."""
    found = _NOT_BLANK.search(strict, at)
    assert found, "it is JSON"
    return found.start()


def _node(strict: str, plain: str, start: int) -> Node:
    """The value that begins here; `plain` has the trailing commas too."""
    value, end = _DECODER.raw_decode(strict, start)
    if not isinstance(value, dict):
        return Node(start, end, value)
    members, last, at = dict[str, Node](), 0, _place(strict, start + 1)
    while strict[at] != "}":
        name, colon = _DECODER.raw_decode(strict, at)
        member = _node(strict, plain, _place(strict, _place(strict, colon) + 1))
        members[name], last = member, member.end
        at = _place(strict, last)
        at = _place(strict, at + 1) if strict[at] == "," else at
    has_last_comma = bool(last) and "," in plain[last:end]
    return Node(start, end, cast("Any", value), members, last, has_last_comma)


def merged(text: str, path: Sequence[str], value: Mapping[str, Any], *, comments: bool) -> str:
    """The text with the members of `value` set in the object at `path`; all else as it was.

    Objects on the way are made if they are missing, and their other members stay. Raises
    NotJSONError, and ValueError where something on the way is no object.
    """
    for place, leaf in _leaves(path, value):
        text = with_value(text, place, leaf, comments=comments)
    return text


def _leaves(path: Sequence[str], value: object) -> Iterator[tuple[Sequence[str], object]]:
    if isinstance(value, dict) and value:
        for name, inner in cast("dict[str, object]", value).items():
            yield from _leaves([*path, name], inner)
    else:
        yield path, value


def with_value(text: str, path: Sequence[str], value: object, *, comments: bool) -> str:
    """The text with one value at `path`, in place of what stands there. Raises as `merged`."""
    node = parse(text, comments=comments)
    if node is None:
        line = _end_of_line(text)
        return text + _shown(_nested(path, value), "", _STEP, line) + line
    for depth, name in enumerate(path):
        if not isinstance(node.value, dict):
            raise ValueError(".".join(path[:depth]))
        if name not in node.members:
            return _added(text, node, name, _nested(path[depth + 1 :], value))
        node = node.members[name]
    if node.value == value or (value == {} and isinstance(node.value, dict)):
        return text
    shown = _shown(value, _indent_at(text, node.start), _step_of(text), _end_of_line(text))
    return text[: node.start] + shown + text[node.end :]


def _nested(path: Sequence[str], value: object) -> object:
    for name in reversed(path):
        value = {name: value}
    return value


def _added(text: str, node: Node, name: str, value: object) -> str:
    """The text with a new member at the end of an object."""
    line, step, outer = _end_of_line(text), _step_of(text), _indent_at(text, node.start)
    first = next(iter(node.members.values()), None)
    is_spread = first is not None and "\n" in text[node.start : first.start]
    inner = _indent_at(text, first.start) if first and is_spread else outer + step
    close = node.end - 1
    # A comment may stand before the brace, and end with its line.
    cut = text.rfind("\n", 0, close)
    cut -= text[cut - 1 : cut] == "\r"
    is_alone = cut > node.start and not text[cut:close].strip()
    cut = cut if is_alone else close
    member = f"{line}{inner}{json.dumps(name)}: {_shown(value, inner, step, line)}"
    if not is_alone:
        member += line + outer
    if node.last and not node.has_last_comma:
        return text[: node.last] + "," + text[node.last : cut] + member + text[cut:]
    return text[:cut] + member + text[cut:]


def _shown(value: object, indent: str, step: str, line: str) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=step)
    return text.replace("\n", line + indent)


def _indent_at(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    return text[start : start + len(text[start:]) - len(text[start:].lstrip(" \t"))]


def _step_of(text: str) -> str:
    found = re.search(r"\n([ \t]+)\"", text)
    return found[1] if found else _STEP


def _end_of_line(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


SERVER_NAME = "desktop-rag"
_LARGEST_BYTES = 8 << 20


class FileState(StrEnum):
    """What a program knows of the library."""

    NOT_FOUND = "not found"
    NOT_SET = "not set"
    OTHER = "other command"
    SET = "set"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A program, its file, and the state of our entry; `fault` says why it can't be read."""

    program: MCPProgram
    path: Path
    state: FileState
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """The file that was written, and its copy from before, None where there was nothing to keep."""

    path: Path
    backup: Path | None
    is_changed: bool


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """A program, what was written for it, and the tools that its command offers."""

    program: MCPProgram
    written: Written
    tools: tuple[str, ...]


class ProgramFiles:
    """Enters the command in the files where programs list their MCP servers.

    A file is changed in one place, with a copy beside it; one that can't be read is left alone.
    """

    def __init__(
        self, around: Surroundings | None = None, command: Sequence[str] | None = None
    ) -> None:
        """Programs are to start `command`, that of this installation unless it is given."""
        chosen = os.environ.get(HOME_VARIABLE)
        self._around = around or Surroundings.current()
        self._command = command or terminal_command("mcp")
        self._environment = {HOME_VARIABLE: str(find_home().root)} if chosen else {}

    def look_at_all(self) -> list[ProgramFile]:
        """The state of each program."""
        return [self.look(program) for program in PROGRAMS]

    def set_up(self, name: str) -> CheckedProgram:
        """Enter the command for the program of this name and start it once as the program would.

        AppError for an unknown or absent program, a bad file, or a command that doesn't answer.
        """
        program = program_named(name)
        if program is None:
            known = ", ".join(each.name for each in PROGRAMS)
            raise AppError(f"“{name}” is not a known program.", f"There are: {known}.")
        written = self.write(program)
        # The client of the protocol takes long to import, and few look at this more than once.
        from desktop_rag.features.server.mcp_programs.program_setup import tools_of

        entry = self.entry(program)
        assert entry is not None, "it was just written"
        return CheckedProgram(program, written, tuple(tools_of(entry)))

    def look(self, program: MCPProgram) -> ProgramFile:
        """The state of a program."""
        path = program.place(self._around)
        if not path.parent.is_dir():
            return ProgramFile(program, path, FileState.NOT_FOUND)
        try:
            entry = self.entry(program)
        except AppError as error:
            return ProgramFile(program, path, FileState.UNREADABLE, str(error))
        if entry is None:
            return ProgramFile(program, path, FileState.NOT_SET)
        wanted = program.entry_for(self._command, self._environment)
        is_ours = all(entry.get(name) == value for name, value in wanted.items())
        return ProgramFile(program, path, FileState.SET if is_ours else FileState.OTHER)

    def entry(self, program: MCPProgram) -> dict[str, Any] | None:
        """Our entry in the program's file, None without one. AppError when it can't be read."""
        path = program.place(self._around)
        text = _read(path)
        try:
            root = parse(text, comments=program.has_comments)
        except NotJSONError as exc:
            raise _unreadable(path, exc) from exc
        if root is None:
            return None
        servers = root.members.get(program.servers)
        entry = servers.members.get(SERVER_NAME) if servers else None
        return cast("dict[str, Any]", entry.value) if entry and entry.members else None

    def write(self, program: MCPProgram) -> Written:
        """Enter the command. AppError when the program is not there, or its file can't be read."""
        path = program.place(self._around)
        if not path.parent.is_dir():
            hint = f"Start it once; it makes {path.parent}."
            raise AppError(f"{program.title} was not found on this computer.", hint)
        # Settings are often links to files kept elsewhere.
        path = path.resolve()
        before = _read(path)
        after = self._entered(program, path, before)
        if after == before:
            return Written(path, None, is_changed=False)
        with os_error_as(f"{path} can't be written."):
            backup = _copy(path) if path.exists() else None
            if _read(path) != before:
                raise AppError(f"{program.title} has just written its file.", "Try again.")
            write_atomically(path, after)
        return Written(path, backup, is_changed=True)

    def _entered(self, program: MCPProgram, path: Path, text: str) -> str:
        wanted = program.entry_for(self._command, self._environment)
        place = [program.servers, SERVER_NAME]
        # An entry with an address shares nothing with one that starts a command.
        is_remote = "url" in (self.entry(program) or {})
        put = with_value if is_remote else merged
        try:
            return put(text, place, wanted, comments=program.has_comments)
        except NotJSONError as exc:
            raise _unreadable(path, exc) from exc
        except ValueError as exc:
            hint = f"“{exc}” is not a list of settings. Correct the file first."
            raise AppError(f"{path} has another form than expected.", hint) from exc


def _read(path: Path) -> str:
    """The text of a file, "" where there is none, with its line ends and byte order mark."""
    if not path.exists():
        return ""
    with os_error_as(f"{path} can't be read.", way_out="It was left as it is."):
        if path.stat().st_size > _LARGEST_BYTES:
            raise AppError(f"{path} can't be read.", "It is very large.")
        return path.read_bytes().decode("utf-8")


def _copy(path: Path) -> Path:
    backup = path.with_name(f"{path.name}.{time.strftime('%Y%m%d-%H%M%S')}.bak")
    shutil.copy2(path, backup)
    return backup


def _unreadable(path: Path, error: NotJSONError) -> AppError:
    hint = f"Line {error.line} is not valid JSON. It was left as it is; correct it first."
    return AppError(f"{path} can't be read.", hint)
