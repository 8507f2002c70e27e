"""Passwords of encrypted files: the verb `password`, and the questions of `index --ask-password`.

A password is typed without echo; the verb also reads it from standard input. It is never an
argument, which other programs could see.
"""

import argparse
import getpass
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from desktop_rag import app
from desktop_rag.cli.argument_types import add_json
from desktop_rag.cli.terminal import open_services, print_document, printable, say
from desktop_rag.core.domain import Document
from desktop_rag.core.errors import AppError, WrongPasswordError
from desktop_rag.core.paths import find_home
from desktop_rag.ingest.library import Library
from desktop_rag.running_app import ask_running_app
from desktop_rag.waiting import Waiting

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
    """Enter or forget a password; returns the exit code."""
    # An open window refuses: the password is entered there.
    ask_running_app(find_home(), "password", {})
    path = Path(arguments.file).expanduser().resolve()
    with open_services() as services, Waiting(services.library, say) as waiting:
        passwords, document = services.library.passwords, _document(services, path)
        if arguments.forget:
            files, is_kept = passwords.forget(document), False
        else:
            unlocked = passwords.enter(
                document, _typed(path), keeps=arguments.keep, for_folder=arguments.folder
            )
            files, is_kept = unlocked.files, unlocked.is_kept
        services.library.start(watch=False)
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
    """AppError when nobody can be asked here: no terminal, or a window that asks for itself."""
    if not sys.stdin.isatty():
        raise AppError(
            "Passwords can be asked for on a terminal only.",
            "Leave out --ask-password, then enter them with: desktop-rag password FILE",
        )
    ask_running_app(find_home(), "password", {})


def ask_for_passwords(library: Library, documents: Iterable[Document]) -> bool:
    """Ask for the password of each locked file, and have it read; True when one was opened.

    What was typed is tried on the other files before they are asked for, and is forgotten when the
    library is closed.
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
            say(f"{path}: {error.title} {error.hint}")
    return is_any_open


def _ask_to_open(library: Library, document: Document, typed: list[str]) -> bool:
    """True once a typed password, which is added to `typed`, opened the file."""
    for _ in range(_MOST_TRIES):
        prompt = f"Password of {document.path} (Enter to leave it out): "
        password = getpass.getpass(printable(prompt))
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
    if sys.stdin.isatty():
        password = getpass.getpass(printable(f"Password of {path.name}: "))
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise AppError("No password was entered.", "Nothing was changed.")
    return password


def _lines(report: dict[str, Any]) -> Sequence[str]:
    lines = [f"{report['file']}: {report['state']}. {report['reason']}".rstrip()]
    if report["files"] > 1:
        lines.append(f"{report['files']:,} files were read again.")
    return lines
