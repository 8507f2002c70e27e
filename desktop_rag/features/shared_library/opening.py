"""Opens libraries on a server, to work in or to read beside the own library. Any thread."""

import re
import sys

from desktop_rag.core.errors import AppError
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings, SharedLibrarySettings, StoreSettings
from desktop_rag.core.shared_library import SharedLibraryReport
from desktop_rag.features.shared_library.joined.shared_connection import OpenedShared
from desktop_rag.store.contract.engine import EngineOpener

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


def check_shared_library(shared: SharedLibrarySettings, password: str) -> SharedLibraryReport:
    """Connect to a library on a server and look at it; AppError says what is wrong."""
    try:
        from desktop_rag.features.shared_library.postgres.server_check import check_server
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
        from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
        from desktop_rag.features.shared_library.postgres.server_check import (
            CONNECT_S,
            check_server,
            conninfo_of,
        )
    except ImportError as exc:
        raise _nothing_installed() from exc
    check_server(shared, password)
    opener = PostgresOpener(conninfo_of(shared, password), shared.library)
    return opener.open_shared(home, settings.index.database_memory_mb, CONNECT_S)


def _nothing_installed() -> AppError:
    title = "What connects to PostgreSQL is not installed."
    if getattr(sys, "frozen", False):
        # Packages can't be extended, and in each of them 12 MB would serve few.
        return AppError(
            title,
            "This package of the app comes without it. Install the app with:"
            " pipx install 'desktop-rag[team]'",
        )
    return AppError(title, "Install it with: pip install 'desktop-rag[team]'")


def opener_on_server(store: StoreSettings) -> EngineOpener:
    """The opener of the library of these settings; AppError when something is missing for it."""
    if not store.address or not _NAME.fullmatch(store.library):
        raise AppError(
            "The address or the name of the library on the server is missing.",
            "Set `address` under [store] in the settings file, as postgresql://user@host/database,"
            " and `library` to small letters, digits and underscores.",
        )
    try:
        # An extra: most people need no server.
        from desktop_rag.features.shared_library.postgres.database.read_replica import Replica
        from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
    except ImportError as exc:
        raise _nothing_installed() from exc
    replica = Replica(store.read_address, store.read_lag_s) if store.read_address else None
    return PostgresOpener(store.address, store.library, replica)
