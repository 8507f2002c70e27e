"""Stories of the bot in rooms of a real homeserver: invited, asked, followed up, refused."""

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


def test_a_question_in_a_room_is_answered_in_a_thread_with_sources(
    homeserver: Synapse, bot: MatrixBot, newcomer: Newcomer, endpoint: ChatServer, tmp_path: Path
) -> None:
    async def story() -> None:
        async with Person(homeserver, newcomer("ann"), tmp_path) as ann:
            room = await ann.make_room(bot.user_id)
            bot.allow(room, ann.user_id)
            with bot:
                await ann.until_joined(room, bot.user_id)
                asked = await ann.say(room, "When is the lamp lit?", to=bot.user_id)
                answer = await ann.answer_to(asked, containing="Sources:")
                assert answer["body"].startswith("The lamp is lit at dusk [1].")
                assert "[1] The lamp" in answer["body"]
                assert '<a href="http://127.0.0.1:' in answer["formatted_body"]
                assert "Checked: " in answer["body"]
                assert answer["m.relates_to"]["event_id"] == asked
                assert await ann.reaction_to(answer["event_id"]) in "✅⚠️"
                await ann.say(room, "Nobody asked the bot here.")
                more = await ann.say(room, "And who cleans it?", to=bot.user_id, thread=asked)
                await ann.answer_to(more, containing="Sources:")
                listed = await ann.say(room, "sources", to=bot.user_id, thread=asked)
                assert "[1] The lamp" in (await ann.answer_to(listed))["body"]
                help_asked = await ann.say(room, "help", to=bot.user_id)
                assert "summarise" in (await ann.answer_to(help_asked))["body"]
            assert len(ann.said_by(bot.user_id)) == 4

    asyncio.run(story())
    going_on = [chat for chat in map(str, endpoint.chats) if "And who cleans it?" in chat]
    assert any("When is the lamp lit?" in chat for chat in going_on)


def test_rooms_and_people_that_are_not_on_the_list_get_nothing(
    homeserver: Synapse, bot: MatrixBot, newcomer: Newcomer, endpoint: ChatServer, tmp_path: Path
) -> None:
    async def story() -> None:
        async with (
            Person(homeserver, newcomer("ann"), tmp_path) as ann,
            Person(homeserver, newcomer("eve"), tmp_path) as eve,
        ):
            room = await ann.make_room(bot.user_id, eve.user_id)
            await eve.join(room)
            bot.allow(room, ann.user_id)
            with bot:
                await ann.until_joined(room, bot.user_id)
                elsewhere = await eve.make_room(bot.user_id)
                asked = await eve.say(room, "When is the lamp lit?", to=bot.user_id)
                assert "not on the list" in (await eve.answer_to(asked))["body"]
                again = await eve.say(room, "When is the lamp lit?", to=bot.user_id)
                allowed = await ann.say(room, "When is the lamp lit?", to=bot.user_id)
                await ann.answer_to(allowed, containing="Sources:")
                assert ann.answers(again) == []
                await eve.look()
                left = await eve.client.joined_members(elsewhere)
                assert [each.user_id for each in left.members] == [eve.user_id]  # type: ignore[union-attr]
                bot.file.deny(room)
                bot.allow("!another:matrix.test", ann.user_id)
                await ann.say(room, "So it is.")
                async with asyncio.timeout(40):
                    while bot.user_id in ann.client.rooms[room].users:
                        await ann.look()

    asyncio.run(story())
    assert times_asked(endpoint, "When is the lamp lit?") == 1


def test_too_many_questions_are_refused_once(
    homeserver: Synapse, bot: MatrixBot, newcomer: Newcomer, endpoint: ChatServer, tmp_path: Path
) -> None:
    async def story() -> None:
        async with Person(homeserver, newcomer("ann"), tmp_path) as ann:
            room = await ann.make_room(bot.user_id)
            bot.allow(room, ann.user_id)
            bot.set_rates(person=2, room=10)
            with bot:
                await ann.until_joined(room, bot.user_id)
                asked = [await ann.say(room, f"help{' ' * n}", to=bot.user_id) for n in range(5)]
                bodies = [(await ann.answer_to(each))["body"] for each in asked[:3]]
                assert ["too much" in body for body in bodies] == [False, False, True]
                bot.stop()
                await ann.look()
                assert [ann.answers(each) for each in asked[3:]] == [[], []]

    asyncio.run(story())
