"""The repair of a library: the request for one at the next start, and its result in words."""

from dataclasses import dataclass

from desktop_rag.core.domain import RepairReport
from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.diagnosis.finding import Finding, State
from desktop_rag.store.contract.inspection import IndexRepair


@dataclass(frozen=True, slots=True)
class HomeRepair:
    """What a repair did: `report` on a damaged file, entries `restored` from the journal."""

    report: RepairReport | None
    restored: int
    index: IndexRepair

    def finding(self) -> Finding:
        """The finding that reports the repair."""
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
        told = (
            f"Entries restored from the journal: {self.restored:,}." if self.restored else "",
            f"Parts of the index without a document, removed: {self.index.removed:,}."
            if self.index.removed else "",
            f"Documents to be read again when the app runs: {self.index.read_again:,}."
            if self.index.read_again else "",
        )  # fmt: skip
        return [*filter(None, told)]


class RepairRequest:
    """A file in the home that requests a repair at the next start; an open library can't be."""

    def __init__(self, home: Home) -> None:
        self._path = home.repair_request

    @property
    def is_made(self) -> bool:
        """True when the next start repairs the library."""
        return self._path.exists()

    def make(self, *, is_wanted: bool) -> None:
        """Request a repair, or withdraw the request; AppError when the disk refuses."""
        try:
            if is_wanted:
                self._path.touch(mode=0o600)
            else:
                self._path.unlink(missing_ok=True)
        except OSError as exc:
            hint = f"{self._path}: {exc.strerror}."
            raise AppError("The repair could not be arranged.", hint) from exc
