"""The pages of the core beside the settings, each built when it is first shown. Qt thread.

Imported when the settings are first shown, so that neither the window nor the quick ask waits for
the modules of all pages.
"""

import threading
from collections.abc import Iterator
from functools import partial

from desktop_rag.app import Services
from desktop_rag.core.conversation import Conversation
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.diagnosis.diagnosis import findings
from desktop_rag.diagnosis.finding import Finding
from desktop_rag.diagnosis.home_repair import RepairRequest
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.settings.page_list import CARE
from desktop_rag.ui.upkeep.activity_page import ActivityPage
from desktop_rag.ui.upkeep.backup_page import BackupPage
from desktop_rag.ui.upkeep.health_page import HealthPage
from desktop_rag.ui.upkeep.privacy_page import PrivacyPage
from desktop_rag.ui.window.main_window import MainWindow
from desktop_rag.upkeep import subject_of


class SettingsPages:
    """Builds the pages of the core; the wings add their own."""

    def __init__(
        self, services: Services, bridge: Bridge, theme: Theme, window: MainWindow
    ) -> None:
        self._services = services
        self._bridge = bridge
        self._theme = theme
        self._window = window

    def add(self) -> None:
        """Add all of them to the list, each to its group."""
        add, services = self._window.pages.add_settings_page, self._services
        add(tr("Health"), self._health, CARE)
        add(tr("Privacy"), self._privacy, CARE)
        backup = partial(BackupPage, self._bridge, services.backups, services.snapshots)
        add(tr("Backup"), backup, CARE)
        add(tr("Activity"), self._activity, CARE)

    def _health(self) -> HealthPage:
        def diagnose(cancel: threading.Event) -> Iterator[Finding]:
            return findings(subject_of(self._services), cancel)

        repair = RepairRequest(self._services.home)
        return HealthPage(self._bridge, self._theme, diagnose, repair)

    def _privacy(self) -> PrivacyPage:
        page = PrivacyPage(self._bridge, self._services.connections)
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
