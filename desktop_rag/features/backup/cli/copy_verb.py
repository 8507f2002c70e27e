"""The verb `copy`: a library or a collection of it into another engine or home."""

import argparse
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from typing import Any

from desktop_rag.cli.terminal import not_empty, path_given, prints, running_services, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.files.settings_file import load_settings
from desktop_rag.core.paths import Home, find_home
from desktop_rag.core.settings import Settings
from desktop_rag.features.backup.library_copy import Copied, OpenHome, copy_library
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.opening import engine_names, open_engine, open_engine_to_read


def add_copy(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `copy`."""
    parser.description = (
        "Copy the library with its texts, passages, vectors and chats, and compare the two. What is"
        " there already stays; a copy that was interrupted goes on. A library is named by the"
        " engine that keeps it, as in the settings file, or by the folder of another home."
    )
    parser.add_argument("--from", dest="source", required=True, type=not_empty, metavar="LIBRARY")
    parser.add_argument("--to", dest="target", required=True, type=not_empty, metavar="LIBRARY")
    text = "only this collection and its chats"
    parser.add_argument("--collection", default="", help=text)
    prints(parser, _run, _lines)


def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    done = copied_library(
        find_home(), arguments.source, arguments.target, collection=arguments.collection, tell=say
    )
    return asdict(done)


def _lines(done: dict[str, Any]) -> list[str]:
    counts = (f"{done[noun]:,} {noun}" for noun in ("documents", "passages", "vectors"))
    lines = [f"In both libraries alike: {', '.join(counts)}."]
    entries = sum(done["added"].values())
    lines += [f"Chats, folders and the like that were added: {entries:,}."] if entries else []
    return [*lines, *(f"Left out, a part is there: {path}" for path in done["left_out"])]


def copied_library(
    home: Home, source: str, target: str, *, collection: str = "", tell: Callable[[str], None]
) -> Copied:
    """Copy a library into another one, which is created if needed; see `copy_library`.

    The name of an engine means the library of `home` in it, a folder another home. AppError when
    the two are the same or the app has the other one open.
    """
    here, there = _named_library(home, source), _named_library(home, target)
    if (here[0].root.resolve(), here[1].store) == (there[0].root.resolve(), there[1].store):
        raise AppError(
            "A library can't be copied into itself.", "Name another engine, or another folder."
        )
    if _open_engine_of(*there):
        raise AppError("The app has the library open that is to be written.",
                       "End it first: desktop-rag quit")  # fmt: skip
    with _opened_to_read(*here) as before:
        there[0].create()
        with closing(open_engine(*there)) as after:
            return copy_library(
                OpenHome(here[0], before),
                OpenHome(there[0], after),
                collection=collection,
                tell=tell,
            )


@contextmanager
def _opened_to_read(home: Home, settings: Settings) -> Generator[Engine]:
    if engine := _open_engine_of(home, settings):
        yield engine
        return
    with closing(open_engine_to_read(home, settings)) as engine:
        yield engine


def _open_engine_of(home: Home, settings: Settings) -> Engine | None:
    """The engine of this library if the running process has it open."""
    services = running_services()
    if services is None or services.home.root.resolve() != home.root.resolve():
        return None
    return services.engine if services.settings.store.engine == settings.store.engine else None


def _named_library(home: Home, name: str) -> tuple[Home, Settings]:
    if name in engine_names():
        settings, _ = load_settings(home.settings)
        return home, replace(settings, store=replace(settings.store, engine=name))
    other = Home(path_given(name))
    return other, load_settings(other.settings)[0]
