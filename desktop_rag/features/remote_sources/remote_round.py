"""One round over a remote: list, compare with the journal, move, delete, fetch. On one thread.

An item is journaled once its document is stored, so a killed round fetches again only the item
that was under way. Nothing is deleted unless the whole listing came.
"""

import contextlib
import hashlib
import os
import re
import unicodedata
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from desktop_rag.core.domain import Document, DocumentState, Source, WebLinks
from desktop_rag.core.errors import os_error_as
from desktop_rag.features.remote_sources.journal import Journal, Kept
from desktop_rag.features.remote_sources.remote import (
    Item,
    Part,
    Remote,
    RemoteRefused,
    Told,
    Trouble,
)
from desktop_rag.ingest.scanning.ignore import IgnoreRules
from desktop_rag.ingest.sources.fetch_rounds import FetchRun
from desktop_rag.ingest.sources.fetched_documents import NO_FILE, FetchedRows, refused_row, stat_of
from desktop_rag.ingest.sources.source_kinds import SourceKit


@dataclass(frozen=True, slots=True)
class Found:
    """A listed item with its part, and what is kept of it, if anything."""

    item: Item
    part: str
    kept: Kept | None = None


@dataclass(slots=True)
class Plan:
    """What to do. `renamed` has the items of which only the listing changed, such as the path."""

    renamed: list[Found] = field(default_factory=list[Found])
    wanted: list[Found] = field(default_factory=list[Found])
    gone: list[Kept] = field(default_factory=list[Kept])
    unchanged: int = 0


class Listing:
    """Collects the parts of a whole listing."""

    def __init__(self) -> None:
        self.items: dict[str, Found] = {}
        self.tokens: dict[str, str] = {}
        self._told: dict[str, Told] = {}
        self._gone: set[str] = set()

    def add(self, part: Part, items: Iterable[Item]) -> None:
        """Take note of a part, of whose items those that are not ignored are given."""
        # Of what can't be listed, all stays.
        self._told[part.key] = Told.SAME if part.problem else part.told
        self._gone.update(part.gone)
        self.tokens[part.key] = part.token
        for item in items:
            self.items[item.path] = Found(item, part.key)

    def tokens_of(self, known: Mapping[str, str], doubtful: Collection[str]) -> dict[str, str]:
        """The tokens to keep: none of a part with an item in doubt, nor of one around it."""
        same = {
            key: token
            for key, token in known.items()
            if key not in self._told and self._told_of(key) is Told.SAME
        }
        return {
            key: token
            for key, token in (same | self.tokens).items()
            if token and not any(each.startswith(key) for each in doubtful)
        }

    def compare(self, known: Sequence[Kept]) -> Plan:
        """What is to be done, so that what is kept becomes what was listed."""
        plan = Plan()
        ids = {found.item.item_id for found in self.items.values()}
        left = [row for row in known if not self._stays(row, ids)]
        plan.unchanged = len(known) - len(left)
        free = {row.document_id: row for row in left}
        others = self._take_same(free, plan)
        others = _take_moved(free, others, plan)
        by_id = {row.item.item_id: row for row in free.values()}
        by_path = {row.item.path: row for row in free.values()}
        for found in others:
            row = by_id.get(found.item.item_id) or by_path.get(found.item.path)
            if row and not free.pop(row.document_id, None):
                row = None
            plan.wanted.append(Found(found.item, found.part, row))
        plan.gone = list(free.values())
        return plan

    def _take_same(self, free: dict[str, Kept], plan: Plan) -> list[Found]:
        """Take what has the id and the version of a row; returns the rest."""
        by_id = {row.item.item_id: row for row in free.values()}
        others: list[Found] = []
        for found in self.items.values():
            row = by_id.get(found.item.item_id)
            if row and row.item.content_key == found.item.content_key:
                del free[row.document_id]
                _keep(plan, found, row)
            else:
                others.append(found)
        return others

    def _stays(self, row: Kept, listed_ids: Collection[str]) -> bool:
        """True when the listing says that nothing changed in a row, without naming it."""
        told = self._told_of(row.part)
        if told is not Told.CHANGES:
            return told is Told.SAME and row.item.item_id not in listed_ids
        path = row.item.path
        is_named = path in self.items or row.item.item_id in listed_ids
        return not is_named and not self._is_gone(path)

    def _is_gone(self, path: str) -> bool:
        """True when it was named as gone, or a folder around it."""
        above = [path[: each.start()] for each in re.finditer("/", path)] if self._gone else []
        return not self._gone.isdisjoint((path, *above))

    def _told_of(self, key: str) -> Told | None:
        if (told := self._told.get(key)) is not None:
            return told
        is_below = any(
            told is Told.SAME and key.startswith(above) for above, told in self._told.items()
        )
        return Told.SAME if is_below else None


