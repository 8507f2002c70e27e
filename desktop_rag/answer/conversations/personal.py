"""The person's own things, apart from documents and chats."""

from dataclasses import dataclass

from desktop_rag.answer.conversations.answer_memory import Memory
from desktop_rag.answer.conversations.prompt_library import PromptLibrary
from desktop_rag.answer.conversations.rewrites import Rewrites


@dataclass(frozen=True, slots=True)
class Personal:
    """The person's own answers, the memory of earlier ones, and the saved prompts."""

    rewrites: Rewrites
    memory: Memory
    prompts: PromptLibrary
