"""Questions for a number of records are answered by counting, with and without a model."""

import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.conversation import FileAsked
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.core.settings import Settings
from tests.asking import answer_of, ask, events_of
from tests.indexed import OpenIndexed, Texts, index
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow


COUNT = 102
_COUNT = re.compile(r"\*\*\d")
DISH = """---
status: {status}
---
# Dish {n}

Time: {n} minutes

## Ingredients

- {fat}
- flour

## Method

Stir {n} times.
"""


ARTICLE = """# Storks

Storks are large birds.

## Etymology

The name is old.

## Habitat

Storks nest on chimneys. About 9 storks were counted per nesting place.

## Relationship with people

The White Stork bank has 41 branches in towns near the coast.
"""


_RECIPES = {
    f"recipes/{n:03}.md": DISH.format(
        n=n, fat=("oil", "butter")[n % 2], status=("open", "done", "done")[n % 3]
    )
    for n in range(COUNT)
}
_SECTIONS = "".join(f"## Tower {n}\n\nHeight: {n} m\nCity: Bonn\n\n" for n in range(20))
LIBRARY: Texts = {
    **_RECIPES,
    "recipes/README.md": "# Kitchen\n\nAll that we cook at home.\n",
    "recipes/broken.docx": b"PK\x03\x04 no archive",
    "lamp.md": "# Lamp\n\nThe lamp is lit at dusk by the keeper.\n",
    "storks.md": ARTICLE,
    "towers.md": f"# Towers\n\n{_SECTIONS}",
}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("Nothing is known [1].") as server:
        yield server


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    return open_indexed(LIBRARY)


@pytest.fixture
def folder(indexed: Services) -> Path:
    [source] = indexed.library.sources.all()
    return source.path


def test_the_number_of_files_of_a_folder_and_all_of_them(indexed: Services, folder: Path) -> None:
    scope = QuestionScope.of(ScopeItem.of_folder(folder / "recipes"))
    answer = ask(indexed, "How many recipes are there?", scope=scope)
    assert answer.text.startswith("**102** recipes. Each file was counted as one.")
    assert "looks different: Kitchen." in answer.text
    assert "Could not be read: broken.docx:" in answer.text
    assert len(answer.sources) == COUNT
    assert all(source.is_cited for source in answer.sources)
    assert Path(answer.sources[7].path).name == "007.md"
    assert answer.is_excerpts


def test_the_files_of_the_library_are_counted_without_reading_them(indexed: Services) -> None:
    answer = ask(indexed, "How many files do I have?")
    count = indexed.library.documents.counts().searchable
    assert answer.text.startswith(f"**{count}** files can be searched in your library.")
    assert not answer.sources


def test_counts_are_told_in_the_language_of_the_question(indexed: Services, folder: Path) -> None:
    scope = QuestionScope.of(ScopeItem.of_folder(folder / "recipes"))
    answer = ask(indexed, "Wie viele Rezepte gibt es?", scope=scope)
    assert answer.text.startswith("**102** Rezepte. ")
    assert "weil es anders aussieht: Kitchen." in answer.text
    assert "Nicht gelesen: broken.docx. Die Seite „Bibliothek“ sagt, warum." in answer.text
    answer = ask(indexed, "Wie viele recipes enthalten kein butter?", scope=scope)
    assert answer.text.startswith(
        "**51** der 102 recipes: „enthalten kein butter“. Jede Datei wurde einzeln gezählt."
        " Gezählt sind alle außer denen, bei denen „ingredients“ den Wert „butter“ hat."
    )
    answer = ask(indexed, "Zähle alle towers über 17 m")
    assert "Jeder Abschnitt wurde einzeln gezählt." in answer.text
    assert "bei denen „height“ der Zahl nach passt" in answer.text


def test_counts_are_told_in_the_language_that_the_person_prefers(indexed: Services) -> None:
    preferences = replace(Settings().preferences, language="Deutsch")
    indexed.chat.apply(replace(Settings(), preferences=preferences))
    answer = ask(indexed, "How many towers are there?")
    assert answer.text.startswith("**20** towers. Jeder Abschnitt wurde einzeln gezählt.")