def _take_moved(free: dict[str, Kept], others: list[Found], plan: Plan) -> list[Found]:
    """Take new items that have the content of a row that is free; returns the rest.

    Only where there is no doubt: one such item, and one such row.
    """
    rows: dict[tuple[str, int], list[Kept]] = {}
    for row in free.values():
        rows.setdefault(row.item.content_key, []).append(row)
    items: dict[tuple[str, int], list[Found]] = {}
    for found in others:
        items.setdefault(found.item.content_key, []).append(found)
    rest: list[Found] = []
    for key, same in items.items():
        match rows.get(key, ()), same:
            case [row], [found]:
                del free[row.document_id]
                _keep(plan, found, row)
            case _:
                rest += same
    return rest


def _keep(plan: Plan, found: Found, row: Kept) -> None:
    item = found.item
    before = (row.item.item_id, row.item.path, row.item.page, row.item.readers, row.part)
    if before == (item.item_id, item.path, item.page, item.readers, found.part):
        plan.unchanged += 1
    else:
        plan.renamed.append(Found(item, found.part, row))


# A server that fails so often in a row fails altogether.
_MOST_FAILURES = 5
_UNDER_WAY = ".fetching"


class RemoteRun(FetchRun):
    """A round over one remote."""

    def __init__(
        self, source: Source, kit: SourceKit, journal: Journal, remote: Remote, began_at: float,
        may_go_on: Callable[[], bool],
    ) -> None:  # fmt: skip
        super().__init__(source, began_at)
        assert source.links is not None, "a remote is a source of links"
        self.refused: RemoteRefused | None = None
        self._links = source.links
        self._limit = source.links.page_limit
        self._kit = kit
        self._rules = kit.rules.of(source.rules)
        self._journal = journal
        self._remote = remote
        self._may_go_on = may_go_on
        self._rows = FetchedRows(source, kit)
        self._listing = Listing()
        self._plan: Plan | None = None
        self._known = {
            row.document_id: row
            for row in kit.documents.documents(source.source_id)
            if not row.parent_id
        }
        self._copies = CopyPaths(source.path, [row.path for row in self._known.values()])
        self._journaled = [
            k for k in journal.items(source.source_id) if k.document_id in self._known
        ]
        lost = [k for k in self._journaled if not self._has_copy(k)]
        # Without its copy an item is fetched again, so its part is listed again.
        self._tokens = {} if lost else journal.tokens(source.source_id)
        remote.kept = _by_part(self._journaled, lost)
        self._parts: Iterator[Part] | None = remote.parts(self._tokens)
        # Parts with items that could not be had.
        self._doubtful: set[str] = set()
        self._others: dict[Path, Document] = {}
        self._failures = 0

    def close(self) -> None:
        """Close the connection."""
        self._remote.close()

    def go_on(self) -> bool:
        """As `FetchRun.go_on`; what ends the round early is in `refused`."""
        try:
            if self._plan is None:
                if not self._list():
                    return False
                self._plan = self._compared()
                self._rename(self._plan)
                self._remove([each.document_id for each in self._plan.gone])
            if not self._fetch_wanted(self._plan):
                return False
        except RemoteRefused as refused:
            self._give_up(refused)
        else:
            self._finish()
        self._tell()
        return True

    # --- the listing -----------------------------------------------------------------------------

    def _list(self) -> bool:
        """Take in the whole listing; False when interrupted, and later it goes on."""
        assert self._parts is not None, "a listing that ended is not read again"
        for part in self._parts:
            self._listing.add(part, readable(part.items, self._rules, self._links))
            if part.problem:
                self.log.refuse(part.key, part.problem)
                self._doubtful.add(part.key)
            self._tell()
            if len(self._listing.items) > self._limit:
                self.is_cut_off = True
                break
            if not self._may_go_on():
                return False
        self._parts = None
        return True

    def _compared(self) -> Plan:
        plan = self._listing.compare(
            [k if self._has_copy(k) else _outdated(k) for k in self._journaled]
        )
        journaled = {k.document_id for k in self._journaled}
        # Documents without a note, such as those that could not be had.
        self._others = {row.path: row for key, row in self._known.items() if key not in journaled}
        if self.is_cut_off:
            # What a limit left out may still be there.
            plan.unchanged += len(plan.gone)
            plan.gone = []
            plan.wanted = plan.wanted[: max(0, self._limit - plan.unchanged - len(plan.renamed))]
        self.findings.unchanged = plan.unchanged
        return plan

    def _has_copy(self, kept: Kept) -> bool:
        """True when its copy is still there, or it never had one."""
        row = self._known[kept.document_id]
        return row.stat == NO_FILE or stat_of(row.path) == row.stat

    # --- what is done ----------------------------------------------------------------------------

    def _rename(self, plan: Plan) -> None:
        """Give documents their new paths; nothing is fetched or read for that."""
        for found in plan.renamed:
            assert found.kept, "it was known"
            row = self._known[found.kept.document_id]
            if found.item.path == found.kept.item.path:
                self.findings.unchanged += 1
                continue
            # One at a time: killed in between, one copy is where no row says.
            self.findings.moved += 1
            path = self._copies.path_of(found.item)
            if row.stat != NO_FILE:
                with os_error_as("A fetched file could not be moved.", row.path):
                    _make_folders(self.source.path, path)
                    row.path.replace(path)
            self._copies.drop_folders(row.path)
            self._rows.apply(changed={row.document_id: _at(path)})
            self._note(found, row.document_id)
        self._journal.put(
            self.source.source_id,
            [
                Kept(f.item, f.part, f.kept.document_id)
                for f in plan.renamed
                if f.kept and f.item.path == f.kept.item.path
            ],
        )

    def _remove(self, document_ids: list[str]) -> None:
        rows = [self._known.pop(each) for each in document_ids if each in self._known]
        if not rows:
            return
        self.findings.gone += len(rows)
        self._rows.remove(rows)
        for row in rows:
            with contextlib.suppress(OSError):
                row.path.unlink(missing_ok=True)
            self._copies.drop_folders(row.path)
        self._journal.put(self.source.source_id, (), document_ids)

    def _fetch_wanted(self, plan: Plan) -> bool:
        while plan.wanted:
            self._tell()
            if not self._may_go_on():
                return False
            self._fetch(plan.wanted[0])
            del plan.wanted[0]
        return True

    def _fetch(self, found: Found) -> None:
        row = self._row_of(found)
        reason = reason_of(found.item)
        if reason:
            self._list_unread(found, row, DocumentState.SKIPPED, reason)
            return
        under_way = self.source.path / _UNDER_WAY
        try:
            with os_error_as("A fetched file could not be saved.", under_way):
                _make_folders(self.source.path, under_way)
                with under_way.open("wb") as target:
                    item = self._remote.fetch(found.item, target, self._rules.max_size_bytes)
                if item.modified > 0:
                    os.utime(under_way, (item.modified, item.modified))
        except RemoteRefused as refused:
            self._fail(found, row, refused)
            return
        self._failures = 0
        path = row.path if row and not self._is_elsewhere(found) else self._copies.path_of(item)
        with os_error_as("A fetched file could not be saved.", path):
            _make_folders(self.source.path, path)
            under_way.replace(path)
        if row is not None and row.path != path:
            with contextlib.suppress(OSError):
                row.path.unlink(missing_ok=True)
        self._store(replace(found, item=item), row, path)

    def _store(self, found: Found, row: Document | None, path: Path) -> None:
        stat = stat_of(path) or NO_FILE
        if row is None:
            row = replace(self._new_row(found.item, path), stat=stat)
            self._rows.apply(added=[row])
            self.findings.added += 1
        else:
            self._rows.apply(
                changed={
                    row.document_id: lambda now: replace(
                        now, path=path, stat=stat, state=DocumentState.WAITING, reason=""
                    )
                }
            )
            self.findings.changed += 1
        self._note(found, row.document_id)

    def _note(self, found: Found, document_id: str) -> None:
        self._journal.put(self.source.source_id, [Kept(found.item, found.part, document_id)])

    def _fail(self, found: Found, row: Document | None, refused: RemoteRefused) -> None:
        """Note why an item could not be had; raises what ends the round."""
        if refused.trouble in (Trouble.OFFLINE, Trouble.REFUSED):
            raise refused
        self.log.refuse(found.item.path, refused.reason)
        if refused.trouble is Trouble.LEFT_OUT:
            self._list_unread(found, row, DocumentState.SKIPPED, refused.reason)
            return
        self._doubtful.add(found.part)
        self._failures += 1
        if self._failures >= _MOST_FAILURES:
            raise RemoteRefused(Trouble.OFFLINE, refused.title, refused.hint)
        if row is not None and row.stat != NO_FILE:
            self.findings.missed[found.item.path] = refused.reason
            self.findings.unchanged += 1
        else:
            self._list_unread(found, row, DocumentState.FAILED, refused.reason)

    def _list_unread(
        self, found: Found, row: Document | None, state: DocumentState, reason: str
    ) -> None:
        """List an item without its text, and why."""
        path = row.path if row else self._copies.path_of(found.item)
        if row is None:
            row = replace(self._new_row(found.item, path), state=state, reason=reason)
            self._rows.apply(added=[row])
            self.findings.added += 1
        elif (row.state, row.reason) != (state, reason):
            self._rows.apply(changed={row.document_id: lambda now: refused_row(now, state, reason)})
            with contextlib.suppress(OSError):
                row.path.unlink(missing_ok=True)
            self.findings.changed += 1
        else:
            self.findings.unchanged += 1
        if state is DocumentState.SKIPPED:
            self._note(found, row.document_id)

    def _row_of(self, found: Found) -> Document | None:
        """The document of a listed item: that of the journal, or one of its path without a note."""
        if found.kept:
            return self._known.get(found.kept.document_id)
        return self._others.pop(self._copies.plain(found.item), None)

    def _is_elsewhere(self, found: Found) -> bool:
        return bool(found.kept and found.kept.item.path != found.item.path)

    def _new_row(self, item: Item, path: Path) -> Document:
        return Document(
            uuid.uuid4().hex, self.source.source_id, path, path.stem,
            path.suffix.lower().removeprefix("."), NO_FILE, "", DocumentState.WAITING,
        )  # fmt: skip

    # --- the end ---------------------------------------------------------------------------------

    def _finish(self) -> None:
        if not self.is_cut_off:
            listed = {self._copies.plain(found.item) for found in self._listing.items.values()}
            self._remove([r.document_id for p, r in self._others.items() if p not in listed])
            tokens = self._listing.tokens_of(self._tokens, self._doubtful)
            self._journal.put_tokens(self.source.source_id, tokens)

    def _give_up(self, refused: RemoteRefused) -> None:
        self.refused = refused
        self.is_offline = True
        self.waits_for_person = refused.trouble is Trouble.REFUSED
        self.retry_s = refused.wait_s or self.retry_s
        self.log.refuse(self.source.name, refused.reason)

    def _tell(self) -> None:
        found, plan = self.findings, self._plan
        waiting = len(plan.wanted) if plan else len(self._listing.items)
        self.log.change(
            requests=self._remote.requests,
            pages=found.unchanged + found.added + found.changed + found.moved,
            fresh=found.added + found.changed,
            waiting=waiting,
        )


