"""Questions that the person gave feedback on, from their chats. Worker threads.

Liked answers and the person's own versions are expected, disliked ones are wrong.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.answer.conversations.history import History
from desktop_rag.core.conversation import Feedback, Message, MessageState, Role
from desktop_rag.features.evaluation.values.run import SetQuestion
from desktop_rag.features.evaluation.values.scoring import without_citations


@dataclass
class _Row:
    """The feedback on one question; dicts keep each text once, in order."""

    expected: dict[str, None] = field(default_factory=dict)
    wrong: dict[str, None] = field(default_factory=dict)
    sources: dict[str, None] = field(default_factory=dict)

    def to_json(self, number: int, question: str) -> dict[str, Any]:
        row: dict[str, Any] = {"id": str(number), "question": question}
        row |= {"answer": list(self.expected)} if self.expected else {}
        row |= {"wrong": list(self.wrong)} if self.wrong else {}
        return row | ({"sources": list(self.sources)} if self.sources else {})


def feedback_rows(chat: Chat) -> list[dict[str, Any]]:
    """A row for each question with feedback on an answer, the newest chats first.

    A follow-up is written as it was understood. The sources are those cited by expected answers,
    and the person's own versions.
    """
    rows: dict[str, _Row] = {}
    for question, answer in _answers(chat):
        if question and (answer.is_rewritten or answer.feedback is not Feedback.NONE):
            _add(rows.setdefault(question, _Row()), answer, chat.history)
    return [row.to_json(n, question) for n, (question, row) in enumerate(rows.items(), 1)]


def questions_of_feedback(chat: Chat) -> list[SetQuestion]:
    """The same as questions of a set."""
    return [
        SetQuestion(
            row["id"], row["question"], tuple(row.get("answer", ())), tuple(row.get("wrong", ())),
            sources=tuple(row.get("sources", ())),
        )
        for row in feedback_rows(chat)
    ]  # fmt: skip


def _answers(chat: Chat) -> Iterator[tuple[str, Message]]:
    """Every finished answer once, though chats are copied, with its question."""
    seen: set[str] = set()
    for conversation in chat.history.all():
        question = ""
        for message in chat.history.messages(conversation.conversation_id):
            if message.role is Role.USER:
                question = " ".join(message.text.split())
            elif (key := message.copy_of or message.message_id) not in seen:
                seen.add(key)
                asked = message.notes.asked if message.notes else ""
                if message.state is MessageState.DONE:
                    yield " ".join(asked.split()) or question, message


def _add(row: _Row, answer: Message, history: History) -> None:
    given = without_citations(answer.text).strip()
    is_liked = answer.feedback is Feedback.LIKED
    if answer.is_rewritten or is_liked:
        row.expected.update(_each(history.own_text(answer) if answer.is_rewritten else given))
        row.sources.update(_each(*(s.url or s.path for s in answer.sources if s.is_cited)))
    if own_file := history.own_file(answer):
        row.sources.update(_each(str(own_file)))
    if answer.feedback is Feedback.DISLIKED:
        row.wrong.update(_each(given))


def _each(*texts: str) -> Iterable[tuple[str, None]]:
    return ((text, None) for text in texts if text)
