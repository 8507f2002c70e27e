"""The hooks of models on this computer: the app runs one itself, without another program."""

from typing import TYPE_CHECKING

from desktop_rag.registry import Verbs

if TYPE_CHECKING:
    from desktop_rag.core.changes import Changes
    from desktop_rag.core.paths import Home
    from desktop_rag.models.endpoints.client.allowances import ProfileBook
    from desktop_rag.models.ports import OwnServer
    from desktop_rag.window_app import WindowApp


def verbs() -> Verbs:
    """Models: list, add, get, use and remove them."""
    text = "List, add, fetch, use and remove models that run on this computer."
    return Verbs(
        {"model": ("cli.model_verbs:add_models", text)},
        {
            "cli.model_verbs": (
                "model_list",
                "model_add",
                "model_get",
                "model_fetch",
                "model_use",
                "model_remove",
            )
        },
    )


def own_server(home: "Home", changes: "Changes", profiles: "ProfileBook") -> "OwnServer":
    """The server of the chosen models. No process is started before the first request."""
    from desktop_rag.features.local_model.model_list import ModelList
    from desktop_rag.features.local_model.model_server import ModelServer

    return ModelServer(ModelList(home.local_model_list), changes, profiles)


def join_window(app: "WindowApp") -> None:
    """A model of this computer among the ways to written answers."""
    from desktop_rag.features.local_model.ui.in_window import join

    join(app)
