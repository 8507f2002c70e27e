"""`desktop-rag index`: folders and web pages into the library, by this process or the running app.

The running app takes them up like folders added in its window, and answers once they are read.
"""

import argparse
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from desktop_rag import app
from desktop_rag.cli import output
from desktop_rag.cli.argument_types import add_json, positive
from desktop_rag.cli.terminal import open_services, print_document, say
from desktop_rag.core.domain import Source, SourceRules, WebLinks
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import LibraryEvent, SourceScanned
from desktop_rag.core.paths import find_home
from desktop_rag.ingest.library import Library
from desktop_rag.running_app import ask_running_app
from desktop_rag.waiting import Waiting

_WATCH_S = 1.0
_LOOK_S = 1.0
_SCHEMES = ("http://", "https://")


def add_index(added: argparse.ArgumentParser) -> None:
    """Add the arguments of `index`."""
    added.set_defaults(run=_index)
    added.add_argument("folder", nargs="+", help="a folder, a file, or the address of a web page")
    added.add_argument("--collection", default="", help="add them to this collection")
    added.add_argument("--watch", action="store_true", help="keep running and keep them up to date")
    text = "leave out matching files, as in a .gitignore file; may be repeated"
    added.add_argument("--exclude", action="append", default=[], metavar="PATTERN", help=text)
    text = "leave out files that .gitignore files name"
    added.add_argument("--gitignore", action="store_true", help=text)
    added.add_argument("--hidden", action="store_true", help="read hidden files too")
    text = "fetch at most this many pages of a sitemap"
    added.add_argument("--pages", type=positive, default=100, help=text)
    add_json(added)


def _index(arguments: argparse.Namespace) -> int:
    """Add them, wait, and print the report; returns the exit code."""
    urls = [name for name in arguments.folder if name.startswith(_SCHEMES)]
    folders = [name for name in arguments.folder if name not in urls]
    asked: dict[str, Any] = {
        "folders": [str(Path(name).expanduser().resolve()) for name in folders],
        "urls": urls,
        "pages": arguments.pages,
        "collection": arguments.collection,
        "exclude": arguments.exclude,
        "gitignore": arguments.gitignore,
        "hidden": arguments.hidden,
    }
    is_running, report = ask_running_app(find_home(), "index", asked)
    if is_running:
        # The running app keeps them up to date, with or without --watch.
        print_document(report, output.index_lines, as_json=arguments.json)
        return 0
    began_at = time.monotonic()
    with open_services() as services:
        library = services.library
        added = _add(library, **asked)
        library.subscribe(lambda event: _tell_scan(library, event))
        with Waiting(library, say) as waiting:
            library.start(watch=arguments.watch)
            waiting.until_idle()
            report = _report(library, added, began_at)
            print_document(report, output.index_lines, as_json=arguments.json)
            while arguments.watch:
                time.sleep(_WATCH_S)
                waiting.tell()
    return 0


def running_app_verbs() -> Mapping[str, app.Verb]:
    """The handler of this verb in the running app; arguments come from another process."""
    return {"index": lambda services, asked: _index_here(services.library, asked)}


def _index_here(library: Library, asked: Mapping[str, Any]) -> dict[str, Any]:
    began_at, embedded_before = time.monotonic(), library.indexing.embedded_chunks
    added = _add(library, **asked)
    while not library.indexing.wait_until_idle(_LOOK_S):
        if library.indexing.is_paused:
            raise AppError(
                "Indexing is paused.", "They are in the library and will be read when it goes on."
            )
    return _report(library, added, began_at, embedded_before)


def _add(
    library: Library,
    *,
    folders: Sequence[str],
    urls: Sequence[str],
    pages: int,
    collection: str,
    exclude: Sequence[str],
    gitignore: bool,
    hidden: bool,
) -> set[str]:
    """Add what is new; returns the ids of all sources that were asked for."""
    collection_id = library.collections.find_or_add(collection).collection_id if collection else ""
    known = [s for s in library.sources.all() if collection_id in ("", s.collection_id)]
    rules = SourceRules(gitignore, hidden, tuple(exclude))
    paths, addresses = [Path(folder) for folder in folders], tuple(urls)
    for path in paths:
        if all(source.path != path for source in known):
            library.sources.add(path, collection_id, rules)
    if addresses and all(s.links is None or s.links.urls != addresses for s in known):
        library.sources.add_links(WebLinks(addresses, pages), collection_id)
    return {s.source_id for s in library.sources.all() if _is_asked(s, paths, set(urls))}


def _is_asked(source: Source, paths: Collection[Path], urls: set[str]) -> bool:
    return source.path in paths or bool(source.links and urls & set(source.links.urls))


def _report(
    library: Library, added: set[str], began_at: float, embedded_before: int = 0
) -> dict[str, Any]:
    return output.index_json(
        [d for d in library.documents.all() if d.source_id in added],
        embedded_chunks=library.indexing.embedded_chunks - embedded_before,
        seconds=time.monotonic() - began_at,
        words_seconds=max(0.0, library.indexing.searchable_at - began_at),
    )


def _tell_scan(library: Library, event: LibraryEvent) -> None:
    if isinstance(event, SourceScanned):
        names = [s.name for s in library.sources.all() if s.source_id == event.source_id]
        say(f"{names[0] if names else 'removed'}: {event.summary.label()}")
