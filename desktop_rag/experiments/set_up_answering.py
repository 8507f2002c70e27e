"""Answers the questions of a run as its set-up wants it. The caller's thread."""

import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from threading import Event
from typing import Any, Protocol

from desktop_rag.answer.chat import Chat
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Message, MessageState
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.experiments.answer_match import without_citations
from desktop_rag.core.experiments.question_set import SetQuestion
from desktop_rag.core.experiments.run import Run, RunAnswer, SetUp
from desktop_rag.core.question import SearchScope, Setup
from desktop_rag.core.settings import EndpointSettings, Settings
from desktop_rag.experiments.memory_meter import MemoryMeter, server_pid
from desktop_rag.ingest.library import Library
from desktop_rag.models.endpoints.client.chat_stream import Usage
from desktop_rag.models.endpoints.client.rate_limits import cost_of

_LOOK_S = 0.5
_SCRATCH = "Scratch"


class OpenLibrary(Protocol):
    """A library of its own for a run, removed afterwards."""

    @property
    def chat(self) -> Chat:
        """Its chat."""
        ...

    @property
    def library(self) -> Library:
        """Its documents; it is started."""
        ...


OpenScratch = Callable[[Settings], AbstractContextManager[OpenLibrary]]


@dataclass(frozen=True, slots=True)
class Answerer:
    """Answers with one set-up; `server` is the process of its endpoint, 0 if it is not known."""

    chat: Chat
    setup: Setup
    server: int

    @property
    def settings(self) -> dict[str, Any]:
        """All settings that answer, without keys, which are none."""
        return asdict(self.setup.settings)

    def answer(self, run: Run, question: SetQuestion, cancel: Event) -> RunAnswer:
        """The answer with all that was measured. InterruptedAnswer and Cancelled as the chat's."""
        models = self.chat.models
        before = models.tokens_counted()
        with MemoryMeter(self.server) as memory:
            message = self.chat.background.answer_as(question.text, self.setup, cancel)
        after = models.tokens_counted()
        used = Usage(after.asked - before.asked, after.answered - before.answered)
        is_counted = bool(used.asked or used.answered)
        is_checked = not message.is_excerpts
        claims = self.chat.grader.claims(message, cancel) if is_checked else ()
        grade = self._grade(question, message, cancel)
        if cancel.is_set():
            raise Cancelled
        return RunAnswer(
            answer_id=f"{run.run_id}-{question.question_id}", run_id=run.run_id,
            question_id=question.question_id, text=message.text, answered_at=time.time(),
            state=message.state, model=message.model, is_excerpts=message.is_excerpts,
            seconds=message.seconds, sources=message.sources, claims=claims,
            tokens_in=used.asked if is_counted else -1,
            tokens_out=used.answered if is_counted else -1,
            cost=self._cost(used) if is_counted else -1.0, app=memory.app, server=memory.server,
            grade=grade, error_title=message.error_title, error_hint=message.error_hint,
        )  # fmt: skip

    def _cost(self, used: Usage) -> float:
        endpoint = self.setup.settings.endpoint
        return cost_of(used, endpoint) if endpoint.price_in or endpoint.price_out else -1.0

    def _grade(self, question: SetQuestion, answer: Message, cancel: Event) -> str:
        if not question.expected or answer.state is not MessageState.DONE:
            return ""
        expected = "\nor: ".join(question.expected)
        try:
            said = without_citations(answer.text)
            return self.chat.grader.grade(question.text, expected, said, cancel)
        except AppError:
            # Without a grade the words of the expected answer count.
            return ""


def setup_of(chat: Chat, set_up: SetUp) -> Setup:
    """What a question is answered with. AppError when a part of the set-up is gone."""
    setup = chat.set_up(set_up.assistant_id, set_up.collection_id)
    if set_up.assistant_id and setup.assistant is None:
        raise AppError(f"The assistant of “{set_up.name}” is gone.", "Choose another assistant.")
    if setup.refusal:
        raise setup.refusal
    settings = _with_model(setup.settings, set_up)
    chosen = {
        "passages": set_up.passages or settings.retrieval.passages,
        "source_tokens": set_up.source_tokens or settings.retrieval.source_tokens,
    }
    retrieval = replace(settings.retrieval, **chosen)
    if set_up.lexical_weight >= 0:
        retrieval = replace(retrieval, lexical_weight=set_up.lexical_weight)
    assistant = setup.assistant
    if set_up.instructions:
        assistant = assistant or Assistant("", set_up.name)
        assistant = replace(assistant, instructions=set_up.instructions)
    return replace(setup, settings=replace(settings, retrieval=retrieval), assistant=assistant)


def _with_model(settings: Settings, set_up: SetUp) -> Settings:
    if not set_up.model:
        return settings
    address = set_up.base_url or settings.endpoint.base_url
    if all(endpoint.base_url != address for endpoint in settings.endpoints):
        named = f"It names {address}" if address else "It names none"
        hint = f"{named}; the settings list the endpoints."
        raise AppError(f"The endpoint of “{set_up.name}” is not set up.", hint)
    return settings.using(address, set_up.model)


@contextmanager
def answering(
    chat: Chat,
    library: Library,
    open_scratch: OpenScratch,
    set_up: SetUp,
    say: Callable[[str], None],
    cancel: Event,
) -> Generator[Answerer]:
    """An answerer for a set-up, over a library of its own where documents are to be indexed.

    `say` hears what takes time. AppError when the set-up can't be used; Cancelled.
    """
    setup = setup_of(chat, set_up)
    server = server_pid(_endpoint(setup).base_url)
    if not set_up.needs_library:
        yield Answerer(chat, setup, server)
        return
    index = setup.settings.index
    if set_up.embedder:
        index = replace(index, model_folder=set_up.embedder)
    with open_scratch(replace(setup.settings, index=index)) as scratch:
        _index(library, scratch.library, setup, set_up, say, cancel)
        # All that is in it: collections have other ids there.
        everything = replace(setup, reach=SearchScope(limits=setup.reach.limits))
        yield Answerer(scratch.chat, everything, server)


def _endpoint(setup: Setup) -> EndpointSettings:
    return setup.settings.endpoint


def _index(
    library: Library,
    scratch: Library,
    setup: Setup,
    set_up: SetUp,
    say: Callable[[str], None],
    cancel: Event,
) -> None:
    """Index the folders that the set-up asks into the scratch library."""
    wanted = setup.reach.collection_ids
    sources = [s for s in library.sources.all() if not wanted or s.collection_id in wanted]
    folders = [source for source in sources if source.is_on_disk]
    if not folders:
        hint = "Chunks and embedding can be compared over folders, not over links."
        raise AppError(f"“{set_up.name}” has no folder to index.", hint)
    collection = scratch.collections.find_or_add(_SCRATCH)
    if set_up.chunking:
        scratch.collections.set_chunking(collection.collection_id, set_up.chunking)
    for source in folders:
        scratch.sources.add(source.path, collection.collection_id, source.rules)
    while not scratch.indexing.wait_until_idle(_LOOK_S):
        say(f"Indexing {len(folders):,} folders for “{set_up.name}”")
        if cancel.is_set():
            raise Cancelled
