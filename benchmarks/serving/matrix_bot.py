"""Measures the bot for Matrix rooms: many messages over many restarts, its part of a round trip.

    python benchmarks/serving/matrix_bot.py --messages 1000 --restarts 20

A homeserver (make synapse), a library with a scripted model that answers at once, and the bot as a
process of its own, which is killed at its work after every so many messages. Each message must be
answered exactly once, by an answer or by the line that says that it was interrupted. The bot's own
part is the time from the sending of a question until its answer is in the room, less the time that
the local server needs for the same question.
"""

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from desktop_rag import app  # noqa: E402
from desktop_rag.core.paths import Home  # noqa: E402
from desktop_rag.core.settings import Settings  # noqa: E402
from desktop_rag.features.matrix.library_server import AskedQuestion, LibraryAnswer, LibraryServer  # noqa: E402
from desktop_rag.features.server.access.access_tokens import TokenBook, new_token  # noqa: E402
from desktop_rag.features.server.services import ServerSwitch  # noqa: E402
from desktop_rag.features.server.values.access_values import TokenWish  # noqa: E402
from tests.servers.chat_server import ChatServer  # noqa: E402
from tests.servers.matrix_bot import MatrixBot  # noqa: E402
from tests.servers.matrix_people import Person  # noqa: E402
from tests.servers.synapse import Synapse  # noqa: E402

QUESTION = "When is the lamp lit?"
_BAR_S = 0.3


async def messages_over_restarts(
    ann: Person, bot: MatrixBot, room: str, *, messages: int, restarts: int
) -> Counter[str]:
    """How many messages got no answer, one answer, the line of an interruption, or several."""
    sent: list[str] = []
    each = max(1, messages // restarts)
    bot.start()
    await ann.until_joined(room, bot.user_id)
    for n in range(messages):
        text = QUESTION if n % 10 == 0 else "help"
        sent.append(await ann.say(room, text, to=bot.user_id))
        if n % each == each - 1:
            bot.kill()
            bot.start()
            await ann.look()
    until = time.monotonic() + 600
    while time.monotonic() < until and not all(_is_whole(ann, one) for one in sent):
        await ann.look()
        await ann.read_all(room)
    bot.stop()
    return Counter(_outcome(ann, one) for one in sent)


def _is_whole(ann: Person, asked: str) -> bool:
    return any(not answer["body"].endswith(" …") for answer in ann.answers(asked))


def _outcome(ann: Person, asked: str) -> str:
    found = ann.answers(asked)
    if len(found) != 1:
        return "no answer" if not found else "answered twice"
    return "said to be interrupted" if "interrupted" in found[0]["body"] else "answered"


async def own_part(
    ann: Person, bot: MatrixBot, room: str, rounds: int
) -> tuple[list[float], list[float]]:
    """The seconds of round trips through the room, and of the same question to the server."""
    library = LibraryServer(bot.file.read().library, bot.secrets.library_token)
    trips: list[float] = []
    direct: list[float] = []
    bot.start()
    for n in range(rounds + 2):
        begin = time.perf_counter()
        asked = await ann.say(room, QUESTION, to=bot.user_id)
        await ann.answer_to(asked, containing="Sources:")
        trips.append(time.perf_counter() - begin)
        begin = time.perf_counter()
        async for piece in library.ask(AskedQuestion(QUESTION)):
            if isinstance(piece, LibraryAnswer):
                break
        direct.append(time.perf_counter() - begin)
        if n == 1:  # the first ones load models and open connections
            trips.clear()
            direct.clear()
    bot.stop()
    await library.close()
    return trips, direct


def main() -> int:
    """Run both; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "synapse").mkdir()
        with Synapse(folder / "synapse") as homeserver, ChatServer("At dusk [1].") as endpoint:
            return _measure(folder, homeserver, endpoint, arguments)


def _measure(
    folder: Path, homeserver: Synapse, endpoint: ChatServer, arguments: argparse.Namespace
) -> int:
    services = app.build_services(Home(folder / "home"))
    try:
        (papers := folder / "papers").mkdir()
        (papers / "lamp.md").write_text("# The lamp\n\nThe lamp is lit at dusk by the keeper.")
        services.library.start(watch=False)
        services.library.sources.add(papers)
        services.library.indexing.wait_until_idle(60)
        services.chat.apply(replace(Settings(), endpoint=endpoint.endpoint()))
        services.wing(ServerSwitch).hold({"port": 0})
        token, secret = new_token(TokenWish("bench", ("ask", "read"), requests_per_minute=0))
        TokenBook(services.home.tokens).add(token)
        bot = MatrixBot(
            homeserver, "library", folder / "bot", services.wing(ServerSwitch).address, secret
        )
        bot.set_rates(person=100_000, room=100_000)
        homeserver.register("ann")
        try:
            return asyncio.run(_tell(folder, homeserver, bot, arguments))
        finally:
            bot.stop()
    finally:
        services.wing(ServerSwitch).close()
        services.close()


async def _tell(
    folder: Path, homeserver: Synapse, bot: MatrixBot, arguments: argparse.Namespace
) -> int:
    async with Person(homeserver, "ann", folder) as ann:
        room = await ann.make_room(bot.user_id)
        bot.allow(room, ann.user_id)
        counted = await messages_over_restarts(
            ann, bot, room, messages=arguments.messages, restarts=arguments.restarts
        )
        print(f"{arguments.messages} messages, {arguments.restarts} kills: {dict(counted)}")
        trips, direct = await own_part(ann, bot, room, arguments.rounds)
    own_s = statistics.median(trips) - statistics.median(direct)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"round trip {statistics.median(trips):.3f} s, server {statistics.median(direct):.3f} s")
    print(f"own part of the bot and the homeserver, median of {len(trips)}: {own_s * 1000:.0f} ms")
    is_once = not counted["no answer"] and not counted["answered twice"]
    return 0 if is_once and own_s <= _BAR_S else 1


if __name__ == "__main__":
    raise SystemExit(main())
