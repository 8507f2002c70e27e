"""Questions about tables are answered by a query, over real HTTP, from stored spreadsheets."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.cli_output import answer_json, answer_lines
from desktop_rag.core.anchors import Anchor
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import AnswerWaits, Message, MessageState
from desktop_rag.core.settings import LaterSources, RetrievalSettings, Settings
from tests.asking import answer_of, ask, events_of
from tests.chat_server import ChatServer

QUESTION = "How many pounds did the tickets of the ferry bring in all?"
QUERY = 'SELECT sum("Pounds") AS pounds FROM "tickets"'
ROWS = 300
TOTAL = sum(n % 7 + 1 for n in range(ROWS))
ANSWER = f"The tickets brought {TOTAL} pounds in all [1]."
ASKED_FOR_A_QUERY = "You write one DuckDB SELECT statement"


class Model:
    """What the endpoint answers: queries in their turn, and one answer to everything else."""

    def __init__(self, *queries: str, answer: str = ANSWER) -> None:
        self.queries = list(queries)
        self.answer = answer
        self.asked: list[str] = []

    def __call__(self, prompt: str) -> str:
        if ASKED_FOR_A_QUERY not in prompt:
            return self.answer
        self.asked.append(prompt)
        return self.queries.pop(0) if self.queries else "NONE"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "harbour"
    made.mkdir()
    rows = [
        f"2026-{n % 12 + 1:02}-01,ferry {'east' if n % 3 else 'west'},{n % 7 + 1}"
        for n in range(ROWS)
    ]
    (made / "tickets.csv").write_text("Day,Line of the ferry,Pounds\n" + "\n".join(rows))
    (made / "lamp.md").write_text("The lamp of the lighthouse is lit at dusk by the keeper.")
    return made


@pytest.fixture
def indexed(services: Services, folder: Path) -> Services:
    services.library.add_source(folder)
    services.library.start(watch=False)
    assert services.library.wait_until_quiet(30)
    return services


@pytest.fixture
def server(indexed: Services) -> Iterator[ChatServer]:
    with ChatServer() as running:
        indexed.chat.apply(replace(Settings(), endpoint=running.endpoint()))
        yield running


def queries_of(message: Message) -> list[str]:
    return [source.query for source in message.sources if source.query]


def test_a_query_answers_what_no_passage_says(indexed: Services, server: ChatServer) -> None:
    server.answer_to = Model(f"```sql\n{QUERY};\n```")
    events = events_of(indexed, QUESTION)
    message = answer_of(events)
    result = message.sources[0]
    assert message.text == ANSWER
    assert (result.query, result.is_cited, result.quote) == (QUERY, True, "")
    assert result.anchor == Anchor(cells=f"C2:C{ROWS + 1}")
    assert result.text.splitlines() == [
        f"Result of a query over {ROWS} rows, cells A2:C{ROWS + 1}:", "pounds", str(TOTAL),
    ]  # fmt: skip
    waits = [event.reason for event in events if isinstance(event, AnswerWaits)]
    assert waits == ["Asking the table in tickets…"]
    assert f"\n{TOTAL}\n" in server.chats[-1]["messages"][-1]["content"]
    [stored] = [m for m in indexed.chat.history.messages(message.conversation_id) if m.sources]
    assert stored == message
