"""Questions for other programs, answered whole or in a stream, and the conversations of these.

A token, and each user of another application, has its own; an admin token has all of these. The
person's own chats are out of reach. Worker threads; answers on the server's thread.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from desktop_rag.core.conversation import Conversation, Feedback, Message, Role, plain_title
from desktop_rag.core.errors import AppError
from desktop_rag.core.question import SearchScope
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.features.server.access.callers import Asked, Caller, message_of, with_instructions
from desktop_rag.features.server.answer_run import AnswerRun, FinishedRun
from desktop_rag.features.server.filters.standard_filters import inert_message
from desktop_rag.features.server.model_names import COLLECTION, EVERYTHING
from desktop_rag.features.server.operations import (
    ADMIN,
    ASK,
    WRITE,
    Answered,
    DeletedAnswer,
    Form,
    Id,
    Ids,
    Listed,
    Page,
    Question,
    operation,
    page_of,
)
from desktop_rag.features.server.readable_library import (
    Calls,
    ReadableLibrary,
    need_every_collection,
)
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import KEEP_ALIVE, event
from desktop_rag.features.server.serving import Serving
from desktop_rag.features.server.wire_sources import annotations, extension, source_json

_OPINIONS = {"like": Feedback.LIKED, "dislike": Feedback.DISLIKED, "none": Feedback.NONE}
_NAMES = {feedback: name for name, feedback in _OPINIONS.items()}


class Opinion(Form):
    """An opinion of an answer: of a stored one by its id, or of any by its question and text.

    The latter is stored with it. `rewrite` is the answer as it should have been.
    """

    answer_id: Id | None = None
    question: Question | None = None
    answer: Annotated[str, Field(min_length=1, max_length=200_000)] | None = None
    opinion: Literal["like", "dislike", "none"]
    rewrite: Annotated[str, Field(min_length=1, max_length=200_000, pattern=r"\S")] | None = None


class FeedbackAnswer(Answered):
    """The answer that the opinion belongs to now."""

    answer_id: str
    opinion: str
    is_rewritten: bool


class MessageAnswer(Answered):
    """A question, or an answer with its sources."""

    id: str
    role: str
    text: str
    created_at: float
    state: str
    opinion: str
    sources: list[dict[str, Any]]
    follow_ups: list[str]


class ConversationAnswer(Answered):
    """A stored conversation without its messages."""

    id: str
    title: str
    updated_at: float


class ConversationList(Listed):
    """The conversations that are stored for the token."""

    conversations: list[ConversationAnswer]


class WholeConversation(ConversationAnswer):
    """A stored conversation."""

    messages: list[MessageAnswer]


class ConversationCalls(Calls):
    """Stores, lists, reads and deletes conversations of programs."""

    @operation("POST feedback", ASK)
    def give_feedback(self, caller: Caller, body: Opinion) -> FeedbackAnswer:
        """Like, dislike or rewrite an answer."""
        if body.rewrite is not None:
            caller.need(WRITE)
            # What a person wrote becomes a document that every question may find.
            need_every_collection(caller)
        answer = self._answer(caller, body)
        self._chat.history.set_feedback(answer.message_id, _OPINIONS[body.opinion])
        if body.rewrite is not None:
            try:
                self._chat.history.rewrite(answer, body.rewrite)
            except AppError as error:
                raise Refusal.of_error(error, 503) from error
        return FeedbackAnswer.of(
            body, answer_id=answer.message_id, is_rewritten=body.rewrite is not None
        )

    @operation("GET conversations", ASK)
    def list_conversations(self, caller: Caller, query: Page) -> ConversationList:
        """List the conversations that are stored for the token.

        The last changed come first.
        """
        found = self._own(caller)
        page, after = page_of(found, query)
        shown = [ConversationAnswer.of(each, id=each.conversation_id) for each in page]
        return ConversationList(conversations=shown, total=len(found), next_offset=after)

    @operation("GET conversations/{conversation_id}", ASK)
    def get_conversation(self, caller: Caller, conversation_id: Id) -> WholeConversation:
        """Read a stored conversation; `ask` continues it.

        It has the sources that the caller may read now.
        """
        conversation = self._find(caller, conversation_id)
        messages = self._chat.history.messages(conversation_id)
        shown = [self._shown(caller, message) for message in messages]
        return WholeConversation.of(conversation, id=conversation_id, messages=shown)

    @operation("DELETE conversations/{conversation_id}", ASK)
    def delete_conversation(self, caller: Caller, conversation_id: Id) -> DeletedAnswer:
        """Delete a stored conversation.

        It is removed for good at the next start of the app.
        """
        self._find(caller, conversation_id)
        self._chat.history.delete(conversation_id)
        return DeletedAnswer(deleted=[conversation_id])

    # --- while asking --------------------------------------------------------------------------

    def begun(self, caller: Caller, wanted: str, question: str) -> Conversation:
        """The conversation that a question belongs to: a "new" one, or a stored one by its id."""
        if wanted != "new":
            return self._find(caller, wanted)
        return self._chat.history.programs.start(caller.keeper, plain_title(question))

    def messages(self, conversation_id: str) -> Sequence[Message]:
        """What was said in it."""
        return self._chat.history.messages(conversation_id)

    def store(self, conversation: Conversation, *messages: Message) -> None:
        """Store messages at its end."""
        key = conversation.conversation_id
        for message in messages:
            self._chat.history.programs.add(
                replace(message, conversation_id=key, scope=ALL_DOCUMENTS)
            )

    def _answer(self, caller: Caller, opinion: Opinion) -> Message:
        """The answer that an opinion is of, stored if it is not yet."""
        stored = self._stored(caller, opinion.answer_id or "")
        if stored is not None:
            return stored
        if opinion.question is None or opinion.answer is None:
            said = "There is no such answer. One that is not stored needs its question and text."
            raise Refusal(404, said, param="answer_id", code="no_such_answer")
        conversation = self.begun(caller, "new", opinion.question)
        answer = replace(
            message_of(Role.ASSISTANT, opinion.answer), conversation_id=conversation.conversation_id
        )
        self.store(conversation, message_of(Role.USER, opinion.question), answer)
        return answer

    def _stored(self, caller: Caller, message_id: str) -> Message | None:
        conversation_id = self._chat.history.programs.conversation_of(message_id)
        if conversation_id not in {c.conversation_id for c in self._own(caller)}:
            return None
        found = [
            m for m in self._chat.history.messages(conversation_id) if m.message_id == message_id
        ]
        return found[0] if found and found[0].role is Role.ASSISTANT else None

    def _own(self, caller: Caller) -> list[Conversation]:
        is_limited = caller.is_limited or caller.user
        sees_all = caller.token.allows(ADMIN) and not is_limited
        return self._chat.history.programs.of("" if sees_all else caller.keeper)

    def _find(self, caller: Caller, conversation_id: str) -> Conversation:
        for conversation in self._own(caller):
            if conversation.conversation_id == conversation_id:
                return conversation
        raise Refusal(404, "There is no such conversation.", code="no_such_conversation")

    def _shown(self, caller: Caller, message: Message) -> MessageAnswer:
        if message.role is Role.ASSISTANT and not caller.token.passes_markup:
            message = inert_message(message)
        sources = [
            source_json(
                source,
                message.claims,
                lambda each: self._link(caller, each.document_id, each.start, each.end),
                sees_paths=caller.sees_paths,
            )
            for source in message.sources
            if self._may_read(caller, source.document_id)
        ]
        return MessageAnswer.of(
            message,
            id=message.message_id,
            role=message.role.value,
            state=message.state.value,
            opinion=_NAMES[message.feedback],
            sources=sources,
        )

    def _may_read(self, caller: Caller, document_id: str) -> bool:
        try:
            self._readable.document(caller, document_id)
        except Refusal:
            return False
        return True


class Turn(Form):
    """An earlier turn of a conversation that is not stored here."""

    role: Literal["user", "assistant"]
    content: Annotated[str, Field(max_length=200_000)]


class Ask(Form):
    """A question. `conversation` is "new", or the id of a stored one that it continues.

    `collection_ids` limits what is read, as `document_ids` does.
    """

    question: Question
    model: Annotated[str, Field(min_length=1, max_length=300)] | None = None
    collection_id: Id | None = None
    collection_ids: Ids | None = None
    document_ids: Ids | None = None
    history: Annotated[list[Turn], Field(max_length=200)] = Field(default_factory=list[Turn])
    instructions: Annotated[str, Field(max_length=32_000)] = ""
    conversation: Id | None = None
    stream: bool = False


class AskAnswer(Answered):
    """An answer. `annotations` are OpenAI's, `sources` and `claims` as in its `desktop_rag`."""

    answer_id: str
    conversation_id: str | None
    model: str
    text: str
    annotations: list[dict[str, Any]]
    sources: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    follow_ups: list[str]
    matched: int | None
    read: int | None
    notes: str
    is_excerpts: bool
    is_unsure: bool
    is_own_knowledge: bool
    state: str


