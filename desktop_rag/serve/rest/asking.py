"""Questions over the REST API: an answer whole or as it comes, stored on request.

The server's thread.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from desktop_rag.core.conversation import Conversation, Message, Role
from desktop_rag.core.question import SearchScope
from desktop_rag.core.question_scope import QuestionScope
from desktop_rag.serve.access.callers import Caller
from desktop_rag.serve.answer_run import AnswerRun, FinishedRun
from desktop_rag.serve.asked import Asked, message_of, with_instructions
from desktop_rag.serve.model_names import COLLECTION, EVERYTHING
from desktop_rag.serve.refusals import Refusal
from desktop_rag.serve.responses import KEEP_ALIVE, event
from desktop_rag.serve.rest.conversation_calls import ConversationCalls
from desktop_rag.serve.rest.readable_library import ReadableLibrary
from desktop_rag.serve.rest.rest_forms import Ask
from desktop_rag.serve.serving import Serving
from desktop_rag.serve.wire_sources import annotations, extension


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
        """`text` as it comes, then `answer`, or `error`; `end` is the last of a whole stream."""
        try:
            async with aclosing(self.run.pieces()) as pieces:
                async for piece in pieces:
                    if isinstance(piece, FinishedRun):
                        yield event(await self._told(piece), "answer")
                    else:
                        yield event({"text": piece.text}, "text") if piece.text else KEEP_ALIVE
            yield event({}, "end")
        except Refusal as refusal:
            yield event(refusal.to_json(), "error")

    async def _told(self, finished: FinishedRun) -> dict[str, Any]:
        message = finished.message
        kept = await self.run.workers.call(lambda: self._stored(message))
        told = extension(message, self.run.address)
        # The citations in the text as it is stored, which is the text here.
        found = [each for each in finished.citations if finished.text == message.text]
        return told | {
            "answer_id": message.message_id,
            "conversation_id": kept.conversation_id if kept else None,
            "model": self.run.asked.model,
            "annotations": annotations(found, self.run.address),
        }

    def _stored(self, answer: Message) -> Conversation | None:
        """The conversation that the question and its answer are in now, if they are to be stored.

        Only here, so that a question without an answer leaves nothing behind.
        """
        kept, question = self.kept, self.run.asked.messages[-1]
        if self.begins_one:
            kept = self.conversations.begun(self.run.asked.caller, "new", question.text)
        if kept is not None:
            self.conversations.store(kept, question, answer)
        return kept


class Asking:
    """Sets questions up."""

    def __init__(
        self, serving: Serving, readable: ReadableLibrary, conversations: ConversationCalls
    ) -> None:
        self._serving = serving
        self._readable = readable
        self._conversations = conversations

    def answer(self, caller: Caller, ask: Ask) -> RestAnswer:
        """The response to a question; worker threads. Refuses one that can't be asked."""
        serving = self._serving
        name = serving.names.find(self._model(caller, ask), caller)
        if ask.conversation is not None and ask.history:
            said = "A stored conversation has its own history."
            raise Refusal(400, said, param="history", code="invalid_field")
        kept = None
        if ask.conversation not in (None, "new"):
            kept = self._conversations.begun(caller, ask.conversation, ask.question)
        messages = self._messages(ask, kept, name.scope)
        setup = serving.names.set_up(name, caller)
        setup = replace(setup, reach=self._reach(caller, ask, setup.reach))
        asked = Asked(caller, name.name, messages, with_instructions(setup, [ask.instructions]))
        run = AnswerRun(
            asked, serving.answers, serving.workers, serving.links, is_streamed=ask.stream
        )
        return RestAnswer(run, self._conversations, kept, begins_one=ask.conversation == "new")

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
