"""Assistants for programs that look after the server. Worker threads."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from desktop_rag.answer.chat import Chat
from desktop_rag.core.assistant import LONGEST_INSTRUCTIONS, LONGEST_NAME, Assistant
from desktop_rag.core.errors import AppError
from desktop_rag.core.records import LONGEST_LABEL
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.operations import ADMIN, Answered, Form, operation
from desktop_rag.features.server.readable_library import ReadableLibrary, need_every_collection
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.rest.rest_fields import DeletedAnswer, Id

AssistantName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, pattern=r"\S")]
Instructions = Annotated[str, Field(max_length=LONGEST_INSTRUCTIONS)]
Endpoint = Annotated[
    str,
    Field(
        max_length=2000,
        description='The address of an endpoint of the settings; "" is the one in use there.',
    ),
]
ModelName = Annotated[
    str, Field(max_length=LONGEST_LABEL, description="Its model; that of the endpoint if empty.")
]
Collections = Annotated[
    list[Id], Field(max_length=100, description="What it asks; none for all documents.")
]
Filters = Annotated[
    str, Field(max_length=2000, description="Filters of every question: `type:pdf after:2024`.")
]
Rails = Annotated[
    str,
    Field(
        max_length=1000,
        description="A bundled set, or a folder that another assistant uses already.",
    ),
]


class AssistantFields(Form):
    """What is said of an assistant beside its name."""

    instructions: Instructions | None = None
    endpoint: Endpoint | None = None
    model: ModelName | None = None
    collections: Collections | None = None
    filters: Filters | None = None
    rails: Rails | None = None
    is_open: bool | None = None
    uses_memory: bool | None = None


class NewAssistant(AssistantFields):
    """An assistant to be made."""

    name: AssistantName


class AssistantChange(AssistantFields):
    """What is to change; what is left out stays."""

    name: AssistantName | None = None


class AssistantAnswer(Answered):
    """An assistant: ids of collections; endpoint and model are empty for those of the settings."""

    id: str
    name: str
    instructions: str
    endpoint: str
    model: str
    collections: list[str]
    filters: str
    rails: str
    is_open: bool
    uses_memory: bool


class AssistantList(Answered):
    """All assistants."""

    assistants: list[AssistantAnswer]


class AssistantCalls:
    """Lists, makes, changes and deletes assistants."""

    def __init__(self, chat: Chat, readable: ReadableLibrary) -> None:
        self._chat = chat
        self._assistants = chat.assistants
        self._readable = readable

    @operation("GET assistants", ADMIN)
    def list_assistants(self, caller: Caller) -> AssistantList:
        """List the assistants."""
        need_every_collection(caller)
        return AssistantList(assistants=[_shown(each) for each in self._assistants.all()])

    @operation("POST assistants", ADMIN, 201)
    def make_assistant(self, caller: Caller, body: NewAssistant) -> AssistantAnswer:
        """Make an assistant."""
        need_every_collection(caller)
        made = self._changed(caller, Assistant("", body.name), body)
        return _shown(self._kept(made, is_new=True))

    @operation("PATCH assistants/{assistant_id}", ADMIN)
    def change_assistant(
        self, caller: Caller, assistant_id: Id, body: AssistantChange
    ) -> AssistantAnswer:
        """Change an assistant."""
        changed = self._changed(caller, self._known(caller, assistant_id), body)
        return _shown(self._kept(changed, is_new=False))

    @operation("DELETE assistants/{assistant_id}", ADMIN)
    def delete_assistant(self, caller: Caller, assistant_id: Id) -> DeletedAnswer:
        """Delete an assistant.

        Its chats stay, and so do its documents.
        """
        self._assistants.delete(self._known(caller, assistant_id).assistant_id)
        return DeletedAnswer(deleted=[assistant_id])

    def _known(self, caller: Caller, assistant_id: str) -> Assistant:
        need_every_collection(caller)
        found = self._assistants.get(assistant_id)
        if found is None:
            raise Refusal(404, "There is no such assistant.", code="no_such_assistant")
        return found

    def _kept(self, assistant: Assistant, *, is_new: bool) -> Assistant:
        try:
            keep = self._assistants.add if is_new else self._assistants.change
            return keep(assistant)
        except AppError as error:
            others = [a for a in self._assistants.all() if a.assistant_id != assistant.assistant_id]
            is_taken = assistant.name.casefold() in {other.name.casefold() for other in others}
            status, code = (409, "name_taken") if is_taken else (400, "not_valid")
            raise Refusal.of_error(error, status, code=code) from error

    def _changed(self, caller: Caller, assistant: Assistant, body: AssistantFields) -> Assistant:
        given = body.model_dump(exclude_none=True)
        collections = given.pop("collections", None)
        if collections is not None:
            for collection_id in collections:
                self._readable.collection(caller, collection_id)
            own = assistant.own_collection_id
            given["collection_ids"] = tuple(dict.fromkeys([*collections, *([own] if own else [])]))
        if "endpoint" in given or "model" in given:
            before = assistant.base_url
            given |= self._model(given.pop("endpoint", before), given.get("model", ""))
        self._check_rails(given.get("rails", ""))
        return replace(assistant, **given)

    def _model(self, address: str, model: str) -> dict[str, str]:
        """The endpoint, which has to be one of the settings: others would get what is asked."""
        settings = self._chat.models.settings
        if not address and not model:
            return {"base_url": "", "model": ""}
        address = address or settings.endpoint.base_url
        known = next((e for e in settings.endpoints if e.base_url == address), None)
        if known is None:
            said = "No endpoint of the settings has this address."
            raise Refusal(400, said, param="endpoint", code="unknown_endpoint")
        return {"base_url": address, "model": model or known.model}

    def _check_rails(self, rails: str) -> None:
        """Refuses a folder that no assistant uses: a program must not open any folder it likes."""
        is_folder = "/" in rails or "\\" in rails
        if is_folder and rails not in {each.rails for each in self._assistants.all()}:
            said = "No assistant uses rails from this folder. Choose it in the app first."
            raise Refusal(400, said, param="rails", code="unknown_rails")


def _shown(assistant: Assistant) -> AssistantAnswer:
    return AssistantAnswer.of(
        assistant,
        id=assistant.assistant_id,
        endpoint=assistant.base_url,
        collections=list(assistant.collection_ids),
    )
