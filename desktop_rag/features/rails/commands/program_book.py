"""The programs that the person registered, in a file of the home. Worker threads.

No backup contains them: nobody else's file must bring a program.
"""

import hashlib
import json
import os
import stat
import uuid
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock

from desktop_rag.core.errors import AppError
from desktop_rag.core.files.own_files import read_object, write_atomically
from desktop_rag.core.records import encoded, readable_rows
from desktop_rag.features.rails.commands.registered_program import (
    RegisteredProgram,
    checked_program,
)

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
        try:
            write_atomically(self._file, json.dumps(content, ensure_ascii=False, indent=1))
        except OSError as exc:
            hint = f"{self._file}: {exc.strerror}."
            raise AppError("The programs can't be kept.", hint) from exc


def digest_of(path: Path) -> str:
    """The hash of a program's file; AppError when it can't be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as exc:
        raise AppError(f"{path!s} can't be read.", f"{exc.strerror}.") from exc
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
