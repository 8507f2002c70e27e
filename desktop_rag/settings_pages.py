"""What the core adds to the settings, each part built when it is first shown. Qt thread.

Imported when the settings are first shown, so that neither the window nor the quick ask waits for
the modules of all parts.
"""

from desktop_rag.app import Services
from desktop_rag.core.conversation import Conversation
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.settings.settings_parts import CARE, PRIVACY, Part, Setting, settings_in
from desktop_rag.ui.upkeep.activity_page import ActivityPage
from desktop_rag.ui.upkeep.privacy_page import PrivacyPage
from desktop_rag.ui.window.main_window import MainWindow

_PRIVACY_WORDS = tr(
    "connections, network, internet, what is sent, online, offline, data protection, telemetry,"
    " GDPR"
)
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
        add = self._window.pages.add_settings_part
        kept = settings_in(*self._window.settings_page.privacy_forms)
        add(Part(PRIVACY, PRIVACY, self._privacy, kept, _PRIVACY_WORDS))
        add(Part(CARE, tr("Activity"), self._activity, _ACTIVITY, _ACTIVITY_WORDS))

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
