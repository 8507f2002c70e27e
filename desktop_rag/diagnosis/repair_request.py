"""The person's wish to have the library repaired at the next start; an open one can't be."""

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home


class RepairRequest:
    """A file in the home that is there while the wish stands."""

    def __init__(self, home: Home) -> None:
        self._path = home.repair_request

    @property
    def is_made(self) -> bool:
        """True when the next start repairs the library."""
        return self._path.exists()

    def make(self, *, is_wanted: bool) -> None:
        """Make the wish or take it back; AppError when the disk refuses."""
        try:
            if is_wanted:
                self._path.touch(mode=0o600)
            else:
                self._path.unlink(missing_ok=True)
        except OSError as exc:
            hint = f"{self._path}: {exc.strerror}."
            raise AppError("The repair could not be arranged.", hint) from exc
