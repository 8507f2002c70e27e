"""The verb `matrix`: the bot for Matrix rooms, its account, its list of rooms, and devices."""

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from desktop_rag.cli.terminal import here, not_empty, prints, say
from desktop_rag.core.errors import AppError
from desktop_rag.core.extras import way_to_install
from desktop_rag.core.log import start_logging
from desktop_rag.core.paths import find_home


def add_matrix(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `matrix`; without an action it runs the bot."""
    parser.set_defaults(run=_run)
    actions = parser.add_subparsers(metavar="ACTION")
    actions.add_parser("run", help="Answer in the rooms of the list.").set_defaults(run=_run)
    _add_login(actions.add_parser("login", help="Log the bot in to an account of its own."))
    _add_allow(actions.add_parser("allow", help="Let people ask in a room."))
    denied = actions.add_parser("deny", help="Take a room off the list; the bot leaves it.")
    denied.set_defaults(run=_deny)
    denied.add_argument("room", type=not_empty, help="its id, such as !abc:matrix.example")
    listed = actions.add_parser("rooms", help="List the rooms and who may ask there.")
    prints(listed, _rooms, _room_lines)
    devices = actions.add_parser("devices", help="List the devices that the bot has seen.")
    prints(devices, _devices, _device_lines)
    verified = actions.add_parser("verify", help="Enter a device as that of a person.")
    verified.set_defaults(run=_verify)
    verified.add_argument("user", type=not_empty)
    verified.add_argument("device", type=not_empty)
    text = "its session key, as its owner reads it aloud from the program"
    verified.add_argument("fingerprint", type=not_empty, nargs="+", help=text)
    key = actions.add_parser("key", help="Print the public key for “access set --jwt-key”.")
    key.set_defaults(run=_key)


def _add_login(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_login)
    parser.description = (
        "Asks for the password of the account and for a token of the local server, or reads them"
        " from standard input, a line each. Both go into the keyring."
    )
    parser.add_argument("homeserver", type=not_empty, help="such as https://matrix.example")
    parser.add_argument("user", type=not_empty, help="such as @library:matrix.example")
    text = "the address of the local server (http://127.0.0.1:8642)"
    parser.add_argument("--library", default="http://127.0.0.1:8642", metavar="URL", help=text)
    text = "print the secrets once, where there is no keyring"
    parser.add_argument("--show-secrets", action="store_true", help=text)


def _add_allow(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_allow)
    parser.add_argument("room", type=not_empty, help="its id, such as !abc:matrix.example")
    text = "who may ask: a Matrix id, or *:server for all of a homeserver; may be repeated"
    parser.add_argument("--user", action="append", required=True, help=text)
    text = "only this collection; may be repeated"
    parser.add_argument("--collection", action="append", default=[], metavar="NAME", help=text)
    text = "a collection that summaries may be stored in; may be repeated"
    parser.add_argument("--store-in", action="append", default=[], metavar="NAME", help=text)
    text = "summarise no discussions of this room"
    parser.add_argument("--no-summaries", action="store_true", help=text)
    text = "show answers made for the one who asks, also where others may not read the sources"
    parser.add_argument("--shows-all", action="store_true", help=text)


def _run(_arguments: argparse.Namespace) -> int:
    _need_library()
    from desktop_rag.features.matrix.bot_run import run_bot
    from desktop_rag.features.matrix.room_client import SecretKeeper

    home = find_home()
    home.create()
    start_logging(home.logs)
    folder = _folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    run_bot(folder, SecretKeeper(), say)
    return 0


def _login(arguments: argparse.Namespace) -> int:
    _need_library()
    from desktop_rag.features.matrix.bot_settings import BotFile
    from desktop_rag.features.matrix.room_client import (
        VARIABLE,
        BotSecrets,
        SecretKeeper,
        log_in,
        new_store_key,
    )
    from desktop_rag.features.matrix.room_readers import new_signing_key

    password = _typed(f"Password of {arguments.user}: ")
    token = _typed("Token of the local server (desktop-rag token add): ")
    user_id, device_id, access = log_in(
        arguments.homeserver, arguments.user, password, "desktop-rag"
    )
    secrets = BotSecrets(access, new_store_key(), token, new_signing_key())
    is_kept = SecretKeeper().save(user_id, secrets)
    if not is_kept and not arguments.show_secrets:
        hint = f"With --show-secrets they are printed once; give them to the bot in {VARIABLE}."
        raise AppError("There is no keyring that keeps the secrets of the bot.", hint)
    BotFile(_folder() / "matrix.toml").log_in(
        arguments.homeserver, user_id, device_id, arguments.library
    )
    say(f"Logged in as {user_id}, device {device_id}.")
    if not is_kept:
        say(f"This is shown once, and kept nowhere else. Put it into {VARIABLE}:")
        sys.stdout.write(secrets.to_json() + "\n")
    return 0


def _allow(arguments: argparse.Namespace) -> int:
    from desktop_rag.features.matrix.bot_settings import RoomRule

    rule = RoomRule(
        arguments.room,
        tuple(arguments.user),
        tuple(arguments.collection),
        tuple(arguments.store_in),
        not arguments.no_summaries,
        arguments.shows_all,
    )
    file = _file()
    file.read()
    file.allow(rule)
    say(f"In {rule.room_id}, {', '.join(rule.users)} may ask. Invite the bot there.")
    return 0


def _deny(arguments: argparse.Namespace) -> int:
    _file().deny(arguments.room)
    say(f"The bot leaves {arguments.room}.")
    return 0


def _rooms(_arguments: argparse.Namespace) -> list[dict[str, Any]]:
    return [
        {
            "room": rule.room_id,
            "users": list(rule.users),
            "collections": list(rule.collections),
            "stores_in": list(rule.stores_in),
            "summarises": rule.summarises,
            "shows_all": rule.shows_all,
        }
        for rule in _file().read().rooms.values()
    ]


def _devices(_arguments: argparse.Namespace) -> dict[str, Any]:
    _need_library()
    from desktop_rag.features.matrix.bot_run import known_devices
    from desktop_rag.features.matrix.room_client import SecretKeeper

    settings = _file().read()
    own, devices = known_devices(_folder(), SecretKeeper())
    return {
        "own": {"device": settings.device_id, "fingerprint": own},
        "devices": [
            {
                "user": each.user_id,
                "device": each.device_id,
                "fingerprint": each.fingerprint,
                "name": each.name,
                "verified": settings.is_verified(each.user_id, each.device_id, each.fingerprint),
            }
            for each in devices
        ],
    }


def _verify(arguments: argparse.Namespace) -> int:
    fingerprint = "".join(arguments.fingerprint).replace(" ", "")
    file = _file()
    file.read()
    file.verify(arguments.user, arguments.device, fingerprint)
    say(f"{arguments.device} counts as a device of {arguments.user} if its key is this one.")
    return 0


def _key(_arguments: argparse.Namespace) -> int:
    from desktop_rag.features.matrix.room_client import SecretKeeper
    from desktop_rag.features.matrix.room_readers import public_key

    secrets = SecretKeeper().get(_file().read().user_id)
    sys.stdout.write(public_key(secrets.signing_key))
    return 0


def _need_library() -> None:
    if not find_spec("nio") or not find_spec("vodozemac"):
        title = "The bot needs a library that is not installed."
        raise AppError(title, way_to_install("matrix"))


def _typed(prompt: str) -> str:
    """A secret that is typed, or read from standard input; never an argument."""
    if not (secret := here().typed(prompt, is_secret=True)):
        raise AppError("Nothing was entered.", "A password and a token are needed.")
    return secret


def _folder() -> Path:
    return find_home().matrix


def _file() -> Any:  # noqa: ANN401  a BotFile, which is imported by the verbs that need it
    from desktop_rag.features.matrix.bot_settings import BotFile

    return BotFile(_folder() / "matrix.toml")


def _room_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    lines = [
        f"{row['room']}: {', '.join(row['users'])} may ask"
        f" {', '.join(row['collections']) or 'all that the token of the bot covers'}"
        + (", also what others in the room may not read" if row["shows_all"] else "")
        for row in rows
    ]
    return lines or ["No room is on the list."]


def _device_lines(shown: dict[str, Any]) -> list[str]:
    own = f"The bot: {shown['own']['device']}, {shown['own']['fingerprint']}"
    return [own] + [
        f"{row['user']}: {row['device']}, {row['fingerprint']}"
        + (", verified" if row["verified"] else "")
        for row in shown["devices"]
    ]
