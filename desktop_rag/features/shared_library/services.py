"""The services of the shared library while the app is open. It is read beside the own one."""

from desktop_rag.app import Services
from desktop_rag.core.settings import Settings
from desktop_rag.features.shared_library.joined.joined_engine import joined_engine
from desktop_rag.features.shared_library.joined.shared_connection import SharedLibrary
from desktop_rag.features.shared_library.library_access import LibraryPasswords, SharedLibraryAccess
from desktop_rag.features.shared_library.opening import check_shared_library, open_shared_library
from desktop_rag.registry import WingServices


class SharedLibraryServices(WingServices):
    """`library` is the connection, `access` the way to it with its password."""

    def __init__(self, services: Services) -> None:
        self._in_use = services.in_use
        self.access = SharedLibraryAccess(check_shared_library, LibraryPasswords())
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
