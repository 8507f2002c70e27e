"""Passwords of files: for the session or in the keyring, and in no file."""

from pathlib import Path

from keyring.backends import fail

from desktop_rag.models.system_keyring import FilePasswords
from tests.keyrings import MemoryKeyring

CANARY = "canary-pässwort-51c"
FOLDER = Path("/documents/leases")
FILE = FOLDER / "2026" / "lease.pdf"


class WatchedKeyring(MemoryKeyring):
    """Counts what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def get_password(self, service: str, username: str) -> str | None:
        self.asked.append(username)
        return super().get_password(service, username)


def test_the_password_of_a_file_is_tried_before_that_of_its_folder() -> None:
    passwords = FilePasswords(None, MemoryKeyring)
    passwords.save(FOLDER, "folder", keeps=False)
    passwords.save(FILE, "file", keeps=False)
    assert passwords.candidates(FILE) == ["file", "folder"]
    assert passwords.candidates(FOLDER / "other.pdf") == ["folder"]
    assert passwords.candidates(Path("/documents/plan.pdf")) == []
    assert passwords.places(FILE) == [FILE, FOLDER]


def test_for_the_session_it_reaches_neither_the_keyring_nor_a_file(tmp_path: Path) -> None:
    keyring = MemoryKeyring()
    passwords = FilePasswords(tmp_path / "list.json", lambda: keyring)
    assert not passwords.save(FILE, CANARY, keeps=False)
    assert passwords.candidates(FILE) == [CANARY]
    assert keyring.entries == {}
    assert list(tmp_path.iterdir()) == []
    assert CANARY not in repr(passwords)
    assert FilePasswords(tmp_path / "list.json", lambda: keyring).candidates(FILE) == []


def test_a_kept_one_is_found_by_the_next_start_and_its_list_holds_paths_only(
    tmp_path: Path,
) -> None:
    keyring = WatchedKeyring()
    list_path = tmp_path / "list.json"
    assert FilePasswords(list_path, lambda: keyring).save(FOLDER, CANARY, keeps=True)
    later = FilePasswords(list_path, lambda: keyring)
    assert later.candidates(FILE) == [CANARY]
    assert "leases" in list_path.read_text()
    assert "canary" not in list_path.read_text()


def test_the_keyring_is_asked_for_what_it_holds_only_and_once(tmp_path: Path) -> None:
    keyring = WatchedKeyring()
    FilePasswords(tmp_path / "list.json", lambda: keyring).save(FOLDER, CANARY, keeps=True)
    keyring.asked.clear()
    later = FilePasswords(tmp_path / "list.json", lambda: keyring)
    later.candidates(Path("/documents/other/plan.pdf"))
    assert keyring.asked == []
    later.candidates(FILE)
    later.candidates(FOLDER / "other.pdf")
    assert keyring.asked == [str(FOLDER)]


def test_a_forgotten_one_is_gone_everywhere(tmp_path: Path) -> None:
    keyring = MemoryKeyring()
    passwords = FilePasswords(tmp_path / "list.json", lambda: keyring)
    passwords.save(FILE, CANARY, keeps=True)
    passwords.forget(FILE)
    assert passwords.candidates(FILE) == passwords.places(FILE) == []
    assert keyring.entries == {}
    assert FilePasswords(tmp_path / "list.json", lambda: keyring).candidates(FILE) == []


def test_keeping_one_for_the_session_takes_it_out_of_the_keyring(tmp_path: Path) -> None:
    keyring = MemoryKeyring()
    passwords = FilePasswords(tmp_path / "list.json", lambda: keyring)
    passwords.save(FILE, "old", keeps=True)
    passwords.save(FILE, CANARY, keeps=False)
    assert keyring.entries == {}
    assert passwords.candidates(FILE) == [CANARY]


def test_without_a_keyring_it_is_remembered_for_the_session(tmp_path: Path) -> None:
    passwords = FilePasswords(tmp_path / "list.json", fail.Keyring)
    assert not passwords.save(FILE, CANARY, keeps=True)
    assert passwords.candidates(FILE) == [CANARY]


def test_a_name_that_is_no_text_and_a_damaged_list_do_no_harm(tmp_path: Path) -> None:
    keyring, odd = MemoryKeyring(), Path("/documents/\udce9t\udce9.pdf")
    list_path = tmp_path / "list.json"
    assert FilePasswords(list_path, lambda: keyring).save(odd, CANARY, keeps=True)
    assert FilePasswords(list_path, lambda: keyring).candidates(odd) == [CANARY]
    list_path.write_text('{"places": [1, null, ["x"]')
    assert FilePasswords(list_path, lambda: keyring).candidates(odd) == []
