"""Answers the questions of a run with its set-up, or searches for what answers them.

Everything is measured. Runs on the caller's thread.
"""

import os
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import psutil

from desktop_rag.answer.chat import Chat, user_message
from desktop_rag.answer.sources.source_finder import EXCERPT_PASSAGES, EXCERPT_TOKENS
from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Message, MessageState
from desktop_rag.core.domain import Document, DocumentState, Source, SourceRules
from desktop_rag.core.errors import AppError, Cancelled
from desktop_rag.core.language.translation import tr
from desktop_rag.core.question import SearchScope, Setup
from desktop_rag.core.settings import Settings
from desktop_rag.features.evaluation.experiments.answer_grader import AnswerGrader
from desktop_rag.features.evaluation.values.found_places import (
    DEPTH,
    Place,
    answer_span,
    retrieved,
    why,
)
from desktop_rag.features.evaluation.values.run import Memory, Run, RunAnswer, SetQuestion, SetUp
from desktop_rag.features.evaluation.values.scoring import without_citations
from desktop_rag.ingest.library import Library
from desktop_rag.models.endpoints.client.allowances import cost_of
from desktop_rag.models.endpoints.client.chat_stream import Usage

if TYPE_CHECKING:
    from desktop_rag.app import Services

_EVERY_S = 0.1
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@contextmanager
def memory_measured(server_pid: int = 0) -> Generator[tuple[list[int], list[int]]]:
    """Measures this process and a local model server ten times a second, on a thread of its own.

    `server_pid` is 0 for a server elsewhere or unknown; processes that it started don't count.
    """
    seen: tuple[list[int], list[int]] = ([], [])
    is_over = Event()

    def look() -> None:
        for pid, sizes in zip((os.getpid(), server_pid), seen, strict=True):
            if pid:
                with suppress(psutil.Error):
                    sizes.append(psutil.Process(pid).memory_info().rss)

    def work() -> None:
        while not is_over.wait(_EVERY_S):
            look()

    thread = threading.Thread(target=work, name="memory-meter", daemon=True)
    look()
    thread.start()
    try:
        yield seen
    finally:
        is_over.set()
        thread.join()
        look()


def server_pid(base_url: str) -> int:
    """The id of another local process that listens at an address; 0 for none, or without rights."""
    parts = urlsplit(base_url)
    if parts.hostname not in _LOOPBACK:
        return 0
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return 0
    for connection in found:
        is_listening = connection.status == psutil.CONN_LISTEN
        is_there = is_listening and connection.laddr and connection.laddr.port == port
        if is_there and connection.pid != os.getpid():
            return connection.pid or 0
    return 0


