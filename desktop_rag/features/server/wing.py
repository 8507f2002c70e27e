"""The hooks of the local server: other programs ask the library over HTTP and MCP."""

from typing import TYPE_CHECKING

from desktop_rag.registry import Verbs

if TYPE_CHECKING:
    from desktop_rag.app import Services
    from desktop_rag.core.settings import Settings
    from desktop_rag.window_app import WindowApp


def verbs() -> Verbs:
    """The server, its tokens and its readers."""
    access = "Let another application decide which of its users may read a collection."
    mcp = "Serve the library to a program that starts this and speaks MCP."
    serve = "Let other programs ask the library, without a window."
    return Verbs(
        {
            "serve": ("cli.server_verbs:add_serve", serve),
            "token": (
                "cli.server_verbs:add_token", "Make, list and revoke tokens of other programs.",
            ),
            "access": ("cli.server_verbs:add_access", access),
            "mcp": ("cli.mcp_verb:add_mcp", mcp),
        },
    )  # fmt: skip


def follow(services: "Services", settings: "Settings") -> None:
    """Turn the server on or off, or change it."""
    if (services.is_running and settings.server.is_on) or services.has_opened("server"):
        from desktop_rag.features.server.services import ServerSwitch

        services.wing(ServerSwitch).follow(settings)


def join_window(app: "WindowApp") -> None:
    """The page of other programs."""
    from desktop_rag.features.server.ui.in_window import join

    join(app)
