"""The hooks of the shared library: a library on a server, alone or read beside the own one."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from desktop_rag.app import Services
    from desktop_rag.core.settings import Settings
    from desktop_rag.core.store_settings import StoreSettings
    from desktop_rag.store.contract.engine import EngineOpener
    from desktop_rag.window_app import WindowApp


def engines() -> "Mapping[str, Callable[[StoreSettings], EngineOpener]]":
    """The engine for PostgreSQL."""

    def opener(store: "StoreSettings") -> "EngineOpener":
        from desktop_rag.features.shared_library.services import opener_on_server

        return opener_on_server(store)

    return {"postgres": opener}


def follow(services: "Services", settings: "Settings") -> None:
    """Connect to the shared library of the settings, or leave it."""
    if settings.shared_library.is_set or services.in_use.is_joined:
        from desktop_rag.features.shared_library.services import SharedLibraryServices

        services.wing(SharedLibraryServices).apply(settings)


def join_window(app: "WindowApp") -> None:
    """The page of the shared library, and the line about it on the page of the library."""
    from desktop_rag.features.shared_library.ui.shared_library_page import join

    join(app)
