"""Opens, repairs and restores the library with the engine that the settings name.

Another one may be read beside it. Any thread.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from desktop_rag.core.domain import RepairReport
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.core.shared_library import SharedLibraryStatus
from desktop_rag.core.store_settings import StoreSettings
from desktop_rag.registry import hooks
from desktop_rag.store.contract.engine import Engine, EngineOpener
from desktop_rag.store.contract.search import Scope
from desktop_rag.store.contract.vectors import ModelRow
from desktop_rag.store.duckdb.duckdb_engine import DuckdbOpener

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


_EMBEDDED = "duckdb"


def open_engine(home: Home, settings: Settings) -> Engine:
    """Open or create the library of a home folder.

    AppError when there is no engine of that name, or when the library can't be opened.
    """
    return _opener(settings).open(home, settings.index.database_memory_mb)


def open_engine_to_read(home: Home, settings: Settings) -> Engine:
    """Open an existing library so that nothing in the home changes; AppError as above."""
    return _opener(settings).open_to_read(home, settings.index.database_memory_mb)


def restore_library(home: Home, settings: Settings) -> None:
    """Let the next opening take every chat, source and the like from the journal."""
    _opener(settings).restore(home)


def opening_notices(engine: Engine) -> list[Notice]:
    """Why an opened library can only be read, and what it had lost and got back."""
    notices: list[Notice] = []
    if fault := engine.fault:
        goes_on = "Until then the library can be read, and new answers are not stored."
        notices.append(Notice(fault.title, f"{fault.hint} {goes_on}"))
    if engine.restored:
        hint = "The library had lost its latest changes. Chats and folders are complete again."
        notices.append(Notice(f"Entries restored: {engine.restored:,}.", hint))
    return notices


def library_bytes(home: Home, settings: Settings) -> int:
    """The disk space that a closed library takes."""
    return _opener(settings).size_bytes(home)


def repair_library(home: Home, settings: Settings, error: AppError) -> RepairReport | None:
    """Repair a library that could not be opened or read because it is damaged.

    None when `error` has another reason. Nobody may have it open.
    """
    if settings.store.engine != _EMBEDDED:
        return None
    return DuckdbOpener().repair(home, error)


def engine_names() -> tuple[str, ...]:
    """The values that `engine` under [store] may have."""
    return (_EMBEDDED, *_openers())


def _openers() -> dict[str, Callable[[StoreSettings], EngineOpener]]:
    """The openers of the wings' engines, by name."""
    return {name: opener for hook in hooks("engines").values() for name, opener in hook().items()}


def _opener(settings: Settings) -> EngineOpener:
    name = settings.store.engine
    if name == _EMBEDDED:
        return DuckdbOpener()
    if opener := _openers().get(name):
        return opener(settings.store)
    raise AppError(
        f"There is no store engine “{name}”.",
        f"Set `engine` under [store] in the settings file to one of: {', '.join(engine_names())}.",
    )
