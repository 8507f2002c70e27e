"""A document is summarised part by part, several are summarised one by one."""

import json
import threading
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pytest

from desktop_rag.answer.writing.answer_texts import refusals
from desktop_rag.app import Services
from desktop_rag.core.conversation import FileAsked, FileCounts, Message, MessageState
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.core.settings import PreferenceSettings, Settings
from tests.asking import answer_of
from tests.indexed import OpenIndexed, index_texts
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

LIGHTS = ("north", "south", "east", "west")


_CHAPTERS = [
    f"# The {name} light\n\n" + f"The keeper of the {name} light trims its lamp at dusk. " * 60
    for name in LIGHTS
]
PAPERS = {
    "lights.md": "\n\n".join(_CHAPTERS),
    "inside/ferry.md": "# Ferry\n\nThe ferry leaves the pier at noon.\n",
    "inside/inn.md": "# Inn\n\nThe inn serves soup from noon to dusk.\n",
}


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    return open_indexed(PAPERS)


@pytest.fixture
def folder(indexed: Services) -> Path:
    [source] = indexed.library.sources.all()
    return source.path


def use(services: Services, server: ChatServer, context_tokens: int = 0) -> None:
    endpoint = replace(server.endpoint(), context_tokens=context_tokens)
    services.chat.apply(Settings(endpoint=endpoint))


def summary_of_file(path: Path) -> str:
    return f'Summarise file:"{path.name}" folder:"{path.parent}/"'


def summary_of_folder(path: Path) -> str:
    return f'Summarise folder:"{path}/"'


def asked(services: Services, question: str) -> tuple[Message, list[FileAsked]]:
    events = list(services.chat.ask(question, cancel=threading.Event()))
    return answer_of(events), [event for event in events if isinstance(event, FileAsked)]


def said_of(prompt: str) -> str:
    """The model's output for a part, and for all parts together."""
    if "<found-" in prompt:
        return "It is about lights [1] and their keepers [2][99]."
    return next(f"About the {name} one [1]." for name in LIGHTS if f"the {name} light" in prompt)


def test_a_long_document_is_read_whole_in_parts(indexed: Services, folder: Path) -> None:
    with ChatServer("") as server:
        server.answer_to = said_of
        use(indexed, server, context_tokens=2_048)
        message, progress = asked(indexed, summary_of_file(folder / "lights.md"))
        prompts = [json.dumps(body) for body in server.chats]
    assert len(progress) >= 3
    assert "file lights.md" in prompts[0]
    assert "Today is" in prompts[0]
    assert [event.done for event in progress] == list(range(len(progress)))
    assert message.text.startswith("It is about lights [1] and their keepers [2].")
    assert "**The north light:** About the north one" in message.text
    for name in LIGHTS:
        assert any(f"the {name} light" in prompt for prompt in prompts), "no part is left out"
    assert not any("ferry" in prompt for prompt in prompts)
    assert {source.title for source in message.sources} == {"The north light"}
    assert message.notes is not None
    assert message.notes.files == FileCounts(matched=1, read=1)


def test_each_document_of_a_folder_is_summarised(indexed: Services, folder: Path) -> None:
    with ChatServer("It is worth reading [1].") as server:
        use(indexed, server)
        message, progress = asked(indexed, summary_of_folder(folder / "inside"))
    assert sorted(event.title for event in progress) == ["Ferry", "Inn"]
    assert "**Ferry:** It is worth reading [" in message.text
    assert "**Inn:** It is worth reading [" in message.text
    assert sorted(source.title for source in message.sources) == ["Ferry", "Inn"]


def test_a_folder_is_the_scope_of_the_request(indexed: Services, folder: Path) -> None:
    scope = QuestionScope.of(ScopeItem.of_folder(folder / "inside"))
    assert indexed.chat.files_about("Summarise", scope) == (2, "")
    events = list(indexed.chat.ask("Summarise", scope=scope, cancel=threading.Event()))
    assert sorted(source.title for source in answer_of(events).sources) == ["Ferry", "Inn"]


def test_a_document_that_vanishes_meanwhile_is_left_out(indexed: Services, folder: Path) -> None:
    [source] = indexed.library.sources.all()
    events = []
    for event in indexed.chat.ask(summary_of_folder(folder / "inside"), cancel=threading.Event()):
        events.append(event)
        if isinstance(event, FileAsked) and event.done == 1:
            indexed.library.sources.remove(source.source_id)
    message = answer_of(events)
    assert message.state is MessageState.DONE
    assert message.text.count("**") == 2, "one had been read"


