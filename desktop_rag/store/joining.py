"""The library in use: the person's own, or, through a wing, joined with another one. Any thread.

Readers hold stand-ins for the stores, so that joining and leaving a library needs no restart.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from desktop_rag.core.shared_library import SharedLibraryStatus
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope
from desktop_rag.store.contract.vectors import ModelRow

if TYPE_CHECKING:
    from collections.abc import Mapping

# The stores that are exchanged when a library is joined.
_JOINED = ("documents", "sources", "lexical", "names", "models")


class LibraryBeside:
    """A library that is read beside the person's own; here there is none."""

    @property
    def status(self) -> SharedLibraryStatus:
        """Its state now."""
        return SharedLibraryStatus()

    def models(self) -> dict[str, ModelRow | None]:
        """The model that answers for each of its collections, if there is one."""
        return {}

    def missed(self, scope: Scope) -> tuple[str, ...]:
        """Sentences for the answer about what could not be searched in this scope."""
        return ()

    def wait_until_known(self, timeout_s: float) -> None:
        """Wait until it is online or known to be away, or until the timeout."""


class _StandIn:
    """Delegates to the store in use, which may be exchanged while the app runs."""

    def __init__(self, store: object) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the store has
        return getattr(self.store, name)


class LibraryInUse:
    """The library `own`, and the one `beside` it; `engine` has the stores to search and read."""

    def __init__(self, own: Engine) -> None:
        self.own = own
        self.beside = LibraryBeside()
        self.is_joined = False
        self._stand_ins = {name: _StandIn(getattr(own, name)) for name in _JOINED}
        self.engine = replace(own, **cast("Mapping[str, Any]", self._stand_ins))

    def join(self, joined: Engine, beside: LibraryBeside) -> None:
        """Read another library as well: `joined` has the stores of both."""
        self.beside, self.is_joined = beside, True
        for name, stand_in in self._stand_ins.items():
            stand_in.store = getattr(joined, name)

    def leave(self) -> None:
        """Read the own library only."""
        self.join(self.own, LibraryBeside())
        self.is_joined = False

    def models(self) -> dict[str, ModelRow | None]:
        """As `LibraryBeside.models`."""
        return self.beside.models()

    def missed(self, scope: Scope) -> tuple[str, ...]:
        """As `LibraryBeside.missed`."""
        return self.beside.missed(scope)
