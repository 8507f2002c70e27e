"""The settings of the bot for Matrix rooms: who may ask what where. No secrets. Any thread."""

import logging
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, cast

import tomlkit
from tomlkit.items import Table

from desktop_rag.core.errors import AppError, os_error_as
from desktop_rag.core.files.own_files import write_atomically
from desktop_rag.core.records import MOST_WHOLE, Named, Within, WrongValueError, checked, encoded

log = logging.getLogger(__name__)

LIBRARY = "http://127.0.0.1:8642"
_EVERYBODY_OF = "*:"
_FORM = "docs/matrix.md shows its form."


@dataclass(frozen=True, slots=True)
class RoomRule:
    """What may be asked in a room, and by whom; rooms without a rule are left.

    `users` are Matrix ids, or `*:server` for all of a homeserver. `collections` are names, none for
    all that the token of the bot covers; summaries go into those of `stores_in` only. With
    `shows_all` an answer may hold what the one who asks may read and others in the room may not.
    """

    room_id: str = ""
    users: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    stores_in: tuple[str, ...] = ()
    summarises: bool = True
    shows_all: bool = False

    def lets_in(self, user_id: str) -> bool:
        """True for somebody who may ask in this room."""
        server = f"{_EVERYBODY_OF}{user_id.partition(':')[2]}"
        return user_id in self.users or server in self.users


@dataclass(frozen=True, slots=True)
class Person:
    """A person as another application knows them, and the fingerprints of their devices by id."""

    subject: str = ""
    devices: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Signing:
    """How tokens for people are signed (decision 056); without an issuer there are none.

    People of the homeservers `servers` have their Matrix id as subject, others the one in `people`.
    """

    issuer: str = ""
    audience: str = ""
    servers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rates:
    """The questions that are answered in a minute."""

    person: Annotated[int, Within(1, MOST_WHOLE)] = 6
    room: Annotated[int, Within(1, MOST_WHOLE)] = 20


@dataclass(frozen=True, slots=True)
class BotSettings:
    """All settings. `library` is the address of the local server."""

    homeserver: str
    user_id: Annotated[str, Named("user")]
    device_id: Annotated[str, Named("device")]
    library: str = LIBRARY
    verified_devices_only: bool = True
    summary_model: str = ""
    rates: Annotated[Rates, Named("questions_per_minute")] = field(default_factory=Rates)
    people: Mapping[str, Person] = field(default_factory=dict[str, Person])
    signing: Signing = field(default_factory=Signing)
    rooms: Mapping[str, RoomRule] = field(default_factory=dict[str, RoomRule])

    def is_verified(self, user_id: str, device_id: str, fingerprint: str) -> bool:
        """True for a device whose fingerprint was entered for its owner."""
        person = self.people.get(user_id)
        return person is not None and person.devices.get(device_id) == fingerprint


class BotFile:
    """The file of the settings. Comments in it stay."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> BotSettings:
        """The settings; AppError when there are none, or they can't be understood."""
        try:
            content = tomllib.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError as exc:
            hint = "Log in first: desktop-rag matrix login."
            raise AppError("The bot has no account yet.", hint) from exc
        except (OSError, ValueError) as exc:
            raise AppError("The settings of the bot can't be read.", f"{self.path}: {exc}") from exc
        try:
            found = checked(BotSettings, content, "the settings", is_open=True)
        except WrongValueError as exc:
            hint = f"{self.path}: something is wrong at {exc}. {_FORM}"
            raise AppError("The settings of the bot can't be understood.", hint) from exc
        rooms = {room_id: replace(rule, room_id=room_id) for room_id, rule in found.rooms.items()}
        return replace(found, library=found.library.rstrip("/"), rooms=rooms)

    def log_in(self, homeserver: str, user_id: str, device_id: str, library: str) -> None:
        """Enter the account."""
        document = self._document()
        given = {"homeserver": homeserver, "user": user_id, "device": device_id, "library": library}
        document.update(given)
        self._write(document)

    def allow(self, rule: RoomRule) -> None:
        """Enter what may be asked in a room, in place of an earlier rule."""
        document = self._document()
        entry = tomlkit.table()
        entry.update({name: value for name, value in encoded(rule).items() if name != "room_id"})
        _table_in(document, "rooms")[rule.room_id] = entry
        self._write(document)

    def deny(self, room_id: str) -> None:
        """Take a room off the list; AppError if it isn't on it."""
        document = self._document()
        rooms = _table_in(document, "rooms")
        if room_id not in rooms:
            raise AppError("This room is not on the list.", room_id)
        del rooms[room_id]
        self._write(document)

    def verify(self, user_id: str, device_id: str, fingerprint: str) -> None:
        """Enter a device as that of a person."""
        document = self._document()
        person = _table_in(_table_in(document, "people"), user_id)
        _table_in(person, "devices")[device_id] = fingerprint
        self._write(document)

    def _document(self) -> tomlkit.TOMLDocument:
        try:
            return tomlkit.parse(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return tomlkit.document()
        except (OSError, ValueError) as exc:
            raise AppError("The settings of the bot can't be read.", f"{self.path}: {exc}") from exc

    def _write(self, document: tomlkit.TOMLDocument) -> None:
        with os_error_as("The settings of the bot can't be written.", self.path):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(self.path, tomlkit.dumps(document))


class LiveSettings:
    """The settings as they are now: changes of the file take effect while the bot runs."""

    def __init__(self, file: BotFile) -> None:
        """AppError when the file can't be read."""
        self._file = file
        self._stamp = self._changed_at()
        self.now = file.read()

    def refresh(self) -> None:
        """Read the file again if it changed. One that can't be read changes nothing."""
        if (stamp := self._changed_at()) == self._stamp:
            return
        self._stamp = stamp
        try:
            self.now = self._file.read()
        except AppError as error:
            log.warning("%s The earlier settings stay in force.", error.title)

    def _changed_at(self) -> int:
        try:
            return self._file.path.stat().st_mtime_ns
        except OSError:
            return 0


def _table_in(table: tomlkit.TOMLDocument | Table, name: str) -> Table:
    if name not in table:
        table[name] = tomlkit.table()
    return cast("Table", table[name])
