"""The one place where the core meets its features.

A feature is a folder here with a module `wing.py`, whose functions are the hooks below, each of
which it may leave out. A folder that is missing adds nothing, and nothing else changes. `wing.py`
imports the rest of its wing inside its functions, so a wing costs nothing until it is used.

The hooks, each called by one function of this module:

- `verbs()`: the verbs of the command line, and those that a running app answers for other processes;
- `kept()`: the tables and files of the wing, which a library and a backup keep;
- `engines()`: other homes of a library than a file on this computer;
- `wrap_answer(answer)`: what stands between a question and its answer;
- `opened(services)`: the services of the wing, over those of the core;
- `pages(window)`: pages beside the settings, and whatever else the window shows.
"""

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from desktop_rag.store.contract.precious import Kept

# Each wing may stand on those before it. pyproject.toml says which imports that allows.
_WINGS = ("shared_library", "rails", "schedules", "evaluation", "server", "matrix")


def wings() -> Iterator[ModuleType]:
    """The wings that are there, in the order in which they are opened."""
    for name in _WINGS:
        module = f"desktop_rag.features.{name}"
        if find_spec(module) and find_spec(f"{module}.wing"):
            yield import_module(f"{module}.wing")


def hooks(name: str) -> list[Callable[..., Any]]:
    """The functions of that name, of the wings that have one."""
    return [getattr(wing, name) for wing in wings() if hasattr(wing, name)]


@cache
def kept() -> tuple[Kept, ...]:
    """What the wings keep in the library and in backups."""
    return tuple(hook() for hook in hooks("kept"))
