"""The bot as a process of its own, over a home of its own, as somebody would run it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

import httpx2

from desktop_rag.features.matrix.bot_settings import BotFile, RoomRule
from desktop_rag.features.matrix.room_client import VARIABLE, BotSecrets, log_in, new_store_key
from desktop_rag.features.matrix.room_readers import new_signing_key
from tests.servers.chat_server import ChatServer
from tests.servers.synapse import PASSWORD, Synapse

_LIMIT_S = 40.0
_POLL_S = 0.1


class MatrixBot:
    """The account `name`, logged in; `start` runs it until `stop` or `kill`."""

    def __init__(
        self, homeserver: Synapse, name: str, home: Path, library: str, token: str
    ) -> None:
        self.home = home
        self.file = BotFile(home / "matrix" / "matrix.toml")
        self.user_id, device_id, access = log_in(
            homeserver.address, homeserver.register(name), PASSWORD, "bot"
        )
        self.secrets = BotSecrets(access, new_store_key(), token, new_signing_key())
        self.file.log_in(homeserver.address, self.user_id, device_id, library)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def allow(self, room_id: str, *users: str, **rule: object) -> None:
        """Put a room on the list."""
        self.file.allow(RoomRule(room_id, users, **rule))  # type: ignore[arg-type]

    def set(self, **values: object) -> None:
        """Add lines at the top of the settings."""
        text = self.file.path.read_text()
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())
        self.file.path.write_text(lines + text)

    def set_rates(self, **rates: int) -> None:
        """Set questions_per_minute."""
        lines = "".join(f"{name} = {most}\n" for name, most in rates.items())
        with self.file.path.open("a") as file:
            file.write(f"\n[questions_per_minute]\n{lines}")

    def start(self) -> Self:
        """Run it; returns when it listens."""
        environment = os.environ | {
            "DESKTOP_RAG_HOME": str(self.home),
            VARIABLE: self.secrets.to_json(),
        }
        command = [sys.executable, "-m", "desktop_rag", "matrix"]
        with (self.home / "bot.log").open("w") as log:
            self._process = subprocess.Popen(command, env=environment, stderr=log)
        until = time.monotonic() + _LIMIT_S
        while "Listening" not in self.said():
            assert self._process.poll() is None, self.said()
            assert time.monotonic() < until, self.said()
            time.sleep(_POLL_S)
        return self

    def said(self) -> str:
        """All that it wrote on standard error since its start."""
        return (self.home / "bot.log").read_text()

    async def until_it_knows(self, device_id: str) -> None:
        """Wait until a device is in its store of keys."""
        async with asyncio.timeout(_LIMIT_S):
            while not any(
                device_id.encode() in path.read_bytes()
                for path in (self.home / "matrix" / "keys").glob("*.db*")
            ):
                await asyncio.sleep(_POLL_S)

    def documents(self, collection: str) -> list[dict[str, Any]]:
        """The documents of a collection, as its token sees them."""
        headers = {"authorization": f"Bearer {self.secrets.library_token}"}
        address = f"{self.file.read().library}/api/v1/"
        with httpx2.Client(base_url=address, headers=headers, trust_env=False) as client:
            there = {c["name"]: c["id"] for c in client.get("collections").json()["collections"]}
            listed = client.get("documents", params={"collection_id": there[collection]})
            return listed.json()["documents"]

    def stop(self) -> None:
        """End it as Ctrl+C does."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(30)

    def kill(self) -> None:
        """End it at once, in the middle of whatever it does."""
        assert self._process
        self._process.kill()
        self._process.wait(30)


def times_asked(endpoint: ChatServer, question: str) -> int:
    """How often a model was asked to answer a question from passages."""
    lasts = [str(chat["messages"][-1]["content"]) for chat in endpoint.chats]
    return len([text for text in lasts if question in text and "Passage:" in text])
