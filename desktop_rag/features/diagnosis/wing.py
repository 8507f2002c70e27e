"""The hooks of the diagnosis: checks of everything the app depends on, and repairs."""

from typing import TYPE_CHECKING

from desktop_rag.registry import Verbs

if TYPE_CHECKING:
    from desktop_rag.core.library_events import Notice
    from desktop_rag.core.paths import Home
    from desktop_rag.window_app import WindowApp


def verbs() -> Verbs:
    """The verb that checks and repairs."""
    text = "Check everything the app depends on; reads only."
    return Verbs({"doctor": ("cli.doctor:add_doctor", text)})


def repair(home: "Home") -> "list[Notice]":
    """Repair the library if that was requested."""
    if not home.repair_request.exists():
        return []
    from desktop_rag.features.diagnosis.repair import repair_if_requested

    return repair_if_requested(home)


def join_window(app: "WindowApp") -> None:
    """The page of findings."""
    from desktop_rag.features.diagnosis.ui.in_window import join

    join(app)
