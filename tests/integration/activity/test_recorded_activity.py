"""What real questions, requests, changes and refusals leave in the event log, and what never."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from desktop_rag import app
from desktop_rag.activity.activity import EventFilter
from desktop_rag.activity.activity_event import ActivityEvent, EventKind, Outcome
from desktop_rag.activity.event_wording import detail_of, title_of
from desktop_rag.app import Services
from desktop_rag.core.conversation import Feedback, MessageState
from desktop_rag.core.domain import WebLinks
from desktop_rag.core.files.settings_file import save_settings
from desktop_rag.core.library_events import Notice
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import ActivitySettings, EndpointSettings, IndexSettings, Settings
from desktop_rag.store.duckdb.duckdb_engine import library_file
from tests.asking import ask
from tests.command_line import answering, run, run_json, settled
from tests.indexed import OpenIndexed, index_texts
from tests.servers.chat_server import ChatServer
from tests.servers.embedding_server import EmbeddingServer
from tests.servers.model_dialects import Dialect

KEY = "sk-canary-90bd17"
SENTENCE = "The keeper hides the brass canary under the third stair."
QUESTION = "Where is the brass canary hidden?"
ANSWER = "Under the third stair, where it sings [1]."


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as server:
        server.dialect = Dialect()
        yield server


@pytest.fixture
def indexed(open_indexed: OpenIndexed) -> Services:
    return open_indexed({"canary.md": f"# Stair\n\n{SENTENCE}\n"})


def use(services: Services, endpoint: EndpointSettings) -> None:
    services.chat.models.save_key(endpoint.base_url, KEY)
    services.chat.apply(replace(Settings(), endpoint=endpoint))


def found(services: Services, *kinds: EventKind) -> list[ActivityEvent]:
    return services.activity.find(EventFilter(frozenset(kinds))).events


def recorded(home: Home) -> str:
    return "".join(file.read_text() for file in sorted(home.activity.iterdir()))


@pytest.mark.slow
def test_a_question_and_its_calls(indexed: Services, server: ChatServer) -> None:
    use(indexed, server.endpoint())
    indexed.chat.models.examine(server.endpoint())  # only then is the server asked to count
    indexed.activity.delete_all()
    message = ask(indexed, QUESTION)
    [question] = found(indexed, EventKind.QUESTION)
    assert question.chat_id == message.conversation_id
    assert question.count("sources") == len(message.sources) == 1
    assert (question.outcome, question.model) == (Outcome.DONE, "test-model")
    assert question.seconds == round(message.seconds, 3)
    [call] = found(indexed, EventKind.CALL)
    asked = server.dialect.tokens(server.chats[-1])
    assert (call.tokens_in, call.tokens_out) == (asked, len(ANSWER.split()))
    assert not call.is_estimate
    assert (call.subject, call.model) == ("answer", "test-model")
    assert call.host == f"127.0.0.1:{server.port}"
    assert 0 < call.seconds <= question.seconds


@pytest.mark.slow
def test_a_server_that_counts_nothing_is_estimated(indexed: Services, server: ChatServer) -> None:
    server.dialect = Dialect(counts_usage=False)
    use(indexed, server.endpoint())
    ask(indexed, QUESTION)
    [call] = found(indexed, EventKind.CALL)
    assert call.is_estimate
    assert call.tokens_in > call.tokens_out > 0


@pytest.mark.slow
def test_background_requests_tests_and_examinations(indexed: Services, server: ChatServer) -> None:
    use(indexed, server.endpoint())
    message = ask(indexed, QUESTION)
    list(indexed.chat.go_on(message, cancel=Event()))
    purposes = [event.subject for event in found(indexed, EventKind.CALL)][::-1]
    assert purposes[0] == "answer"
    assert set(purposes[1:]) == {"helper"}
    indexed.chat.models.test_endpoint(server.endpoint())
    assert found(indexed, EventKind.CALL)[0].subject == "test"
    indexed.chat.models.examine(server.endpoint())
    assert found(indexed, EventKind.CALL)[0].subject == "examination"


@pytest.mark.slow
def test_a_failing_endpoint(indexed: Services, server: ChatServer) -> None:
    server.mode, server.status = "status", 401
    use(indexed, server.endpoint())
    assert ask(indexed, QUESTION).state is MessageState.FAILED
    question, call = found(indexed, EventKind.QUESTION, EventKind.CALL)
    assert (call.outcome, call.detail) == (Outcome.FAILED, "The key was not accepted.")
    assert (call.tokens_in, call.tokens_out) == (0, 0)
    assert (question.outcome, question.detail) == (Outcome.FAILED, "The key was not accepted.")


@pytest.mark.slow
def test_a_request_over_the_limit_is_refused(indexed: Services, server: ChatServer) -> None:
    use(indexed, replace(server.endpoint(), requests_per_minute=1))
    ask(indexed, QUESTION)
    assert found(indexed, EventKind.REFUSED) == []
    ask(indexed, QUESTION)
    [refused] = found(indexed, EventKind.REFUSED)
    assert "1 request a minute" in refused.detail
    assert len(found(indexed, EventKind.CALL)) == len(server.chats) == 1


@pytest.mark.slow
def test_embedding_at_an_endpoint(
    home: Home, build_services: Callable[[], Services], tmp_path: Path
) -> None:
    with EmbeddingServer() as server:
        home.create()
        index = IndexSettings(model_folder=server.address)
        save_settings(home.settings, replace(Settings(), index=index))
        services = build_services()
        index_texts(services, tmp_path / "papers", {"a.md": SENTENCE})
        call = found(services, EventKind.CALL)[-1]
        assert (call.subject, call.model, call.outcome) == ("embedding", "tiny-embed", Outcome.DONE)
        assert call.tokens_in > 0
        assert call.is_estimate
        services.close()
    assert SENTENCE not in recorded(home)


@pytest.mark.slow
def test_changes_of_the_index(services: Services, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    index_texts(services, papers, {"a.md": "One.", "b.md": "Two.", "c.pdf": "%PDF-1.7 nothing"})
    scanned, read = found(services, EventKind.INDEX)[::-1]
    assert (title_of(scanned), detail_of(scanned)) == ("papers was scanned", "3 added")
    assert (title_of(read), detail_of(read)) == ("papers was read", "2 read, 1 failed")


@pytest.mark.slow
@pytest.mark.needs_wings("web_pages")
def test_a_page_on_this_computer_is_refused(services: Services) -> None:
    url = "http://127.0.0.1:8123/status?token=secret"
    services.library.sources.add_links(WebLinks((url,), 10))
    services.library.start(watch=False)
    assert services.library.indexing.wait_until_idle(30)
    [refused] = found(services, EventKind.REFUSED)
    assert refused.host == "127.0.0.1:8123"
    assert "secret" not in str(refused)


@pytest.mark.slow
def test_neither_keys_nor_words_of_documents_are_recorded(
    home: Home, indexed: Services, server: ChatServer
) -> None:
    use(indexed, server.endpoint())
    message = ask(indexed, QUESTION)
    assert any(SENTENCE in str(body) for body in server.chats)
    list(indexed.chat.go_on(message, cancel=Event()))
    # A server may repeat in its message what it was sent.
    server.mode, server.status = "status", 400
    server.error = {"error": {"message": f"not accepted: {SENTENCE} with {KEY}"}}
    failed = ask(indexed, QUESTION)
    assert SENTENCE in failed.error_hint
    shown = Notice(failed.error_title, failed.error_hint)
    indexed.recorder.notice(shown, is_error=True)  # as the window does
    server.mode, server.wanted_key, server.is_echoing_key = "answer", "another", True
    ask(indexed, QUESTION)
    indexed.recorder.close()
    text = recorded(home)
    assert len(text.splitlines()) > 5
    assert not [secret for secret in (KEY, SENTENCE, "canary", "third stair") if secret in text]
    assert QUESTION not in text


@pytest.mark.slow
def test_feedback_is_found_with_its_chat(indexed: Services) -> None:
    message = ask(indexed, QUESTION)
    history = indexed.chat.history
    for feedback in (Feedback.LIKED, Feedback.DISLIKED, Feedback.NONE):
        history.set_feedback(message.message_id, feedback)
    history.rewrite(message, "It is under the stair.")
    copy = history.fork(message.conversation_id, message.message_id)
    events = found(indexed, EventKind.FEEDBACK)
    assert [event.subject for event in events] == ["rewritten", "withdrawn", "disliked", "liked"]
    assert {event.chat_id for event in events} == {message.conversation_id}
    titles = indexed.activity.find(EventFilter(text="brass canary")).chat_titles
    assert titles[message.conversation_id] == QUESTION
    # The feedback also holds for the copy.
    history.delete(message.conversation_id)
    events = found(indexed, EventKind.FEEDBACK)
    assert {event.chat_id for event in events} == {copy.conversation_id}
    history.delete(copy.conversation_id)
    assert found(indexed, EventKind.FEEDBACK) == []


@pytest.mark.slow
def test_feedback_on_an_answer_that_was_given_again(indexed: Services) -> None:
    message = ask(indexed, QUESTION)
    indexed.chat.history.set_feedback(message.message_id, Feedback.DISLIKED)
    list(indexed.chat.retry(message.conversation_id, cancel=Event()))
    [event] = found(indexed, EventKind.FEEDBACK)
    assert (event.subject, event.chat_id) == ("disliked", message.conversation_id)


@pytest.mark.slow
def test_a_full_disk_does_not_cost_the_answer(home: Home, indexed: Services) -> None:
    indexed.activity.find(EventFilter())
    indexed.activity.delete_all()
    home.activity.rmdir()
    home.activity.write_text("no folder")
    assert ask(indexed, QUESTION).text
    assert found(indexed, EventKind.QUESTION) == []


@pytest.mark.slow
def test_it_can_be_switched_off(
    home: Home, build_services: Callable[[], Services], tmp_path: Path
) -> None:
    home.create()
    save_settings(home.settings, replace(Settings(), activity=ActivitySettings(False)))
    services = build_services()
    index_texts(services, tmp_path / "papers", {"a.md": SENTENCE})
    ask(services, QUESTION)
    services.close()
    assert not home.activity.exists()


@pytest.mark.needs_wings("diagnosis")
@pytest.mark.everyday
def test_a_repair_is_recorded(home: Home, build_services: Callable[[], Services]) -> None:
    build_services().close()
    file = library_file(home)
    file.write_bytes(b"\0" * 4096 + file.read_bytes()[4096:])
    done = run("doctor", "--repair", "--json")
    rows = json.loads(done.stdout)
    assert any(row["check"] == "repair" for row in rows), done.stdout
    [event] = found(build_services(), EventKind.REPAIR)[-1:]
    assert event.subject == "The library was repaired."


# --- the verb ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_verb_lists_events(home: Home, tmp_path: Path) -> None:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "a.md").write_text(SENTENCE)
    settled(papers)
    run_json("index", str(papers))
    run_json("ask", QUESTION)
    rows = run_json("events")
    assert [row["kind"] for row in rows] == ["index", "index", "question"]
    assert rows[-1]["event"] == f"Question in “{QUESTION}”"
    assert [row["kind"] for row in run_json("events", "--kind", "question")] == ["question"]
    assert run_json("events", "--since", "2999-01-01") == []
    assert run_json("events", "--kind", "feedback") == []
    lines = run("events", "--since", "2020-01-01").stdout.splitlines()
    assert len(lines) == 3
    # The scan's event and its file's are written by two threads.
    assert any(line.endswith("papers was scanned: 1 added") for line in lines[:2])
    assert run("events", "--kind", "feedback").stdout == "Nothing is recorded.\n"


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("--kind", "lamp"), ("--since", "yesterday")])
def test_the_verb_names_wrong_arguments(home: Home, arguments: tuple[str, str]) -> None:
    assert run("events", *arguments).returncode == 2


@pytest.mark.slow
def test_the_verb_asks_the_open_window(home: Home, services: Services) -> None:
    services.recorder.setting("answers.checks_claims")
    with answering(services):
        [row] = run_json("events", "--kind", "settings")
    assert row["details"] == "Check each sentence against the sources"


@pytest.mark.slow
def test_events_are_listed_when_the_library_cannot_be_opened(home: Home, indexed: Services) -> None:
    ask(indexed, QUESTION)
    indexed.close()
    file = library_file(home)
    file.write_bytes(b"\0" * 4096 + file.read_bytes()[4096:])
    done = run("events", "--kind", "question", "--json")
    assert "without their titles" in done.stderr
    assert [row["event"] for row in json.loads(done.stdout)] == ["Question in a chat"]
    assert run("events", "--kind", "feedback").returncode == 1


@pytest.mark.slow
def test_feedback_as_one_document(home: Home, indexed: Services) -> None:
    message = ask(indexed, QUESTION)
    indexed.chat.history.set_feedback(message.message_id, Feedback.LIKED)
    indexed.close()
    [row] = run_json("events", "--kind", "feedback")
    assert (row["subject"], row["chat"]) == ("liked", message.conversation_id)
    assert row["chat_title"] == QUESTION


@pytest.mark.slow
def test_the_services_close_twice(services: Services) -> None:
    assert isinstance(services, app.Services)
    services.close()
