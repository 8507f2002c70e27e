"""N-09: the key store against keyrings that work, lack, fail or hang."""

import threading
from collections.abc import Iterator

import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.errors import KeyringLocked

from desktop_rag.models.system_keyring import KEY_VARIABLE, KeyStore
from tests.keyrings import MemoryKeyring

URL = "http://localhost:11434/v1"
CANARY = "sk-canary-5f1c2a"


class LockedKeyring(MemoryKeyring):
    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("dismissed")


class ForgetfulKeyring(MemoryKeyring):
    def set_password(self, service: str, username: str, password: str) -> None:
        """Says nothing and keeps nothing."""


class PlainFileKeyring(MemoryKeyring):
    priority = 0.5  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]


class HangingKeyring(MemoryKeyring):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.released = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.calls += 1
        self.released.wait()
        return None

    set_password = get_password  # pyright: ignore[reportAssignmentType]


@pytest.fixture(autouse=True)
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


@pytest.fixture
def hanging() -> Iterator[HangingKeyring]:
    keyring = HangingKeyring()
    yield keyring
    keyring.released.set()
    for thread in threading.enumerate():
        if thread.name == "keyring":
            thread.join()


def test_a_saved_key_is_in_the_keyring_under_the_normalised_address() -> None:
    keyring = MemoryKeyring()
    keys = KeyStore(lambda: keyring)

    assert keys.save(f" {URL.upper().replace('/V1', '/v1')}/ ", f" {CANARY}\n")

    assert keyring.entries == {("desktop-rag", URL): CANARY}
    assert keys.get("localhost:11434/v1") == CANARY
    assert KeyStore(lambda: keyring).get(URL) == CANARY


def test_keys_of_other_addresses_are_not_given() -> None:
    keys = KeyStore(MemoryKeyring)
    keys.save(URL, CANARY)
    assert keys.get("http://localhost:1234/v1") == ""
    assert keys.get("") == ""


def test_deleting_forgets_the_key_and_may_be_repeated() -> None:
    keyring = MemoryKeyring()
    keys = KeyStore(lambda: keyring)
    keys.save(URL, CANARY)
    keys.delete(URL)
    keys.delete(URL)
    assert keyring.entries == {}
    assert keys.get(URL) == ""


def test_saving_an_empty_key_deletes() -> None:
    keyring = MemoryKeyring()
    keys = KeyStore(lambda: keyring)
    keys.save(URL, CANARY)
    assert keys.save(URL, "  ")
    assert keyring.entries == {}


def raising() -> KeyringBackend:
    raise RuntimeError(f"no D-Bus, by the way: {CANARY}")


@pytest.mark.parametrize(
    "find_backend",
    [fail.Keyring, null.Keyring, LockedKeyring, ForgetfulKeyring, PlainFileKeyring, raising],
)
def test_without_a_usable_keyring_the_key_lives_as_long_as_the_session(
    find_backend: type[KeyringBackend],
) -> None:
    keys = KeyStore(find_backend)
    assert not keys.save(URL, CANARY)
    assert keys.get(URL) == CANARY
    assert KeyStore(find_backend).get(URL) == ""
    keys.delete(URL)
    assert keys.get(URL) == ""


def test_a_plain_file_is_never_written() -> None:
    keyring = PlainFileKeyring()
    KeyStore(lambda: keyring).save(URL, CANARY)
    assert keyring.entries == {}


def test_a_hanging_keyring_is_waited_for_once_and_only_so_long(hanging: HangingKeyring) -> None:
    keys = KeyStore(lambda: hanging, limit_s=0.05)
    assert keys.get(URL) == ""
    assert not keys.save(URL, CANARY)
    assert keys.get(URL) == CANARY
    assert hanging.calls == 1


def test_the_variable_stands_in_for_a_missing_key(monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = MemoryKeyring()
    keys = KeyStore(lambda: keyring)
    monkeypatch.setenv(KEY_VARIABLE, f"{CANARY} ")
    assert keys.get(URL) == CANARY
    keys.save(URL, "of this address")
    assert keys.get(URL) == "of this address"
    assert CANARY not in keyring.entries.values()


def test_no_key_in_repr_or_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    keys = KeyStore(raising)
    keys.save(URL, CANARY)
    keys.delete(URL)
    assert CANARY not in repr(keys) + caplog.text
    assert "RuntimeError" in caplog.text


def test_an_address_half_typed_has_no_key_and_raises_nothing() -> None:
    assert KeyStore(MemoryKeyring).get("https://exa mple") == ""
