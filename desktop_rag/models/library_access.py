"""Tests and connects a shared library with the password from the keyring. Worker threads."""

from collections.abc import Callable

from desktop_rag.core.settings import SharedLibrarySettings
from desktop_rag.core.shared_library import SharedLibraryReport
from desktop_rag.models.server_passwords import LibraryPasswords

CheckLibrary = Callable[[SharedLibrarySettings, str], SharedLibraryReport]


class SharedLibraryAccess:
    """The way to the shared library; every method blocks."""

    def __init__(self, check: CheckLibrary, passwords: LibraryPasswords) -> None:
        self._check = check
        self._passwords = passwords

    def password_of(self, shared: SharedLibrarySettings) -> str:
        """The password that is kept for this address and role; "" for none."""
        return self._passwords.get(shared.address) if shared.is_set else ""

    def has_password(self, shared: SharedLibrarySettings) -> bool:
        """True when a password is kept for this address and role."""
        return bool(self.password_of(shared))

    def test(self, shared: SharedLibrarySettings, typed: str = "") -> SharedLibraryReport:
        """Look at the library; AppError says what is wrong. Without `typed`, the kept password."""
        return self._check(shared, typed or self.password_of(shared))

    def connect(
        self, shared: SharedLibrarySettings, typed: str = ""
    ) -> tuple[SharedLibraryReport, bool]:
        """Test, then keep the typed password; AppError as `test`, and then nothing is kept.

        With it, whether the password outlives the app.
        """
        report = self.test(shared, typed)
        return report, self._passwords.save(shared.address, typed) if typed else True

    def forget(self, shared: SharedLibrarySettings) -> None:
        """Delete the password."""
        self._passwords.delete(shared.address)
