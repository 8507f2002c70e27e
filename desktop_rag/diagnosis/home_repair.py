"""The result of a repair in words, for the command line and the window. Pure."""

from dataclasses import dataclass

from desktop_rag.core.domain import RepairReport
from desktop_rag.diagnosis.finding import Finding, State
from desktop_rag.store.contract.inspection import IndexRepair


@dataclass(frozen=True, slots=True)
class HomeRepair:
    """What was done: `report` for a damaged file, things restored from the journal, the index."""

    report: RepairReport | None
    restored: int
    index: IndexRepair

    def finding(self) -> Finding:
        """The row of the repair."""
        told = [*self._of_file(), *self._of_content()]
        title = "The library was repaired." if told else "There was nothing to repair."
        return Finding("repair", State.OK, title, " ".join(told))

    def _of_file(self) -> list[str]:
        if self.report is None:
            return []
        told = [f"The damaged file was kept as {self.report.kept}."]
        if self.report.has_index:
            told.append("Its index was kept too.")
        else:
            told.append("Your folders are read again when the app runs.")
        if self.report.lost_rows:
            told.append(f"{self.report.lost_rows:,} rows of it could not be read.")
        return told

    def _of_content(self) -> list[str]:
        counts = (
            (self.restored, "entries of chats and folders were restored from the journal."),
            (self.index.removed, "pieces of the index that belonged to nothing were removed."),
            (self.index.read_again, "documents are read again when the app runs."),
        )
        return [f"{count:,} {what}" for count, what in counts if count]