def _by_part(journaled: Sequence[Kept], lost: Sequence[Kept]) -> Mapping[str, Sequence[Item]]:
    """What is kept, as a remote is told; rules may have changed for what could not be read."""
    again = {each.document_id for each in lost}
    parts: dict[str, list[Item]] = {}
    for each in journaled:
        is_asked = each.document_id in again or reason_of(each.item)
        parts.setdefault(each.part, []).append((_outdated(each) if is_asked else each).item)
    return parts


def _outdated(kept: Kept) -> Kept:
    """What is kept of an item, as if it had another version there."""
    return replace(kept, item=replace(kept.item, version=""))


def _at(path: Path) -> Callable[[Document], Document]:
    def change(row: Document) -> Document:
        stat = stat_of(path) if row.stat != NO_FILE else None
        title = path.stem if row.title == row.path.stem else row.title
        return replace(row, path=path, stat=stat or row.stat, title=title)

    return change


# A reason why an item is not fetched, before its version: it is asked for when either changes.
_REASON = "\0"


def readable(items: Iterable[Item], rules: IgnoreRules, links: WebLinks) -> Iterator[Item]:
    """The chosen items that are not ignored; those that can't be read say so in the version."""
    since = datetime.fromisoformat(links.since).timestamp() if links.since else 0.0
    for item in items:
        names = item.path.split("/")
        is_old = 0 < item.modified < since
        if is_old or (links.chosen and names[0] not in links.chosen):
            continue
        if any(rules.is_invisible(name) for name in names if name):
            continue
        reason = rules.reason(names[-1], max(item.size, 0))
        yield replace(item, version=f"{reason}{_REASON}{item.version}") if reason else item


