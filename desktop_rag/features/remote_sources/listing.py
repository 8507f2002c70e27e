"""What a listing says compared with the journal: what is moved, to be fetched, and gone. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from desktop_rag.features.remote_sources.journal import Kept
from desktop_rag.features.remote_sources.remote import Item, Part, Told


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
