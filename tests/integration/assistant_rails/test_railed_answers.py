"""Assistants with rails: what they say themselves, what they let through, what they hide."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from desktop_rag.app import Services
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import (
    AnswerRestated,
    AnswerWaits,
    MessageState,
    SourcesFound,
    TextDelta,
)
from desktop_rag.core.errors import AppError
from desktop_rag.core.settings import Settings
from desktop_rag.features.rails.assistants.railed_answers import (
    BY_RAILS,
    CHECKING,
    WITHHELD,
    WITHOUT_MODEL,
)
from tests.asking import answer_of, ask, events_of
from tests.indexed import OpenIndexed
from tests.servers.chat_server import ChatServer

TEXTS = {
    "lamp.md": "# The lamp\n\nThe lamp of the lighthouse is lit at dusk by the keeper.",
    "keeper.md": "# The keeper\n\nThe keeper of the lighthouse is written to at ada@example.org.",
}
QUESTION = "When is the lamp of the lighthouse lit?"
UNPROVED = "I don't know: I found no answer in the documents that I can prove."
_TOPICS = """
define user ask for the price
  "How much is a ticket?"
  "What does it cost to get in?"

define bot ask for the age
  "How old are you?"

define bot tell the price
  "Then it costs three euros."

define flow
  user ask for the price
  bot ask for the age
  user ...
  bot tell the price
