"""The hooks of backups: daily snapshots, backups in files, and copies of a library."""

from typing import TYPE_CHECKING

from desktop_rag.registry import Verbs

if TYPE_CHECKING:
    from collections.abc import Callable

    from desktop_rag.app import Services
    from desktop_rag.core.library_events import Notice
    from desktop_rag.core.paths import Home
    from desktop_rag.features.backup.ui.backup_page import BackupPage
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
    """The page of backups, which is imported when it is first shown, and what an import brings."""
    from desktop_rag.core.language.translation import tr
    from desktop_rag.features.backup.manifest import BackupMerged
    from desktop_rag.ui.settings.settings_parts import CARE, Part, Setting

    def page() -> "BackupPage":
        from desktop_rag.features.backup.services import BackupServices
        from desktop_rag.features.backup.ui.backup_page import BackupPage

        own = app.services.wing(BackupServices)
        return BackupPage(app.bridge, own.backups, own.snapshots)

    def apply(merged: BackupMerged) -> None:
        """On the thread that imports."""
        if merged.settings:
            app.services.library.apply(merged.settings)
            app.services.chat.apply(merged.settings)

    def show(merged: BackupMerged) -> None:
        app.window.refresh_chats()
        if merged.settings:
            app.window.show_settings(merged.settings)

    words = tr("save, copy, move to another computer, export, import, restore, snapshot")
    settings = (
        Setting(
            tr("Last snapshot"), tr("restore, undo, go back, yesterday, lost chats"),
            tr("Daily snapshots"),
        ),
        Setting(tr("With the index"), tr("faster, larger file"), tr("Back up to a file")),
        Setting(
            tr("Everything"), tr("save chats, export all, another computer, move, transfer"),
            tr("Back up to a file"),
        ),
        Setting(
            tr("One collection"), tr("share, export a part, give away"), tr("Back up to a file")
        ),
        Setting(
            tr("From a file"), tr("restore, load, another computer, merge, transfer"), tr("Import")
        ),
        Setting(tr("Latest"), tr("done, failed, cancel a backup"), tr("Progress and result")),
    )  # fmt: skip
    app.window.pages.add_settings_part(Part(CARE, tr("Backup"), page, settings, words))
    app.services.changes.hear(BackupMerged, apply)
    app.bridge.hear(BackupMerged, show)
