"""Questions of the person as messages. Pure; any thread."""

import time
import uuid
from collections.abc import Sequence

from desktop_rag.core.attachment import Attachment
from desktop_rag.core.conversation import Message, Role
from desktop_rag.core.errors import AppError
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope


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
