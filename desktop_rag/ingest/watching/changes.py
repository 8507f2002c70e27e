"""Many raw events become one change per path, and changes become a few places to look at. Pure.

Events are hints, so a doubt is decided towards looking once more. Nothing here locks or reads a
clock: the watcher calls it on its own threads and says what time it is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple


class ChangeKind(Enum):
    """What happened to a path.

    CREATED is certain: it was not there before. What may have replaced something, as a file moved
    onto a path does, is MODIFIED; so a move is DELETED at the old path and MODIFIED at the new.
    """

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Change:
    """One raw event, or what remains of several. A folder's change stands for all below it."""

    path: Path
    kind: ChangeKind
    is_folder: bool = False


class _Net(NamedTuple):
    """What is known of one path from its first and its last event."""

    was_there: bool
    is_there: bool
    is_folder: bool


def reduce(changes: Iterable[Change]) -> dict[Path, Change]:
    """One change per path, in the order the paths came up; what came and went is left out."""
    nets: dict[Path, _Net] = {}
    for change in changes:
        _fold(nets, change)
    return _net_changes(nets)


def places(changes: dict[Path, Change]) -> frozenset[Path]:
    """Where to look: the changed paths without those that lie below a changed folder."""
    folders = {path for path, change in changes.items() if change.is_folder}
    if not folders:
        return frozenset(changes)
    return frozenset(path for path in changes if folders.isdisjoint(path.parents))


class PendingChanges:
    """What happened below one root and was not handed over yet. Times are monotonic seconds.

    It is due after `quiet_s` without a change, and after `storm_s` at the latest. More than
    `max_paths` paths become the root itself: a whole scan is cheaper then.
    """

    def __init__(self, root: Path, quiet_s: float, storm_s: float, max_paths: int = 10_000) -> None:
        self._root = root
        self._quiet_s = quiet_s
        self._storm_s = storm_s
        self._max_paths = max_paths
        self._nets: dict[Path, _Net] = {}
        self._is_whole = False
        self._first_s: float | None = None
        self._last_s = 0.0

    @property
    def due_at_s(self) -> float | None:
        """When `take` should be called; None while nothing is pending."""
        if self._first_s is None:
            return None
        return min(self._last_s + self._quiet_s, self._first_s + self._storm_s)

    def add(self, change: Change, now_s: float) -> None:
        """Note a raw event."""
        if self._first_s is None:
            self._first_s = now_s
        self._last_s = now_s
        if self._is_whole:
            return
        _fold(self._nets, change)
        if len(self._nets) > self._max_paths:
            self._is_whole = True

    def add_root(self, now_s: float) -> None:
        """Note that anything may have changed. What is pending already is not put off by it."""
        self._is_whole = True
        if self._first_s is None:
            self._first_s = self._last_s = now_s

    def take(self) -> frozenset[Path]:
        """The places to look at, empty if all came to nothing; nothing is pending afterwards."""
        paths = places(_net_changes(self._nets))
        is_whole = self._is_whole or self._root in paths
        self._nets = {}
        self._is_whole = False
        self._first_s = None
        return frozenset({self._root}) if is_whole else paths


def _fold(nets: dict[Path, _Net], change: Change) -> None:
    is_there = change.kind is not ChangeKind.DELETED
    net = nets.get(change.path)
    if net is None:
        was_there = change.kind is not ChangeKind.CREATED
        nets[change.path] = _Net(was_there, is_there, change.is_folder)
    elif net.is_there is not is_there or (change.is_folder and not net.is_folder):
        nets[change.path] = _Net(net.was_there, is_there, net.is_folder or change.is_folder)


def _net_changes(nets: dict[Path, _Net]) -> dict[Path, Change]:
    changes: dict[Path, Change] = {}
    for path, net in nets.items():
        if not net.is_there and not net.was_there:
            continue
        if not net.is_there:
            kind = ChangeKind.DELETED
        else:
            kind = ChangeKind.MODIFIED if net.was_there else ChangeKind.CREATED
        changes[path] = Change(path, kind, net.is_folder)
    return changes
