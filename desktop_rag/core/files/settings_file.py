"""The TOML file of the settings: read with its faults reported, written atomically. Any thread."""

import dataclasses
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import tomlkit

from desktop_rag.core.errors import os_error_as
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.core.library_events import Notice
from desktop_rag.core.records import decoded, encoded, readable
from desktop_rag.core.settings import EndpointSettings, Settings

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Section = TypeVar("_Section", bound="DataclassInstance")


def load_settings(path: Path) -> tuple[Settings, list[Notice]]:
    """Read the file, else its backup, else the defaults; the notices report problems.

    A value of the wrong type gets its default; the others are kept.
    """
    if not path.exists():
        return Settings(), []
    try:
        return _from_tables(_read(path), path)
    except (OSError, ValueError) as exc:
        notice = Notice("The settings file cannot be read.", f"{path}: {exc}")
    backup = _backup_of(path)
    try:
        settings, _ = _from_tables(_read(backup), backup)
    except (OSError, ValueError):
        return Settings(), [notice, Notice("Default settings are used.")]
    return settings, [notice, Notice("The settings as last saved before are used.")]


def save_settings(path: Path, settings: Settings) -> None:
    """Write the file atomically; unknown keys and comments are preserved.

    Raises AppError when writing fails; the file is then unchanged.
    """
    try:
        text = path.read_text(encoding="utf-8")
        document = tomlkit.parse(text)
    except (OSError, ValueError):
        text, document = "", tomlkit.document()
    _put_sections(document, settings)
    with os_error_as("The settings could not be saved.", path):
        if text:
            write_atomically(_backup_of(path), text)
        write_atomically(path, tomlkit.dumps(document))


def settings_to_text(settings: Settings) -> str:
    """The settings alone as TOML, without unknown keys and comments."""
    document = tomlkit.document()
    _put_sections(document, settings)
    return tomlkit.dumps(document)


def settings_from_text(text: str) -> Settings:
    """The inverse of `settings_to_text`; ValueError for a value of the wrong type."""
    settings, notices = _from_tables(tomllib.loads(text), Path())
    if notices:
        raise ValueError(notices[0].title)
    return settings


def _put_sections(document: tomlkit.TOMLDocument, settings: Settings) -> None:
    for section, values in dataclasses.asdict(settings).items():
        if isinstance(values, tuple):
            _put_tables(document, section, cast("tuple[dict[str, Any], ...]", values))
            continue
        table = document.get(section)
        if not isinstance(table, dict):
            document[section] = table = tomlkit.table()
        table.update(values)


def _put_tables(
    document: tomlkit.TOMLDocument, section: str, rows: tuple[dict[str, Any], ...]
) -> None:
    document.pop(section, None)
    if rows:
        tables = tomlkit.aot()
        for row in rows:
            table = tomlkit.table()
            table.update(row)
            tables.append(table)
        document[section] = tables


def _backup_of(path: Path) -> Path:
    return path.with_suffix(".toml.bak")


def _read(path: Path) -> dict[str, Any]:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    if not tables:
        raise ValueError("the file is empty")
    return tables


def _from_tables(tables: dict[str, Any], path: Path) -> tuple[Settings, list[Notice]]:
    sections: dict[str, Any] = {}
    wrong: list[str] = []
    for section in dataclasses.fields(Settings):
        default = getattr(Settings(), section.name)
        given = tables.get(section.name)
        if not isinstance(default, tuple):
            sections[section.name] = _from_table(given, default, section.name, wrong)
            continue
        rows = cast("list[Any]", given) if isinstance(given, list) else []
        read = [_from_table(row, EndpointSettings(), section.name, wrong) for row in rows]
        sections[section.name] = tuple(endpoint for endpoint in read if endpoint.base_url)
    notices = [Notice(f"Settings of the wrong kind were ignored: {', '.join(wrong)}.", str(path))]
    return Settings(**sections), notices if wrong else []


def _from_table(table: object, default: _Section, name: str, wrong: list[str]) -> _Section:
    """Read one section; the names of values with the wrong type are added to `wrong`."""
    if table is not None and not isinstance(table, dict):
        wrong.append(name)
    given = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    kind, values = type(default), encoded(default)
    for field_name in values.keys() & given.keys():
        if readable(kind, {field_name: given[field_name]}) is None:
            wrong.append(f"{name}.{field_name}")
        else:
            values[field_name] = given[field_name]
    return decoded(kind, values)
