"""The face of answering: questions in, answer events out; conversations, search, the models.

Window, tray, command line, server and evaluation use this and nothing behind it. Methods block on
the database or the network, so they run on worker threads only.
"""

import itertools
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from threading import Event

from desktop_rag.answer.answering import Answering, Asking, texts_of, wants_summary
from desktop_rag.answer.checking.answer_checking import CheckClaim
from desktop_rag.answer.conversations.assistants import Assistants, Setup
from desktop_rag.answer.conversations.attachments import Attachments
from desktop_rag.answer.conversations.history import History
from desktop_rag.answer.conversations.personal import Personal
from desktop_rag.answer.endpoints.chat_models import ChatModels
from desktop_rag.answer.endpoints.helper_job import Unless
from desktop_rag.answer.evaluation_runs import EvaluationRuns
from desktop_rag.answer.map_reduce.whole_library import MOST_FILES
from desktop_rag.answer.post_answer.follow_ups import FollowUps
from desktop_rag.answer.post_answer.post_answer_jobs import After, PostAnswerJobs
from desktop_rag.answer.search.retriever import Retriever
from desktop_rag.answer.sources.passages import numbered
from desktop_rag.answer.sources.source_finder import SourceFinder
from desktop_rag.core.attachment import Attachment
from desktop_rag.core.conversation import (
    AnswerChanged,
    AnswerDone,
    AnswerEvent,
    Conversation,
    Message,
    QuestionStored,
    Role,
    SearchResult,
    SourceRef,
)
from desktop_rag.core.domain import Passage, SearchMode
from desktop_rag.core.errors import AppError
from desktop_rag.core.query import strip_invalid_characters
from desktop_rag.core.question import SearchScope
from desktop_rag.core.settings import Settings
from desktop_rag.core.text import words
from desktop_rag.models.gate import ModelGate
from desktop_rag.models.ports import Embedder
from desktop_rag.store.contract.engine import Engine

