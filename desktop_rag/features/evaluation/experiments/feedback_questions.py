"""Questions that the person gave feedback on, from their chats. Worker threads.

Liked answers and the person's own versions are expected, disliked ones are wrong.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from desktop_rag.answer.chat import Chat
from desktop_rag.answer.conversations.history import History
from desktop_rag.core.conversation import Feedback, Message, MessageState, Role
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.features.evaluation.values.run import SetQuestion
from desktop_rag.features.evaluation.values.scoring import without_citations

_PRIVATE = 0o600

# Each text once, in order.
_Texts = dict[str, None]


@dataclass
class _Feedback:
    """The feedback on one question."""

    expected: _Texts = field(default_factory=dict[str, None])
    wrong: _Texts = field(default_factory=dict[str, None])
    sources: _Texts = field(default_factory=dict[str, None])


def questions_of_feedback(chat: Chat) -> list[SetQuestion]:
    """A question for each with feedback on an answer, the newest chats first.

    A follow-up is written as it was understood. The sources are those cited by expected answers,
    and the person's own versions. AppError without any feedback.
    """
    found: dict[str, _Feedback] = {}
    for question, answer in _answers(chat):
        if question and (answer.is_rewritten or answer.feedback is not Feedback.NONE):
            _add(found.setdefault(question, _Feedback()), answer, chat.history)
    if not found:
        hint = tr("Press 👍 or 👎 below answers, or write your own version.")
        raise AppError(tr("There is no feedback on answers yet."), hint)
    return [
        SetQuestion(
            str(number), text, tuple(each.expected), tuple(each.wrong), sources=tuple(each.sources)
        )
        for number, (text, each) in enumerate(found.items(), 1)
    ]


def write_questions(questions: Iterable[SetQuestion], file: Path) -> None:
    """Write a set as a new .jsonl file, readable by its owner only.

    AppError when the file exists or can't be written.
    """
    rows = (
        {"id": each.question_id, "question": each.text, "answer": each.expected,
         "wrong": each.wrong, "sources": each.sources}
        for each in questions
    )  # fmt: skip
    try:
        file.touch(_PRIVATE, exist_ok=False)
        with file.open("w", encoding="utf-8") as opened:
            opened.writelines(
                json.dumps({key: value for key, value in row.items() if value}, ensure_ascii=False)
                + "\n"
                for row in rows
            )
    except FileExistsError as exc:
        raise AppError(f"{file} exists.", "Choose another name; nothing was written.") from exc
    except OSError as exc:
        raise AppError(f"{file} can't be written.", f"{exc.strerror}.") from exc


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


def _add(row: _Feedback, answer: Message, history: History) -> None:
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