@dataclass(frozen=True, slots=True)
class RestAnswer:
    """The response to one question. It is stored in the conversation `kept`, or in a new one."""

    run: AnswerRun
    conversations: ConversationCalls
    kept: Conversation | None = None
    begins_one: bool = False

    async def whole(self) -> dict[str, Any]:
        """The answer in one piece; refuses when it failed."""
        return await self._told(await self.run.finished())

    async def events(self) -> AsyncGenerator[bytes]:
        """`step` and `text` as they come, then `answer` or `error`; a whole stream has an `end`."""
        try:
            async with aclosing(self.run.pieces()) as pieces:
                async for piece in pieces:
                    if isinstance(piece, FinishedRun):
                        yield event(await self._told(piece), "answer")
                    elif piece.step:
                        yield event({"step": piece.step}, "step")
                    else:
                        yield event({"text": piece.text}, "text") if piece.text else KEEP_ALIVE
            yield event({}, "end")
        except Refusal as refusal:
            yield event(refusal.to_json(), "error")

    async def _told(self, finished: FinishedRun) -> dict[str, Any]:
        message = finished.message
        kept = await self.run.workers.call(lambda: self._stored(message))
        told = extension(message, self.run.address, sees_paths=self.run.sees_paths)
        # The citations in the text as it is stored, which is the text here.
        found = [each for each in finished.citations if finished.text == message.text]
        return told | {
            "answer_id": message.message_id,
            "conversation_id": kept.conversation_id if kept else None,
            "model": self.run.asked.model,
            "annotations": annotations(found, self.run.address),
        }

    def _stored(self, answer: Message) -> Conversation | None:
        """Stores a question and its answer, if wanted; without an answer nothing is stored."""
        kept, question = self.kept, self.run.asked.messages[-1]
        if self.begins_one:
            kept = self.conversations.begun(self.run.asked.caller, "new", question.text)
        if kept is not None:
            self.conversations.store(kept, question, answer)
        return kept


