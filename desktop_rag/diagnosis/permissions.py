"""Checks that the home and everything in it is for this user alone."""

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path
from threading import Event

from desktop_rag.diagnosis.finding import Finding, State
from desktop_rag.diagnosis.subject import Subject

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_SHOWN = 5


def check_permissions(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """One finding; those that others may use are named."""
    root = subject.home.root
    if os.name != "posix":
        title = "Windows keeps the files of a user from other users by itself."
        yield Finding("permissions", State.NOT_CHECKED, title)
    elif not root.exists():
        yield Finding("permissions", State.NOT_CHECKED, f"{root} does not exist yet.")
    else:
        yield permissions(root, cancel)


def permissions(root: Path, cancel: Event) -> Finding:
    """The finding for an existing home."""
    is_open, foreign = _seen(root)
    shared: list[str] = []
    for path in _below(root):
        if cancel.is_set():
            break
        others_may, is_foreign = _seen(path)
        name = str(path.relative_to(root))
        foreign, shared = foreign or is_foreign, shared + [name] * (others_may or is_foreign)
    hint = f"Close it to others: chmod -R go= {shlex.quote(str(root))}"
    if foreign:
        named = _named(shared) or str(root)
        title = f"Files of the app in {root} belong to another user: {named}."
        return Finding("permissions", State.PROBLEM, title, "Give them back with chown.")
    if is_open:
        title = f"Other users of this computer may open {root}."
        return Finding("permissions", State.PROBLEM, title, hint)
    if shared:
        title = f"Files in {root} would be open to others without their folder: {_named(shared)}."
        return Finding("permissions", State.WARNING, title, hint)
    return Finding("permissions", State.OK, f"{root} and everything in it is for you alone.")


def _below(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        yield from (Path(folder) / name for name in (*folders, *files))


def _seen(path: Path) -> tuple[bool, bool]:
    """True when others have a right to it; True when it belongs to another user."""
    try:
        status = path.lstat()
    except OSError:
        return False, False  # removed meanwhile
    is_link = stat.S_ISLNK(status.st_mode)
    return not is_link and bool(status.st_mode & _OTHERS), status.st_uid != os.geteuid()


def _named(names: list[str]) -> str:
    more = len(names) - _SHOWN
    shown = ", ".join(sorted(names)[:_SHOWN])
    return f"{shown} and {more:,} more" if more > 0 else shown
