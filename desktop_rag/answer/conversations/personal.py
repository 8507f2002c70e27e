"""What belongs to the person who asks, apart from their documents and chats."""

from dataclasses import dataclass

from desktop_rag.answer.conversations.answer_memory import Memory
from desktop_rag.answer.conversations.prompt_library import PromptLibrary
from desktop_rag.answer.conversations.rewrites import Rewrites


@dataclass(frozen=True, slots=True)
class Personal:
    """Their own answers, what is remembered for them, and the prompts they keep."""

    rewrites: Rewrites
    memory: Memory
    prompts: PromptLibrary
