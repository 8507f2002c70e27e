"""R-14, R-27: the clock goes back a year, or ahead and back. Order is by number.

The schedule of links: tests/integration/indexing/test_web_links_over_time.py.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import Conversation, Interaction, InteractionOutcome
from desktop_rag.store.contract.engine import Engine
from tests.asking import ask
from tests.engines import duckdb_in
from tests.indexed import index_texts
from tests.standing_clock import Clock

_YEAR_S = 365 * 86_400.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the computer, set by hand."""
    clock = Clock()
    monkeypatch.setattr(time, "time", clock)
    return clock


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = duckdb_in(tmp_path)
    yield engine
    engine.close()


def titles(conversations: list[Conversation]) -> list[str]:
    return [conversation.title for conversation in conversations]


@pytest.mark.slow
@pytest.mark.parametrize("jump_s", [-_YEAR_S, _YEAR_S])
def test_r27_the_chat_changed_last_is_first(
    build_services: Callable[[], Services], clock: Clock, jump_s: float
) -> None:
    services = build_services()
    first = ask(services, "Where is the lamp?").conversation_id
    clock.now += jump_s
    second = ask(services, "When is the fog?").conversation_id
    history = services.chat.history
    assert [c.conversation_id for c in history.all()] == [second, first]
    assert history.all()[0].updated_at == clock.now
    clock.now -= jump_s
    ask(services, "And who lights it?", conversation_id=first)
    assert [c.conversation_id for c in history.all()] == [first, second]


def test_r27_the_newest_questions_are_the_last_asked(engine: Engine) -> None:
    for name, ended_at in (("first", _YEAR_S), ("second", 5.0), ("third", 2 * _YEAR_S)):
        engine.interactions.add(
            Interaction(name, "c", name, name, "", InteractionOutcome.DONE, ended_at, "m")
        )
    assert [i.interaction_id for i in engine.interactions.newest(2)] == ["third", "second"]
    engine.interactions.set_vector("first", "e", np.ones(2, np.float32))
    assert [i.interaction_id for i in engine.interactions.newest(3)][-1] == "first"


@pytest.mark.slow
@pytest.mark.parametrize(
    "written_at", [0.0, 86_400.0, 4_102_444_800.0, 1_700_000_000.0 - 3_600.0, -86_400.0]
)
def test_r14_a_change_is_noticed_whatever_time_the_file_tells(
    services: Services, tmp_path: Path, written_at: float
) -> None:
    """1970, the day after, 2100, an hour back as summer time ends, and before 1970."""
    folder = tmp_path / "docs"
    index_texts(services, folder, {"lamp.md": "The lamp is amber.", "fog.md": "The fog is grey."})
    path = folder / "lamp.md"
    for colour in ("white", "green"):  # of the same length
        path.write_text(f"The lamp is {colour}.")
        os.utime(path, (written_at, written_at))
        services.library.sources.rescan()
        assert services.library.indexing.wait_until_idle(30)
        assert services.chat.search(colour, mode="lexical")
        written_at += 0.001
    assert services.chat.search("white", mode="lexical") == []
    assert services.chat.search("amber", mode="lexical") == []
