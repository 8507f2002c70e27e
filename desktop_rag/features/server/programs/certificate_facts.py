"""What a certificate of the local server says of itself. Frozen values, pure."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """The names and addresses that it is for, and its end in Unix time."""

    names: tuple[str, ...]
    ends_at: float

    def left_out(self, names: Iterable[str]) -> list[str]:
        """Those of these names that it is not for: programs refuse it when they ask by one."""
        return [name for name in names if not any(_is_for(known, name) for known in self.names)]


def _is_for(known: str, name: str) -> bool:
    """True for the same name, and for a name with one word in the place of a star."""
    known, name = known.casefold(), name.casefold()
    star, _, rest = known.partition(".")
    return known == name or (star == "*" and bool(rest) and name.partition(".")[2] == rest)
