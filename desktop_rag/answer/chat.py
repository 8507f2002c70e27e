"""The entry point to answering: questions in, answer events out; conversations, search, models.

The window, the command line and the evaluation use this module and nothing behind it. Its methods
block on the database or the network, so they run on worker threads only.
"""

import time
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Event

from desktop_rag.answer.answer_service import AnswerService, AnswerWrap, FinishedAnswer
from desktop_rag.answer.checking.answer_claims import PlacesToCheck, claims_of, with_claims
from desktop_rag.answer.checking.disputes import ClaimChecks
from desktop_rag.answer.citing.citations import cited_places
from desktop_rag.answer.conversations.assistants import Assistants
from desktop_rag.answer.conversations.history import History
from desktop_rag.answer.conversations.personal import Personal
from desktop_rag.answer.conversations.unstored_chats import UnstoredChats
from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.answer.endpoints.helper_job import CancelWhen
from desktop_rag.answer.map_reduce.file_answers import MOST_FILES
from desktop_rag.answer.post_answer.post_answer_jobs import NO_LIMIT, AnswerContext, PostAnswerJobs
from desktop_rag.answer.post_answer.suggested_questions import FollowUps
from desktop_rag.answer.prompting.prompt import Prompt
from desktop_rag.answer.search.retriever import Retriever
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.sources.source_headings import SourceHeadings
from desktop_rag.answer.understanding.scoping import Scopes
from desktop_rag.answer.writing.answers import AnswerRequest
from desktop_rag.core.claims import Verdict
from desktop_rag.core.conversation import (
    AnswerChanged,
    AnswerDone,
    AnswerEvent,
    Attachment,
    ChatTitled,
    Conversation,
    Message,
    ModelCheckOffered,
    QuestionStored,
    Role,
    SearchResult,
    SourceRef,
    plain_title,
)
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.errors import AppError, Cancelled, InterruptedAnswer
from desktop_rag.core.query import parse_query, strip_invalid_characters
from desktop_rag.core.question import EVERYTHING, SearchScope, SentRequest, Setup
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.core.quotes import Span
from desktop_rag.core.settings import RetrievalSettings, Settings
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.ports import Embedder, Reader
from desktop_rag.store.contract.engine import Engine

_WAIT_S = 0.2
# How often an answer that gave way is begun again before it is put off.
_TRIES = 3
# The answers of which the requests are kept in memory.
_MOST_SENT = 200


def user_message(
    question: str,
    conversation_id: str = "",
    attachments: Sequence[Attachment] = (),
    scope: QuestionScope = ALL_DOCUMENTS,
) -> Message:
    """A question of the person that is asked now."""
    return Message(
        uuid.uuid4().hex, conversation_id, Role.USER, question, time.time(),
        attachments=tuple(attachments), scope=scope,
    )  # fmt: skip


def no_question() -> AppError:
    """Why nothing is asked."""
    return AppError("There is no question.", "Write one first.")


def last_question(messages: Sequence[Message]) -> int:
    """The place of the last question; AppError when there is none yet."""
    last = max((i for i, m in enumerate(messages) if m.role is Role.USER), default=None)
    if last is not None:
        return last
    raise AppError("There is no question to answer again.", "Ask one first.")


