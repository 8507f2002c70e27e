"""The models that the server's computer runs itself, for admins. Worker threads.

They belong to another wing, whose verbs do the work: an installation without it has none of them.
"""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.operations import ADMIN, Answered, Form, operation
from desktop_rag.features.server.refusals import Refusal
from desktop_rag.features.server.rest.rest_fields import DeletedAnswer, Name

# A verb of the command line in this process, by its name; None for one that is not there.
VerbOf = Callable[[str], Callable[[dict[str, Any]], Any] | None]


class ModelName(Form):
    """The name of a model, or a part of it."""

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class LocalModelAnswer(Answered):
    """A model on the server's computer; speeds in tokens a second, 0 before it was first loaded."""

    name: str
    program: str
    size_gb: float
    quantisation: str
    context_tokens: int
    licence: str
    fits: bool
    is_fetched: bool
    is_used: bool
    read_per_s: float
    written_per_s: float
    device: str


class OfferedModelAnswer(Answered):
    """A model that can be fetched; `reason` says why it is the one for this computer."""

    name: str
    size_gb: float
    memory_gb: float
    licence: str
    languages: list[str]
    more_languages: int
    calls_tools: bool
    makes_things_up: bool
    reason: str


class DownloadAnswer(Answered):
    """A download of a model; title and hint say why it failed."""

    name: str
    state: str
    done_bytes: int
    total_bytes: int
    title: str
    hint: str


class LocalModels(Answered):
    """The models that the server's computer runs itself, those to fetch, and the downloads."""

    models: list[LocalModelAnswer]
    offered: list[OfferedModelAnswer]
    downloads: list[DownloadAnswer]


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
    def fetch_model(self, caller: Caller, body: ModelName) -> DownloadAnswer:
        """Fetch a model of the list, or go on."""
        return DownloadAnswer.model_validate(self._run(caller, "model_fetch", name=body.name))

    @operation("PUT models/used", ADMIN)
    def use_model(self, caller: Caller, body: ModelName) -> LocalModelAnswer:
        """Have a model answer from now on."""
        used = self._run(caller, "model_use", name=body.name)
        return LocalModelAnswer.model_validate(_without_place(used))

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
