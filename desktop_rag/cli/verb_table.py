"""The table of all verbs of the command line. Any thread.

Nobody waits for the modules of the verbs: each is imported when it is first used.
"""

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from desktop_rag.registry import Verbs, hooks

if TYPE_CHECKING:
    from desktop_rag.app import Services, Verb

_CORE = Verbs(
    {
        "ask": ("cli.question_verbs:add_ask", "Answer a question from the library."),
        "index": (
            "cli.index_verb:add_index",
            "Make folders and web pages searchable and wait until they are.",
        ),
        "search": ("cli.question_verbs:add_search", "List the passages that fit best."),
        "passages": (
            "cli.question_verbs:add_passages",
            "Print the passages that files are cut into, a line of JSON each; stores nothing.",
        ),
        "status": (
            "cli.question_verbs:add_status", "Show the folders and the state of their files.",
        ),
        "quick-ask": (
            "cli.desktop_verbs:add_quick_ask", "Show the quick ask over everything else.",
        ),
        "open-url": ("cli.desktop_verbs:add_open_url", "Open a desktop-rag:// link."),
        "desktop-entries": (
            "cli.desktop_verbs:add_desktop_entries",
            "Enter the app in this desktop's menus, links and file managers, or remove it there.",
        ),
        "quit": ("cli.desktop_verbs:add_quit", "End the running app."),
        "password": (
            "cli.index_verb:add_password",
            ("Read an encrypted file of the library with a password. The password is asked for, or"
            " read from standard input. The text of the file is then in the index, which is not"
            " encrypted."),
        ),
        "privacy": (
            "cli.activity_verbs:add_privacy",
            "List every connection the app can make, and its state.",
        ),
        "demo": ("cli.demo:add_demo_verb", "Index the demo library and answer a first question."),
        "events": (
            "cli.activity_verbs:add_events", "List what the app did, and the feedback given.",
        ),
        "memory": ("cli.activity_verbs:add_memory", "Write chats into files."),
        "collection": (
            "cli.index_verb:add_collections", "List collections and choose their models.",
        ),
        "assistant": (
            "cli.assistant_verbs:add_assistants", "Make, list, change and move assistants.",
        ),
        "endpoint": (
            "cli.endpoint_verbs:add_endpoints",
            "Add, list, test, use and remove endpoints of models.",
        ),
        "settings": ("cli.settings_verbs:add_settings", "List and change the settings."),
    },
)  # fmt: skip


class CommandVerb(NamedTuple):
    """A verb of the command line: the package of its module, its function, and its purpose."""

    package: str
    function: str
    purpose: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Import the verb and add its arguments."""
        module, _, name = self.function.partition(":")
        add: Callable[[argparse.ArgumentParser], None]
        add = getattr(import_module(f"{self.package}.{module}"), name)
        add(parser)


# What the app does without a verb.
WINDOW = CommandVerb("desktop_rag", "cli.desktop_verbs:add_window", "")


def command_verbs() -> dict[str, CommandVerb]:
    """Every verb of the command line."""
    return {
        name: CommandVerb(package, *verb)
        for package, verbs in _tables().items()
        for name, verb in verbs.commands.items()
    }


def answered_verbs() -> Mapping[str, "Verb"]:
    """What each wing answers to others by a name."""
    return {
        name: partial(_answer, f"{package}.{module}", name)
        for package, verbs in _tables().items()
        for module, names in verbs.answered.items()
        for name in names
    }


def after_ask() -> list[ModuleType]:
    """The modules that go on with an answer, as `Verbs` says."""
    return [
        import_module(f"{package}.{verbs.after_ask}")
        for package, verbs in _tables().items()
        if verbs.after_ask
    ]


def _tables() -> dict[str, Verbs]:
    """The tables of the core and of the wings, by the package that their modules are in."""
    wings = {f"desktop_rag.features.{wing}": verbs() for wing, verbs in hooks("verbs").items()}
    return {"desktop_rag": _CORE, **wings}


def _answer(module: str, name: str, services: "Services", asked: dict[str, Any]) -> Any:  # noqa: ANN401  JSON
    verbs: Mapping[str, Verb] = import_module(module).answers()
    return verbs[name](services, asked)
