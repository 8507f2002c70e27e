"""A question that names a file is answered from this file alone."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.settings import Settings
from tests.asking import ask
from tests.indexed import OpenIndexed, index_texts, write
from tests.servers.chat_server import ChatServer

PLAN = """# Emergency plan

Whoever is in charge stays in the watch room with the radio and the token board.

## The bell

Rung without stopping the bell means that all buildings are left at once.

## The helicopter

The helicopter lands on the mown square north of the walled garden.
"""


PAPERS = {
    "plans/emergency-plan.md": PLAN,
    "old/report.md": "# Old\n\nThe old report is about herring nets.\n",
    "plans/report.md": "# New\n\nThe new report is about lamp oil.\n",
    "money/counts-2025.csv": (
        "week,adults,notes\n1,38,quiet week\n2,41,rain on Sunday\n3,96,school holidays\n"
    ),
    "helicopters.md": "# Helicopters\n\nA helicopter needs a large field.\n",
}


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    return open_indexed(PAPERS)


@pytest.mark.slow
def test_what_is_in_a_file_is_its_outline(indexed: Services) -> None:
    answer = ask(indexed, "Tell me about the file emergency-plan.md")
    assert "Whoever is in charge stays in the watch room" in answer.text
    assert "- **The bell**: Rung without stopping" in answer.text
    assert {Path(source.path).name for source in answer.sources} == {"emergency-plan.md"}
    assert all(source.is_cited and source.quote for source in answer.sources)
    assert answer.notes
    assert answer.notes.scope == ("emergency-plan.md",)
    assert "Searched only in emergency-plan.md." in answer.notes.in_words()
    assert ask(indexed, "What is in the emergency plan?").text == answer.text


@pytest.mark.slow
def test_a_table_is_told_by_its_columns_and_rows(indexed: Services) -> None:
    answer = ask(indexed, "What is in counts-2025.csv?")
    assert "3 rows with the columns week, adults, notes [1]" in answer.text
    for question in ("Was steht in der Datei counts-2025.csv?", "Was steht in counts-2025.csv?"):
        answer = ask(indexed, question)
        assert "3 Zeilen mit den Spalten week, adults, notes [1]" in answer.text


@pytest.mark.slow
def test_files_of_one_name_are_both_read_and_told(indexed: Services) -> None:
    answer = ask(indexed, "What is in report.md?")
    assert "herring nets" in answer.text
    assert "lamp oil" in answer.text
    assert answer.notes
    assert set(answer.notes.scope) == {"old/report.md", "plans/report.md"}
    assert "2 files have the name “report.md”." in answer.notes.in_words()


@pytest.mark.slow
def test_a_question_is_answered_from_the_named_file_alone(indexed: Services) -> None:
    answer = ask(indexed, "Where does the helicopter land according to emergency-plan.md?")
    assert "mown square" in answer.text
    assert {Path(source.path).name for source in answer.sources} == {"emergency-plan.md"}


@pytest.mark.everyday
def test_a_file_without_an_answer_shows_what_it_holds(indexed: Services) -> None:
    answer = ask(indexed, "Who won the chess title of 1972 according to emergency-plan.md?")
    assert answer.text.startswith("Nothing in emergency-plan.md seems to be about this question.")
    assert "The bell" in answer.text


@pytest.mark.slow
def test_a_folder_is_a_scope(indexed: Services) -> None:
    answer = ask(indexed, "What is in the folder plans?")
    names = {Path(source.path).name for source in answer.sources}
    assert names == {"emergency-plan.md", "report.md"}
    assert "herring" not in answer.text


@pytest.mark.slow
def test_a_collection_is_a_scope(services: Services, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    write(folder, PAPERS)
    for name in ("plans", "money", "old"):
        collection = services.library.collections.find_or_add(f"{name.title()} of 2025")
        services.library.sources.add(folder / name, collection.collection_id)
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(50)
    answer = ask(services, "What is in the collection plans of 2025?")
    names = {Path(source.path).name for source in answer.sources}
    assert names == {"emergency-plan.md", "report.md"}
    assert answer.notes
    assert answer.notes.scope == ("Plans of 2025",)
    answer = ask(services, "Where is lamp oil in the Plans of 2025 collection?")
    assert {Path(s.path).parent.name for s in answer.sources} == {"plans"}
    # A name inside the collection, and a collection that the chat doesn't search.
    answer = ask(services, "What is in report.md of the collection Plans of 2025?")
    assert {Path(s.path).parent.name for s in answer.sources} == {"plans"}
    other = services.library.collections.find("Money of 2025").collection_id
    answer = ask(services, "What is in the collection Plans of 2025?", collection_id=other)
    assert not answer.notes or answer.notes.scope != ("Plans of 2025",)


@pytest.mark.slow
def test_a_slip_of_the_keys_finds_the_file_and_an_unknown_name_is_told(indexed: Services) -> None:
    answer = ask(indexed, "What is in emergncy-plan.md?")
    assert answer.notes
    assert answer.notes.scope == ("emergency-plan.md",)
    assert "No file is called “emergncy-plan.md”" in answer.notes.in_words()
    unknown = ask(indexed, "What is in budget-1999.xlsx?")
    assert unknown.notes
    assert "No file is called “budget-1999.xlsx”." in unknown.notes.in_words()


@pytest.mark.slow
def test_the_model_reads_the_whole_file(indexed: Services) -> None:
    with ChatServer("It lands there [1].") as server:
        indexed.chat.apply(Settings(endpoint=server.endpoint()))
        ask(indexed, "What must nobody forget about landing in emergency-plan.md?")
        prompt = str(server.chats[-1])
        assert "token board" in prompt
        assert "large field" not in prompt


@pytest.mark.slow
def test_the_model_summarises_the_file(indexed: Services) -> None:
    with ChatServer("It is about safety [1].") as server:
        indexed.chat.apply(replace(Settings(), endpoint=server.endpoint()))
        answer = ask(indexed, "please summarise emergency-plan.md")
        assert "It is about safety" in answer.text
        assert "large field" not in str(server.chats)


@pytest.mark.slow
def test_every_file_is_asked_within_what_is_named(indexed: Services) -> None:
    answer = ask(indexed, "Where does the helicopter land according to emergency-plan.md?")
    assert indexed.chat.files_to_ask(answer.conversation_id) == (1, "")


@pytest.mark.slow
def test_small_talk_has_an_answer_without_a_search(indexed: Services) -> None:
    answer = ask(indexed, "Hello, what can you do?")
    assert answer.text.startswith("I answer questions about the documents")
    assert answer.notes is None
    assert (answer.sources, answer.nearest, answer.is_excerpts) == ((), (), False)
    changes = list(indexed.chat.go_on(answer, cancel=threading.Event()))
    assert changes == []


@pytest.mark.slow
def test_without_a_model_files_to_compare_are_told_one_after_the_other(indexed: Services) -> None:
    for question, beginning in (
        ("Compare emergency-plan.md and helicopters.md", "It takes a model to compare them."),
        ("Vergleiche den Inhalt von emergency-plan.md und helicopters.md", "Um sie zu vergleichen"),
    ):
        answer = ask(indexed, question)
        assert answer.text.startswith(beginning)
        assert "Rung without stopping" in answer.text
        assert "needs a large field" in answer.text


@pytest.mark.slow
def test_what_is_in_a_folder_by_filter_is_its_outline(indexed: Services) -> None:
    answer = ask(indexed, "What is in it? folder:plans")
    assert "Rung without stopping" in answer.text
    assert "lamp oil" in answer.text
    assert "herring" not in answer.text


@pytest.mark.slow
def test_the_number_of_rows_of_a_named_file_is_no_question_beside_it(
    open_indexed: OpenIndexed,
) -> None:
    services = open_indexed(PAPERS)
    answer = ask(services, "How many rows are in counts-2025.csv?")
    assert "3 rows" in answer.text
    assert "Nothing in" not in answer.text
    answer = ask(services, "Wie viele Zeilen hat counts-2025.csv?")
    assert "3 Zeilen mit den Spalten" in answer.text
    # Dutch has "wie" and "in" too.
    answer = ask(services, "Wie viele Robben in counts-2025.csv?")
    assert answer.text.startswith("Nichts in counts-2025.csv scheint von dieser Frage zu handeln.")
    answer = ask(services, "How many seals are in counts-2025.csv?")
    assert answer.text.startswith("Nothing in counts-2025.csv seems to be about this question.")


@pytest.mark.slow
def test_a_row_that_has_the_words_of_the_question_is_shown(
    services: Services, tmp_path: Path
) -> None:
    rows = "".join(f"{year},{100 + year % 100}\n" for year in range(2015, 2025))
    ducks = {"ducks.csv": f"Year,Freshwater Ducks\n{rows}"}
    index_texts(services, tmp_path / "papers", PAPERS | ducks)
    answer = ask(services, "What does ducks.csv say for 2022?")
    assert "| 2022 | 122 |" in answer.text
    assert "Nothing in" not in answer.text
    assert not answer.nearest
