"""Assistants, endpoints and models, for programs that look after the server. Worker threads.

Models belong to another wing, whose verbs do the work: an installation without it has none of them.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from desktop_rag.core.assistant import LONGEST_INSTRUCTIONS, LONGEST_NAME, Assistant
from desktop_rag.core.errors import AppError
from desktop_rag.core.records import LONGEST_LABEL
from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.filters.filter_chain import own_filters
from desktop_rag.features.server.operations import (
    ADMIN,
    Answered,
    DeletedAnswer,
    Form,
    Id,
    Name,
    operation,
)
from desktop_rag.features.server.readable_library import Calls, need_every_collection
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.serving import NEEDS_RESTART
from desktop_rag.kept_endpoints import KeptEndpoints, address_of
from desktop_rag.settings_changes import settings_listed, with_setting

AssistantName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, pattern=r"\S")]
Instructions = Annotated[str, Field(max_length=LONGEST_INSTRUCTIONS)]
Endpoint = Annotated[
    str,
    Field(
        max_length=2000,
        description='The address of an endpoint of the settings; "" is the one in use there.',
    ),
]
Model = Annotated[
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


class AsVerb(Answered):
    """What the verb of the command line tells with `--json`."""

    model_config = ConfigDict(extra="allow")


class AssistantFields(Form):
    """What is said of an assistant beside its name."""

    instructions: Instructions | None = None
    endpoint: Endpoint | None = None
    model: Model | None = None
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


class AssistantCalls(Calls):
    """Lists, makes, changes and deletes assistants."""

    @operation("GET assistants", ADMIN)
    def list_assistants(self, caller: Caller) -> AssistantList:
        """List the assistants."""
        need_every_collection(caller)
        return AssistantList(assistants=[_shown(each) for each in self._chat.assistants.all()])

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
        self._chat.assistants.delete(self._known(caller, assistant_id).assistant_id)
        return DeletedAnswer(deleted=[assistant_id])

    def _known(self, caller: Caller, assistant_id: str) -> Assistant:
        need_every_collection(caller)
        found = self._chat.assistants.get(assistant_id)
        if found is None:
            raise Refusal(404, "There is no such assistant.", code="no_such_assistant")
        return found

    def _kept(self, assistant: Assistant, *, is_new: bool) -> Assistant:
        try:
            keep = self._chat.assistants.add if is_new else self._chat.assistants.change
            return keep(assistant)
        except AppError as error:
            others = [
                a for a in self._chat.assistants.all() if a.assistant_id != assistant.assistant_id
            ]
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
        if is_folder and rails not in {each.rails for each in self._chat.assistants.all()}:
            said = "No assistant uses rails from this folder. Choose it in the app first."
            raise Refusal(400, said, param="rails", code="unknown_rails")


def _shown(assistant: Assistant) -> AssistantAnswer:
    return AssistantAnswer.of(
        assistant,
        id=assistant.assistant_id,
        endpoint=assistant.base_url,
        collections=list(assistant.collection_ids),
    )


Named = Annotated[
    str, Field(min_length=1, max_length=2000, description="A name or address, or a part of one.")
]


class NewEndpoint(Form):
    """An endpoint to be added, or to be changed if there is one at its address."""

    endpoint: Annotated[
        str, Field(min_length=1, max_length=2000, description="A known provider, or an address.")
    ]
    model: Model = ""
    name: Annotated[str, Field(max_length=LONGEST_LABEL)] = ""
    key: Annotated[
        str, Field(max_length=10_000, description="Kept in the keyring, told nobody.")
    ] = ""
    is_used: bool = False


class EndpointQuery(Form):
    """An endpoint; `forgets_key` also removes its key."""

    endpoint: Named
    forgets_key: bool = False


class TestedEndpoint(Form):
    """An endpoint to be asked; the one in use if empty."""

    endpoint: Annotated[str, Field(max_length=2000)] = ""


class EndpointList(Answered):
    """The endpoints of the settings, without their keys."""

    endpoints: list[AsVerb]


class EndpointCalls:
    """Adds, tests, uses and removes endpoints. AppError for what can't be done."""

    def __init__(self, endpoints: KeptEndpoints) -> None:
        self._endpoints = endpoints

    @operation("GET endpoints", ADMIN)
    def list_endpoints(self, caller: Caller) -> EndpointList:
        """List the endpoints with their models, and which one answers."""
        need_every_collection(caller)
        return EndpointList.model_validate({"endpoints": self._endpoints.rows()})

    @operation("POST endpoints", ADMIN, 201)
    def add_endpoint(self, caller: Caller, body: NewEndpoint) -> AsVerb:
        """Add an endpoint, change the one at its address, or have it answer from now on."""
        need_every_collection(caller)
        said = body.model_dump(exclude={"endpoint"})
        return AsVerb(**self._endpoints.add(address_of(body.endpoint), **said))

    @operation("POST endpoints/test", ADMIN)
    def test_endpoint(self, caller: Caller, body: TestedEndpoint) -> AsVerb:
        """Ask an endpoint for its models and the first words of an answer."""
        need_every_collection(caller)
        return AsVerb(**self._endpoints.test(body.endpoint))

    @operation("DELETE endpoints", ADMIN)
    def remove_endpoint(self, caller: Caller, query: EndpointQuery) -> DeletedAnswer:
        """Remove an endpoint from the settings."""
        need_every_collection(caller)
        gone = self._endpoints.remove(query.endpoint, forgets_key=query.forgets_key)
        return DeletedAnswer(deleted=[gone["base_url"]])


