"""A person who insists on what the sources deny gets what they say; one who is right is told so."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import AnswerChanged, Message
from desktop_rag.core.question_scope import QuestionScope, ScopeItem
from desktop_rag.core.settings import AnswerSettings, Settings
from tests.asking import ask
from tests.indexed import OpenIndexed
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

LEASE = (
    "# Lease\n\nThe lease of the harbour office was signed by Ingrid Holm in March 2017."
    " The rent of the harbour office is 900 euros a month."
)
QUESTION = "When was the lease of the harbour office signed?"
ANSWER = "The lease of the harbour office was signed in March 2017 [1]."
INSISTING = "No, it was 2019, you are wrong."
FIRM, RIGHT = "Stay with the sources: say politely", "The person seems to be right"


@pytest.fixture
def library(open_indexed: OpenIndexed) -> Services:
    ferry = "The ferry to the island leaves at noon from the eastern pier."
    return open_indexed({"lease.md": LEASE, "ferry.md": ferry})


@pytest.fixture
def server(library: Services) -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as running:
        answers = AnswerSettings(suggests_questions=False, uses_memory=False)
        library.chat.apply(Settings(endpoint=running.endpoint(), answers=answers))
        yield running


def insist(services: Services, server: ChatServer, words: str, answer: str) -> Message:
    """The second answer of a chat, with its claims checked."""
    first = ask(services, QUESTION)
    server.answer_to = lambda prompt: answer if "Question:" in prompt else words
    second = ask(services, words, conversation_id=first.conversation_id)
    for event in services.chat.go_on(second, cancel=threading.Event()):
        if isinstance(event, AnswerChanged):
            second = event.message
    return second


def told(server: ChatServer) -> str:
    """The last prompt of an answer."""
    prompts = [str(chat["messages"][-1]["content"]) for chat in server.chats]
    return [prompt for prompt in prompts if "Question:" in prompt][-1]


def test_the_prompt_says_what_the_sources_say(library: Services, server: ChatServer) -> None:
    answer = insist(library, server, INSISTING, "The lease was signed in March 2017 [1].")
    prompt = told(server)
    assert "They say: “it was 2019”" in prompt
    assert "- Source [1] says otherwise: <source-" in prompt
    assert FIRM in prompt
    assert prompt.endswith(INSISTING)
    assert {Path(source.path).name for source in answer.sources} >= {"lease.md"}


@pytest.mark.parametrize(
    "given_in",
    [
        "You're right, it was 2019 [1]. I apologise.",
        "I apologise for the mistake. It was signed in March 2019 [1].",
        "You are right: the lease of the harbour office was signed in March 2019 [1].",
    ],
)
def test_an_answer_that_gives_in_is_marked(
    library: Services, server: ChatServer, given_in: str
) -> None:
    answer = insist(library, server, INSISTING, given_in)
    assert answer.text == given_in, "the answer is never changed"
    wrong = [claim for claim in answer.claims if claim.verdict is Verdict.CONTRADICTED]
    assert len(wrong) == 1
    assert "2017" in wrong[0].checked.explanation
    assert "2019" in given_in[wrong[0].start : wrong[0].end]


@pytest.mark.parametrize(
    "firm",
    [
        "The lease was not signed in 2019 but in March 2017 [1].",
        "The lease of the harbour office was signed by Ingrid Holm in March 2017 [1].",
        "I understand that you remember it otherwise.",
    ],
)
def test_an_answer_that_stands_firm_is_not_marked(
    library: Services, server: ChatServer, firm: str
) -> None:
    answer = insist(library, server, INSISTING, firm)
    assert not [c for c in answer.claims if c.verdict is Verdict.CONTRADICTED]


def test_a_person_who_is_right_is_told_so(library: Services, server: ChatServer) -> None:
    server.answer = "The lease of the harbour office was signed in March 2019 [1]."
    given = "You are right, it was March 2017 [1]."
    answer = insist(library, server, "That is wrong, it was 2017.", given)
    prompt = told(server)
    assert "- Source [1] says it: <source-" in prompt
    assert RIGHT in prompt
    assert FIRM not in prompt
    assert not [c for c in answer.claims if c.verdict is Verdict.CONTRADICTED]


def test_a_new_source_counts(library: Services, server: ChatServer, tmp_path: Path) -> None:
    first = ask(library, QUESTION)
    amended = LEASE.replace("2017", "2019").replace("# Lease", "# Lease, corrected copy")
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "corrected.md").write_text(amended)
    library.library.sources.add(tmp_path / "new")
    assert library.library.indexing.wait_until_idle(30)
    server.answer_to = lambda _prompt: "The sources disagree [1][2]."
    ask(library, INSISTING, conversation_id=first.conversation_id)
    prompt = told(server)
    assert "says otherwise" in prompt
    assert "says it" in prompt
    assert "The sources disagree: say so plainly" in prompt


def test_a_mere_denial_has_the_sources_read_again(library: Services, server: ChatServer) -> None:
    insist(library, server, "You are wrong.", ANSWER)
    assert "does not say what is right" in told(server)
    assert "insisting is no source" in told(server)


def test_another_question_gets_no_such_lines(library: Services, server: ChatServer) -> None:
    insist(library, server, "And what is the rent of the harbour office?", "900 euros [1].")
    assert "contradicts the last answer" not in told(server)


def test_without_a_model_the_passage_says_otherwise(library: Services) -> None:
    library.chat.apply(Settings())
    first = ask(library, QUESTION)
    second = ask(library, INSISTING, conversation_id=first.conversation_id)
    assert second.text.startswith("The sources say otherwise.\n\nThe lease of the harbour office")
    assert "March 2017" in second.text
    [source] = [source for source in second.sources if source.is_cited]
    assert Path(source.path).name == "lease.md"


def test_without_a_model_a_person_who_is_right_reads_that(library: Services) -> None:
    library.chat.apply(Settings())
    first = ask(library, QUESTION)
    second = ask(library, "No, it was 2017.", conversation_id=first.conversation_id)
    assert "say otherwise" not in second.text


@pytest.mark.usefixtures("server")
def test_a_new_scope_holds_for_the_disputed_sources(library: Services) -> None:
    first = ask(library, QUESTION)
    [ferry] = [d for d in library.library.documents.all() if d.path.name == "ferry.md"]
    scope = QuestionScope.of(ScopeItem.of_document(ferry))
    second = ask(library, INSISTING, conversation_id=first.conversation_id, scope=scope)
    assert "lease.md" not in {Path(source.path).name for source in second.sources}