def reason_of(item: Item) -> str:
    """Why an item of `readable` is not fetched; "" when it is."""
    reason, found, _ = item.version.partition(_REASON)
    return reason if found else ""


def _make_folders(root: Path, path: Path) -> None:
    # Not all parents: a home whose disk is away must not be made anew.
    root.parent.mkdir(mode=0o700, exist_ok=True)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)


_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\/]')
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
_LONGEST_NAME, _LONGEST_PATH = 120, 180
_MARK_CHARS = 8


class CopyPaths:
    """Where the copies of one source are: at the paths of the server, as far as a disk takes them.

    Names that a disk may refuse, or that differ in nothing but letter case or accents, get a mark.
    """

    def __init__(self, root: Path, known: list[Path]) -> None:
        self._root = root
        self.taken = set(known)
        self._folded = {_folded(path) for path in known}

    def plain(self, item: Item) -> Path:
        """The path of an item, if no other has it."""
        names = [_safe(name) for name in unicodedata.normalize("NFC", item.path).split("/")]
        wanted = "/".join(names)
        if len(wanted) > _LONGEST_PATH:
            wanted = _marked(names[-1], item.path)
        return self._root / wanted

    def path_of(self, item: Item) -> Path:
        """A path for a new copy of an item."""
        path = self.plain(item)
        if _folded(path) in self._folded:
            path = path.with_name(_marked(path.name, item.item_id))
        self.taken.add(path)
        self._folded.add(_folded(path))
        return path

    def drop_folders(self, path: Path) -> None:
        """Free the path of a copy that is gone, and delete folders that are empty now."""
        self.taken.discard(path)
        self._folded.discard(_folded(path))
        with contextlib.suppress(OSError):
            for folder in path.parents:
                if folder == self._root or not folder.is_relative_to(self._root):
                    break
                folder.rmdir()


def _safe(name: str) -> str:
    safe = _UNSAFE.sub("_", name).rstrip(". ") or "_"
    is_as_it_was = safe == name and len(os.fsencode(name)) <= _LONGEST_NAME
    return name if is_as_it_was and not _RESERVED.fullmatch(name) else _marked(safe, name)


def _marked(name: str, of: str) -> str:
    mark = hashlib.blake2b(of.encode("utf-8", "replace"), digest_size=_MARK_CHARS // 2).hexdigest()
    stem, dot, suffix = name.rpartition(".")
    if not dot or len(suffix) > _MARK_CHARS:
        stem, suffix = name, ""
    return f"{stem[:40]}~{mark}{f'.{suffix}' if suffix else ''}"


def _folded(path: Path) -> str:
    return unicodedata.normalize("NFKD", str(path)).casefold()