def test_a_folder_is_known_by_what_is_counted(indexed: Services) -> None:
    assert ask(indexed, "How many recipes use butter?").text.startswith("**51** of 102 recipes")
    assert ask(indexed, "How many recipes are open?").text.startswith("**34** of 102 recipes")
    assert ask(indexed, "How many towers are there?").text.startswith("**20** towers.")


def test_each_item_leads_to_its_place(indexed: Services) -> None:
    answer = ask(indexed, "List all towers in towers.md over 17 m")
    assert [source.anchor.heading for source in answer.sources] == [
        "Towers › Tower 18",
        "Towers › Tower 19",
    ]
    assert answer.sources[0].text.startswith("## Tower 18")


def test_what_no_document_holds_is_not_counted(indexed: Services, folder: Path) -> None:
    scope = QuestionScope.of(ScopeItem.of_folder(folder))
    for question in ("How many dragons live in Rome?", "How many minutes does dish 7 take?"):
        assert not _COUNT.match(ask(indexed, question).text)
        assert not _COUNT.match(ask(indexed, question, scope=scope).text)


def test_a_model_judges_what_words_do_not_tell(indexed: Services, server: ChatServer) -> None:
    indexed.chat.apply(replace(Settings(), endpoint=server.endpoint()))
    server.answer_to = _judgement
    events = events_of(indexed, "How many towers are climbable?")
    answer = answer_of(events)
    assert answer.text.startswith("**2** of 20 towers")
    assert any(isinstance(event, FileAsked) for event in events)
    assert "Not certain" in answer.text, "an id that was contradicted stays open"
    assert "Tower 4" in answer.text.partition("Not certain")[2]


def _judgement(prompt: str) -> str:
    """Yes to the second and third tower, both to the fifth, no to the others."""
    if "id=" not in prompt:
        return "Nothing is known [1]."
    said = [f"{n}: {'yes' if n in (2, 3, 99) else 'no'}" for n in range(1, 100)]
    return "\n".join([*said, "5: yes"])


def test_many_requests_are_made_only_when_every_file_is_asked_for(
    indexed: Services, server: ChatServer
) -> None:
    endpoint = replace(server.endpoint(), context_tokens=1024)
    indexed.chat.apply(replace(Settings(), endpoint=endpoint))
    answer = ask(indexed, "How many recipes are festive?")
    assert "“Ask every file” does it." in answer.text
    assert not server.chats
    server.answer_to = lambda _: "\n".join(f"{n}: no" for n in range(1, COUNT + 1))
    cancel = threading.Event()
    events = list(indexed.chat.retry(answer.conversation_id, every_file=True, cancel=cancel))
    assert server.chats
    assert answer_of(events).text.startswith("**0** of 102 recipes")


def test_rows_about_a_thing_are_no_files_about_it(services: Services, tmp_path: Path) -> None:
    (folder := tmp_path / "papers").mkdir()
    rows = "".join(f"| task {n} | yes |\n" for n in range(5))
    (folder / "lamp-care.md").write_text(f"# Lamp care\n\n| Lamp | Keeper |\n|---|---|\n{rows}")
    # Something else is called a file here.
    files = "".join(f"## File {n}\n\nKept in drawer {n}.\n\n" for n in range(6))
    (folder / "drawers.md").write_text(f"# Drawers\n\n{files}")
    index(services, folder)
    assert "Each row" not in ask(services, "How many files are about the lamp?").text


@pytest.mark.parametrize(
    "question",
    [
        "How many storks were counted per nesting place?",
        "How many branches does the White Stork bank have?",
        "Which birds nest on how many chimneys?",
        "Which towns does the Stork bank have branches in?",
    ],
)
def test_the_parts_of_an_article_are_no_records(indexed: Services, question: str) -> None:
    answer = ask(indexed, question)
    assert "was counted as one" not in answer.text
    assert {Path(source.path).name for source in answer.sources if source.is_cited} == {"storks.md"}
