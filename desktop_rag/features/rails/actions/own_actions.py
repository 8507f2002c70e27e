"""Actions of the person's own: functions of a Python file they named, or of an installed package.

A file is first read without running it, so that the person can be asked; only what they saw is run.
Any thread.
"""

import ast
import hashlib
import sys
import threading
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.features.rails.actions.action_calls import Action, ActionResult, make_action

ENTRY_POINTS = "desktop_rag.rails_actions"
# What configurations for NeMo Guardrails import, which is not needed to run their functions.
_FOREIGN = "nemoguardrails"
_importing = threading.Lock()


@dataclass(frozen=True, slots=True)
class ActionFile:
    """A Python file with actions: what to show before it is run. `digest` is of its bytes."""

    path: Path
    functions: tuple[str, ...]
    digest: str


def look_at(path: Path) -> ActionFile:
    """The actions of a file, without running it; AppError when it is no Python."""
    content = _content(path)
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError) as exc:
        raise AppError(f"{path.name} is no Python.", f"{exc}.") from exc
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    names = tuple(node.name for node in found if not node.name.startswith("_"))
    return ActionFile(path, names, hashlib.sha256(content).hexdigest())


def load_confirmed(file: ActionFile) -> list[Action]:
    """Run a file that the person was shown and agreed to; its actions.

    AppError when it has changed since, or fails.
    """
    content = _content(file.path)
    if hashlib.sha256(content).hexdigest() != file.digest:
        raise AppError(f"{file.path.name} has changed since you agreed to it.", "Look at it again.")
    module = ModuleType(f"rails_actions_{file.digest[:12]}")
    module.__file__ = str(file.path)
    try:
        with _importing, _stand_in():
            exec(compile(content, str(file.path), "exec"), module.__dict__)
    except Exception as exc:
        raise AppError(f"{file.path.name} can't be run.", f"{type(exc).__name__}: {exc}.") from exc
    functions = ((name, getattr(module, name, None)) for name in file.functions)
    return [
        make_action(getattr(function, "rail_name", name), function)
        for name, function in functions
        if callable(function)
    ]


def installed_actions(wanted: Collection[str]) -> list[Action]:
    """The wanted actions that installed packages offer; only these are imported."""
    found: list[Action] = []
    for entry in entry_points(group=ENTRY_POINTS):
        if entry.name in wanted:
            try:
                function = entry.load()
            except Exception as exc:
                raise AppError(f"The action {entry.name} can't be loaded.", f"{exc}.") from exc
            found.append(make_action(entry.name, function))
    return found


def _content(path: Path) -> bytes:
    with os_error_as(f"{path} can't be read."):
        return path.read_bytes()


@contextmanager
def _stand_in() -> Generator[None]:
    """Stands in for NeMo Guardrails while a file is run, unless the package is imported."""
    if _FOREIGN in sys.modules:
        yield
        return
    names = [_FOREIGN, f"{_FOREIGN}.actions", f"{_FOREIGN}.actions.actions"]
    for name in names:
        module = ModuleType(name)
        module.__path__ = []
        module.__dict__.update(action=_action, ActionResult=_result)
        sys.modules[name] = module
    try:
        yield
    finally:
        for name in names:
            sys.modules.pop(name, None)


def _action(name: str | None = None, **_: object) -> Callable[[Callable[..., Any]], Any]:
    def named(function: Callable[..., Any]) -> Callable[..., Any]:
        if name:
            function.__dict__["rail_name"] = name
        return function

    return named


def _result(
    return_value: object = None,
    events: object = None,
    context_updates: Mapping[str, Any] | None = None,
) -> ActionResult:
    return ActionResult(return_value, context_updates or {})
