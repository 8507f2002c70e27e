"""Version, licence, data folder, and what the app records. Qt thread."""

from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QWidget

from desktop_rag.core.language.translation import tr
from desktop_rag.core.paths import Home
from desktop_rag.core.settings import ActivitySettings
from desktop_rag.ui.documents.file_opener import FileOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.widgets.controls import ElidedLabel, PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import SettingsSection, note, show_checked

LICENCE = tr("Apache License 2.0")
_ACTIVITY_NOTE = tr(
    "Questions by their chat, requests to endpoints, changes of the index and errors, on this"
    " computer only, for 90 days at most. No text of documents, no answers, no keys. See the page"
    " Activity."
)


class AboutSection(SettingsSection):
    """Shows what is installed and where its data is."""

    def __init__(self, bridge: Bridge, home: Home, parent: QWidget | None = None) -> None:
        super().__init__(tr("About"), parent=parent)
        self._home = home
        self._opener = FileOpener(bridge, self)
        self._version = PlainLabel(selectable=True)
        folder = ElidedLabel(str(home.root), mode=Qt.TextElideMode.ElideMiddle)
        self._open_home = TextButton(tr("Open"))
        self._open_home.setAccessibleDescription(tr("Open the app's data folder"))
        self.add_row(tr("Version"), self._version)
        self.add_row(tr("Licence"), PlainLabel(LICENCE, selectable=True))
        self.add_row(tr("Data folder"), folder, self._open_home, is_wide=True)
        self.add_note(
            note(
                tr("Index, chats, settings and log, all on this computer. API keys are not in it.")
            )
        )
        self._open_home.clicked.connect(self._on_open_home_clicked)
        bridge.run(self, _version, self._version.setText)

    @Slot()
    def _on_open_home_clicked(self) -> None:
        self._opener.open(self._home.root)


class ActivityForm(SettingsSection):
    """Edits ActivitySettings; `changed` carries the new value."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Activity"), parent=parent)
        self._records = QCheckBox(tr("Record what the app does"))
        self.add_row(tr("Event log"), self._records)
        self.add_note(note(_ACTIVITY_NOTE))
        self._records.toggled.connect(self._on_toggled)

    def show_activity(self, activity: ActivitySettings) -> None:
        """Show these settings without emitting `changed`."""
        show_checked(self._records, activity.is_recorded)

    @Slot(bool)
    def _on_toggled(self, is_recorded: bool) -> None:
        self.changed.emit(ActivitySettings(is_recorded))


def _version() -> str:
    """The installed version. It reads a file, so it runs on a worker thread."""
    try:
        return version("desktop-rag")
    except PackageNotFoundError:
        return tr("not installed (running from source)")