"""


@pytest.fixture
def library(open_indexed: OpenIndexed) -> Services:
    return open_indexed(TEXTS)


@pytest.fixture
def endpoint(library: Services) -> Iterator[ChatServer]:
    with ChatServer("The lamp is lit at dusk [1].") as running:
        library.chat.apply(replace(Settings(), endpoint=running.endpoint()))
        yield running


def assistant(services: Services, rails: str, *, is_open: bool = False) -> str:
    """The id of a new assistant with these rails."""
    made = Assistant("", "Railed", rails=rails, is_open=is_open)
    return services.chat.assistants.add(made).assistant_id


@pytest.mark.slow
def test_a_refused_topic_asks_no_endpoint_and_says_so(
    library: Services, endpoint: ChatServer
) -> None:
    railed = assistant(library, "polite-refusal")
    done = ask(library, "Whom shall I vote for in the election?", assistant_id=railed)
    assert done.text.startswith("I'd rather not speak about that.")
    assert not endpoint.chats
    assert (done.state, done.model, done.sources) == (MessageState.DONE, "", ())
    assert done.notes
    assert done.notes.in_words() == WITHOUT_MODEL
    # The run is kept with the message, also after a restart.
    kept = library.chat.history.messages(done.conversation_id)[-1]
    assert kept.notes == done.notes
    assert any("user_intent     ask about politics" in line for line in done.notes.rails)
    done = ask(library, QUESTION, assistant_id=railed)
    assert done.text == "The lamp is lit at dusk [1]."
    assert done.sources[0].is_cited


@pytest.mark.everyday
def test_documents_only_declines_chats_and_shows_no_own_knowledge(
    library: Services, endpoint: ChatServer
) -> None:
    railed = assistant(library, "documents-only", is_open=True)
    done = ask(library, "Could you tell me a funny joke?", assistant_id=railed)
    assert done.text.startswith("I answer questions about your documents")
    assert not endpoint.chats
    endpoint.answer = "It was the Storting."
    events = events_of(
        library, "Which parliament adopted the fishing quota of 1974?", assistant_id=railed
    )
    assert endpoint.chats
    assert answer_of(events).text == "I found nothing about that in the documents."
    assert "Storting" not in repr(events)


@pytest.mark.slow
def test_an_unsupported_answer_is_withheld_and_a_supported_one_is_shown_after_its_check(
    library: Services, endpoint: ChatServer
) -> None:
    railed = assistant(library, "grounding")
    endpoint.answer = "The lamp is painted green every Christmas by four sailors [1]."
    events = events_of(library, QUESTION, assistant_id=railed)
    assert AnswerWaits(CHECKING) in events
    assert "sailors" not in repr(events)
    done = answer_of(events)
    assert (done.text, done.sources, done.model) == (UNPROVED, (), "")
    assert done.notes
    assert done.notes.hints == (WITHHELD,)

    endpoint.answer = "The lamp of the lighthouse is lit at dusk by the keeper [1]."
    events = events_of(library, QUESTION, assistant_id=railed)
    done = answer_of(events)
    assert done.text == endpoint.answer
    kinds = [type(event) for event in events]
    assert kinds.index(AnswerWaits) < kinds.index(SourcesFound) < kinds.index(TextDelta)
    assert done.sources[0].is_cited


@pytest.mark.slow
def test_proven_sentences_are_shown_while_the_answer_is_written_and_taken_back_if_one_fails(
    library: Services, endpoint: ChatServer
) -> None:
    railed = assistant(library, "grounding")
    proven = "The lamp of the lighthouse is lit at dusk by the keeper [1]."
    endpoint.answer = (
        f"Here is what the papers say:\n\n{proven} {proven} Four sailors paint it [1]."
    )
    events = events_of(library, QUESTION, assistant_id=railed)
    assert "sailors" not in repr(events)
    first = next(event for event in events if isinstance(event, TextDelta))
    # The introduction proves nothing by itself, and waited for the first statement.
    assert first.text.endswith(proven)
    assert _is_ordered(events, SourcesFound, TextDelta, AnswerRestated)
    done = answer_of(events)
    assert (done.text, done.sources) == (UNPROVED, ())

    endpoint.answer = f"{proven} {proven} {proven}"
    events = events_of(library, QUESTION, assistant_id=railed)
    texts = [event.text for event in events if isinstance(event, TextDelta)]
    assert (texts[0], "".join(texts)) == (proven, endpoint.answer)
    assert answer_of(events).text == endpoint.answer


@pytest.mark.slow
def test_documents_only_shows_the_answer_from_documents_as_it_is_written(
    library: Services, endpoint: ChatServer
) -> None:
    railed = assistant(library, "documents-only")
    endpoint.answer = "The lamp is lit at dusk [1]. The keeper lights it [1]. So it is."
    events = events_of(library, QUESTION, assistant_id=railed)
    texts = [event.text for event in events if isinstance(event, TextDelta)]
    assert (texts[0], "".join(texts)) == ("The lamp is lit at dusk [1].", endpoint.answer)


def _is_ordered(events: Sequence[object], *kinds: type) -> bool:
    """Whether the first events of these kinds come in this order."""
    told = [type(event) for event in events]
    places = [told.index(kind) for kind in kinds]
    return places == sorted(places)


@pytest.mark.slow
def test_personal_data_is_covered_in_the_answer_and_in_what_is_shown_with_it(
    library: Services, endpoint: ChatServer
) -> None:
    railed = assistant(library, "personal-data")
    endpoint.answer = "The keeper is written to at ada@example.org [1]."
    events = events_of(library, "How is the keeper written to?", assistant_id=railed)
    done = answer_of(events)
    assert done.text == "The keeper is written to at [mail address] [1]."
    assert done.sources[0].is_cited
    assert "ada@example.org" not in repr(events)
    # Without an endpoint the answer is made of excerpts, which are covered as well.
    library.chat.apply(Settings())
    events = events_of(library, "How is the keeper written to?", assistant_id=railed)
    assert "[mail address]" in answer_of(events).text
    assert "ada@example.org" not in repr(events)


@pytest.mark.slow
def test_a_folder_takes_an_answer_back_that_was_streamed(
    library: Services, endpoint: ChatServer, tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "config.yml").write_text("rails:\n  grounding: true\n")
    railed = assistant(library, str(folder))
    endpoint.answer = "The lamp is painted green every Christmas by four sailors [1]."
    events = events_of(library, QUESTION, assistant_id=railed)
    assert any(isinstance(event, TextDelta) for event in events)
    taken_back = [event for event in events if isinstance(event, AnswerRestated)]
    assert taken_back == [AnswerRestated("I don't know the answer to that.", "")]
    assert answer_of(events).text == "I don't know the answer to that."


@pytest.mark.slow
def test_the_flows_of_a_folder_go_on_where_the_chat_is(library: Services, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "topics.co").write_text(_TOPICS)
    (folder / "actions.py").write_text("raise SystemExit")  # never run
    railed = assistant(library, str(folder))
    first = ask(library, "How much is a ticket?", assistant_id=railed)
    assert first.text == "How old are you?"
    again = ask(library, "I am nine", assistant_id=railed, conversation_id=first.conversation_id)
    assert again.text == "Then it costs three euros."
    assert again.notes
    assert again.notes.hints in ((WITHOUT_MODEL,), (BY_RAILS,))


_LAMP = """
define user ask about the lamp
  "When is the lamp of the lighthouse lit?"

define flow
  user ask about the lamp
  bot explain the lamp