def _memory(seen: list[int]) -> Memory:
    return Memory(max(seen), sum(seen) // len(seen)) if seen else Memory()


_LOOK_S = 0.5
_SCRATCH = "Scratch"


# Opens the started services of a scratch library, which is removed afterwards.
OpenScratch = Callable[[Settings], AbstractContextManager["Services"]]


class Answerer(Protocol):
    """Answers with one set-up."""

    setup: Setup
    figures: Mapping[str, Any]

    def answer(self, run: Run, question: SetQuestion, cancel: Event) -> RunAnswer:
        """The answer with all that was measured. InterruptedAnswer and Cancelled as the chat's."""
        ...


class Writer:
    """Has answers written; `server` is the id of the endpoint's process, 0 for unknown."""

    def __init__(self, chat: Chat, setup: Setup, server: int) -> None:
        self.setup = setup
        self.figures: Mapping[str, Any] = {}
        self._chat = chat
        self._server = server

    def answer(self, run: Run, question: SetQuestion, cancel: Event) -> RunAnswer:
        """See `Answerer`."""
        models = self._chat.models
        before = models.tokens_counted()
        with memory_measured(self._server) as (app, server):
            message = self._chat.answer_when_free(
                user_message(question.text), lambda: self.setup, cancel=cancel
            )
        after = models.tokens_counted()
        used = Usage(after.asked - before.asked, after.answered - before.answered)
        is_counted = bool(used.asked or used.answered)
        message = message if message.is_excerpts else self._chat.checked(message, cancel)
        grade = self._grade(question, message, cancel)
        if cancel.is_set():
            raise Cancelled
        return RunAnswer(
            answer_id=f"{run.run_id}-{question.question_id}", run_id=run.run_id,
            question_id=question.question_id, text=message.text, answered_at=time.time(),
            state=message.state, model=message.model, is_excerpts=message.is_excerpts,
            seconds=message.seconds, sources=message.sources, claims=message.claims,
            tokens_in=used.asked if is_counted else -1,
            tokens_out=used.answered if is_counted else -1,
            cost=self._cost(used) if is_counted else -1.0, app=_memory(app), server=_memory(server),
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
            return AnswerGrader(self._chat).grade(question.text, expected, said, cancel)
        except AppError:
            # Without a grade the words of the expected answer count.
            return ""


class Finder:
    """Searches for the known places of answers, in the documents of these sources."""

    def __init__(
        self, chat: Chat, library: Library, setup: Setup, sources: Sequence[Source]
    ) -> None:
        self.setup = setup
        self._chat = chat
        self._library = library
        found = (library.documents.all(source_id=source.source_id) for source in sources)
        self._documents = [each for each in chain.from_iterable(found) if not each.part]
        self.figures: Mapping[str, Any] = {
            "chunks": sum(each.chunk_count for each in self._documents)
        }

    def check(self, questions: Sequence[SetQuestion]) -> None:
        """AppError when no document here is known to answer any of these."""
        if not any(document_of(question, self._documents) for question in questions):
            hint = "Choose another set, or have questions made from the documents."
            raise AppError("No question is known to be answered by these documents.", hint)

    def answer(self, run: Run, question: SetQuestion, cancel: Event) -> RunAnswer:
        """See `Answerer`."""
        if cancel.is_set():
            raise Cancelled
        answer = RunAnswer(
            f"{run.run_id}-{question.question_id}", run.run_id, question.question_id,
            tr("No document here is known to answer it."), time.time(),
        )  # fmt: skip
        document = document_of(question, self._documents)
        if document is None:
            return answer
        began_at = time.monotonic()
        passages = self._chat.search(
            question.text, limit=DEPTH, reach=self.setup.reach,
            retrieval=self.setup.settings.retrieval,
        )  # fmt: skip
        seconds = time.monotonic() - began_at
        place = self._place(question, document)
        chunks = self._library.documents.chunks(place.document_id)
        found = retrieved(
            question, place, passages, chunks, passages=EXCERPT_PASSAGES, tokens=EXCERPT_TOKENS
        )
        return replace(
            answer, text=why(found), seconds=seconds, measured=float(found.is_found),
            rows=(asdict(found),),
        )  # fmt: skip

    def _place(self, question: SetQuestion, document: Document) -> Place:
        if document.state is not DocumentState.SEARCHABLE:
            return Place()
        if not question.expected:
            return Place(document.document_id)
        text = self._library.documents.text(document.document_id)
        span = self._library.documents.locate(document.document_id, question.expected[0])
        span = span or answer_span(text, question.expected[0])
        if span is None:
            return Place(document.document_id)
        return Place(document.document_id, *span, text[slice(*span)])


def document_of(question: SetQuestion, documents: Sequence[Document]) -> Document | None:
    """The document that answers a question, by its path, address or file name."""
    for source in question.sources:
        for document in documents:
            if source in {str(document.path), document.url, document.site_url}:
                return document
        named = [each for each in documents if each.path.name == Path(source).name]
        if len(named) == 1 and Path(source).name == source:
            return named[0]
    return None


def setup_of(chat: Chat, set_up: SetUp) -> Setup:
    """The set-up as the chat takes it. AppError when a part of it is gone."""
    setup = chat.set_up(set_up.assistant_id, set_up.collection_id)
    if set_up.assistant_id and setup.assistant is None:
        raise AppError(f"The assistant of “{set_up.name}” is gone.", "Choose another assistant.")
    if setup.refusal:
        raise setup.refusal
    settings = _with_model(setup.settings, set_up)
    retrieval = settings.retrieval
    if set_up.room:
        retrieval = replace(retrieval, room=set_up.room)
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
    run: Run,
    say: Callable[[str], None],
    cancel: Event,
) -> Generator[Answerer]:
    """An answerer for a run, over a scratch library where documents have to be indexed for it.

    `say` is called with progress. AppError when the set-up can't be used; Cancelled.
    """
    set_up, setup = run.set_up, setup_of(chat, run.set_up)
    wanted = setup.reach.collection_ids
    sources = [s for s in library.sources.all() if not wanted or s.collection_id in wanted]
    if not set_up.needs_library:
        yield _answerer(chat, library, setup, sources, run)
        return
    index = setup.settings.index
    if set_up.embedder:
        index = replace(index, model_folder=set_up.embedder)
    folders = [(source.path, source.rules) for source in sources if source.is_on_disk]
    if set_up.documents:
        folders = [(Path(set_up.documents), SourceRules())]
    if not folders:
        hint = "Chunks and embedding can be compared over folders, not over links."
        raise AppError(f"“{set_up.name}” has no folder to index.", hint)
    own = [each for each in library.collections.all() if each.collection_id in wanted]
    with open_scratch(replace(setup.settings, index=index)) as services:
        scratch = services.library
        collection = scratch.collections.find_or_add(_SCRATCH)
        if len(own) == 1 and own[0].embedder and not set_up.embedder:
            scratch.collections.set_embedder(collection.collection_id, own[0].embedder)
        if chunking := set_up.chunking or (own[0].chunking if len(own) == 1 else None):
            scratch.collections.set_chunking(collection.collection_id, chunking)
        for path, rules in folders:
            scratch.sources.add(path, collection.collection_id, rules)
        is_indexed = False
        while not is_indexed:
            say(f"Indexing {len(folders):,} folders for “{set_up.name}”")
            if cancel.is_set():
                raise Cancelled
            is_indexed = scratch.indexing.wait_until_idle(_LOOK_S)
        # All that is in it: collections have other ids there.
        everything = replace(setup, reach=SearchScope(limits=setup.reach.limits))
        yield _answerer(services.chat, scratch, everything, scratch.sources.all(), run)


def _answerer(
    chat: Chat, library: Library, setup: Setup, sources: Sequence[Source], run: Run
) -> Answerer:
    if not run.set_up.only_searches:
        return Writer(chat, setup, server_pid(setup.settings.endpoint.base_url))
    finder = Finder(chat, library, setup, sources)
    finder.check(run.questions)
    return finder
