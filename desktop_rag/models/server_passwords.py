"""The password of the shared library, in the system's keyring. Worker threads.

One that the keyring can't keep stays in memory until the app ends.
"""

from typing import TYPE_CHECKING

from desktop_rag.models.system_keyring import SystemKeyring

if TYPE_CHECKING:
    from collections.abc import Callable

    from keyring.backend import KeyringBackend

_SERVICE = "desktop-rag shared library"


class LibraryPasswords:
    """Passwords by the address of the library, which names its role."""

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
