"""The file of the bot: who may ask what, and changes of it."""

import os
from pathlib import Path

import jwt
import pytest

from desktop_rag.core.errors import AppError
from desktop_rag.features.matrix.bot_settings import BotFile, BotSettings, LiveSettings, RoomRule
from desktop_rag.features.matrix.room_readers import (
    PeopleTokens,
    address_for_room,
    new_signing_key,
    public_key,
)


@pytest.fixture
def file(tmp_path: Path) -> BotFile:
    made = BotFile(tmp_path / "matrix" / "matrix.toml")
    made.log_in("https://matrix.example", "@bot:here", "DEVICE", "http://127.0.0.1:1")
    return made


def test_rooms_and_devices_are_entered_and_comments_stay(file: BotFile) -> None:
    file.path.write_text("# mine\n" + file.path.read_text())
    file.allow(RoomRule("!a:here", ("@ann:here", "*:there"), ("Handbook",)))
    file.verify("@ann:here", "PHONE", "key")
    found = file.read()
    rule = found.rooms["!a:here"]
    assert [rule.lets_in(u) for u in ("@ann:here", "@eve:here", "@eve:there")] == [
        True,
        False,
        True,
    ]
    assert found.is_verified("@ann:here", "PHONE", "key")
    assert not found.is_verified("@ann:here", "PHONE", "another")
    assert not found.is_verified("@eve:here", "PHONE", "key")
    file.deny("!a:here")
    assert file.read().rooms == {}
    assert file.path.read_text().startswith("# mine")
    with pytest.raises(AppError):
        file.deny("!a:here")


@pytest.mark.parametrize(
    "line",
    ['rooms = {"!a:here" = {users = "@ann:here"}}', "verified_devices_only = 1", "rooms = 5",
     "questions_per_minute = {person = 0}", "x = "],
)  # fmt: skip
def test_settings_that_cant_be_understood_are_refused(file: BotFile, line: str) -> None:
    file.path.write_text(f"{line}\n{file.path.read_text()}")
    with pytest.raises(AppError):
        file.read()


def test_a_change_takes_effect_and_a_broken_one_does_not(
    file: BotFile, caplog: pytest.LogCaptureFixture
) -> None:
    live = LiveSettings(file)
    file.allow(RoomRule("!a:here", ("@ann:here",)))
    _touch(file.path, 1)
    live.refresh()
    assert list(live.now.rooms) == ["!a:here"]
    file.path.write_text("rooms = ")
    _touch(file.path, 2)
    live.refresh()
    assert list(live.now.rooms) == ["!a:here"]
    assert "stay in force" in caplog.text
    caplog.clear()


def _touch(path: Path, second: int) -> None:
    os.utime(path, (second, second))


def test_tokens_are_signed_for_everybody_or_for_nobody(file: BotFile) -> None:
    with file.path.open("a") as out:
        out.write('[signing]\nissuer = "https://bot"\naudience = "library"\nservers = ["here"]\n')
        out.write('[people."@far:there"]\nsubject = "far"\n')
    key = new_signing_key()
    tokens = PeopleTokens(LiveSettings(file), key)
    signed = tokens.of(["@ann:here", "@far:there"])
    claims = [
        jwt.decode(t, public_key(key), ["EdDSA"], audience="library", issuer="https://bot")
        for t in signed
    ]
    assert [each["sub"] for each in claims] == ["@ann:here", "far"]
    assert all(each["exp"] - each["iat"] == 300 for each in claims)
    assert tokens.of(["@ann:here", "@stranger:there"]) == ()
    assert tokens.of([f"@{n}:here" for n in range(60)]) == ()


def test_without_an_issuer_nothing_is_signed(file: BotFile) -> None:
    assert PeopleTokens(LiveSettings(file), new_signing_key()).of(["@ann:here"]) == ()


@pytest.mark.parametrize(
    ("url", "homeserver", "kept"),
    [
        ("https://wiki.example/a", "https://matrix.example", True),
        ("http://127.0.0.1:8642/source/x", "https://matrix.example", False),
        ("http://127.0.0.1:8642/source/x", "http://localhost:8008", True),
        ("javascript:x", "https://matrix.example", False),
        ("file:///etc/passwd", "https://matrix.example", False),
    ],
)
def test_only_addresses_that_the_room_can_open_are_shown(
    url: str, homeserver: str, kept: bool
) -> None:
    settings = BotSettings(homeserver, "@bot:here", "DEVICE")
    assert address_for_room(url, settings) == (url if kept else "")
