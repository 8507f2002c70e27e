"""Compares the files on disk with those in the store.

`reconcile` is pure; `rescan` scans the disk first, on the calling worker thread.
"""

import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import NamedTuple

from desktop_rag.core.domain import EXCLUDED, FileStat
from desktop_rag.ingest.scanning.disk_walk import FoundFile, RootOffline, is_covered, scan
from desktop_rag.ingest.scanning.ignore import IgnoreRules


class KnownFile(NamedTuple):
    """A file as the store remembers it. `skip_reason` is empty unless it was skipped.

    `gone_at` is when it was believed to be gone, if it is kept in case it comes back. `indexed_at`
    is when it was read, 0 if never. A tuple, as the store has it, since there may be 50,000 of them
    at once.
    """

    document_id: str
    location: str
    size_bytes: int
    mtime_ns: int
    inode: int
    skip_reason: str = ""
    gone_at: float = 0.0
    indexed_at: float = 0.0

    @property
    def stat(self) -> FileStat:
        """Size, time and inode: different for another state of the file."""
        return FileStat(self.size_bytes, self.mtime_ns, self.inode)


@dataclass(frozen=True, slots=True)
class Match:
    """A known file and what it is now on disk."""

    known: KnownFile
    found: FoundFile


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences between disk and store. A file in `new` or `changed` may have a skip reason.

    `moved` files have the same content at a new place. `returned` had been gone and are as they
    were. `left_out` are still there, but no longer to be read. `unreadable` could not be looked
    at; known files there count as unchanged.
    """

    new: tuple[FoundFile, ...] = ()
    changed: tuple[Match, ...] = ()
    moved: tuple[Match, ...] = ()
    returned: tuple[Match, ...] = ()
    vanished: tuple[KnownFile, ...] = ()
    left_out: tuple[KnownFile, ...] = ()
    unreadable: tuple[FoundFile, ...] = ()
    unchanged: int = 0


def rescan(
    root: Path,
    rules: IgnoreRules,
    known: Collection[KnownFile],
    cancel: Event,
    parts: frozenset[Path] | None = None,
) -> Changes:
    """The changes below the root, or only at and below the given parts of it.

    `known` are all files of the source in the store. Raises RootOffline, Cancelled.
    """
    left_out, now = set[str](), time.time()

    def leave_out(location: str, _reason: str) -> None:
        left_out.add(location)

    if parts is not None and root not in parts:
        found = list(scan(root, rules, cancel, parts, leave_out))
        inside = _at_or_below(known, parts)
        related = _related(found, inside, known)
        if related:
            parts |= related
            found = list(scan(root, rules, cancel, parts, leave_out))
            inside = _at_or_below(known, parts)
        return reconcile(found, inside, left_out, now)
    changes = reconcile(scan(root, rules, cancel, left_out=leave_out), known, left_out, now)
    if known and len(changes.vanished) == len(known) and _is_empty(root, rules):
        # An empty mount point looks like this. A folder emptied file by file, while it is
        # watched, comes here in parts.
        raise RootOffline(root)
    return changes


def _is_empty(root: Path, rules: IgnoreRules) -> bool:
    try:
        return all(rules.is_invisible(entry.name) for entry in root.iterdir())
    except OSError as exc:
        raise RootOffline(root) from exc


def reconcile(
    found: Iterable[FoundFile],
    known: Iterable[KnownFile],
    left_out: AbstractSet[str] = frozenset(),
    now: float = math.inf,
) -> Changes:
    """Sort found and known files into what is new, changed, moved, vanished and unchanged.

    `left_out` are files and folders that are there but not to be read; it may fill up while
    `found` is gone through. A file that the system calls changed since it was read, though not
    later than `now`, is changed: its size and time may have been kept.
    """
    left = {file.location: file for file in known}
    seen = _compare(_one_a_name(found, left), left, now)
    unseen = {file.location for file in seen.unreadable}
    missing = [file for file in left.values() if not is_covered(file.location, unseen)]
    vanished: list[KnownFile] = []
    excluded: list[KnownFile] = []
    for file in missing:
        (excluded if is_covered(file.location, left_out) else vanished).append(file)
    moved = _moves(seen.new, vanished)
    gone = {match.known.location for match in moved}
    come = {match.found.location for match in moved}
    return Changes(
        new=tuple(file for file in seen.new if file.location not in come),
        changed=tuple(seen.changed),
        moved=tuple(moved),
        returned=tuple(seen.returned),
        vanished=tuple(file for file in vanished if file.location not in gone),
        left_out=tuple(excluded),
        unreadable=tuple(seen.unreadable),
        unchanged=seen.unchanged + len(left) - len(missing),
    )


@dataclass(slots=True)
class _Seen:
    new: list[FoundFile] = field(default_factory=list[FoundFile])
    changed: list[Match] = field(default_factory=list[Match])
    returned: list[Match] = field(default_factory=list[Match])
    unreadable: list[FoundFile] = field(default_factory=list[FoundFile])
    unchanged: int = 0


def _compare(found: Iterable[FoundFile], left: dict[str, KnownFile], now: float) -> _Seen:
    """Sort what is on disk; known files that are there are taken out of `left`."""
    seen = _Seen()
    unchanged = 0
    for file in found:
        if file.is_unreadable:
            seen.unreadable.append(file)
            continue
        before = left.pop(file.location, None)
        if before is None:
            seen.new.append(file)
        # The same four at a glance; most files are unchanged.
        elif before[2:6] == file[1:5] or is_as_it_was(before, file):
            if before.gone_at:
                seen.returned.append(Match(before, file))
            elif _is_touched(before, file, now):
                seen.changed.append(Match(before, file))
            else:
                unchanged += 1
        else:
            seen.changed.append(Match(before, file))
    seen.unchanged = unchanged
    return seen


def _is_touched(before: KnownFile, file: FoundFile, now: float) -> bool:
    """True when something of the file changed since it was read: perhaps its content.

    Reading it compares the hashes, so that a file with other rights only is not parsed again.
    """
    changed_at = file.ctime_ns / 1e9
    return not file.reason and 0.0 < before.indexed_at < changed_at <= now


def _one_a_name(found: Iterable[FoundFile], known: Mapping[str, KnownFile]) -> Iterator[FoundFile]:
    """The files, those with several names (hard links) once: under a known name, if any."""
    several: dict[int, list[FoundFile]] = {}
    for file in found:
        if file.links > 1 and not file.reason:
            several.setdefault(file.inode, []).append(file)
        else:
            yield file
    for files in several.values():
        first = min(files, key=lambda f: (not _is_read(known.get(f.location)), f.location))
        yield first
        for file in files:
            if file is not first:
                yield file._replace(reason=f"the same file as {first.path.name}")


def _is_read(known: KnownFile | None) -> bool:
    return known is not None and not known.skip_reason


def is_as_it_was(before: KnownFile, now: FoundFile) -> bool:
    """True when a file is read, or skipped, as before."""
    return before.skip_reason == now.reason and is_same(before, now)


def is_same(before: KnownFile, now: FoundFile) -> bool:
    """True when two states of a file are equal. An inode of 0 is unknown."""
    return (
        before.mtime_ns == now.mtime_ns
        and before.size_bytes == now.size_bytes
        and (before.inode == now.inode or not before.inode or not now.inode)
    )


def _moves(new: list[FoundFile], vanished: list[KnownFile]) -> list[Match]:
    """Pairs with the same inode, size and time. Another suffix is another format: read again.

    A file that the person excluded stays excluded under its new name.
    """
    sources: dict[tuple[FileStat, str], list[KnownFile]] = {}
    for known in vanished:
        if known.inode and known.skip_reason in {"", EXCLUDED}:
            sources.setdefault((known.stat, _suffix(known.location)), []).append(known)
    moves: list[Match] = []
    if not sources:
        return moves
    for file in new:
        candidates = sources.get((file.stat, _suffix(file.location)))
        if candidates and not file.reason:
            moves.append(Match(candidates.pop(), file))
    return moves


def _suffix(location: str) -> str:
    return Path(location).suffix.lower()


def _related(
    found: Iterable[FoundFile], inside: Iterable[KnownFile], known: Iterable[KnownFile]
) -> frozenset[Path]:
    """Other places of the scanned files, as the store knows them.

    The two events of a move may arrive at different times: handled one by one they would be a
    new file and a vanished one. And of the names of one file only one is read.
    """
    here = {file.location for file in inside}
    there = {file.location for file in found}
    inodes = {file.inode for file in found if file.links > 1}
    stats = {file.stat for file in found if file.location not in here}
    stats |= {file.stat for file in inside if file.location not in there}
    moved = {stat.inode for stat in stats}
    return frozenset(
        Path(file.location)
        for file in known
        if file.inode
        and (file.inode in inodes or (file.inode in moved and file.stat in stats))
        and file.location not in here
    )


def _at_or_below(known: Iterable[KnownFile], parts: frozenset[Path]) -> list[KnownFile]:
    places = {str(part) for part in parts}
    return [file for file in known if is_covered(file.location, places)]