_TITLE_LENGTH = 60
# A claim that is wrong has words that stand nowhere: its place is less relevant than an answer's.
_WORTH_A_LOOK = 0.05


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
    ) -> None:
        """Its settings are those of the `models`, until others are applied."""
        conversations, documents = engine.conversations, engine.documents
        self.history = History(engine, personal.rewrites)
        self.prompts = personal.prompts
        self.models = models
        self.memory = personal.memory
        self.assistants = assistants
        self.attachments = Attachments(engine.attachments, models)
        self._conversations = conversations
        self._documents = documents
        self._finder = SourceFinder(retriever, documents, embedder)
        self._answering = Answering(
            self._finder,
            documents,
            engine.tables,
            embedder,
            models,
            memory=self.memory,
            attachments=self.attachments,
        )
        self.trials = EvaluationRuns(
            self._answering, lambda asked, where: self._asking(asked, where, ()), check, models
        )
        self._settings = models.settings
        self._answers = ModelGate()
        self._stopping = Event()
        self._post_answer = PostAnswerJobs(
            conversations, FollowUps(self._finder, documents), check, models.helper, self._answers
        )

    def apply(self, settings: Settings) -> None:
        """Use these settings from the next question on."""
        self._settings = settings
        self.models.apply(settings)

    def warm_up(self) -> None:
        """Load the client of the endpoint, if one is set, before the first question needs it."""
        self.models.warm_up()

    def stop(self) -> None:
        """End what waits for an endpoint outside of answers; those have their own `cancel`."""
        self._stopping.set()
        self.models.stop()

    def close(self) -> None:
        """Give up the connections to endpoints. No answer may be under way."""
        self.models.close()

    # --- questions -------------------------------------------------------------------------

    def ask(
        self,
        question: str,
        *,
        conversation_id: str = "",
        collection_id: str = "",
        assistant_id: str = "",
        attachments: Sequence[Attachment] = (),
        cancel: Event,
    ) -> Iterator[AnswerEvent]:
        """Store the question and answer it; "" means a new conversation, all, and no assistant.

        `attachments` are what is attached to the conversation from now on. Yields QuestionStored,
        SourcesFound, ThinkingDelta and TextDelta as they come, and last AnswerDone, whose message
        is stored and says how it ended. Only a failing store raises, and AppError when the model
        can't take what is attached; then nothing is stored.
        """
        question = strip_invalid_characters(question)
        if not question.strip():
            raise AppError("There is no question.", "Write one first.")
        if refused := self.refusal(attachments, assistant_id):
            raise refused
        conversation = (
            self._conversations.get(conversation_id)
            if conversation_id
            else self._conversations.add(_title_of(question), collection_id, assistant_id)
        )
        # A later retry, also after a restart, must search what was asked last.
        if conversation.collection_id != collection_id:
            self._conversations.set_collection(conversation.conversation_id, collection_id)
        if conversation.assistant_id != assistant_id:
            self._conversations.set_assistant(conversation.conversation_id, assistant_id)
        conversation = replace(conversation, collection_id=collection_id, assistant_id=assistant_id)
        history = self._conversations.messages(conversation.conversation_id)
        asked = Message(
            uuid.uuid4().hex, conversation.conversation_id, Role.USER, question, time.time(),
            attachments=tuple(attachments),
        )  # fmt: skip
        self._conversations.add_message(asked)
        self.attachments.set(conversation.conversation_id, attachments)
        yield QuestionStored(conversation, asked)
        yield from self._answer(
            self._asking(question, conversation, history, attachments=attachments), cancel
        )

    def refusal(self, attachments: Sequence[Attachment], assistant_id: str = "") -> AppError | None:
        """Why nothing can be asked with these of the model that would answer; None when it can."""
        settings = self.assistants.set_up(assistant_id, "", self._settings).settings
        return self.attachments.refusal(attachments, settings.endpoint)

    def retry(
        self, conversation_id: str, *, every_file: bool = False, cancel: Event
    ) -> Iterator[AnswerEvent]:
        """Answer the last question again, in place of its last answer if it had one.

        It searches the same documents as before, or asks `every_file` of them by itself and then
        yields FileAsked too. Yields as `ask` does, without QuestionStored. AppError when nothing
        was asked yet.
        """
        conversation = self._conversations.get(conversation_id)
        messages = self._conversations.messages(conversation_id)
        last = _last_question(messages)
        if refused := self.refusal(messages[last].attachments, conversation.assistant_id):
            raise refused
        asking = self._asking(
            messages[last].text, conversation, messages[:last],
            attachments=messages[last].attachments, every_file=every_file,
        )  # fmt: skip
        yield from self._answer(asking, cancel, again_to=messages[last])

    def files_to_ask(self, conversation_id: str) -> tuple[int, str]:
        """How many files the last question would be asked of, and the model, "" for none.

        AppError when nothing was asked yet.
        """
        conversation = self._conversations.get(conversation_id)
        messages = self._conversations.messages(conversation_id)
        asked = messages[_last_question(messages)]
        return self._files_about(asked.text, self._set_up(conversation), asked.attachments)

    def files_about(self, question: str) -> tuple[int, str]:
        """How many files a question with its filters may find, and the model, "" for none."""
        return self._files_about(question, self.assistants.set_up("", "", self._settings))

    def _files_about(
        self, question: str, setup: Setup, attachments: Sequence[Attachment] = ()
    ) -> tuple[int, str]:
        model = None if setup.refusal else self.models.main(setup.settings)
        count = len(self._finder.every_attached(texts_of(attachments), MOST_FILES))
        if not (count and wants_summary(question, attachments)):
            count += self._finder.count_files(question, MOST_FILES, setup.reach)
        return count, model.name if model else ""

    def go_on(
        self, answer: Message, *, asks_model: bool = True, cancel: Event
    ) -> Iterator[AnswerChanged]:
        """Check the claims of an answer and find what may be asked next; nobody waits for it.

        It begins once no answer is on its way. An answer that is gone has nothing after it.
        """
        conversation = self._conversations.get(answer.conversation_id)
        messages = self._conversations.messages(answer.conversation_id)
        places = [n for n, m in enumerate(messages) if m.message_id == answer.message_id]
        if places:
            place = places[0]
            setup = self._set_up(conversation)
            asks_model = asks_model and setup.refusal is None
            after = After(messages[:place], setup.reach, setup.settings, asks_model)
            stopping = Unless(cancel, self._stopping.is_set)
            yield from self._post_answer.about(messages[place], after, stopping)
            self.memory.catch_up(stopping)

    def search(
        self,
        query: str,
        *,
        mode: SearchMode = "hybrid",
        limit: int = 10,
        collection_id: str = "",
    ) -> list[Passage]:
        """The passages that fit best, best first. AppError for a wrong date in a filter."""
        found = self.look_up(query, mode=mode, limit=limit, collection_id=collection_id)
        return list(found.passages)

    def look_up(
        self,
        query: str,
        *,
        mode: SearchMode = "hybrid",
        limit: int = 10,
        collection_id: str = "",
    ) -> SearchResult:
        """As `search`, with what the search made of the query and whether anything is about it."""
        reach = SearchScope.of_collection(collection_id)
        return self._finder.look_up(
            query, self._settings.retrieval, mode=mode, limit=limit, reach=reach
        )

    def place_about(self, text: str) -> SourceRef | None:
        """The passage of all documents that says most about a claim; None when none does."""
        found = self.search(" ".join(words(text)), limit=1)
        worth_a_look = [p for p in found if p.relevance >= _WORTH_A_LOOK]
        return numbered(worth_a_look)[0] if worth_a_look else None

    def document_text(self, document_id: str) -> str:
        """All text that was read from a document; AppError when it is gone."""
        text = self._documents.text(document_id)
        if text is None:
            raise AppError("The document is no longer in the library.", "Look for its new version.")
        return text

    # --- answering -------------------------------------------------------------------------

    def _answer(
        self, asking: Asking, cancel: Event, *, again_to: Message | None = None
    ) -> Iterator[AnswerEvent]:
        with self._answers.question():
            done = yield from self._answering.answer(asking, cancel)
            # Not the one there was at the beginning: a former one may have been put back since.
            if again_to and (present := self._answer_to(again_to)):
                self._conversations.replace_message(present.message_id, done)
            else:
                self._conversations.add_message(done)
        yield AnswerDone(done)

    def _answer_to(self, question: Message) -> Message | None:
        messages = self._conversations.messages(question.conversation_id)
        later = itertools.dropwhile(lambda m: m.message_id != question.message_id, messages)
        after = next(itertools.islice(later, 1, None), None)
        return after if after and after.role is Role.ASSISTANT else None

    def _asking(
        self,
        question: str,
        conversation: Conversation,
        history: Sequence[Message],
        *,
        attachments: Sequence[Attachment] = (),
        every_file: bool = False,
    ) -> Asking:
        setup = self._set_up(conversation)
        is_wanted = setup.assistant is None or setup.assistant.uses_memory
        return Asking(
            question,
            conversation,
            history,
            setup,
            every_file=every_file,
            asks_few_files=self._settings.answers.asks_few_files,
            uses_memory=self._settings.answers.uses_memory and is_wanted,
            attachments=tuple(attachments),
        )

    def _set_up(self, conversation: Conversation) -> Setup:
        return self.assistants.set_up(
            conversation.assistant_id, conversation.collection_id, self._settings
        )


def _last_question(messages: Sequence[Message]) -> int:
    last = max((i for i, m in enumerate(messages) if m.role is Role.USER), default=None)
    if last is None:
        raise AppError("There is no question to answer again.", "Ask one first.")
    return last


def _title_of(question: str) -> str:
    title = " ".join(question.split())
    return title if len(title) <= _TITLE_LENGTH else title[: _TITLE_LENGTH - 1].rstrip() + "…"
