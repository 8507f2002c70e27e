"""The services of the shared library while the app is open, and its password in the keyring.

It is read beside the own one. Worker threads.
"""

from collections.abc import Callable

from desktop_rag.app import Services
from desktop_rag.core.settings import Settings, SharedLibrarySettings
from desktop_rag.core.shared_library import SharedLibraryReport
from desktop_rag.features.shared_library.joined.joined_engine import joined_engine
from desktop_rag.features.shared_library.joined.shared_connection import SharedLibrary
from desktop_rag.features.shared_library.opening import check_shared_library, open_shared_library
from desktop_rag.models.system_keyring import KeptSecrets
from desktop_rag.registry import WingServices

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
