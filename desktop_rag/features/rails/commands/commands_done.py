"""The history of commands in a backup. Worker threads.

It leaves out what could be carried out or taken back, so that no backup makes the app change a
file.
"""

import json
import logging
from dataclasses import fields
from typing import Any

from desktop_rag.core.errors import IMPORT_AGAIN, os_error_as
from desktop_rag.core.files.own_files import read_object, write_atomically
from desktop_rag.core.paths import Home
from desktop_rag.core.records import WrongValueError, checked, strict_json
from desktop_rag.features.rails.commands.command import (
    MOST_KEPT,
    Command,
    from_content,
    merged,
    settled,
    to_text,
)
from desktop_rag.store.contract.precious import BackupRules, KeptFile

log = logging.getLogger(__name__)

COMMANDS = "commands.json"

_LEFT_OUT = ("target", "undo")


def commands_in(content: str) -> list[Command]:
    """The history in a backup; WrongValueError for anything that the app does not write."""
    try:
        found = checked(dict[str, tuple[Any, ...]], strict_json(content), COMMANDS)
    except ValueError:
        raise WrongValueError(COMMANDS) from None
    rows = found.get("commands", ())
    commands = [_in_backup(row, f"{COMMANDS} {n}") for n, row in enumerate(rows, start=1)]
    are_distinct = len({command.command_id for command in commands}) == len(commands)
    if found.keys() != {"commands"} or len(rows) > MOST_KEPT or not are_distinct:
        raise WrongValueError(COMMANDS)
    return commands


def _in_backup(row: object, place: str) -> Command:
    """A command of a backup, with nothing that could be carried out or taken back."""
    given = checked(dict[str, Any], row, place)
    command = checked(Command, {**given, "target": {}}, place)
    known = {field.name for field in fields(Command)} - {*_LEFT_OUT}
    if not command.state.is_over or given.keys() != known:
        raise WrongValueError(place)
    return command


def _text_of(home: Home) -> str:
    """The history of a home as a backup keeps it; empty without one."""
    rows = _rows_of(home)
    return json.dumps({"commands": rows}, ensure_ascii=False) if rows else ""


def _take(home: Home, content: str) -> int:
    """Merge a history into the file of a home that is not open; how many were new."""
    present = from_content(read_object(home.commands))
    known = {command.command_id for command in present}
    news = [command for command in commands_in(content) if command.command_id not in known]
    if news:
        title = "The history of commands could not be written."
        with os_error_as(title, home.commands, IMPORT_AGAIN):
            write_atomically(home.commands, to_text(merged(present, news)))
    return len(news)


def _rows_of(home: Home) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for command in from_content(read_object(home.commands)):
        # In a backup nothing waits: an older moment than now would make each one another.
        row = settled(command, command.proposed_at).to_json()
        for name in _LEFT_OUT:
            del row[name]
        try:
            _in_backup(row, COMMANDS)
        except WrongValueError as exc:
            log.info("a command was left out: %s", exc)
            continue
        rows.append(row)
    return rows[-MOST_KEPT:]


RULES = BackupRules(
    file=KeptFile(
        COMMANDS, "command", 1 << 26, _text_of, lambda text: len(commands_in(text)), _take
    )
)