@pytest.mark.parametrize(
    "question", ["Summarise the documents", "What is in my files?", "Fasse alle Dateien zusammen"]
)
def test_all_documents_are_summarised_when_none_is_named(indexed: Services, question: str) -> None:
    message, _ = asked(indexed, question)
    assert {Path(source.path).stem for source in message.sources} == {"lights", "ferry", "inn"}


def test_a_file_that_a_filter_names_is_not_called_unknown(indexed: Services) -> None:
    message, _ = asked(indexed, "Summarise file:lights.md")
    assert message.sources
    assert not message.notes or not message.notes.hints


def test_what_begins_with_nothing_may_say_something(indexed: Services, folder: Path) -> None:
    with ChatServer("Nothing is served before noon [1].") as server:
        use(indexed, server)
        message, _ = asked(indexed, summary_of_file(folder / "inside" / "inn.md"))
    assert "Nothing is served before noon [1]." in message.text


def test_without_a_model_the_most_central_sentences_stand_for_all(
    indexed: Services, folder: Path
) -> None:
    message, _ = asked(indexed, summary_of_folder(folder / "inside"))
    assert message.is_excerpts
    assert "**Ferry:** The ferry leaves the pier at noon." in message.text
    assert "**Inn:** The inn serves soup from noon to dusk." in message.text
    assert all(source.is_cited and source.quote for source in message.sources)
    assert message.text.startswith("Without a model, the key sentences of 2 files, quoted:")
    assert "more file" not in message.text


@pytest.mark.slow
def test_without_a_model_few_sentences_of_many_files_are_quoted(
    services: Services, tmp_path: Path
) -> None:
    notes = {
        f"inside/note{name}.md": f"# Note {name}\n\nNote {name} tells of boat {name * 7},"
        f" {name} feet long.\n"
        for name in range(40)
    }
    folder = tmp_path / "papers"
    indexed = index_texts(services, folder, PAPERS | notes)
    german = replace(Settings(), preferences=PreferenceSettings(language="German"))
    message, progress = asked(indexed, summary_of_folder(folder / "inside"))
    assert len(progress) == len(message.sources) == 12
    assert "the key sentences of 12 files, quoted:" in message.text.split("\n")[0]
    assert message.text.endswith(
        "And 30 more files: choose a folder or file with @ to see its own."
    )
    assert message.notes is not None
    assert message.notes.files == FileCounts(matched=42, read=12)
    indexed.chat.apply(german)
    message, _ = asked(indexed, summary_of_folder(folder / "inside"))
    assert message.text.startswith("Ohne Modell: die Kernsätze von 12 Dateien")


def test_stopped_early_the_parts_read_until_then_are_the_answer(
    indexed: Services, folder: Path
) -> None:
    cancel = threading.Event()
    with ChatServer("") as server:
        server.answer_to = said_of
        use(indexed, server, context_tokens=2_048)
        events = []
        for event in indexed.chat.ask(summary_of_file(folder / "lights.md"), cancel=cancel):
            events.append(event)
            if isinstance(event, FileAsked) and event.done == 1:
                cancel.set()
    message = answer_of(events)
    assert message.state is MessageState.STOPPED
    assert message.text.startswith("**The north light:** About the north one")
    assert message.notes is not None
    assert "parts were asked." in message.notes.in_words()


def test_of_what_is_not_there_no_summary_is_made_up(indexed: Services, folder: Path) -> None:
    message, progress = asked(indexed, summary_of_file(folder / "nowhere.md"))
    assert progress == []
    assert message.text == refusals().said("nothing_found")


def test_what_lies_inside_a_file_is_not_counted_as_a_file(
    services: Services, tmp_path: Path
) -> None:
    mail = EmailMessage()
    mail["Subject"], mail["From"] = "The keys", "ann@example.org"
    mail.set_content("The key of the ferry hangs at the pier.")
    mail.add_attachment("The ferry leaves at noon.", filename="times.txt")
    texts = {"keys.eml": mail.as_string(), "lamp.md": "The lamp is lit at dusk."}
    library = index_texts(services, tmp_path / "mail", texts)
    assert len(library.library.documents.all()) > len(texts)
    message, _ = asked(library, "Summarise")
    assert message.notes
    assert message.notes.files == FileCounts(matched=2, read=2)
    assert library.chat.files_about("Summarise") == (2, "")
