"""The parts of the picture of the library: folders of types, or types of folders. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from desktop_rag.core.language.translation import count_of, number_in_words, tr
from desktop_rag.ui.foundation.wording import value_in_words
from desktop_rag.ui.library.facets.facet_groups import Places
from desktop_rag.ui.library.facets.facet_values import (
    Facet,
    FacetKey,
    KeyCounts,
    StateGroup,
    folder_value,
    is_inside,
)

_MOST_GROUPS = 12
_MOST_PARTS = 8


class Grouping(StrEnum):
    """What the picture is divided by first."""

    FOLDER = "folder"
    KIND = "kind"


@dataclass(frozen=True, slots=True)
class Part:
    """Some files: their words, their number in each state, and the filter that shows them.

    `name` is the label without that of the group around it.
    """

    label: str
    states: Counter[str]
    chosen: Mapping[Facet, frozenset[str]]
    name: str
    parts: "tuple[Part, ...]" = ()

    @property
    def count(self) -> int:
        """The number of files."""
        return self.states.total()

    @property
    def words(self) -> str:
        """The label with the numbers: `PDF in letters: 12 files, 3 failed`."""
        others = [
            f"{number_in_words(self.states[group.value])} {value_in_words(group)}"
            for group in StateGroup
            if self.states[group.value]
        ]
        files = count_of(self.count, tr("file"), tr("files"))
        return f"{self.label}: {files}, {', '.join(others)}"


@dataclass(slots=True)
class _Pile:
    """Files under one value, sorted by the values of the other facet."""

    states: Counter[str] = field(default_factory=Counter[str])
    inner: dict[str, Counter[str]] = field(default_factory=dict[str, Counter[str]])


def picture_parts(totals: KeyCounts, places: Places, grouping: Grouping) -> tuple[Part, ...]:
    """The groups of files with their parts, the largest first; small ones are put together."""
    has_several = len(places.sources) > 1
    piles: dict[str, _Pile] = {}
    for key, number in totals.items():
        if is_inside(key):
            continue
        folder, kind = _folder_of(key, inside=not has_several), key[1]
        outer, inner = (folder, kind) if grouping is Grouping.FOLDER else (kind, folder)
        pile = piles.setdefault(outer, _Pile())
        pile.states[key[0]] += number
        pile.inner.setdefault(inner, Counter())[key[0]] += number
    facets = (Facet.FOLDER, Facet.KIND)
    outer_facet, inner_facet = facets if grouping is Grouping.FOLDER else facets[::-1]
    largest = sorted(piles, key=lambda value: (-piles[value].states.total(), value))
    groups = [
        _group(outer_facet, inner_facet, [value], piles, places) for value in largest[:_MOST_GROUPS]
    ]
    if rest := largest[_MOST_GROUPS:]:
        groups.append(_group(outer_facet, inner_facet, rest, piles, places))
    return tuple(groups)


def _folder_of(key: FacetKey, *, inside: bool) -> str:
    return folder_value(key[2], key[3] if inside else "")


def _group(
    outer: Facet, inner: Facet, values: Sequence[str], piles: Mapping[str, _Pile], places: Places
) -> Part:
    """The group of these values of a facet, divided by the other."""
    states: Counter[str] = Counter()
    found: dict[str, Counter[str]] = {}
    for value in values:
        states += piles[value].states
        for key, counts in piles[value].inner.items():
            found.setdefault(key, Counter()).update(counts)
    label = _label(outer, values, places)
    chosen = {outer: frozenset(values)}
    largest = sorted(found, key=lambda key: (-found[key].total(), key))
    cuts = [[key] for key in largest[:_MOST_PARTS]]
    if rest := largest[_MOST_PARTS:]:
        cuts.append(rest)
    parts = tuple(
        Part(
            tr("{label} in {label2}", label=name, label2=label),
            sum((found[key] for key in cut), Counter[str]()),
            {**chosen, inner: frozenset(cut)},
            name,
        )
        for cut in cuts
        for name in (_label(inner, cut, places),)
    )
    return Part(label, states, chosen, label, parts)


def _label(facet: Facet, values: Sequence[str], places: Places) -> str:
    if len(values) == 1:
        return places.label(facet, values[0]).rpartition(" › ")[2]
    if facet is Facet.FOLDER:
        return count_of(len(values), tr("other folder"), tr("other folders"))
    return count_of(len(values), tr("other type"), tr("other types"))


def states_of(parts: Iterable[Part]) -> Counter[str]:
    """The number of files in each state."""
    return sum((part.states for part in parts), Counter[str]())
