"""Tests and connects a shared library, with its password in the keyring. Worker threads."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from desktop_rag.core.settings import SharedLibrarySettings
from desktop_rag.core.shared_library import SharedLibraryReport
from desktop_rag.models.system_keyring import SystemKeyring

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

_SERVICE = "desktop-rag shared library"


class LibraryPasswords:
    """Passwords by the address of the library, which names its role.

    One that the keyring can't keep stays in memory until the app ends.
    """

    def __init__(self, find_backend: "Callable[[], KeyringBackend] | None" = None) -> None:
        self._keyring = SystemKeyring(_SERVICE, find_backend)
        self._session: dict[str, str] = {}

    def __repr__(self) -> str:
        return "LibraryPasswords()"

    def get(self, address: str) -> str:
        """The password; "" when there is none."""
        return self._session.get(address) or self._keyring.get(address)

    def save(self, address: str, password: str) -> bool:
        """Store it; False when it is kept only until the app ends."""
        if self._keyring.save(address, password):
            self._session.pop(address, None)
            return True
        self._session[address] = password
        return False

    def delete(self, address: str) -> None:
        """Delete it wherever it is kept; no effect if there is none."""
        self._session.pop(address, None)
        self._keyring.delete(address)


CheckLibrary = Callable[[SharedLibrarySettings, str], SharedLibraryReport]


class SharedLibraryAccess:
    """The way to the shared library; every method blocks."""

    def __init__(self, check: CheckLibrary, passwords: LibraryPasswords) -> None:
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
