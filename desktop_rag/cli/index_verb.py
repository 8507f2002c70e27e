"""Folders and web pages into the library, passwords of encrypted files, and collections.

A running app takes them up like folders added in its window, and keeps them up to date.
"""

import argparse
import codecs
import logging
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from importlib.metadata import EntryPoint, entry_points
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any

from desktop_rag import app
from desktop_rag.cli import output, terminal
from desktop_rag.cli.terminal import (
    add_json,
    begin_reading,
    here,
    open_services,
    path_given,
    positive,
    print_document,
    say,
    waiting_for,
)
from desktop_rag.core.crawling import Sending
from desktop_rag.core.domain import (
    EMBEDDED_ELSEWHERE,
    WHOLE_FOLDER,
    Collection,
    Document,
    Source,
    SourceRules,
    WebLinks,
)
from desktop_rag.core.errors import AppError, WrongPasswordError
from desktop_rag.core.library_events import SourceScanned
from desktop_rag.ingest.library import Library
from desktop_rag.models.embedding.remote_embedder import is_address

log = logging.getLogger(__name__)

# Passwords of encrypted files: typed or read, never an argument that other programs could see.

_MOST_TRIES = 3


def add_password(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `password`."""
    parser.set_defaults(run=_password)
    parser.add_argument("file", help="the encrypted file, which is in the library")
    text = "keep the password in the keyring; otherwise it is forgotten at the end"
    parser.add_argument("--keep", action="store_true", help=text)
    text = "try it on all encrypted files in the folder of this file and below"
    parser.add_argument("--folder", action="store_true", help=text)
    text = "forget the passwords that open this file, and drop the text they opened"
    parser.add_argument("--forget", action="store_true", help=text)
    add_json(parser)


def _password(arguments: argparse.Namespace) -> int:
    path = path_given(arguments.file).resolve()
    with open_services() as services, waiting_for(services.library) as waiting:
        passwords, document = services.library.passwords, _document(services, path)
        if arguments.forget:
            files, is_kept = passwords.forget(document), False
        else:
            unlocked = passwords.enter(
                document, _typed(path), keeps=arguments.keep, for_folder=arguments.folder
            )
            files, is_kept = unlocked.files, unlocked.is_kept
        begin_reading(services)
        waiting.until_idle()
        read = services.library.documents.get(document.document_id)
        report = {
            "file": str(path),
            "state": read.state.value if read else "gone",
            "reason": read.reason if read else "",
            "files": files,
            "is_kept": is_kept,
        }
    if arguments.keep and not is_kept:
        say("The password is not kept, because no keyring is available on this computer.")
    print_document(report, _lines, as_json=arguments.json)
    return 0


def check_can_ask() -> None:
    """AppError when nobody can be asked here."""
    if not here().can_type:
        hint = "Leave out --ask-password, then enter them with: desktop-rag password FILE"
        raise AppError("Passwords can be asked for on a terminal only.", hint)


def ask_for_passwords(library: Library, documents: Iterable[Document]) -> bool:
    """Ask for the password of each locked file and have it read; True when one was opened.

    Known ones are tried on the other files first, and forgotten when the library is closed.
    """
    locked = {d.path: d for d in documents if d.needs_password}
    typed: list[str] = []
    is_any_open = False
    for path in sorted(locked):
        try:
            is_open = any(_opens(library, locked[path], known) for known in typed)
            is_any_open |= is_open or _ask_to_open(library, locked[path], typed)
        except EOFError:
            break
        except AppError as error:
            say(f"{path}: {error}")
    return is_any_open


def _ask_to_open(library: Library, document: Document, typed: list[str]) -> bool:
    """True once a typed password, which is added to `typed`, opened the file."""
    for _ in range(_MOST_TRIES):
        prompt = f"Password of {document.path} (Enter to leave it out): "
        password = here().typed(prompt, is_secret=True)
        if not password:
            return False
        if _opens(library, document, password):
            typed.append(password)
            return True
        say("This password does not open the file.")
    return False


def _opens(library: Library, document: Document, password: str) -> bool:
    """True when the password is right; the file is then read with it."""
    try:
        library.passwords.enter(document, password, keeps=False, for_folder=False)
    except WrongPasswordError:
        return False
    return True


def _document(services: app.Services, path: Path) -> Document:
    """The document of a file; a part that needs the password goes before the file around it."""
    found = [d for d in services.library.documents.all() if d.path == path and not d.url]
    if not found:
        raise AppError(f"{path} is not in the library.", f"Add it first: desktop-rag index {path}")
    return next((document for document in found if not document.part), found[0])


def _typed(path: Path) -> str:
    password = here().typed(f"Password of {path.name}: ", is_secret=True)
    if not password:
        raise AppError("No password was entered.", "Nothing was changed.")
    return password


def _lines(report: dict[str, Any]) -> Sequence[str]:
    lines = [f"{report['file']}: {report['state']}. {report['reason']}".rstrip()]
    if report["files"] > 1:
        lines.append(f"{report['files']:,} files were read again.")
    return lines


_WATCH_S = 1.0
_SCHEMES = ("http://", "https://")


def _encoding(written: str) -> str:
    """The name of an encoding. Raises ArgumentTypeError for any other word."""
    try:
        return codecs.lookup(written).name
    except LookupError as exc:
        raise argparse.ArgumentTypeError(f"“{written}” is no encoding") from exc


def add_index(added: argparse.ArgumentParser) -> None:
    """Add the arguments of `index`."""
    added.set_defaults(run=_index)
    text = (
        "a folder, a file, the address of a web page, or SOURCE:PLACE for a source of an installed"
        " package"
    )
    added.add_argument("folder", nargs="+", help=text)
    added.add_argument("--collection", default="", help="add them to this collection")
    added.add_argument("--watch", action="store_true", help="keep running and keep them up to date")
    text = "leave out matching files, as in a .gitignore file; may be repeated"
    added.add_argument("--exclude", action="append", default=[], metavar="PATTERN", help=text)
    text = "leave out files that .gitignore files name"
    added.add_argument("--gitignore", action="store_true", help=text)
    added.add_argument("--hidden", action="store_true", help="read hidden files too")
    text = "fetch at most this many pages of a sitemap, feed or site"
    added.add_argument("--pages", type=positive, default=100, help=text)
    text = "follow the links of web pages for this many steps, on the same host"
    added.add_argument("--follow", type=positive, default=0, metavar="STEPS", help=text)
    text = "follow links to addresses below this path only; else below the folder of the address"
    added.add_argument("--path", default="", metavar="/PATH/", help=text)
    text = "fetch web pages again after so many hours, 0 for never"
    added.add_argument("--refresh", type=float, default=24.0, metavar="HOURS", help=text)
    text = "the folder mirrors the site at this address: its sources link there"
    added.add_argument("--base-address", default="", metavar="URL", help=text)
    text = "the encoding of texts in the folder that do not name theirs, such as cp852"
    added.add_argument("--encoding", metavar="NAME", type=_encoding, help=text)
    text = "read pictures and scanned pages even when that takes more than an hour"
    added.add_argument("--all-pictures", action="store_true", help=text)
    text = "ask for the passwords of encrypted files, which are forgotten at the end; on a terminal"
    added.add_argument("--ask-password", action="store_true", help=text)
    add_json(added)


def _index(arguments: argparse.Namespace) -> int:
    if arguments.ask_password:
        check_can_ask()
    began_at, ended = time.monotonic(), Event()
    with open_services() as services, _answering(services, arguments, ended):
        library = services.library
        with _telling_scans(library, arguments), waiting_for(library) as waiting:
            embedded_before = library.indexing.embedded_chunks
            added = _add(library, arguments)
            if here().services is None:
                library.start(watch=arguments.watch)
            waiting.until_idle()
            if arguments.ask_password and ask_for_passwords(library, _documents(library, added)):
                waiting.until_idle()
            report = _report(library, added, began_at, embedded_before)
            print_document(report, output.index_lines, as_json=arguments.json)
            # A process that runs for longer keeps them up to date, with or without --watch.
            while arguments.watch and here().services is None and not ended.wait(_WATCH_S):
                waiting.tell()
    return 0


@contextmanager
def _answering(
    services: app.Services, arguments: argparse.Namespace, ended: Event
) -> Generator[None]:
    """A watcher runs the verbs of others meanwhile; `ended` is set when one of them ends it."""
    if not arguments.watch or here().services:
        yield
        return
    from desktop_rag.cli.running import answer_others

    with closing(answer_others(services, ended.set)):
        yield


@contextmanager
def _telling_scans(library: Library, arguments: argparse.Namespace) -> Generator[None]:
    """Say what the scans found; in a process with other work, those that were asked for."""
    terminal, (paths, urls) = here(), _asked(arguments)

    def tell(scan: SourceScanned) -> None:
        for source in library.sources.all():
            is_ours = terminal.services is None or _is_asked(source, paths, urls)
            if source.source_id == scan.source_id and is_ours:
                terminal.say(f"{source.name}: {scan.summary.label()}")

    stop_hearing = library.changes.hear(SourceScanned, tell)
    try:
        yield
    finally:
        stop_hearing()


def _asked(arguments: argparse.Namespace) -> tuple[list[Path], list[str]]:
    """The folders and the addresses of web pages."""
    urls = [name for name in arguments.folder if name.startswith(_SCHEMES)]
    others = {*urls, *_named_sources(arguments)}
    return [path_given(name).resolve() for name in arguments.folder if name not in others], urls


# What a source of a package is called with a place: it gives the documents that are there now.
FromPackage = Callable[[str], Iterable[Sending]]
SOURCES = "desktop_rag.sources"
_SENT_AT_ONCE = 50


def _named_sources(arguments: argparse.Namespace) -> dict[str, EntryPoint]:
    """The sources of installed packages that are named, by how they are written."""
    installed = {entry.name: entry for entry in entry_points(group=SOURCES)}
    kinds = {name: name.partition(":") for name in arguments.folder}
    return {
        n: installed[kind] for n, (kind, sign, _) in kinds.items() if sign and kind in installed
    }


def _take_in(library: Library, collection: str, name: str, entry: EntryPoint) -> str:
    """Take in what a source of a package has now, and delete what it has no longer; its id.

    Without a collection it gets one of its name.
    """
    collection_id = library.collections.find_or_add(collection or entry.name).collection_id
    number = library.sent.begin_round(collection_id, name)
    source = library.sent.source(collection_id, name)
    assert source, "its round began"
    try:
        read: FromPackage = entry.load()
        given = iter(read(name.partition(":")[2]))
        while batch := list(islice(given, _SENT_AT_ONCE)):
            library.sent.take(collection_id, name, batch)
    except AppError:
        raise
    except Exception as exc:
        # The fault of another package, which may do anything. What was there stays.
        log.exception("the source %s failed", entry.name)
        hint = f"{type(exc).__name__}: {exc}"
        raise AppError(f"The source “{entry.name}” failed.", hint) from exc
    library.sent.end_round(source.source_id, number)
    return source.source_id


def _add(library: Library, arguments: argparse.Namespace) -> set[str]:
    """Add what is new; returns the ids of all sources that were asked for."""
    if arguments.all_pictures:
        library.indexing.read_pictures()
    name = arguments.collection
    collection_id = library.collections.find_or_add(name).collection_id if name else ""
    known = [s for s in library.sources.all() if collection_id in ("", s.collection_id)]
    encoding = arguments.encoding or ""
    rules = SourceRules(arguments.gitignore, arguments.hidden, tuple(arguments.exclude))
    rules = rules.with_encoding(encoding, WHOLE_FOLDER)
    paths, urls = _asked(arguments)
    for each in paths:
        found = next((source for source in known if source.path == each), None)
        source = found or library.sources.add(each, collection_id, rules)
        if encoding and found and found.rules.encodings.get(WHOLE_FOLDER) != encoding:
            library.exclusions.choose_folder_encoding(found.source_id, encoding)
        if base := arguments.base_address:
            library.sources.set_base_address(source.source_id, base)
    addresses, refresh = tuple(urls), max(0.0, arguments.refresh)
    links = WebLinks(addresses, arguments.pages, refresh, arguments.follow, arguments.path)
    same = next((s for s in known if s.links and s.links.urls == addresses), None)
    if addresses and same is None:
        library.sources.add_links(links, collection_id)
    elif same and links.follow_depth and same.links != links:
        library.sources.set_links(same.source_id, links)
    asked = {s.source_id for s in library.sources.all() if _is_asked(s, paths, urls)}
    named = _named_sources(arguments)
    return asked | {_take_in(library, name, each, entry) for each, entry in named.items()}


def _is_asked(source: Source, paths: Sequence[Path], urls: Sequence[str]) -> bool:
    return source.path in paths or bool(source.links and set(urls) & set(source.links.urls))


def _report(
    library: Library, added: set[str], began_at: float, embedded_before: int
) -> dict[str, Any]:
    return output.index_json(
        _documents(library, added),
        embedded_chunks=library.indexing.embedded_chunks - embedded_before,
        seconds=time.monotonic() - began_at,
        words_seconds=max(0.0, library.indexing.searchable_at - began_at),
        pictures_waiting=library.indexing.progress().pictures.count,
        crawls=[report for key, report in library.sources.crawls().items() if key in added],
    )


def _documents(library: Library, added: set[str]) -> list[Document]:
    return [d for d in library.documents.all() if d.source_id in added]


def add_collections(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `collection`."""
    verbs = parser.add_subparsers(required=True)
    added = terminal.add_verb(
        verbs, "list", "List the collections with the embedding model of each."
    )
    terminal.prints(added, _list, output.collection_lines)
    text = (
        "Let the links of a collection name these hosts outside the public internet, in place of"
        " those allowed before. The app then reaches what only this computer can reach."
    )
    _add_allow_hosts(terminal.add_verb(verbs, "allow-hosts", text, "Allow intranet hosts."))
    text = (
        "Embed the documents of a collection with another model and wait until that is done. Until"
        " then the previous model answers; the next run continues an interrupted one."
    )
    added = terminal.add_verb(verbs, "set-model", text, "Choose a collection's model.")
    added.add_argument("name", help="the collection")
    chosen = added.add_mutually_exclusive_group(required=True)
    text = (
        "a folder with an ONNX model as sentence-transformers saves it, or an endpoint, for example"
        f" http://localhost:11434/v1#nomic-embed-text. {EMBEDDED_ELSEWHERE}"
    )
    chosen.add_argument("model", nargs="?", help=text)
    text = "the model of the settings, which is the default"
    chosen.add_argument("--default", action="store_true", help=text)
    terminal.prints(added, _set_model, output.set_model_lines)


def _add_allow_hosts(added: argparse.ArgumentParser) -> None:
    added.add_argument("name", help="the collection, which is made if there is none")
    text = (
        "host, host:port, either followed by the network its addresses must be in (quoted), or a"
        " network; none to allow public addresses only"
    )
    added.add_argument("host", nargs="*", help=text)
    terminal.prints(added, _allow_hosts, output.collection_lines)


def _list(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with terminal.open_services() as services:
        return [_row(services, collection) for collection in services.library.collections.all()]


def _allow_hosts(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    with terminal.open_services() as services:
        collections = services.library.collections
        chosen = collections.find_or_add(arguments.name)
        kept = collections.set_intranet_hosts(chosen.collection_id, arguments.host)
        return [_row(services, kept)]


def _set_model(arguments: argparse.Namespace) -> dict[str, Any]:
    model = _spec(arguments.model or "")
    began_at = time.monotonic()
    with terminal.open_services() as services, terminal.waiting_for(services.library) as waiting:
        library = services.library
        embedded_before = library.indexing.embedded_chunks
        chosen = library.collections.find(arguments.name)
        if is_address(model):
            terminal.say(EMBEDDED_ELSEWHERE)
        library.collections.set_embedder(chosen.collection_id, model)
        terminal.begin_reading(services)
        waiting.until_idle()
        return _row(services, library.collections.find(arguments.name)) | {
            "embedded_chunks": library.indexing.embedded_chunks - embedded_before,
            "seconds": round(time.monotonic() - began_at, 2),
        }


def _spec(model: str) -> str:
    """The model as stored: an address or an absolute folder. AppError for no folder."""
    if not model or is_address(model):
        return model
    folder = terminal.path_given(model).resolve()
    if not folder.is_dir():
        hint = "Give the folder of a model, or the address of an endpoint, which begins with http."
        raise AppError(f"There is no folder {folder}.", hint)
    return str(folder)


def _row(services: app.Services, collection: Collection) -> dict[str, Any]:
    library = services.library
    sources = [s for s in library.sources.all() if s.collection_id == collection.collection_id]
    model = library.collections.answering_model(collection.collection_id)
    counts = [library.documents.counts(source.source_id) for source in sources]
    return output.collection_json(collection, model, counts)
