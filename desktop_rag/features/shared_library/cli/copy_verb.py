"""The verb `copy`: a library into another engine or another home, or a collection of it."""

import argparse
from typing import Any

from desktop_rag.cli.terminal import add_json, not_empty, print_document, say
from desktop_rag.core.paths import find_home
from desktop_rag.upkeep import copied_library

_NOUNS = {"documents": "documents", "passages": "passages", "vectors": "vectors"}


def add_copy(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `copy`."""
    parser.set_defaults(run=_run)
    parser.description = (
        "Copy the library with its texts, passages, vectors and chats, and compare the two. What is"
        " there already stays; a copy that was interrupted goes on. A library is named by the"
        " engine that keeps it, as in the settings file, or by the folder of another home."
    )
    parser.add_argument("--from", dest="source", required=True, type=not_empty, metavar="LIBRARY")
    parser.add_argument("--to", dest="target", required=True, type=not_empty, metavar="LIBRARY")
    text = "only this collection and its chats"
    parser.add_argument("--collection", default="", help=text)
    add_json(parser)


def _run(arguments: argparse.Namespace) -> int:
    done = copied_library(
        find_home(), arguments.source, arguments.target, collection=arguments.collection, tell=say
    )
    print_document(done.to_json(), _lines, as_json=arguments.json)
    return 0


def _lines(done: dict[str, Any]) -> list[str]:
    counts = ", ".join(f"{done[key]:,} {noun}" for key, noun in _NOUNS.items())
    lines = [f"In both libraries alike: {counts}."]
    entries = sum(done["added"].values())
    lines += [f"Chats, folders and the like that were added: {entries:,}."] if entries else []
    return [*lines, *(f"Left out, a part is there: {path}" for path in done["left_out"])]
