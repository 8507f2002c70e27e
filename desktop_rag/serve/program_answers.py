"""Answers for other programs: as the chat window gives them, and stored nowhere.

Worker threads.
"""

from dataclasses import replace
from threading import Event

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import AnswerDone, MessageState
from desktop_rag.core.errors import AppError
from desktop_rag.serve.asked import Asked
from desktop_rag.serve.filters.filter_chain import FilterChain
from desktop_rag.serve.filters.request_filter import AnswerEvents
from desktop_rag.serve.first_words import FirstWords
from desktop_rag.serve.refusals import Refusal

# A refusal of the endpoint is not the client's fault.
_BAD_GATEWAY = 502


class Answers:
    """Answers questions, checks the claims and finds follow-up questions, as the filters let it."""

    def __init__(self, chat: Chat, chain: FilterChain) -> None:
        self._chat = chat
        self._chain = chain
        self._first_words = FirstWords()

    def events(self, asked: Asked, cancel: Event) -> AnswerEvents:
        """The events of an answer; after AnswerDone it may change: its claims, its follow-ups.

        Refuses a question that can't be asked. An endpoint's failure is in the last message.
        """
        try:
            prepared = self._chain.prepared(asked)
            yield from self._chain.passed(prepared, self._answered(prepared, cancel))
        except AppError as error:
            raise Refusal.of_error(error) from error
        except Refusal as refusal:
            asked.caller.exchange.refusal = refusal.message
            raise

    def _answered(self, asked: Asked, cancel: Event) -> AnswerEvents:
        with self._chat.attachments.held(asked.images) as attachments:
            *before, question = asked.messages
            messages = [*before, replace(question, attachments=attachments)]
            answered = self._chat.answer(messages, asked.setup, cancel=cancel)
            for event in self._first_words.searching(answered, cancel.is_set):
                yield event
                if isinstance(event, AnswerDone) and event.message.state is MessageState.DONE:
                    self._first_words.wait(cancel.is_set)
                    yield from self._chat.complete(
                        event.message, messages, asked.setup, cancel=cancel
                    )


def failure(done: AnswerDone) -> Refusal | None:
    """Why an answer failed, None when it didn't."""
    message = done.message
    if message.state is not MessageState.FAILED:
        return None
    said = " ".join(part for part in (message.error_title, message.error_hint) if part)
    return Refusal(_BAD_GATEWAY, said, code="answer_failed")
