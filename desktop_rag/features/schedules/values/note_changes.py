"""What a refresh would change in a note, section by section, and the changed note. Pure."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from desktop_rag.core.conversation import SourceRef
from desktop_rag.features.schedules.values.note_page import NotePage, NoteSection


class SectionChange(StrEnum):
    """What would happen to a section."""

    NEW = "new"
    CHANGED = "changed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class ProposedSection:
    """One change; `is_yours` when the person wrote, changed or removed the section.

    `cited` are the sources behind the links of `after`, in their order.
    """

    change: SectionChange
    heading: str
    before: str = ""
    after: str = ""
    is_yours: bool = False
    cited: tuple[SourceRef, ...] = ()

    @property
    def is_asked_for(self) -> bool:
        """True for a change that is made only if the person chooses it.

        A section is gone when nothing was found for it this time, which is no proof.
        """
        return self.is_yours or self.change is SectionChange.GONE


def proposed(
    page: NotePage, fresh: Sequence[NoteSection], says_the_same: Callable[[str, str], bool]
) -> tuple[ProposedSection, ...]:
    """The changes from a note to fresh sections, in the order of these.

    `says_the_same` compares two texts: another wording is no change.
    """
    found: list[ProposedSection] = []
    for section in fresh:
        present = page.section(section.heading)
        if present is None:
            is_removed = section.heading in page.written
            change = SectionChange.NEW, section.heading, "", section.body
            found.append(ProposedSection(*change, is_removed, section.cited))
        elif not says_the_same(present.body, section.body):
            change = SectionChange.CHANGED, section.heading, present.body, section.body
            found.append(ProposedSection(*change, page.is_persons(present), section.cited))
    headings = {section.heading for section in fresh}
    found += [
        ProposedSection(SectionChange.GONE, section.heading, section.body)
        for section in page.sections
        if section.heading not in headings and not page.is_persons(section)
    ]
    return tuple(found)


def with_accepted(
    page: NotePage, changes: Sequence[ProposedSection], accepted: Collection[str]
) -> NotePage:
    """The note with the changes whose headings were accepted; all else stays as it is."""
    wanted = {change.heading: change for change in changes if change.heading in accepted}
    written = dict(page.written)
    sections: list[NoteSection] = []
    for section in page.sections:
        change = wanted.pop(section.heading, None)
        if change is None:
            sections.append(section)
        elif change.change is SectionChange.GONE:
            written.pop(section.heading, None)
        else:
            sections.append(NoteSection(section.heading, change.after))
            written[section.heading] = sections[-1].hash
    for heading, change in wanted.items():
        if change.change is SectionChange.NEW:
            sections.append(NoteSection(heading, change.after))
            written[heading] = sections[-1].hash
    return replace(page, sections=tuple(sections), written=written)
