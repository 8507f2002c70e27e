"""The entries of a copy: everything that can't be made again, or one collection's part. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from desktop_rag.backup.merging import Places, merge
from desktop_rag.backup.selection import coherent, selected
from desktop_rag.store.contract.precious import Entry

_HOSTS = "intranet_hosts"


@dataclass(frozen=True, slots=True)
class CopiedEntries:
    """The entries to put, and how the other library calls what it has already.

    `sources` maps the id of each source whose documents are to be copied to its id there.
    `left_out` are the paths of sources that overlap with one that is there.
    """

    put: list[Entry] = field(default_factory=list[Entry])
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    left_out: tuple[str, ...] = ()


def chosen_entries(entries: Sequence[Entry], collection_id: str) -> tuple[list[Entry], list[Entry]]:
    """The entries of a copy, and the images that go with them."""
    chosen = selected(entries, collection_id)
    images = [e for e in entries if e.kind == "image" and e.key in chosen.image_ids]
    return coherent(chosen.entries), images


def copied_entries(
    present: Sequence[Entry], incoming: Sequence[Entry], places: Places
) -> CopiedEntries:
    """What the copy adds to the entries that are there.

    It merges as a backup does, except that a collection keeps the hosts it may reach: both
    libraries are of the same person.
    """
    done = merge(present, incoming, places)
    hosts = {e.key: e.row[_HOSTS] for e in incoming if e.kind == "collection"}
    put = [_with_hosts(entry, hosts) for entry in done.put]
    there = {entry.key: entry for entry in [*present, *put] if entry.kind == "source"}
    by_place = {_place(entry): key for key, entry in there.items()}
    moved = _collections_there(present, incoming)
    sources: dict[str, str] = {}
    for entry in _of_kind(incoming, "source"):
        before = str(entry.row["collection_id"])
        own = moved.get(before, before)
        known = entry.key if entry.key in there else by_place.get(_place(entry, own))
        if known:
            sources[entry.key] = known
    return CopiedEntries(put, sources, tuple(done.overlapping))


def _of_kind(entries: Iterable[Entry], kind: str) -> list[Entry]:
    return [entry for entry in entries if entry.kind == kind]


def _with_hosts(entry: Entry, hosts: Mapping[str, str]) -> Entry:
    if entry.kind != "collection" or entry.key not in hosts:
        return entry
    return replace(entry, rows={"collections": [{**entry.row, _HOSTS: hosts[entry.key]}]})


def _collections_there(present: Sequence[Entry], incoming: Sequence[Entry]) -> dict[str, str]:
    """The id there of each collection that is known by its name only."""
    by_name = {e.row["name"].casefold(): e.key for e in _of_kind(present, "collection")}
    known = {e.key for e in _of_kind(present, "collection")}
    return {
        e.key: by_name[e.row["name"].casefold()]
        for e in _of_kind(incoming, "collection")
        if e.key not in known and e.row["name"].casefold() in by_name
    }


def _place(entry: Entry, collection_id: str = "") -> tuple[str, str, str]:
    """What makes two sources the same one: the collection, and the links or else the path."""
    row = entry.row
    where = "links" if row["links"] else "path"
    return collection_id or str(row["collection_id"]), where, str(row[where])
