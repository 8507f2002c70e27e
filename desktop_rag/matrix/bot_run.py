"""Runs the bot in this process until it is told to end. The main thread."""

import asyncio
import logging
import signal
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

from desktop_rag.core.errors import AppError
from desktop_rag.matrix.bot import Bot, BotParts
from desktop_rag.matrix.bot_secrets import BotSecrets, SecretKeeper
from desktop_rag.matrix.bot_settings import BotFile, LiveSettings
from desktop_rag.matrix.conversations import Conversations
from desktop_rag.matrix.handled_events import HandledEvents
from desktop_rag.matrix.heard_events import KnownDevice
from desktop_rag.matrix.library_server import LibraryServer
from desktop_rag.matrix.people_tokens import PeopleTokens
from desktop_rag.matrix.room_answers import Answering
from desktop_rag.matrix.room_client import RoomClient
from desktop_rag.matrix.room_readers import RoomReaders
from desktop_rag.matrix.summarising import Summarising

SETTINGS_NAME = "matrix.toml"
_KEYS, _HANDLED, _MARK, _LOCK = "keys", "handled.jsonl", "mark.json", "lock"


def run_bot(folder: Path, keeper: SecretKeeper, tell: Callable[[str], None]) -> None:
    """Answer in the rooms of the list until SIGINT or SIGTERM. AppError when it can't go on."""
    # Its own lines name rooms and keys; nothing of it may hold what people write.
    logging.getLogger("nio").setLevel(logging.ERROR)
    try:
        with FileLock(folder / _LOCK, timeout=0):
            settings = LiveSettings(BotFile(folder / SETTINGS_NAME))
            secrets = keeper.get(settings.now.user_id)
            asyncio.run(_run(folder, settings, secrets, tell))
    except Timeout as exc:
        raise AppError("The bot runs already.", "End it first.") from exc
    except OSError as exc:
        raise AppError("The bot can't use its folder.", f"{folder}: {exc}") from exc


def known_devices(folder: Path, keeper: SecretKeeper) -> tuple[str, list[KnownDevice]]:
    """The fingerprint of the bot's own device, and the devices it has seen in its rooms."""

    async def look() -> tuple[str, list[KnownDevice]]:
        settings = LiveSettings(BotFile(folder / SETTINGS_NAME))
        rooms = RoomClient(settings, keeper.get(settings.now.user_id), folder / _KEYS)
        try:
            return rooms.fingerprint, rooms.devices()
        finally:
            await rooms.close()

    return asyncio.run(look())


async def _run(
    folder: Path, settings: LiveSettings, secrets: BotSecrets, tell: Callable[[str], None]
) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _n, _f: loop.call_soon_threadsafe(ended.set))
    rooms = RoomClient(settings, secrets, folder / _KEYS)
    library = LibraryServer(settings.now.library, secrets.library_token)
    handled = HandledEvents(folder / _HANDLED)
    try:
        conversations = Conversations(rooms)
        readers = RoomReaders(rooms, PeopleTokens(settings, secrets.signing_key))
        parts = BotParts(
            settings,
            rooms,
            handled,
            Answering(rooms, library, readers, conversations, settings),
            Summarising(rooms, library, settings),
            conversations,
        )
        tell(f"Listening as {settings.now.user_id}. Ctrl+C ends it.")
        await Bot(parts, folder / _MARK).run(ended)
    finally:
        handled.close()
        await library.close()
        await rooms.close()
