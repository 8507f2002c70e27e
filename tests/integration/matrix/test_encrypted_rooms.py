"""Encrypted rooms: only verified devices are answered, and nothing readable lies on the disk."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.command_line import run_process
from tests.servers.chat_server import ChatServer
from tests.servers.matrix_bot import MatrixBot
from tests.servers.matrix_people import Person
from tests.servers.synapse import Synapse

pytestmark = pytest.mark.timeout(480)
Newcomer = Callable[[str], str]
QUESTION, ANSWER = "When is the lamp of zanzibar lit?", "The lamp is lit at dusk"


def test_an_encrypted_room_is_answered_on_verified_devices_only(
    homeserver: Synapse,
    bot: MatrixBot,
    newcomer: Newcomer,
    endpoint: ChatServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        async with Person(homeserver, newcomer("ann"), tmp_path) as ann:
            room = await ann.make_room(bot.user_id, is_encrypted=True)
            bot.allow(room, ann.user_id)
            with bot:
                await ann.until_joined(room, bot.user_id)
                await ann.say(room, QUESTION, to=bot.user_id)
                await bot.until_it_knows(ann.client.device_id or "")
            assert endpoint.chats == []
            bot.file.verify(ann.user_id, ann.client.device_id or "", ann.fingerprint)
            with bot:
                asked = await ann.say(room, QUESTION, to=bot.user_id)
                answer = await ann.answer_to(asked, containing="Sources:")
                assert answer["body"].startswith(ANSWER)
                more = await ann.say(room, "And who?", to=bot.user_id, thread=asked)
                await ann.answer_to(more, containing="Sources:")
            with bot:
                more = await ann.say(room, "And by whom?", to=bot.user_id, thread=asked)
                await ann.answer_to(more, containing="Sources:")
                asked_last = [c for c in map(str, endpoint.chats) if "And by whom?" in c]
                assert any(QUESTION in chat for chat in asked_last)

    asyncio.run(story())
    monkeypatch.setenv("DESKTOP_RAG_HOME", str(bot.home))
    monkeypatch.setenv("DESKTOP_RAG_MATRIX_SECRETS", bot.secrets.to_json())
    listed = run_process("matrix", "devices").stdout
    assert ", verified" in listed
    for path in (bot.home / "matrix").rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        for word in (QUESTION, ANSWER, "zanzibar", *bot.secrets.to_json().split('"')[3::4]):
            assert word.encode() not in content, path
