"""A run of many questions over several kills: each answer that was stored is asked for once."""

import re
from collections import Counter
from pathlib import Path

import pytest

from desktop_rag.core.paths import Home
from tests.driving.driven_app import DrivenApp
from tests.servers.chat_server import ChatServer

SET_UPS = 3
_ASKED = re.compile(r"Which lamp has number (\d+)\?")
_SET_UP = re.compile(r"Set-up (\d)\.")


def asked(server: ChatServer) -> Counter[tuple[str, str]]:
    """How often each question was asked with each set-up."""
    found: Counter[tuple[str, str]] = Counter()
    for chat in list(server.chats):
        shown = str(chat.get("messages", ""))
        if match := _SET_UP.search(shown):
            found[f"up{match[1]}", f"q{_ASKED.findall(shown)[-1]}"] += 1
    return found


def stored(app: DrivenApp) -> set[tuple[str, str]]:
    answers: dict[str, list[str]] = app.call("run_answers")
    return {(name, question) for name, questions in answers.items() for question in questions}


@pytest.mark.timeout(420)
@pytest.mark.parametrize(
    ("questions", "kills"),
    [(12, (5, 16, 26)), pytest.param(100, (40, 130, 220), marks=pytest.mark.deep)],
)
def test_a_killed_run_asks_nothing_twice(
    tmp_path: Path, questions: int, kills: tuple[int, ...]
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    lamps = (f"Lamp number {n} is at pier {n}.\n\n" for n in range(20))
    (folder / "lamps.md").write_text("".join(lamps))
    with ChatServer("It is at the pier [1].") as server:
        app = DrivenApp(Home(tmp_path / "home"))
        in_flight: set[tuple[str, str]] = set()
        for round_number, killed_after in enumerate((*kills, None)):
            app.open()
            kept = stored(app)
            in_flight |= set(asked(server)) - kept
            app.call("use_endpoint", base_url=server.base_url)
            app.call("start")
            if round_number == 0:
                app.call("add_source", path=str(folder), collection="Docs")
                app.call("is_idle", timeout_s=60)
                app.call("begin_runs", questions=questions, set_ups=SET_UPS)
            app.send("go_on_with_runs")
            goal = killed_after or questions * SET_UPS
            app.wait_for(lambda said, goal=goal: said.get("in_all", 0) >= goal)
            if killed_after:
                app.kill()
        assert len(stored(app)) == questions * SET_UPS
        app.close()
        counts = asked(server)
        assert app.bugs == []
    assert len(counts) == questions * SET_UPS
    # Only the one under way at a kill, whose answer never arrived, is asked again.
    assert {pair for pair, count in counts.items() if count > 1} <= in_flight
    assert len(in_flight) <= len(kills)
    assert max(counts.values()) <= 2
