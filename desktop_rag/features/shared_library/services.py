"""Opens libraries on a server, to work in or to read beside the own one, with a kept password.

Worker threads.
"""

import re
from collections.abc import Callable

from desktop_rag.app import Services
from desktop_rag.core.errors import AppError
from desktop_rag.core.extras import way_to_install
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from desktop_rag.core.shared_library import SharedLibraryReport
from desktop_rag.core.store_settings import SharedLibrarySettings, StoreSettings
from desktop_rag.features.shared_library.joined.joined_engine import joined_engine
from desktop_rag.features.shared_library.joined.shared_connection import OpenedShared, SharedLibrary
from desktop_rag.models.system_keyring import KeptSecrets
from desktop_rag.registry import WingServices
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
    return AppError("What connects to PostgreSQL is not installed.", way_to_install("team"))


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
        from desktop_rag.features.shared_library.postgres.database.server_connection import Replica
        from desktop_rag.features.shared_library.postgres.postgres_engine import PostgresOpener
    except ImportError as exc:
        raise _nothing_installed() from exc
    replica = Replica(store.read_address, store.read_lag_s) if store.read_address else None
    return PostgresOpener(store.address, store.library, replica)


# In the keyring, by the address of the library, which names its role.
SERVICE = "desktop-rag shared library"


CheckLibrary = Callable[[SharedLibrarySettings, str], SharedLibraryReport]


class SharedLibraryAccess:
    """The way to the shared library; every method blocks."""

    def __init__(self, check: CheckLibrary, passwords: KeptSecrets) -> None:
        self._check = check
        self._passwords = passwords

    def password_of(self, shared: SharedLibrarySettings) -> str:
        """The password that is kept for this address and role; "" for none."""
        return self._passwords.get(shared.address) if shared.is_set else ""

    def test(self, shared: SharedLibrarySettings, typed: str = "") -> SharedLibraryReport:
        """Test with the typed password, or else the kept one; AppError says what is wrong."""
        return self._check(shared, typed or self.password_of(shared))

    def connect(
        self, shared: SharedLibrarySettings, typed: str = ""
    ) -> tuple[SharedLibraryReport, bool]:
        """Test, then keep the typed password; AppError as `test`, which keeps nothing.

        Returns the report, and whether the password outlives the app.
        """
        report = self.test(shared, typed)
        return report, self._passwords.save(shared.address, typed) if typed else True

    def forget(self, shared: SharedLibrarySettings) -> None:
        """Delete the password."""
        self._passwords.delete(shared.address)


class SharedLibraryServices(WingServices):
    """`library` is the connection, `access` the way to it with its password."""

    def __init__(self, services: Services) -> None:
        self._in_use = services.in_use
        self.access = SharedLibraryAccess(check_shared_library, KeptSecrets(SERVICE))
        self.library = SharedLibrary(
            lambda shared: open_shared_library(
                services.home, services.settings, shared, self.access.password_of(shared)
            ),
            services.home.shared_library,
            services.changes,
        )
        self._joined = joined_engine(services.in_use.own, self.library)

    def apply(self, settings: Settings) -> None:
        """Join the library of these settings to the own one, or none. Returns at once."""
        if settings.shared_library.is_set:
            self._in_use.join(self._joined, self.library)
        self.library.apply(settings)
        if not settings.shared_library.is_set:
            self._in_use.leave()

    def close(self) -> None:
        """End the connection."""
        self.library.close()

    def release_memory(self) -> None:
        """Free what is kept in memory of it."""
        self.library.release()
