"""The saved prompts for other programs. JSON values out; worker threads."""

from typing import Any

from desktop_rag.answer.chat import Chat
from desktop_rag.core.errors import AppError
from desktop_rag.core.saved_prompts import SavedPrompt, plain_name
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.rest.readable_library import need_every_collection


class PromptCalls:
    """Lists, saves and deletes prompts, which are in no collection."""

    def __init__(self, chat: Chat) -> None:
        self._prompts = chat.prompts

    def all(self, caller: Caller) -> dict[str, Any]:
        """The prompts by name; none for a token of some collections."""
        saved = [] if caller.is_limited else self._prompts.all()
        return {"prompts": [_json(prompt) for prompt in saved]}

    def put(self, caller: Caller, name: str, text: str) -> dict[str, Any]:
        """Save a prompt, in place of one of this name."""
        need_every_collection(caller)
        plain = plain_name(name)
        try:
            return _json(self._prompts.save(SavedPrompt(plain, text), former=plain))
        except AppError as error:
            raise Refusal.of_error(error) from error

    def remove(self, caller: Caller, name: str) -> dict[str, Any]:
        """Delete a prompt."""
        need_every_collection(caller)
        plain = plain_name(name)
        if not plain or all(prompt.name != plain for prompt in self._prompts.all()):
            raise Refusal(404, "There is no such prompt.", code="no_such_prompt")
        self._prompts.delete(plain)
        return {"deleted": [plain]}


def _json(prompt: SavedPrompt) -> dict[str, Any]:
    return {"name": prompt.name, "text": prompt.text}
