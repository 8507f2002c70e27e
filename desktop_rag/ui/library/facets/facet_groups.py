"""The content of the list of facets: the values of each with their labels and counts. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from desktop_rag.core.domain import Collection, Source
from desktop_rag.core.language.translation import tr
from desktop_rag.ui.foundation.document_kinds import DocumentKind, kind_in_words
from desktop_rag.ui.foundation.wording import collection_name, one_line, value_in_words
from desktop_rag.ui.library.facets.facet_values import (
    Facet,
    FileFilter,
    KeyCounts,
    StateGroup,
    ValueCounts,
    folder_value,
    source_and_folder,
)

# Shown even without files, so that the list doesn't jump during indexing.
_LASTING = (StateGroup.SEARCHABLE, StateGroup.IN_PROGRESS)


@dataclass(frozen=True, slots=True)
class FacetValue:
    """One value of a facet with its number of files; `depth` is 1 inside the one above it."""

    value: str
    label: str
    count: int
    is_chosen: bool
    depth: int = 0


@dataclass(frozen=True, slots=True)
class FacetGroup:
    """A facet with the values that are offered."""

    facet: Facet
    values: tuple[FacetValue, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """The sources and collections of the library, for their names."""

    sources: Sequence[Source] = ()
    collections: Sequence[Collection] = ()

    @property
    def collection_of_source(self) -> Mapping[str, str]:
        """The collection of each source, by their ids."""
        return {source.source_id: source.collection_id for source in self.sources}

    def label(self, facet: Facet, value: str) -> str:
        """The words for a value of a facet."""
        if facet is Facet.COLLECTION:
            names = {c.collection_id: collection_name(c) for c in self.collections}
            return one_line(names.get(value, tr("Removed collection")))
        if facet is Facet.STATE:
            return value_in_words(StateGroup(value), begins=True)
        if facet is Facet.KIND:
            return kind_in_words(DocumentKind(value))
        if facet is Facet.TAG:
            return one_line(value)
        source_id, sub = source_and_folder(value)
        names = {source.source_id: source.name for source in self.sources}
        name = one_line(names.get(source_id, tr("Removed folder")))
        return f"{name} › {one_line(sub)}" if sub else name

    def holds(self, facet: Facet, value: str) -> bool:
        """False for a folder or collection that was removed."""
        if facet is Facet.FOLDER:
            return source_and_folder(value)[0] in self.collection_of_source
        if facet is Facet.COLLECTION:
            return value in {collection.collection_id for collection in self.collections}
        return True


def facet_groups(
    shown: FileFilter, files: ValueCounts, totals: KeyCounts, places: Places
) -> tuple[FacetGroup, ...]:
    """The facets worth showing: those with more than one value, and those with a chosen one."""
    existing = {
        facet: {value for key in totals for value in shown.values_of(key, facet)} for facet in Facet
    }
    groups: list[FacetGroup] = []
    for facet in Facet:
        chosen = shown.values(facet)
        values = [
            FacetValue(value, label, files[facet].get(value, 0), value in chosen, depth)
            for value, label, depth in _offered(facet, existing[facet] | chosen, chosen, places)
        ]
        has_choice = len(values) > 1 or (facet is Facet.TAG and values)
        if chosen or facet is Facet.STATE or has_choice:
            groups.append(FacetGroup(facet, tuple(values)))
    return tuple(groups)


def _offered(
    facet: Facet, existing: set[str], chosen: frozenset[str], places: Places
) -> Iterable[tuple[str, str, int]]:
    """The values of a facet in a stable order, each with its label and depth."""
    match facet:
        case Facet.STATE:
            states = [g for g in StateGroup if g in _LASTING or g in existing]
            return [(g.value, value_in_words(g, begins=True), 0) for g in states]
        case Facet.KIND:
            return [(k.value, kind_in_words(k), 0) for k in DocumentKind if k in existing]
        case Facet.FOLDER:
            return _folders(existing, chosen, places)
        case Facet.COLLECTION:
            ids = [c.collection_id for c in places.collections]
            return [(i, places.label(facet, i), 0) for i in ids if i in existing or len(ids) > 1]
        case Facet.TAG:
            return [(tag, one_line(tag), 0) for tag in sorted(existing, key=str.casefold)]


def _folders(
    existing: set[str], chosen: frozenset[str], places: Places
) -> Iterable[tuple[str, str, int]]:
    """The sources, and the folders in those that are chosen, or in the only source."""
    opened = {source_and_folder(value)[0] for value in chosen}
    if len(places.sources) == 1:
        opened = {places.sources[0].source_id}
    inside: dict[str, list[str]] = {}
    for value in existing:
        source_id, sub = source_and_folder(value)
        if sub and source_id in opened:
            inside.setdefault(source_id, []).append(sub)
    for source in places.sources:
        source_id = source.source_id
        yield source_id, one_line(source.name), 0
        for sub in sorted(inside.get(source_id, ()), key=str.casefold):
            yield folder_value(source_id, sub), one_line(sub), 1