class AskCalls:
    """Answers questions."""

    def __init__(
        self, serving: Serving, readable: ReadableLibrary, conversations: ConversationCalls
    ) -> None:
        self._serving = serving
        self._readable = readable
        self._conversations = conversations

    @operation("POST ask", ASK, answer=AskAnswer)
    def ask(self, caller: Caller, body: Ask) -> RestAnswer:
        """Answer a question; with `stream` in server-sent events."""
        serving = self._serving
        name = serving.names.find(self._model(caller, body), caller)
        if body.conversation is not None and body.history:
            said = "A stored conversation has its own history."
            raise Refusal(400, said, param="history", code="invalid_field")
        kept = None
        if body.conversation not in (None, "new"):
            kept = self._conversations.begun(caller, body.conversation, body.question)
        messages = self._messages(body, kept, name.scope)
        setup = serving.names.set_up(name, caller)
        setup = replace(setup, reach=self._reach(caller, body, setup.reach))
        asked = Asked(caller, name.name, messages, with_instructions(setup, [body.instructions]))
        run = AnswerRun(
            asked, serving.answers, serving.workers, serving.links, is_streamed=body.stream
        )
        return RestAnswer(run, self._conversations, kept, begins_one=body.conversation == "new")

    def _model(self, caller: Caller, ask: Ask) -> str:
        if ask.collection_id is None:
            return ask.model or EVERYTHING
        if ask.model is not None:
            said = "A question is asked of a model or of a collection."
            raise Refusal(400, said, param="collection_id", code="invalid_field")
        return f"{COLLECTION}{self._readable.collection(caller, ask.collection_id).name}"

    def _reach(self, caller: Caller, ask: Ask, reach: SearchScope) -> SearchScope:
        """What is read: of what the model stands for, the part that the question names."""
        if ask.document_ids is None and ask.collection_ids is None:
            return reach
        if ask.document_ids is not None:
            reach = replace(reach, document_ids=tuple(ask.document_ids))
        if ask.collection_ids is not None:
            found = [self._readable.collection(caller, each) for each in ask.collection_ids]
            named = tuple(c.collection_id for c in found)
            if reach.collection_ids:
                named = tuple(each for each in named if each in reach.collection_ids)
            if not named:
                said = "The model reads other collections."
                raise Refusal(400, said, param="collection_ids", code="invalid_field")
            reach = replace(reach, collection_ids=named)
        return caller.reach(reach)

    def _messages(
        self, ask: Ask, kept: Conversation | None, scope: QuestionScope
    ) -> tuple[Message, ...]:
        if kept is not None:
            before = list(self._conversations.messages(kept.conversation_id))
        else:
            roles = {"user": Role.USER, "assistant": Role.ASSISTANT}
            before = [message_of(roles[turn.role], turn.content) for turn in ask.history]
        return (*before, message_of(Role.USER, ask.question, scope))
