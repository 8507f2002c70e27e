"""Opens the engine that the settings name. Any thread; once per process."""

import re
import sys
from collections.abc import Callable

from desktop_rag.core.changes import Changes
from desktop_rag.core.domain import RepairReport
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings, SharedLibrarySettings, StoreSettings
from desktop_rag.core.shared_library import SharedLibraryReport
from desktop_rag.features.shared_library.joined.joined_engine import joined_engine
from desktop_rag.features.shared_library.joined.shared_connection import OpenedShared, SharedLibrary
from desktop_rag.store.contract.engine import Engine, EngineOpener
from desktop_rag.store.duckdb.duckdb_engine import DuckdbOpener
from desktop_rag.store.duckdb.tables.table_queries import TableQueries

_EMBEDDED, _ON_SERVER = "duckdb", "postgres"
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
# What `engine` under [store] may be.
ENGINE_NAMES = (_EMBEDDED, _ON_SERVER)


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


def restored_notices(engine: Engine) -> list[Notice]:
    """What to tell the person about an opened library that had lost changes."""
    if not engine.restored:
        return []
    title = f"{engine.restored:,} entries were restored."
    hint = "The library had lost its latest changes. Chats and folders are complete again."
    return [Notice(title, hint)]


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


def check_shared_library(shared: SharedLibrarySettings, password: str) -> SharedLibraryReport:
    """Connect to a library on a server and look at it; nothing is changed there.

    AppError says in plain words what is wrong, and the way out.
    """
    try:
        from desktop_rag.features.shared_library.postgres.server_check import check_server  # noqa: PLC0415
    except ImportError as exc:
        raise _nothing_installed() from exc
    return check_server(shared, password)


def open_shared_library(
    home: Home, settings: Settings, shared: SharedLibrarySettings, password: str
) -> OpenedShared:
    """Connect to a library on a server, to read it beside the own one.

    AppError as `check_shared_library` when it can't be reached or read.
    """
    try:
        from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener  # noqa: PLC0415
        from desktop_rag.features.shared_library.postgres.server_check import (
            CONNECT_S,
            check_server,
            conninfo_of,
        )
    except ImportError as exc:
        raise _nothing_installed() from exc
    check_server(shared, password)
    opener = PostgresOpener(conninfo_of(shared, password), shared.library, TableQueries())
    return opener.open_shared(home, settings.index.database_memory_mb, CONNECT_S)


def join_shared_library(
    home: Home,
    settings: Settings,
    own: Engine,
    password_of: Callable[[SharedLibrarySettings], str],
    changes: Changes | None = None,
) -> tuple[Engine, SharedLibrary]:
    """The own library with the shared one of the settings, and what connects to that.

    Nothing is connected before settings are applied to it.
    """
    shared = SharedLibrary(
        lambda s: open_shared_library(home, settings, s, password_of(s)),
        home.shared_library,
        changes,
    )
    return joined_engine(own, shared), shared


def _nothing_installed() -> AppError:
    title = "What connects to PostgreSQL is not installed."
    if getattr(sys, "frozen", False):
        # Nothing can be added to a package; twelve megabytes in each would serve few.
        return AppError(
            title,
            "This package of the app comes without it. Install the app with:"
            " pipx install 'desktop-rag[team]'",
        )
    return AppError(title, "Install it with: pip install 'desktop-rag[team]'")


def _opener(settings: Settings) -> EngineOpener:
    name = settings.store.engine
    if name == _EMBEDDED:
        return DuckdbOpener()
    if name == _ON_SERVER:
        return _opener_on_server(settings.store)
    raise AppError(
        f"There is no store engine “{name}”.",
        f"Set `engine` under [store] in the settings file to one of: {_EMBEDDED}, {_ON_SERVER}.",
    )


def _opener_on_server(store: StoreSettings) -> EngineOpener:
    if not store.address or not _NAME.fullmatch(store.library):
        raise AppError(
            "The address or the name of the library on the server is missing.",
            "Set `address` under [store] in the settings file, as postgresql://user@host/database,"
            " and `library` to small letters, digits and underscores.",
        )
    try:
        # An extra: most people need no server.
        from desktop_rag.features.shared_library.postgres.database.read_replica import Replica  # noqa: PLC0415
        from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener  # noqa: PLC0415
    except ImportError as exc:
        raise _nothing_installed() from exc
    replica = Replica(store.read_address, store.read_lag_s) if store.read_address else None
    return PostgresOpener(store.address, store.library, TableQueries(), replica)
