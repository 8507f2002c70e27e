"""The face of answering: questions in, answer events out; conversations, search, the models.

The window, the command line and the evaluation use this module and nothing behind it. Its methods
block on the database or the network, so they run on worker threads only.
"""

import itertools
import time
import uuid
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Event

from desktop_rag.activity.recorder import Recorder
from desktop_rag.answer.answering import Answering, FinishedAnswer
from desktop_rag.answer.checking.answer_checking import CheckClaim, PlacesToCheck
from desktop_rag.answer.citing.citation_validation import cited_places
from desktop_rag.answer.conversations.answer_memory import Memory
from desktop_rag.answer.conversations.assistants import Assistants
from desktop_rag.answer.conversations.attachments import Attachments
from desktop_rag.answer.conversations.history import History
from desktop_rag.answer.conversations.personal import Personal
from desktop_rag.answer.conversations.unfinished_answers import (
    AnswerKeeper,
    AnswerStart,
    UnfinishedAnswers,
)
from desktop_rag.answer.conversations.unstored_chats import UnstoredChats
from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.answer.endpoints.helper_job import CancelWhen
from desktop_rag.answer.map_reduce.few_files import MOST_FILES
from desktop_rag.answer.post_answer.post_answer_jobs import (
    NO_LIMIT,
    AnswerContext,
    PostAnswerJobs,
    plain_title,
)
from desktop_rag.answer.post_answer.suggested_questions import FollowUps
from desktop_rag.answer.railed_answering import RailedAnswering
from desktop_rag.answer.search.retriever import Retriever
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.answer.understanding.chosen_scope import ChosenScope, Scopes
from desktop_rag.answer.understanding.scoping import Scoping
from desktop_rag.answer.writing.answer_request import AnswerRequest
from desktop_rag.core.conversation import (
    AnswerChanged,
    AnswerDone,
    AnswerEvent,
    Attachment,
    ChatTitled,
    Conversation,
    Message,
    QuestionStored,
    Role,
    SearchResult,
    SourceRef,
)
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import parse_query, strip_invalid_characters
from desktop_rag.core.question import EVERYTHING, SearchScope, Setup
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.core.quotes import Span
from desktop_rag.core.settings import Settings
from desktop_rag.features.evaluation.experiments.answer_grading import AnswerGrader
from desktop_rag.features.schedules.answer_comparison import AnswerComparison
from desktop_rag.features.schedules.background_answers import BackgroundAnswers
from desktop_rag.models.answer_priority import AnswerPriority
from desktop_rag.models.ports import Embedder
from desktop_rag.store.contract.engine import Engine

# Makes one answer and stores it: kept while it grows, remembered afterwards.
#
# Runs on the answering thread.


class StoredAnswering:
    """Answers questions that are stored."""

    def __init__(
        self,
        answering: RailedAnswering,
        conversations: UnstoredChats,
        unfinished: UnfinishedAnswers,
        memory: Memory,
    ) -> None:
        self._answering = answering
        self._conversations = conversations
        self._unfinished = unfinished
        self._memory = memory

    def answer(
        self, request: AnswerRequest, cancel: Event, *, again_to: Message | None = None
    ) -> Generator[AnswerEvent, None, Message]:
        """The stored answer; yields the events on the way.

        It goes in place of the last answer to the question `again_to`, if it had one. An answer
        from every file stands below that one, and goes in place of one of its kind only.
        """
        with self._unfinished.keeping(self._start_of(request, again_to)) as keeper:
            finished = yield from self._kept(request, cancel, keeper)
            done = replace(finished.message, message_id=keeper.answer_id)
            # The answer of now: since the start, a former one may have been put back.
            if again_to and (present := self._answer_to(again_to, request)):
                self._conversations.replace_message(present.message_id, done)
            else:
                self._conversations.add_message(done)
            done = self._conversations.as_kept(done)
            keeper.is_stored = not done.is_unstored
            if request.uses_memory:
                self._memory.record(
                    request.question,
                    done,
                    has_several_steps=finished.has_several_steps,
                    assistant_id=request.setup.assistant_id,
                )
        return done

    def _kept(
        self, request: AnswerRequest, cancel: Event, keeper: AnswerKeeper
    ) -> Generator[AnswerEvent, None, FinishedAnswer]:
        events = self._answering.answer(request, cancel)
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                return end.value
            keeper.note(event)
            yield event

    def _start_of(self, request: AnswerRequest, again_to: Message | None) -> AnswerStart:
        former = self._answer_to(again_to, request) if again_to else None
        return AnswerStart(
            request.conversation_id,
            request.setup.settings.endpoint.model,
            request.setup.is_open,
            former.message_id if former else "",
            request.scope if request.scope.is_without_documents else ALL_DOCUMENTS,
        )

    def _answer_to(self, question: Message, request: AnswerRequest) -> Message | None:
        """Its last answer of the kind asked for: a new version that was cut stands below the
        former answer.
        """
        messages = self._conversations.messages(question.conversation_id)
        later = itertools.dropwhile(lambda m: m.message_id != question.message_id, messages)
        after = itertools.islice(later, 1, None)
        answers = itertools.takewhile(lambda m: m.role is Role.ASSISTANT, after)
        of_kind = [m for m in answers if m.is_of_every_file == request.every_file]
        return of_kind[-1] if of_kind else None


