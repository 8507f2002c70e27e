"""The models that the server's computer runs itself, for admins. Worker threads.

They belong to another wing, whose verbs do the work: an installation without it has none of them.
"""

from collections.abc import Callable
from typing import Any

from desktop_rag.features.server.access.callers import Caller
from desktop_rag.features.server.refusals import Refusal

# A verb of the command line in this process, by its name; None for one that is not there.
VerbOf = Callable[[str], Callable[[dict[str, Any]], Any] | None]


class ModelCalls:
    """Lists, fetches, uses and removes models. AppError for what can't be done."""

    def __init__(self, verb_of: VerbOf) -> None:
        self._verb_of = verb_of

    def all(self, caller: Caller) -> dict[str, Any]:
        """The models on the computer, without their places, those to fetch, and the downloads."""
        listed = self._run(caller, "model_list")
        return listed | {"models": [_without_place(model) for model in listed["models"]]}

    def fetch(self, caller: Caller, name: str) -> tuple[int, dict[str, Any]]:
        """Begin to fetch a model of the list, or go on; `all` tells how far it is."""
        return 202, self._run(caller, "model_fetch", name=name)

    def use(self, caller: Caller, name: str) -> dict[str, Any]:
        """Have a model answer from now on."""
        return _without_place(self._run(caller, "model_use", name=name))

    def remove(self, caller: Caller, name: str) -> dict[str, Any]:
        """Take a model off the list; a fetched file is deleted."""
        return {"deleted": [self._run(caller, "model_remove", name=name)["name"]]}

    def _run(self, caller: Caller, name: str, /, **asked: str) -> Any:  # noqa: ANN401  JSON
        if caller.is_limited:
            said = "Models are for tokens that may read all collections."
            raise Refusal(403, said, code="insufficient_scope")
        if not (verb := self._verb_of(name)):
            raise Refusal(404, "This server runs no models itself.", code="not_found")
        return verb(asked)


def _without_place(model: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in model.items() if name != "path"}
