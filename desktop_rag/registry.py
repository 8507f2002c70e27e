"""The only interface between the core and its features.

A feature is a wing: a folder of `features` with a module `wing.py`, whose functions are the hooks
below, all optional. A missing folder changes nothing else. `wing.py` imports the rest of its wing
inside its functions, so a wing costs nothing until it is used.

- `verbs()`: `Verbs` of the command line;
- `kept()`: the tables and files of the wing that a library and a backup keep;
- `engines()`: functions that open a library, by the names of further engines;
- `sources()`: for each further kind of source a function that makes what fetches its documents;
- `late_texts(folder, key_of, recorder)`: the `LateTexts` of a library, of one wing at most;
- `own_server(home, changes, profiles)`: the `OwnServer` behind `OWN_ADDRESS`, of one wing at most;
- `repair(home)`: repairs the library before the window opens it, if that was requested; the notices
  tell what was done;
- `restore_lost(home, engine)`: fills a library that lost everything, before its first use; the
  notices tell what came back;
- `keep(services, notify)`: begins to keep the open library safe; `notify` takes notices of faults;
- `wrap_answer(services)`: an `AnswerWrap` between a question and its answer, of one wing at most;
- `follow(services, settings)`: starts, changes or ends what the settings want, on a worker thread:
  when the services are built, when the app begins to run, and after each change of the settings;
- `join_window(app)`: adds pages and parts to the window, on the Qt thread.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

# The wings in the order in which they are opened, each with those it depends on, without which it
# is absent too. pyproject.toml allows these imports and no others.
_WINGS: Mapping[str, tuple[str, ...]] = {
    "diagnosis": (),
    "backup": (),
    "shared_library": (),
    "local_model": (),
    "web_pages": (),
    "remote_sources": ("web_pages",),
    "recordings": (),
    "schedules": (),
    "rails": ("schedules",),
    "evaluation": ("rails",),
    "server": ("rails",),
    "matrix": ("server",),
}


@dataclass(frozen=True, slots=True)
class Verbs:
    """The verbs of a wing, in modules below its folder.

    `commands` gives for each verb of the command line the function that adds its arguments, as
    `cli.module:function`, and its purpose. `answered` gives for each module the names of what its
    function `answers` returns: what other wings may ask of this one, without importing it. The
    module `after_ask` has two functions: `completed(services, answer)` adds to the JSON of an
    answer, and `follow_up(services, answer)` continues at the terminal.
    """

    commands: Mapping[str, tuple[str, str]]
    answered: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    after_ask: str = ""


class WingServices:
    """The services of a wing, made when they are first used. A wing overrides what it needs."""

    @property
    def rights_addresses(self) -> tuple[str, ...]:
        """Addresses of other applications that this wing asks what users may read."""
        return ()

    @property
    def said_of_server(self) -> Mapping[str, Any]:
        """The settings of the local server that the command line said, by name."""
        return {}

    def stop(self) -> None:
        """Cancel what is in progress, before anything is closed. Idempotent."""

    def close(self) -> None:
        """End everything. Idempotent."""

    def release_memory(self) -> None:
        """Free what can be loaded again."""


def known_wings() -> tuple[str, ...]:
    """The names of all wings, whether they are there or not."""
    return tuple(_WINGS)


@cache
def wings() -> Mapping[str, ModuleType]:
    """The wings that are there, by name, in the order in which they are opened."""
    found: dict[str, ModuleType] = {}
    for name, others in _WINGS.items():
        module = f"desktop_rag.features.{name}"
        if found.keys() >= set(others) and find_spec(module) and find_spec(f"{module}.wing"):
            found[name] = import_module(f"{module}.wing")
    return found


def hooks(name: str) -> dict[str, Callable[..., Any]]:
    """The hooks of this name, by their wings."""
    found = {wing: getattr(module, name, None) for wing, module in wings().items()}
    return {wing: hook for wing, hook in found.items() if hook}