# Questions of the person as messages. Pure; any thread.


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
        check: CheckClaim,
        recorder: Recorder | None = None,
    ) -> None:
        """Uses the settings of `models` until others are applied."""
        documents = engine.documents
        self._recorder = recorder or Recorder()
        # Where it publishes; the same for everything that answers.
        self.changes = models.changes
        self._conversations = conversations = UnstoredChats(engine.conversations, self.changes)
        self.history = History(engine, personal.rewrites, conversations)
        self.prompts = personal.prompts
        self.models = models
        self.memory = personal.memory
        self.assistants = assistants
        self.attachments = Attachments(engine.attachments, models)
        self._documents = documents
        self._finder = SourceFinder(retriever, documents, embedder)
        chosen = ChosenScope(self._finder, documents)
        self.scopes = Scopes(engine, chosen, self.set_up)
        self._scoping = Scoping(engine.names, documents, engine.sources.collections, chosen)
        self._places_to_check = PlacesToCheck(self._finder, engine.names)
        answering = Answering(
            self._finder, engine, embedder, models,
            memory=self.memory, attachments=self.attachments, scoping=self._scoping, check=check,
        )  # fmt: skip
        self._answering = RailedAnswering(answering, assistants.rails, self._finder, models, check)
        self._unfinished = UnfinishedAnswers(engine, answering.located)
        self._storing = StoredAnswering(
            self._answering, conversations, self._unfinished, self.memory
        )
        self.grader = AnswerGrader(check, models)
        self._settings = models.settings
        self._answers = AnswerPriority()
        self._stopping = Event()
        follow_ups, retitle = FollowUps(self._finder, documents), conversations.retitle
        self.background = self._in_background(AnswerComparison(check, embedder), engine)
        self._post_answer = PostAnswerJobs(
            conversations, follow_ups, check, models.helper, self._answers, retitle=retitle
        )

    def _in_background(self, comparison: AnswerComparison, engine: Engine) -> BackgroundAnswers:
        return BackgroundAnswers(
            self._answering, self._answers, comparison, engine.names,
            set_up=self.set_up, is_stopping=self._stopping.is_set,
        )  # fmt: skip

    def apply(self, settings: Settings) -> None:
        """Use these settings from the next question on."""
        self._settings = settings
        self.models.apply(settings)

    def store_cut_answers(self) -> None:
        """Put answers that the last run of the app didn't finish into their chats.

        At the start, before any question.
        """
        self._unfinished.store_cut_ones()

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
        request = AnswerRequest.of(messages[-1], messages[:-1], setup)
        finished = yield from self._answer(request, cancel)
        yield AnswerDone(finished.message)

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

        `scope` is what the question is about: nothing else is read, and nothing beyond what the
        assistant may read. `attachments` become those of the conversation. With `may_change` the
        person is there to agree to commands, which rails may propose. Yields QuestionStored,
        SourcesFound, ThinkingDelta and TextDelta as they come, and last AnswerDone, whose message
        is stored and says how it ended. On a full disk it is given without being stored, and says
        so (`is_unstored`). Raises only when the store fails otherwise, and AppError when the model
        does not take the attachments; then nothing is stored.
        """
        question = strip_invalid_characters(question)
        if not question.strip():
            raise no_question()
        if refused := self.refusal(attachments, assistant_id):
            raise refused
        conversation = self._conversation(conversation_id, question, collection_id, assistant_id)
        conversation_id = conversation.conversation_id
        history = self._conversations.messages(conversation_id)
        asked = user_message(question, conversation_id, attachments, scope)
        self._conversations.add_message(asked)
        self._conversations.do(
            conversation_id, lambda: self.attachments.set(conversation_id, attachments)
        )
        yield QuestionStored(conversation, self._conversations.as_kept(asked))
        setup = self._set_up(conversation)
        request = AnswerRequest.of(asked, history, setup, uses_memory=True, may_change=may_change)
        yield from self._answer_and_store(request, cancel)

    def _conversation(
        self, conversation_id: str, question: str, collection_id: str, assistant_id: str
    ) -> Conversation:
        """The conversation of a question; it remembers what was searched, for a later retry."""
        if not conversation_id:
            return self._conversations.add(plain_title(question), collection_id, assistant_id)
        conversation = self._conversations.get(conversation_id)
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

        With `as_excerpts` no model is asked this once. It searches the same documents as before.
        With `every_file` each of them is asked separately, and FileAsked events come too; that
        answer stands below the other one, in place of one of its kind. Yields as `ask` does,
        without QuestionStored. AppError when there is no question yet.
        """
        conversation = self._conversations.get(conversation_id)
        messages = self._conversations.messages(conversation_id)
        last = last_question(messages)
        setup = self._set_up(conversation)
        if as_excerpts:
            setup = replace(setup, settings=setup.settings.using(""))
        if refused := self._refusal(messages[last].attachments, setup):
            raise refused
        request = AnswerRequest.of(
            messages[last], messages[:last], setup, every_file=every_file, uses_memory=True,
            may_change=may_change,
        )  # fmt: skip
        yield from self._answer_and_store(request, cancel, again_to=messages[last])

    def files_to_ask(self, conversation_id: str) -> tuple[int, str]:
        """The number of files that the last question would be asked of, and the model, "" for none.

        AppError when there is no question yet.
        """
        conversation = self._conversations.get(conversation_id)
        messages = self._conversations.messages(conversation_id)
        return self._files_about(messages[last_question(messages)], self._set_up(conversation))

    def files_about(self, question: str, scope: QuestionScope = ALL_DOCUMENTS) -> tuple[int, str]:
        """The number of files a question with its filters may find, and the model, "" for none."""
        return self._files_about(user_message(question, scope=scope), self.set_up())

    def _files_about(self, question: Message, setup: Setup) -> tuple[int, str]:
        request = self._scoping.applied(AnswerRequest.of(question, (), setup))
        setup = request.setup
        if request.query_error:
            raise request.query_error
        if request.scope.is_without_documents:
            return 0, ""
        model = None if setup.refusal else self.models.main(setup.settings)
        count = len(self._finder.every_attached(request.attached_ids, MOST_FILES))
        if not (count and request.is_summary):
            count += self._finder.count_files(request.query, MOST_FILES, setup.reach)
        return count, model.name if model else ""

    def go_on(
        self, answer: Message, *, asks_model: bool = True, limit_s: float = NO_LIMIT, cancel: Event
    ) -> Iterator[AnswerChanged | ChatTitled]:
        """Check the claims of an answer, find follow-up questions and a title, in the background.

        It begins once no answer is under way. An answer that no longer exists is left alone. All
        requests to a model take `limit_s` at most.
        """
        conversation = self._conversations.get(answer.conversation_id)
        messages = self._conversations.messages(answer.conversation_id)
        places = [n for n, m in enumerate(messages) if m.message_id == answer.message_id]
        for place in places[:1]:
            setup = self._set_up(conversation)
            asks_model = asks_model and setup.refusal is None
            context = AnswerContext(messages[:place], setup, asks_model, limit_s=limit_s)
            stopping = CancelWhen(cancel, self._stopping.is_set)
            yield from self._post_answer.run(messages[place], context, stopping)
            self.memory.catch_up(stopping)

    def complete(
        self, answer: Message, history: Sequence[Message], setup: Setup, *, cancel: Event
    ) -> Iterator[AnswerChanged]:
        """Check the claims of an answer from `answer` and find follow-up questions; stores nothing.

        `history` ends with the question. Yields the answer after each change.
        """
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
    ) -> list[Passage]:
        """The passages that fit best, best first. AppError for a wrong date in a filter.

        With `is_half_typed` the last word may be the beginning of one, and passages that neither
        have a word of the query nor seem to be about it are left out, unless the query names their
        file.
        """
        asked = replace(parse_query(query), is_half_typed=is_half_typed)
        found = self._finder.look_up(
            asked, self._settings.retrieval, mode=mode, limit=limit, reach=reach
        ).passages
        if mode == "lexical" or not is_half_typed:
            return list(found)
        return self._finder.about(asked, found, self._settings.retrieval, limit=limit, reach=reach)

    def look_up(
        self,
        query: str,
        *,
        mode: SearchMode = "hybrid",
        limit: int = 10,
        collection_id: str = "",
    ) -> SearchResult:
        """As `search`, with the notes of the search and the relevance of the result."""
        reach = SearchScope.of_collection(collection_id)
        return self._finder.look_up(
            parse_query(query), self._settings.retrieval, mode=mode, limit=limit, reach=reach
        )

    def place_about(self, claim: str, sources: Sequence[SourceRef]) -> SourceRef | None:
        """The place to verify a claim of an answer with these sources; None when none is near."""
        return self._places_to_check.best(claim, sources, self._settings.retrieval)

    def cited_places(self, message: Message) -> Mapping[int, Sequence[Span]]:
        """Where each source says what the answer cites it for, in the text of the source."""
        return cited_places(message.text, message.sources)

    def document_text(self, document_id: str) -> str:
        """All text that was read from a document; AppError when it is gone."""
        text = self._documents.text(document_id)
        if text is None:
            raise AppError("The document is no longer in the library.", "Look for its new version.")
        return text

    # --- answering -------------------------------------------------------------------------

    def _answer(
        self, request: AnswerRequest, cancel: Event
    ) -> Generator[AnswerEvent, None, FinishedAnswer]:
        with self._answers.answering():
            return (yield from self._answering.answer(request, cancel))

    def _answer_and_store(
        self, request: AnswerRequest, cancel: Event, *, again_to: Message | None = None
    ) -> Iterator[AnswerEvent]:
        with self._answers.answering():
            done = yield from self._storing.answer(request, cancel, again_to=again_to)
        self._recorder.question(done)
        yield AnswerDone(done)

    def _set_up(self, conversation: Conversation) -> Setup:
        return self.set_up(conversation.assistant_id, conversation.collection_id)
