"""The verbs about the rails of assistants: `rails sets`, `use`, `try` and `show`."""

import argparse
from typing import TYPE_CHECKING, Any

from desktop_rag.assistant_rails.rail_names import BUILT_IN, is_built_in
from desktop_rag.cli.argument_types import add_json, not_empty
from desktop_rag.cli.terminal import open_services, print_document
from desktop_rag.core.errors import AppError

if TYPE_CHECKING:
    from collections.abc import Callable

_NONE = "none"
# Chats that are looked through for the last answer with rails.
_MOST_CHATS = 50


def add_assistant_rails(add_parser: "Callable[..., argparse.ArgumentParser]") -> None:
    """Add the verbs below `rails` that are about assistants."""
    _add(add_parser, "sets", "List the sets of rails that come with the app.", _sets)
    added = _add(add_parser, "use", "Give an assistant rails: a set, a folder, or none.", _use)
    added.add_argument("assistant", type=not_empty, help="its name")
    added.add_argument("rails", type=not_empty, metavar="SET|DIR|none")
    added = _add(add_parser, "try", "Say what rails would do with a sentence; asks no model.", _try)
    added.add_argument("rails", type=not_empty, metavar="SET|DIR")
    added.add_argument("text", type=not_empty, metavar="SENTENCE")
    _add(
        add_parser, "show", "Show what happened in the last answer that went through rails.", _show
    )


def _add(
    add_parser: "Callable[..., argparse.ArgumentParser]",
    name: str,
    text: str,
    run: "Callable[[argparse.Namespace], int]",
) -> argparse.ArgumentParser:
    added = add_parser(name, help=text, description=text)
    added.set_defaults(run=run)
    add_json(added)
    return added


def _sets(arguments: argparse.Namespace) -> int:
    rows = [{"name": s.name, "title": s.title, "explanation": s.explanation} for s in BUILT_IN]
    print_document(rows, _set_lines, as_json=arguments.json)
    return 0


def _set_lines(rows: list[dict[str, str]]) -> list[str]:
    return [f"{row['name']:16} {row['explanation']}" for row in rows]


def _use(arguments: argparse.Namespace) -> int:
    from dataclasses import replace

    wanted = "" if arguments.rails == _NONE else _rails(arguments.rails)
    with open_services() as services:
        assistants = services.chat.assistants
        kept = assistants.change(replace(assistants.find(arguments.assistant), rails=wanted))
    found = {"assistant": kept.name, "rails": kept.rails}
    print_document(
        found, lambda f: [f"{f['assistant']}: {f['rails'] or _NONE}"], as_json=arguments.json
    )
    return 0


def _rails(given: str) -> str:
    """A set by its name, else the whole path of a folder."""
    from pathlib import Path

    return given if is_built_in(given) else str(Path(given).expanduser().absolute())


def _try(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from desktop_rag.assistant_rails.rail_service import AssistantRails
    from desktop_rag.cli.rails.opened_world import bundled_embeddings
    from desktop_rag.core.paths import find_home

    tried = AssistantRails(*bundled_embeddings(), find_home().rails).try_sentence(
        _rails(arguments.rails), arguments.text
    )
    lines = [*tried.in_words().splitlines(), *tried.events]
    print_document(asdict(tried), lambda _: lines, as_json=arguments.json)
    return 0


def _show(arguments: argparse.Namespace) -> int:
    with open_services() as services:
        history = services.chat.history
        for conversation in history.all()[:_MOST_CHATS]:
            for message in reversed(history.messages(conversation.conversation_id)):
                if message.notes and message.notes.rails:
                    found: dict[str, Any] = {
                        "conversation": conversation.title,
                        "answer": message.text,
                        "events": list(message.notes.rails),
                    }
                    print_document(found, _show_lines, as_json=arguments.json)
                    return 0
    raise AppError("No answer went through rails yet.", "Ask an assistant that has some.")


def _show_lines(found: dict[str, Any]) -> list[str]:
    return [found["conversation"], *found["events"], found["answer"]]
