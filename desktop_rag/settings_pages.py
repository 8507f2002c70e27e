"""What the core adds to the settings, each part built when it is first shown. Qt thread.

Imported when the settings are first shown, so that neither the window nor the quick ask waits for
the modules of all parts.
"""

import threading
from collections.abc import Iterator
from functools import partial

from desktop_rag.app import Services
from desktop_rag.core.conversation import Conversation
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.diagnosis.diagnosis import findings
from desktop_rag.diagnosis.finding import Finding, RepairRequest
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.settings.settings_parts import CARE, PRIVACY, Part, Setting, settings_in
from desktop_rag.ui.upkeep.activity_page import ActivityPage
from desktop_rag.ui.upkeep.backup_page import BackupPage
from desktop_rag.ui.upkeep.health_page import HealthPage
from desktop_rag.ui.upkeep.privacy_page import PrivacyPage
from desktop_rag.ui.window.main_window import MainWindow
from desktop_rag.upkeep import subject_of

_PRIVACY_WORDS = tr(
    "connections, network, internet, what is sent, online, offline, data protection, telemetry,"
    " GDPR"
)
_HEALTH_WORDS = tr("check, diagnosis, doctor, problems, errors, repair, is everything all right")
_HEALTH = (
    Setting(tr("Check now"), tr("test everything, diagnosis, problems")),
    Setting(tr("Copy report"), tr("support, bug report, send to somebody")),
)
_BACKUP_WORDS = tr("save, copy, move to another computer, export, import, restore, snapshot")
_BACKUP = (
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
_ACTIVITY_WORDS = tr("history, log, events, what was sent to the model, what the app did, tokens")
_ACTIVITY = (
    Setting(tr("Export…"), tr("save the log, table, CSV")),
    Setting(tr("Delete all…"), tr("clear history, forget, erase the log")),
)


class SettingsPages:
    """Builds the parts of the core; the wings add their own."""

    def __init__(
        self, services: Services, bridge: Bridge, theme: Theme, window: MainWindow
    ) -> None:
        self._services = services
        self._bridge = bridge
        self._theme = theme
        self._window = window

    def add(self) -> None:
        """Add all of them, each to its page."""
        add, services = self._window.pages.add_settings_part, self._services
        backup = partial(BackupPage, self._bridge, services.backups, services.snapshots)
        kept = settings_in(*self._window.settings_page.privacy_forms)
        add(Part(PRIVACY, PRIVACY, self._privacy, kept, _PRIVACY_WORDS))
        add(Part(CARE, tr("Health"), self._health, _HEALTH, _HEALTH_WORDS))
        add(Part(CARE, tr("Backup"), backup, _BACKUP, _BACKUP_WORDS))
        add(Part(CARE, tr("Activity"), self._activity, _ACTIVITY, _ACTIVITY_WORDS))

    def _health(self) -> HealthPage:
        def diagnose(cancel: threading.Event) -> Iterator[Finding]:
            return findings(subject_of(self._services), cancel)

        repair = RepairRequest(self._services.home)
        return HealthPage(self._bridge, self._theme, diagnose, repair)

    def _privacy(self) -> PrivacyPage:
        forms = self._window.settings_page.privacy_forms
        page = PrivacyPage(self._bridge, self._services.connections, forms)
        page.place_requested.connect(self._window.show_place)
        return page

    def _activity(self) -> ActivityPage:
        recorder = self._services.recorder
        page = ActivityPage(
            self._bridge, self._services.activity, self._theme,
            is_recording=lambda: recorder.is_on,
        )  # fmt: skip
        page.chat_requested.connect(self._open_chat)
        page.notified.connect(self._window.notices.show_done)
        return page

    def _open_chat(self, conversation_id: str) -> None:
        chats = self._services.chat.history.all

        def find() -> Conversation | None:
            return next((c for c in chats() if c.conversation_id == conversation_id), None)

        def show(found: Conversation | None) -> None:
            if found is None:
                self._bridge.post(Notice(tr("The chat was deleted.")))
            else:
                self._window.show_conversation(found)

        self._bridge.run(self._window, find, show)
