"""What the app itself wrote is no evidence, wherever it stands in a folder."""

import threading
from dataclasses import replace

import pytest

from desktop_rag.answer.conversations.conversation_file import export_text
from desktop_rag.core.claims import SIGNS, Verdict
from desktop_rag.core.conversation import AnswerChanged, Conversation, Message, Role
from desktop_rag.core.markup.own_words import EXPORTED_REPORT, EXPORTED_SUMMARY
from desktop_rag.core.settings import AnswerSettings, Settings
from desktop_rag.features.schedules.notes.notes import persons_note
from desktop_rag.features.schedules.values.note_page import (
    NoteSection,
    new_page,
    page_text,
    parsed_page,
)
from tests.asking import ask
from tests.conftest import OpenIndexed
from tests.servers.chat_server import ChatServer

pytestmark = pytest.mark.slow

QUESTION = "What did the lamp of the lighthouse cost?"
INVENTED = "The lamp of the lighthouse was bought for 8,417 crowns."
REPORT = "The lamp of the lighthouse is lit at dusk by the keeper. It was made in Vienna."


def note(body: str) -> str:
    page = new_page("Lighthouse", {})
    section = NoteSection("Costs", body)
    return page_text(replace(page, sections=(section,), written={"Costs": section.hash}))


def chat(ending: str) -> str:
    conversation = Conversation("c", "Lighthouse", "", 0.0)
    asked = Message("q", "c", Role.USER, QUESTION, 0.0)
    said = Message("a", "c", Role.ASSISTANT, INVENTED, 0.0)
    return export_text(conversation, [asked, said], ending)


def flagged(verdict: Verdict) -> str:
    sign, words = SIGNS[verdict]
    return f"Notes of Ada\n\n{INVENTED[:-1]} ({sign} {words}).\n"


APPS = {
    "note.md": note(INVENTED),
    "answer.md": persons_note("Lighthouse", INVENTED, ["report.md"]),
    "flagged.md": flagged(Verdict.NOT_IN_SOURCES),
    "partly.txt": flagged(Verdict.PARTLY),
    "chat.md": chat(".md"),
    "chat.html": chat(".html"),
    "chat.json": chat(".json"),
    "summary.md": f"---\ngenerator: {EXPORTED_SUMMARY}\n---\n\n# Lighthouse\n\n{INVENTED}\n",
    "report.csv": f'generator,answer\r\n{EXPORTED_REPORT},"{INVENTED}"\r\n',
}


def checked(open_indexed: OpenIndexed, texts: dict[str, str]) -> list[Verdict]:
    """The verdicts on an answer that repeats the invented sentence and cites the first source."""
    services = open_indexed({"report.md": REPORT, **texts})
    with ChatServer(f"{INVENTED[:-1]} [1].") as server:
        wanted = AnswerSettings(suggests_questions=False)
        services.chat.apply(Settings(endpoint=server.endpoint(), answers=wanted))
        answer = ask(services, QUESTION)
        assert not any(source.anchor.by_app for source in answer.sources)
        events = list(services.chat.go_on(answer, cancel=threading.Event()))
    [change] = [event for event in events if isinstance(event, AnswerChanged)]
    return [claim.verdict for claim in change.message.claims]


@pytest.mark.parametrize("name", APPS)
def test_what_the_app_wrote_backs_nothing(open_indexed: OpenIndexed, name: str) -> None:
    assert checked(open_indexed, {name: APPS[name]}) == [Verdict.NOT_IN_SOURCES]


@pytest.mark.parametrize("name", ["note.md", "answer.md"])
def test_what_the_person_rewrote_counts_as_theirs(open_indexed: OpenIndexed, name: str) -> None:
    rewritten = APPS[name].replace(INVENTED, f"I looked it up in the ledger.\n\n{INVENTED}")
    assert parsed_page(rewritten)
    assert checked(open_indexed, {name: rewritten}) == [Verdict.SUPPORTED]


def test_it_is_found_and_shown(open_indexed: OpenIndexed) -> None:
    services = open_indexed({"report.md": REPORT, "note.md": APPS["note.md"]})
    found = services.chat.search("What did the lamp cost in crowns?")
    assert {p.text: p.anchor.by_app for p in found} == {INVENTED: True, REPORT: None}