class Chat:
    """Answers questions from the library and keeps the conversations."""

    def __init__(
        self,
        engine: Engine,
        retriever: Retriever,
        embedder: Embedder | None,
        models: ChatModels,
        personal: Personal,
        *,
        assistants: Assistants,
        checks: ClaimChecks,
        wrap: AnswerWrap | None = None,
    ) -> None:
        """Uses the settings of `models` until others are applied.

        Without an `embedder`, sentences are chosen by their words; without a `wrap`, assistants
        with rails don't answer.
        """
        documents = engine.documents
        # Where it publishes; the same for everything that answers.
        self.changes = models.changes
        self._conversations = conversations = UnstoredChats(engine.conversations, self.changes)
        self.history = History(engine, personal.rewrites, conversations)
        self.prompts = personal.prompts
        self.models = models
        self.memory = personal.memory
        self.assistants = assistants
        self._documents = documents
        self._finder = SourceFinder(retriever, documents, embedder)
        self._places_to_check = PlacesToCheck(self._finder, engine.names)
        self.check = checks.check
        self.embedder = embedder
        self.wrap = wrap
        self._service = AnswerService(
            self._finder, engine, embedder, models,
            conversations=conversations, memory=self.memory, checks=checks, wrap=wrap,
        )  # fmt: skip
        self.attachments = self._service.attachments
        self.scopes = Scopes(engine, self._service.chosen, self.set_up)
        self._settings = models.settings
        self._answers = AnswerPriority()
        self._stopping = Event()
        # By the id of the answer.
        self._sent: dict[str, list[SentRequest]] = {}
        follow_ups = FollowUps(self._finder, documents)
        self.first_questions = follow_ups.to_begin_with
        self._post_answer = PostAnswerJobs(
            conversations, follow_ups, documents, checks, models, self._answers
        )

    def apply(self, settings: Settings) -> None:
        """Use these settings from the next question on."""
        self._settings = settings
        self.models.apply(settings)

    def store_cut_answers(self) -> None:
        """Store the answers that the last run didn't finish; called at the start."""
        self._service.unfinished.store_cut_ones()

    def warm_up(self) -> None:
        """Load the client of the endpoint, if one is set, before the first question needs it."""
        self.models.warm_up()

    def stop(self) -> None:
        """Stop background requests to endpoints. Answers have a `cancel` of their own."""
        self._stopping.set()
        self.models.stop()

    def close(self) -> None:
        """Close the connections to endpoints. No answer may be under way."""
        self.models.close()
        self._conversations.close()
        if self._conversations.are_in_memory:
            self.history.purge_attachments()

    # --- questions -------------------------------------------------------------------------

    def set_up(self, assistant_id: str = "", collection_id: str = "") -> Setup:
        """The settings and documents for a question; "" means no assistant, and all documents."""
        return self.assistants.set_up(assistant_id, collection_id, self._settings)

    def answer(
        self, messages: Sequence[Message], setup: Setup, *, cancel: Event
    ) -> Iterator[AnswerEvent]:
        """Answer the last of the messages, a question, and store nothing.

        Earlier answers are no examples for it, and it is not remembered. Yields SourcesFound,
        ThinkingDelta and TextDelta as they come, and last AnswerDone with the finished message.
        AppError when there is no question, or the model does not take its attachments.
        """
        if not messages or messages[-1].role is not Role.USER or not messages[-1].text.strip():
            raise no_question()
        if refused := self._refusal(messages[-1].attachments, setup):
            raise refused
        request = AnswerRequest.of(messages[-1], messages[:-1], setup, cancel=cancel)
        with self._answers.answering():
            finished = yield from self._service.answer(request)
        yield AnswerDone(finished.message)

    def answer_when_free(
        self, question: Message, set_up: Callable[[], Setup], *, search_for: str = "", cancel: Event
    ) -> Message:
        """The answer to a background question, also one that failed; stores nothing.

        It begins once no answer is under way, and yields to one that begins; `set_up` is called for
        each try. With `search_for`, sources are searched by these words instead of by the question.
        Raises InterruptedAnswer when other answers kept interrupting it, and Cancelled soon after
        `cancel` is set or the chat stops.
        """
        stopping = CancelWhen(cancel, self._stopping.is_set)
        for _ in range(_TRIES):
            while self._answers.is_answering and not stopping.is_set():
                self._answers.wait(_WAIT_S)
            yielding = CancelWhen(stopping, lambda: self._answers.is_answering)
            request = AnswerRequest.of(question, (), set_up(), cancel=yielding)
            if search_for:
                request = replace(request, query=parse_query(search_for), query_error=None)
            done = _finished(self._service.answer(request)).message
            if stopping.is_set():
                raise Cancelled
            if not yielding.is_set():
                return done
        raise InterruptedAnswer

    def ask(
        self,
        question: str,
        *,
        conversation_id: str = "",
        collection_id: str = "",
        assistant_id: str = "",
        attachments: Sequence[Attachment] = (),
        scope: QuestionScope = ALL_DOCUMENTS,
        may_change: bool = False,
        cancel: Event,
    ) -> Iterator[AnswerEvent]:
        """Store the question and answer it; "" means a new conversation, all, and no assistant.

        Only documents within `scope` and the assistant's reach are read. `attachments` become those
        of the conversation. With `may_change`, the person can agree to commands proposed by rails.
        Yields QuestionStored, SourcesFound, ThinkingDelta and TextDelta, and last AnswerDone with
        the stored message; on a full disk that message is not stored (`is_unstored`). Raises
        Settings may keep a new conversation in memory only: it ends with the app. Raises
        AppError, with nothing stored, when the model does not take the attachments; else only when
        the store fails.
        """
        began_at = time.monotonic()
        question = strip_invalid_characters(question)
        if not question.strip():
            raise no_question()
        if refused := self._refusal(attachments, _wanted(self.set_up(assistant_id), scope)):
            raise refused
        conversation = self._conversation(conversation_id, question, collection_id, assistant_id)
        conversation_id = conversation.conversation_id
        history = self._conversations.messages(conversation_id)
        asked = user_message(question, conversation_id, attachments, scope)
        self._conversations.add_message(asked)
        is_stored = not self._conversations.is_in_memory(conversation_id)
        if is_stored:
            self._conversations.do(
                conversation_id, lambda: self.attachments.set(conversation_id, attachments)
            )
        yield QuestionStored(conversation, self._conversations.as_kept(asked))
        setup = _wanted(self._set_up(conversation), scope)
        request = AnswerRequest.of(
            asked, history, setup, uses_memory=is_stored, may_change=may_change, cancel=cancel
        )
        yield from self._answer_and_store(replace(request, began_at=began_at))

    def _conversation(
        self, conversation_id: str, question: str, collection_id: str, assistant_id: str
    ) -> Conversation:
        """The conversation of a question; it remembers what was searched, for a later retry."""
        if not conversation_id:
            stores = self._settings.answers.stores_chats
            add = self._conversations.add if stores else self._conversations.add_in_memory
            return add(plain_title(question), collection_id, assistant_id)
        conversation = self._conversations.get(conversation_id)
        if conversation.kept_by:
            self._conversations.keep(conversation_id, "")
        if conversation.collection_id != collection_id:
            self._conversations.set_collection(conversation_id, collection_id)
        if conversation.assistant_id != assistant_id:
            self._conversations.set_assistant(conversation_id, assistant_id)
        return replace(conversation, collection_id=collection_id, assistant_id=assistant_id)

    def refusal(self, attachments: Sequence[Attachment], assistant_id: str = "") -> AppError | None:
        """The reason why the model that would answer takes no such attachments; None if it does."""
        return self._refusal(attachments, self.set_up(assistant_id))

    def _refusal(self, attachments: Sequence[Attachment], setup: Setup) -> AppError | None:
        return self.attachments.refusal(attachments, setup.settings.endpoint)

    def retry(
        self,
        conversation_id: str,
        *,
        every_file: bool = False,
        as_excerpts: bool = False,
        may_change: bool = False,
        cancel: Event,
    ) -> Iterator[AnswerEvent]:
        """Answer the last question again, in place of its last answer if it had one.

        It searches the same documents; with `as_excerpts`, no model is asked this once. With
        `every_file` each file is asked separately, with FileAsked events; that answer stands below
        the other one, in place of one of its kind. Yields as `ask`, without QuestionStored.
        AppError when there is no question yet.
        """
        began_at = time.monotonic()
        conversation = self._conversations.get(conversation_id)
        messages = self._conversations.messages(conversation_id)
        last = last_question(messages)
        setup = self._set_up(conversation)
        if as_excerpts:
            setup = _without_model(setup)
        if refused := self._refusal(messages[last].attachments, setup):
            raise refused
        request = AnswerRequest.of(
            messages[last], messages[:last], setup, every_file=every_file, may_change=may_change,
            uses_memory=not self._conversations.is_in_memory(conversation_id), cancel=cancel,
        )  # fmt: skip
        request = replace(request, began_at=began_at)
        yield from self._answer_and_store(request, again_to=messages[last])

    def sent_for(self, answer: Message) -> Sequence[SentRequest] | None:
        """The requests to models for an answer, oldest first; None for one of which they are not
        kept: they are in memory only, of the last answers that a person waited for.
        """
        return self._sent.get(answer.message_id)

    def files_to_ask(self, conversation_id: str) -> tuple[int, str]:
        """How many files to ask the last question, and the model; AppError if there is none."""
        conversation = self._conversations.get(conversation_id)
        messages = self._conversations.messages(conversation_id)
        return self._files_about(messages[last_question(messages)], self._set_up(conversation))

    def files_about(self, question: str, scope: QuestionScope = ALL_DOCUMENTS) -> tuple[int, str]:
        """The number of files that a question with filters may find, and the model that is asked
        about each, "" for none.
        """
        return self._files_about(user_message(question, scope=scope), self.set_up())

    def _files_about(self, question: Message, setup: Setup) -> tuple[int, str]:
        setup = _wanted(setup, question.scope)
        request = self._service.scoping.applied(AnswerRequest.of(question, (), setup))
        setup = request.setup
        if request.query_error:
            raise request.query_error
        if request.scope.is_without_documents:
            return 0, ""
        model = None if setup.refusal else self.models.main(setup)
        count = len(self._finder.every_attached(request.attached_ids, MOST_FILES))
        if not (count and request.is_summary):
            count += self._finder.count_files(request.query, MOST_FILES, setup.reach)
        return count, model.name if model and not model.is_weak else ""

    def go_on(
        self,
        answer: Message,
        *,
        asks_model: bool = True,
        may_judge: bool = False,
        limit_s: float = NO_LIMIT,
        cancel: Event,
    ) -> Iterator[AnswerChanged | ChatTitled | ModelCheckOffered]:
        """Check an answer's claims, find follow-ups and a title, once no answer is under way.

        An answer that no longer exists is left alone. With `may_judge` the person agreed that a
        remote model checks it. Requests to a model take `limit_s` at most in all.
        """
        conversation = self._conversations.get(answer.conversation_id)
        messages = self._conversations.messages(answer.conversation_id)
        places = [n for n, m in enumerate(messages) if m.message_id == answer.message_id]
        for place in places[:1]:
            setup = _wanted(
                self._set_up(conversation), messages[last_question(messages[:place])].scope
            )
            if messages[place].is_excerpts and not messages[place].model:
                # What no model has written is sent to none afterwards either.
                setup = _without_model(setup)
            setup = replace(setup, sent=self._sent.get(answer.message_id))
            asks_model = asks_model and setup.refusal is None
            context = AnswerContext(
                messages[:place], setup, asks_model, may_judge=may_judge, limit_s=limit_s
            )
            stopping = CancelWhen(cancel, self._stopping.is_set)
            yield from self._post_answer.run(messages[place], context, stopping)
            self.memory.catch_up(stopping)

    def complete(
        self, answer: Message, history: Sequence[Message], setup: Setup, *, cancel: Event
    ) -> Iterator[AnswerChanged]:
        """Check the claims of an answer and find follow-ups; stores nothing, yields each change."""
        context = AnswerContext(history, setup, is_stored=False)
        jobs = self._post_answer.run(answer, context, CancelWhen(cancel, self._stopping.is_set))
        yield from (change for change in jobs if isinstance(change, AnswerChanged))

    def search(
        self,
        query: str,
        *,
        mode: SearchMode = "hybrid",
        limit: int = 10,
        reach: SearchScope = EVERYTHING,
        is_half_typed: bool = False,
        retrieval: RetrievalSettings | None = None,
    ) -> list[Passage]:
        """The best passages, best first. AppError for a wrong date in a filter.

        With `is_half_typed` the last word may be incomplete, and passages are left out that neither
        have a word of the query nor seem to be about it, unless the query names their file.
        """
        asked = replace(parse_query(query), is_half_typed=is_half_typed)
        by = retrieval or self._settings.retrieval
        found = self._finder.look_up(asked, by, mode=mode, limit=limit, reach=reach).passages
        if mode == "lexical" or not is_half_typed:
            return list(found)
        return self._finder.about(asked, found, by, limit=limit, reach=reach)

    def first_prompt(self, question: str, reader: Reader) -> Prompt:
        """What a model with this context would be sent for a question, without asking one."""
        message = Message("", "", Role.USER, question, 0.0)
        return self._service.first_prompt(AnswerRequest.of(message, (), self.set_up("")), reader)

    def look_up(
        self, query: str, *, mode: SearchMode = "hybrid", limit: int = 10, collection_id: str = ""
    ) -> SearchResult:
        """As `search`, with the notes of the search and the relevance of the result."""
        reach = SearchScope.of_collection(collection_id)
        return self._finder.look_up(
            parse_query(query), self._settings.retrieval, mode=mode, limit=limit, reach=reach
        )

    def checked(self, answer: Message, cancel: Event) -> Message:
        """The answer with the claims that could be checked against its sources without a model."""
        columns = SourceHeadings(self._documents, answer.sources).columns
        found = claims_of(answer.text, answer.sources, self.check, cancel, columns=columns)
        told = [claim for claim in found if claim.verdict is not Verdict.NOT_CHECKED]
        return with_claims(answer, told)

    def place_about(self, claim: str, sources: Sequence[SourceRef]) -> SourceRef | None:
        """The place to verify a claim of an answer with these sources; None when none is near."""
        return self._places_to_check.best(claim, sources, self._settings.retrieval)

    def cited_places(self, message: Message) -> Mapping[int, Sequence[Span]]:
        """Where each source says what the answer cites it for, in the text of the source."""
        return cited_places(message.text, message.sources)

    def cautions(self, message: Message) -> Mapping[str, str]:
        """What to know of the files of an answer, as of letters that were guessed, by their id."""
        sources = (*message.sources, *message.nearest)
        ids = dict.fromkeys(source.document_id for source in sources if source.is_in_library)
        return {d.document_id: d.reason for d in self._documents.get(list(ids)) if d.reason}

    def document_text(self, document_id: str) -> str:
        """All text that was read from a document; AppError when it is gone."""
        text = self._documents.text(document_id)
        if text is None:
            raise AppError("The document is no longer in the library.", "Look for its new version.")
        return text

    # --- answering -------------------------------------------------------------------------

    def _answer_and_store(
        self, request: AnswerRequest, *, again_to: Message | None = None
    ) -> Iterator[AnswerEvent]:
        if request.may_change:
            request = replace(request, setup=replace(request.setup, sent=[]))
        with self._answers.answering():
            done = yield from self._service.answer_and_store(request, again_to=again_to)
        self.models.recorder.question(done)
        if request.setup.sent is not None:
            self._sent[done.message_id] = request.setup.sent
            for oldest in list(self._sent)[:-_MOST_SENT]:
                del self._sent[oldest]
        yield AnswerDone(done)

    def _set_up(self, conversation: Conversation) -> Setup:
        return self.set_up(conversation.assistant_id, conversation.collection_id)


def _finished(answer: Generator[AnswerEvent, None, FinishedAnswer]) -> FinishedAnswer:
    """The result of an answer without its events."""
    while True:
        try:
            next(answer)
        except StopIteration as end:
            return end.value


def _wanted(setup: Setup, scope: QuestionScope) -> Setup:
    """The setup, without a model where the chat has excerpts only."""
    return _without_model(setup) if scope.is_without_model else setup


def _without_model(setup: Setup) -> Setup:
    return replace(setup, settings=setup.settings.using(""))
