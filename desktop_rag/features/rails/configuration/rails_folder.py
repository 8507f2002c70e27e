"""Reads a folder of rails: *.co, config.yml, prompts.yml and kb. Runs none of it. Any thread."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from desktop_rag.core.errors import AppError
from desktop_rag.features.rails.configuration.rails_configuration import (
    RailsConfiguration,
    make_configuration,
)
from desktop_rag.features.rails.language.flow_parser import parse_flows

_MOST_BYTES = 1_000_000


class _PlainLoader(yaml.SafeLoader):
    """The safe loader without references, by which a small file could become endless."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.MarkedYAMLError(problem="references are not read", problem_mark=mark)
        return super().compose_node(parent, index)


def read_text(path: Path) -> str:
    """The text of a file of rails; AppError when it can't be read."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise AppError(
                f"{path.name} is too large for a file of rails.", "Is it the right file?"
            )
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise AppError(f"{path.name} can't be read.", f"{exc}.") from exc


def read_yaml(path: Path) -> dict[str, Any]:
    """The entries of a YAML file, which a stranger may have written: plain values only.

    AppError with line and column when it is no YAML.
    """
    text = read_text(path)
    try:
        found = yaml.load(text, Loader=_PlainLoader)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark
        place = f"{path.name}:{mark.line + 1}:{mark.column + 1}" if mark else path.name
        raise AppError(f"{place}: This is no YAML.", f"{exc.problem}.") from exc
    except (yaml.YAMLError, RecursionError, ValueError) as exc:
        raise AppError(f"{path.name} is no YAML.") from exc
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise AppError(f"{path.name}:1:1: Entries such as `key: value` are expected.")
    return {str(key): value for key, value in found.items()}


_MOST_FILES = 500
_YAML = ("*.yml", "*.yaml")


def read_rails(folder: Path, instead: Mapping[Path, str] | None = None) -> RailsConfiguration:
    """The configuration of a folder; AppError, with the place, for any fault.

    `instead` has the texts of files of flows that are not saved, and need not exist.
    """
    if not folder.is_dir():
        raise AppError(f"{folder} is no folder.", "Name a folder with *.co files and config.yml.")
    instead = instead or {}
    flow_files = sorted({*_files(folder, "*.co"), *instead})
    yaml_files = sorted({path for pattern in _YAML for path in _files(folder, pattern)})
    if not flow_files and not yaml_files:
        raise AppError(f"There are no rails in {folder}.", "They are in *.co and config.yml.")
    files = [
        parse_flows(
            instead[path] if path in instead else read_text(path),
            path.relative_to(folder).as_posix(),
        )
        for path in flow_files
    ]
    kept = folder / "kb"
    return make_configuration(
        folder.name,
        files,
        _entries(yaml_files),
        documents=[path for path in _files(kept, "*") if path.is_file()] if kept.is_dir() else [],
        python_files=_files(folder, "*.py"),
    )


def _files(folder: Path, pattern: str) -> list[Path]:
    """The files of a pattern below the folder, but none by links that lead out of it."""
    root = folder.resolve()
    found = [
        path
        for path in sorted(folder.rglob(pattern))
        if path.is_file()
        and path.resolve().is_relative_to(root)
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    if len(found) > _MOST_FILES:
        raise AppError(
            f"There are more than {_MOST_FILES} files in {folder}.",
            "Choose the folder of the rails alone.",
        )
    return found


def _entries(files: list[Path]) -> Mapping[str, Any]:
    """The entries of all YAML files; lists and mappings are joined."""
    found: dict[str, Any] = {}
    for path in files:
        for key, value in read_yaml(path).items():
            if isinstance(value, list) and isinstance(found.get(key), list):
                found[key] = [*found[key], *value]
            elif isinstance(value, dict) and isinstance(found.get(key), dict):
                found[key] = {**found[key], **value}
            else:
                found[key] = value
    return found
