"""Compares the bundled models with the list of their hashes that ships with the app."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Event

from desktop_rag.diagnosis.finding import Finding, State
from desktop_rag.diagnosis.subject import Subject

# In the format of sha256sum, so that `sha256sum --check` reads it too.
MANIFEST = "manifest.sha256"
_CHUNK = 1 << 20
_HASH = re.compile("[0-9a-f]{64}")


def check_bundled(subject: Subject, cancel: Event) -> Iterator[Finding]:
    """Every file of the list: there and unaltered."""
    hint = "Install the app again."
    try:
        listed = read_manifest(subject.outside.models)
    except (OSError, ValueError) as exc:
        title = f"The list of the bundled model files cannot be read ({exc})."
        yield Finding("model files", State.PROBLEM, title, hint)
        return
    wrong = []
    for name, sha256 in listed.items():
        if cancel.is_set():
            return
        if fault := _fault(subject.outside.models / name, sha256):
            wrong.append(f"{name} {fault}")
    if wrong:
        title = f"Files of the bundled model are wrong: {'; '.join(wrong)}."
        yield Finding("model files", State.PROBLEM, title, hint)
    else:
        title = f"All {len(listed)} files of the bundled model are unaltered."
        yield Finding("model files", State.OK, title)


def read_manifest(models: Path) -> dict[str, str]:
    """SHA-256 by file name; OSError or ValueError when the list can't be read."""
    listed: dict[str, str] = {}
    for line in (models / MANIFEST).read_text(encoding="utf-8").splitlines():
        sha256, _, name = line.partition("  ")
        if not _HASH.fullmatch(sha256) or not name or ".." in Path(name).parts:
            raise ValueError("a line is no hash with a name")
        listed[name] = sha256
    if not listed:
        raise ValueError("it is empty")
    return listed


def sha256_of(path: Path) -> str:
    """The hash of a file; OSError when it can't be read."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def _fault(path: Path, sha256: str) -> str:
    try:
        return "" if sha256_of(path) == sha256 else "was changed or cut"
    except FileNotFoundError:
        return "is missing"
    except OSError as exc:
        return f"cannot be read ({exc.strerror})"
