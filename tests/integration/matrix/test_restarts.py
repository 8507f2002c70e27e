"""The bot and the homeserver end and begin again: nothing is answered twice, or forgotten."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.servers.chat_server import ChatServer
from tests.servers.matrix_bot import MatrixBot, times_asked
from tests.servers.matrix_people import Person
from tests.servers.synapse import Synapse

pytestmark = pytest.mark.timeout(480)
Newcomer = Callable[[str], str]


def test_questions_are_answered_once_over_restarts_of_bot_and_homeserver(
    homeserver: Synapse, bot: MatrixBot, newcomer: Newcomer, endpoint: ChatServer, tmp_path: Path
) -> None:
    async def story() -> None:
        async with Person(homeserver, newcomer("ann"), tmp_path) as ann:
            room = await ann.make_room(bot.user_id)
            bot.allow(room, ann.user_id)
            bot.set_rates(person=100, room=100)
            with bot:
                await ann.until_joined(room, bot.user_id)
                first = await ann.say(room, "When is the lamp lit?", to=bot.user_id)
                await ann.answer_to(first, containing="Sources:")
                homeserver.restart()
                second = await ann.say(room, "Who cleans the lamp?", to=bot.user_id)
                await ann.answer_to(second, containing="Sources:")
                bot.kill()
            missed = [await ann.say(room, "help", to=bot.user_id) for _ in range(3)]
            with bot:
                for each in missed:
                    await ann.answer_to(each)
                endpoint.pause_s = 3.0
                cut = await ann.say(room, "When does the ferry leave?", to=bot.user_id)
                assert (await ann.beginning_of_answer_to(cut)).endswith(" …")
                bot.kill()
            endpoint.pause_s = 0.0
            with bot:
                assert "interrupted" in (await ann.answer_to(cut, containing="inter"))["body"]
                last = await ann.say(room, "help", to=bot.user_id)
                await ann.answer_to(last)
            for each in (first, second, *missed, cut, last):
                assert len(ann.answers(each)) == 1

    asyncio.run(story())
    for question in ("When is the lamp lit?", "Who cleans the lamp?"):
        assert times_asked(endpoint, question) == 1
