"""The hooks of backups: daily snapshots, backups in files, and copies of a library."""

from typing import TYPE_CHECKING

from desktop_rag.registry import Verbs

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop_rag.app import Services
    from desktop_rag.core.library_events import Notice
    from desktop_rag.core.paths import Home
    from desktop_rag.store.contract.engine import Engine
    from desktop_rag.window_app import WindowApp


def verbs() -> Verbs:
    """Backups, and the verb that copies a library."""
    copy = "Copy the library into another engine or home, and compare."
    backup = "Back up and move chats, settings and folders."
    return Verbs(
        {
            "copy": ("cli.copy_verb:add_copy", copy),
            "backup": ("cli.backup_verbs:add_backups", backup),
        }
    )


def restore_lost(home: "Home", engine: "Engine") -> "list[Notice]":
    """Fill a library that never had anything from the newest snapshot."""
    if engine.precious.change_number():
        return []
    from desktop_rag.features.backup.services import made_of

    _, snapshots = made_of(home, engine)
    return snapshots.restore_lost()


def keep(services: "Services", notify: "Callable[[Notice], None]") -> None:
    """Make a snapshot on each day with a change."""
    from desktop_rag.features.backup.services import BackupServices

    services.wing(BackupServices).snapshots.start(notify)


def join_window(app: "WindowApp") -> None:
    """The page of backups."""
    from desktop_rag.features.backup.ui.in_window import join

    join(app)
