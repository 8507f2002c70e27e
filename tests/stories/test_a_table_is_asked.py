"""A question about a table is answered by a query, which is shown, cited by cell and stored."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import Settings
from tests.servers.chat_server import ChatServer
from tests.stories.conftest import Person

QUERY = 'SELECT sum("Pounds") AS pounds FROM "tickets"'
QUESTION = "How many pounds did the tickets of the ferry bring in all in good weather?"


def answer_to(prompt: str) -> str:
    is_for_query = "You write one DuckDB SELECT statement" in prompt
    return f"```sql\n{QUERY}\n```" if is_for_query else "They brought 5050 pounds in all [1]."


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    folder = tmp_path / "harbour"
    folder.mkdir()
    rows = "".join(f"ferry east,{n}\n" for n in range(1, 101))
    (folder / "tickets.csv").write_text(f"Line of the ferry,Pounds\n{rows}")
    return folder


@pytest.mark.everyday
def test_a_sum_over_a_sheet(
    home: Home, server: ChatServer, open_window: Callable[[], Person], tickets: Path
) -> None:
    home.create()
    save_settings(home.settings, replace(Settings(), endpoint=server.endpoint()))
    server.answer_to = answer_to
    person = open_window()
    person.drops(tickets)
    person.sees("1 searchable")
    person.presses("Ctrl+1")
    person.asks(QUESTION)
    person.sees("They brought 5050 pounds in all")
    person.sees("cells B2:B101")
    assert QUERY not in person.screen(), "it is folded until it is wanted"
    person.clicks("Calculated with a query")
    person.sees(QUERY)
    person.sees("Result of a query over 100 rows, cells A2:B101:\npounds\n5050")
    person.closes_the_window()
    again = open_window()
    again.waits_until(lambda: len(again.rows("Chats")) == 1)
    again.opens_row("Chats", 0)
    again.sees("They brought 5050 pounds in all")
    again.clicks("Calculated with a query")
    again.sees(QUERY)


def test_a_sum_by_rule_whose_query_is_changed(
    open_window: Callable[[], Person], tickets: Path
) -> None:
    person = open_window()
    person.drops(tickets)
    person.sees("1 searchable")
    person.presses("Ctrl+1")
    person.asks("What is the sum of the pounds?")
    person.sees("5050")
    person.sees("from 100 of 100 rows of tickets")
    person.clicks("Calculated by rule, with a query")
    person.clicks("Change the query…")
    assert 'sum("Pounds")' in person.typed("Question")
    person.clears("Question")
    person.asks('SELECT max("Pounds") AS highest FROM "tickets" WHERE "Pounds" < 51')
    person.sees("50")
    person.sees("your query, from 50 of 100 rows of tickets")