"""


@pytest.mark.slow
def test_an_answer_that_a_flow_writes_from_documents_has_its_sources(
    library: Services, endpoint: ChatServer, tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "topics.co").write_text(_LAMP)
    railed = assistant(library, str(folder))
    events = events_of(library, QUESTION, assistant_id=railed)
    done = answer_of(events)
    assert done.text == "The lamp is lit at dusk [1]."
    cited = [source for source in done.sources if source.is_cited]
    assert [(source.n, Path(source.path).name) for source in cited] == [(1, "lamp.md")]
    assert "dusk" in cited[0].quote
    assert SourcesFound(done.sources, done.notes) in events
    # A refusal in its place, or a given text, is from no document.
    (folder / "config.yml").write_text("rails:\n  output:\n    flows: [self check output]\n")
    endpoint.answer = "Enter developer mode [1]."
    assert ask(library, QUESTION, assistant_id=railed).sources == ()
    (folder / "config.yml").unlink()
    (folder / "topics.co").write_text(_LAMP + '\ndefine bot explain the lamp\n  "At night."\n')
    assert ask(library, QUESTION, assistant_id=railed).sources == ()


@pytest.mark.slow
def test_broken_rails_give_no_answer(
    library: Services, endpoint: ChatServer, tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "topics.co").write_text(_TOPICS)
    railed = assistant(library, str(folder))
    (folder / "topics.co").write_text("define flow\n  user\n")
    done = ask(library, QUESTION, assistant_id=railed)
    assert (done.state, done.text) == (MessageState.FAILED, "")
    assert "topics.co:2" in done.error_title
    assert not endpoint.chats
    # An assistant isn't stored with them either.
    known = library.chat.assistants.all()
    with pytest.raises(AppError, match=r"topics\.co:2"):
        library.chat.assistants.add(Assistant("", "Other", rails=str(folder)))
    with pytest.raises(AppError, match="There are no rails"):
        library.chat.assistants.add(Assistant("", "Other", rails="grownding"))
    assert library.chat.assistants.all() == known


@pytest.mark.slow
def test_the_fault_of_the_endpoint_is_told_and_nothing_unchecked_is_shown(
    library: Services, endpoint: ChatServer
) -> None:
    railed = assistant(library, "grounding")
    endpoint.mode = "cut"
    events = events_of(library, QUESTION, assistant_id=railed)
    done = answer_of(events)
    assert (done.state, done.text) == (MessageState.FAILED, "")
    assert done.error_title
    assert not any(isinstance(event, TextDelta) for event in events)


_PIECES = """
rails:
  output:
    flows: [no sailors]
    streaming:
      enabled: true
"""
_SAILORS = """
define subflow no sailors
  if "sailors" in $bot_message
    bot refuse to respond
    stop
"""


@pytest.mark.slow
def test_sentences_are_shown_as_they_pass_and_nothing_after_one_that_does_not(
    library: Services, endpoint: ChatServer, tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "config.yml").write_text(_PIECES)
    (folder / "topics.co").write_text(_SAILORS)
    railed = assistant(library, str(folder))
    endpoint.answer = (
        "The lamp is lit at dusk [1]. The keeper lights it [1]. It burns all night [1]."
    )
    shown = [e for e in events_of(library, QUESTION, assistant_id=railed) if _is_shown(e)]
    texts = [event.text for event in shown if isinstance(event, TextDelta)]
    assert texts[0] == "The lamp is lit at dusk [1]."
    assert "".join(texts) == endpoint.answer

    endpoint.answer = "The lamp is lit at dusk [1]. Four sailors paint it [1]. It is green [1]."
    events = events_of(library, QUESTION, assistant_id=railed)
    assert "sailors" not in repr(events)
    shown = [event for event in events if _is_shown(event)]
    refusal = "I'm sorry, I can't respond to that."
    assert shown == [TextDelta("The lamp is lit at dusk [1]."), AnswerRestated(refusal, "")]
    done = answer_of(events)
    assert (done.text, done.sources) == (refusal, ())

    # Stopped in the middle, it keeps what had passed, and nothing else.
    endpoint.answer = (
        "The lamp is lit at dusk [1]. The keeper lights it [1]. It burns all night [1]."
    )
    endpoint.mode = "cut"
    events = events_of(library, QUESTION, assistant_id=railed)
    done = answer_of(events)
    texts = [event.text for event in events if isinstance(event, TextDelta)]
    assert (done.state, done.text) == (MessageState.FAILED, "".join(texts))


def _is_shown(event: object) -> bool:
    return isinstance(event, TextDelta | AnswerRestated)
