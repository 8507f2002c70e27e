"""The library in use: the person's own, or, through a wing, joined with another one. Any thread.

Readers hold stand-ins for the stores, so that joining and leaving a library needs no restart.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from desktop_rag.core.shared_library import SharedLibraryStatus
from desktop_rag.store.contract.engine import Engine
from desktop_rag.store.contract.search import Scope
from desktop_rag.store.contract.vectors import ModelRow

if TYPE_CHECKING:
    from collections.abc import Mapping

# The stores that are exchanged when a library is joined.
_JOINED = ("documents", "sources", "lexical", "names", "models")


class LibraryBeside(Protocol):
    """A library that is read beside the person's own."""

    @property
    def status(self) -> SharedLibraryStatus:
        """Its state now."""
        ...

    def models(self) -> dict[str, ModelRow | None]:
        """The model that answers for each of its collections, if there is one."""
        ...

    def missed(self, scope: Scope) -> tuple[str, ...]:
        """Sentences for the answer about what could not be searched in this scope."""
        ...

    def wait_until_known(self, timeout_s: float) -> None:
        """Wait until it is online or known to be away, or until the timeout."""
        ...


class _StandIn:
    """Delegates to the store in use, which may be exchanged while the app runs."""

    def __init__(self, store: object) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the store has
        return getattr(self.store, name)


class LibraryInUse:
    """`engine` has the stores for searching and reading."""

    def __init__(self, own: Engine) -> None:
        self.own = own
        self._beside: LibraryBeside | None = None
        self._stand_ins = {name: _StandIn(getattr(own, name)) for name in _JOINED}
        self.engine = replace(own, **cast("Mapping[str, Any]", self._stand_ins))

    @property
    def is_joined(self) -> bool:
        """True while another library is read as well."""
        return self._beside is not None

    def join(self, joined: Engine, beside: LibraryBeside) -> None:
        """Read another library as well: `joined` has the stores of both."""
        self._beside = beside
        self._use(joined)

    def leave(self) -> None:
        """Read the own library only."""
        self._beside = None
        self._use(self.own)

    def _use(self, engine: Engine) -> None:
        for name, stand_in in self._stand_ins.items():
            stand_in.store = getattr(engine, name)

    @property
    def status(self) -> SharedLibraryStatus:
        """The state of the library beside the own one."""
        return self._beside.status if self._beside else SharedLibraryStatus()

    def models(self) -> dict[str, ModelRow | None]:
        """As `LibraryBeside.models`; empty without one."""
        return self._beside.models() if self._beside else {}

    def missed(self, scope: Scope) -> tuple[str, ...]:
        """As `LibraryBeside.missed`; empty without one."""
        return self._beside.missed(scope) if self._beside else ()

    def wait_until_known(self, timeout_s: float) -> None:
        """As `LibraryBeside.wait_until_known`; at once without one."""
        if self._beside:
            self._beside.wait_until_known(timeout_s)
