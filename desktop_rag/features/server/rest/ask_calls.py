"""Questions for other programs, answered whole or in a stream, with conversations on request."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from desktop_rag.core.conversation import Conversation, Message, Role
from desktop_rag.core.question import SearchScope
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.answer_run import AnswerRun, FinishedRun
from desktop_rag.features.server.asked import Asked, message_of, with_instructions
from desktop_rag.features.server.model_names import COLLECTION, EVERYTHING
from desktop_rag.features.server.operations import ASK, Answered, Form, operation
from desktop_rag.features.server.readable_library import ReadableLibrary
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.responses import KEEP_ALIVE, event
from desktop_rag.features.server.rest.conversation_calls import ConversationCalls
from desktop_rag.features.server.rest.rest_fields import Id, Ids, Question
from desktop_rag.features.server.serving import Serving
from desktop_rag.features.server.wire_sources import annotations, extension


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


class Citation(Answered):
    """A [n] in the text, and the address of its source."""

    type: str
    url: str
    title: str
    start_index: int
    end_index: int


class AskAnswer(Answered):
    """An answer. `sources` and `claims` are as in `desktop_rag` of the chat completions."""

    answer_id: str
    conversation_id: str | None
    model: str
    text: str
    annotations: list[Citation]
    sources: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    follow_ups: list[str]
    matched: int | None
    read: int | None
    notes: str
    is_excerpts: bool
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
