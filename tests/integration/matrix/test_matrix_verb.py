"""The verb `matrix` without a homeserver: the list of rooms, devices, secrets."""

import json

import pytest

from desktop_rag.core.paths import Home
from desktop_rag.features.matrix.bot_settings import BotFile
from desktop_rag.features.matrix.room_client import VARIABLE, BotSecrets, SecretKeeper
from desktop_rag.features.matrix.room_readers import new_signing_key
from desktop_rag.models.system_keyring import SystemKeyring
from tests.command_line import run, run_json
from tests.keyrings import MemoryKeyring

pytestmark = pytest.mark.needs_wings("matrix")

ROOM = "!abc:matrix.example"


@pytest.fixture
def account(home: Home) -> BotFile:
    file = BotFile(home.matrix / "matrix.toml")
    file.log_in("http://127.0.0.1:1", "@library:matrix.example", "DEVICE", "http://127.0.0.1:1")
    return file


def test_without_an_account_the_way_is_said(home: Home) -> None:
    for verb in (("allow", ROOM, "--user", "@ann:matrix.example"), ("rooms",), ()):
        done = run("matrix", *verb)
        assert done.returncode == 1
        assert "matrix login" in done.stderr


def test_rooms_are_put_on_the_list_and_taken_off(account: BotFile) -> None:
    asked = ("allow", ROOM, "--user", "*:matrix.example", "--collection", "Handbook")
    assert run("matrix", *asked, "--shows-all").returncode == 0
    [row] = run_json("matrix", "rooms")
    assert (row["users"], row["collections"]) == (["*:matrix.example"], ["Handbook"])
    assert "may not read" in run("matrix", "rooms").stdout
    assert run("matrix", "deny", ROOM).returncode == 0
    assert run_json("matrix", "rooms") == []
    assert run("matrix", "deny", ROOM).returncode == 1


def test_a_fingerprint_may_be_typed_in_groups(account: BotFile) -> None:
    assert run("matrix", "verify", "@ann:here", "PHONE", "abcd", "efgh", "ijkl").returncode == 0
    assert account.read().is_verified("@ann:here", "PHONE", "abcdefghijkl")


def test_the_public_key_is_printed_and_no_secret(
    account: BotFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = BotSecrets("access", "store", "library", new_signing_key())
    monkeypatch.setenv(VARIABLE, kept.to_json())
    printed = run("matrix", "key").stdout
    assert printed.startswith("-----BEGIN PUBLIC KEY-----")
    assert "PRIVATE" not in printed
    assert "access" not in repr(kept)


def test_secrets_are_kept_in_the_keyring_and_said_to_be_missing(
    account: BotFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = MemoryKeyring()
    keeper = SecretKeeper(SystemKeyring("desktop-rag-matrix", lambda: keyring))
    kept = BotSecrets("access", "store", "library", "signing")
    assert keeper.save("@library:matrix.example", kept)
    assert keeper.get("@library:matrix.example") == kept
    assert len(keyring.entries) == 1
    monkeypatch.setenv(VARIABLE, json.dumps({"access_token": "x"}))
    done = run("matrix", "key")
    assert done.returncode == 1
    assert VARIABLE in done.stderr


def test_an_unreachable_homeserver_is_said(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("password\ntoken\n"))
    done = run("matrix", "login", "http://127.0.0.1:9", "@library:matrix.example")
    assert done.returncode == 1
    assert "can't be reached" in done.stderr
