"""A question from another program, ready to be answered. Frozen values and pure functions."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.conversation import Image, Message, Role
from desktop_rag.core.question import Setup
from desktop_rag.core.question_scope import ALL_DOCUMENTS, QuestionScope
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.refusals import Refusal

# The window allows an assistant less, but programs that write code send long ones.
_LONGEST_INSTRUCTIONS = 32_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A conversation ending with a question and its images; the setup is limited for the caller."""

    caller: Caller
    model: str
    messages: tuple[Message, ...]
    setup: Setup
    images: tuple[Image, ...] = ()

    @property
    def question(self) -> str:
        """The text of the last message."""
        return self.messages[-1].text


def message_of(role: Role, text: str, scope: QuestionScope = ALL_DOCUMENTS) -> Message:
    """A message of a conversation that is not stored."""
    return Message(uuid.uuid4().hex, "", role, text, time.time(), scope=scope)


def with_instructions(setup: Setup, texts: Sequence[str]) -> Setup:
    """The setup with the caller's instructions too; the app's own rules take precedence."""
    given = [text.strip() for text in texts if text.strip()]
    if not given:
        return setup
    assistant = setup.assistant or Assistant("", "", uses_memory=False)
    whole = "\n\n".join([assistant.instructions, *given] if assistant.instructions else given)
    if len(whole) > _LONGEST_INSTRUCTIONS:
        said = f"The instructions are longer than {_LONGEST_INSTRUCTIONS:,} characters."
        raise Refusal(400, said)
    return replace(setup, assistant=replace(assistant, instructions=whole))
