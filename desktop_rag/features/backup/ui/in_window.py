"""Backups in the window: their page, and what an import changes there. Qt thread."""

from functools import partial
from typing import TYPE_CHECKING

from desktop_rag.core.language.translation import tr
from desktop_rag.features.backup.manifest import BackupMerged
from desktop_rag.ui.settings.settings_parts import CARE, Part, Setting

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from desktop_rag.window_app import WindowApp

_WORDS = tr("save, copy, move to another computer, export, import, restore, snapshot")
_SETTINGS = (
    Setting(
        tr("Last snapshot"), tr("restore, undo, go back, yesterday, lost chats"),
        tr("Daily snapshots"),
    ),
    Setting(tr("With the index"), tr("faster, larger file"), tr("Back up to a file")),
    Setting(
        tr("Everything"), tr("save chats, export all, another computer, move, transfer"),
        tr("Back up to a file"),
    ),
    Setting(tr("One collection"), tr("share, export a part, give away"), tr("Back up to a file")),
    Setting(
        tr("From a file"), tr("restore, load, another computer, merge, transfer"), tr("Import")
    ),
    Setting(tr("Latest"), tr("done, failed, cancel a backup"), tr("Progress and result")),
)  # fmt: skip


def join(app: "WindowApp") -> None:
    """Add the page, which is imported when it is first shown, and show what is imported."""

    def page() -> "QWidget":
        from desktop_rag.features.backup.services import BackupServices
        from desktop_rag.features.backup.ui.backup_page import BackupPage

        own = app.services.wing(BackupServices)
        return BackupPage(app.bridge, own.backups, own.snapshots)

    app.window.pages.add_settings_part(Part(CARE, tr("Backup"), page, _SETTINGS, _WORDS))
    app.services.changes.hear(BackupMerged, partial(_apply, app))
    app.bridge.hear(BackupMerged, partial(_show, app))


def _apply(app: "WindowApp", merged: BackupMerged) -> None:
    """On the thread that imports."""
    if merged.settings:
        app.services.library.apply(merged.settings)
        app.services.chat.apply(merged.settings)


def _show(app: "WindowApp", merged: BackupMerged) -> None:
    app.window.refresh_chats()
    if merged.settings:
        app.window.show_settings(merged.settings)