class SettingQuery(Form):
    """Which settings are listed."""

    words: Annotated[str, Field(max_length=200, description="Only those with these words.")] = ""


class SettingChange(Form):
    """Another value of a setting."""

    value: Annotated[
        bool | int | float | str,
        Field(description="On or off, a number, a text or one of its choices."),
    ]


class SettingList(Answered):
    """Settings with their values, names and choices."""

    settings: list[AsVerb]


OF_SOCKET = frozenset(f"server.{name}" for name in (*NEEDS_RESTART, "is_on"))


class SettingCalls:
    """Lists and changes the settings by their keys. AppError for a wrong key or value."""

    def __init__(self, endpoints: KeptEndpoints) -> None:
        self._endpoints = endpoints

    @operation("GET settings", ADMIN)
    def list_settings(self, caller: Caller, query: SettingQuery) -> SettingList:
        """List the settings, or those that have all of some words."""
        need_every_collection(caller)
        rows = settings_listed(self._endpoints.models.settings, query.words)
        return SettingList.model_validate({"settings": rows})

    @operation("PATCH settings/{key}", ADMIN)
    def change_setting(self, caller: Caller, key: Name, body: SettingChange) -> AsVerb:
        """Change a setting; it is used at once, if its row says nothing else."""
        need_every_collection(caller)
        if key in OF_SOCKET:
            # The server would end, and wait for this request to do so.
            said = f"“{key}” is changed where the server is started."
            raise Refusal(400, said, param="key", code="needs_restart")
        # One that can't be used would end it too.
        own_filters(with_setting(self._endpoints.models.settings, key, body.value).server.filters)
        changed = self._endpoints.changes.change(lambda now: with_setting(now, key, body.value))
        [row] = (row for row in settings_listed(changed) if row["key"] == key)
        return AsVerb(**row)


# A verb of the command line in this process, by its name; None for one that is not there.
VerbOf = Callable[[str], Callable[[dict[str, Any]], Any] | None]


class ModelName(Form):
    """The name of a model, or a part of it."""

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class LocalModels(Answered):
    """The models that the server's computer runs itself, those to fetch, and the downloads."""

    models: list[AsVerb]
    offered: list[AsVerb]
    downloads: list[AsVerb]


class ModelCalls:
    """Lists, fetches, uses and removes models. AppError for what can't be done."""

    def __init__(self, verb_of: VerbOf) -> None:
        self._verb_of = verb_of

    @operation("GET models", ADMIN)
    def list_models(self, caller: Caller) -> LocalModels:
        """List the models that the server's computer runs, and those to fetch."""
        listed = self._run(caller, "model_list")
        models = [_without_place(model) for model in listed["models"]]
        return LocalModels.model_validate(listed | {"models": models})

    @operation("POST models", ADMIN, 202)
    def fetch_model(self, caller: Caller, body: ModelName) -> AsVerb:
        """Fetch a model of the list, or go on."""
        return AsVerb.model_validate(self._run(caller, "model_fetch", name=body.name))

    @operation("PUT models/used", ADMIN)
    def use_model(self, caller: Caller, body: ModelName) -> AsVerb:
        """Have a model answer from now on."""
        used = self._run(caller, "model_use", name=body.name)
        return AsVerb.model_validate(_without_place(used))

    @operation("DELETE models/{name}", ADMIN)
    def remove_model(self, caller: Caller, name: Name) -> DeletedAnswer:
        """Take a model off the list; a fetched one is deleted."""
        return DeletedAnswer(deleted=[self._run(caller, "model_remove", name=name)["name"]])

    def _run(self, caller: Caller, verb_name: str, **asked: str) -> Any:  # noqa: ANN401  JSON
        if caller.is_limited:
            said = "Models are for tokens that may read all collections."
            raise Refusal(403, said, code="insufficient_scope")
        if not (verb := self._verb_of(verb_name)):
            raise Refusal(404, "This server runs no models itself.", code="not_found")
        return verb(asked)


def _without_place(model: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in model.items() if name != "path"}
