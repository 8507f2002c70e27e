"""The pages beside the settings, each built over the services when it is first shown. Qt thread.

Imported when the settings are first shown: neither the window nor the quick ask waits for the
modules of eleven pages.
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
from desktop_rag.features.evaluation.ui.my_questions_page import MyQuestionsPage
from desktop_rag.features.rails.ui.commands_page import CommandsPage
from desktop_rag.features.rails.ui.rails_page import RailsFolders, RailsPage
from desktop_rag.features.schedules.ui.notes_page import NotesPage
from desktop_rag.features.schedules.ui.standing_actions import StandingActions
from desktop_rag.features.schedules.ui.standing_reading import StandingReading
from desktop_rag.features.server.mcp_programs.program_setup import ProgramSetup
from desktop_rag.features.server.ui.mcp_section import MCPSection
from desktop_rag.features.server.ui.programs_page import ProgramsPage
from desktop_rag.features.shared_library.ui.shared_library_page import (
    SHARED_LIBRARY,
    shared_library_page,
)
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.settings.page_list import ANSWERING, APP, CARE, DOCUMENTS, QUESTIONS
from desktop_rag.ui.upkeep.activity_page import ActivityPage
from desktop_rag.ui.upkeep.backup_page import BackupPage
from desktop_rag.ui.upkeep.health_page import HealthPage
from desktop_rag.ui.upkeep.privacy_page import PrivacyPage
from desktop_rag.ui.widgets.scrolled_page import ScrolledPage
from desktop_rag.ui.window.main_window import MainWindow
from desktop_rag.upkeep import subject_of

_SCHEDULES = tr("Scheduled questions")


class SettingsPages:
    """Builds the pages, and finds the one of the schedules."""

    def __init__(
        self,
        services: Services,
        bridge: Bridge,
        theme: Theme,
        window: MainWindow,
        standing: StandingActions,
    ) -> None:
        self._services = services
        self._bridge = bridge
        self._theme = theme
        self._window = window
        self._standing = standing

    def add(self) -> None:
        """Add all of them to the list, each to its group."""
        add, services = self._window.pages.add_settings_page, self._services
        bridge, theme = self._bridge, self._theme
        reading = partial(StandingReading, bridge, self._standing, services.library, theme)
        add(_SCHEDULES, reading, QUESTIONS)
        add(tr("My questions"), self._experiments, QUESTIONS)
        add(tr("Notes"), self._notes, QUESTIONS)
        add(tr("Rails"), self._rails, ANSWERING)
        add(tr("Commands"), lambda: CommandsPage(bridge, services.commands), ANSWERING)
        add(tr("Other programs"), self._programs, APP)
        add(tr("Health"), self._health, CARE)
        add(tr("Privacy"), self._privacy, CARE)
        backup = partial(BackupPage, bridge, services.backups, services.snapshots)
        add(tr("Backup"), backup, CARE)
        add(SHARED_LIBRARY, self._shared_library, DOCUMENTS)
        add(tr("Activity"), self._activity, CARE)

    def show_schedule(self, question_id: str) -> None:
        """Show a scheduled question and its answers."""
        page = self._window.settings_page.show_named(_SCHEDULES)
        if isinstance(page, StandingReading):
            page.choose(question_id)

    def _experiments(self) -> MyQuestionsPage:
        services, worker = self._services, self._services.run_worker
        faces = services.library, services.chat
        page = MyQuestionsPage(self._bridge, worker, *faces, self._theme, self._window)
        page.endpoint_requested.connect(self._window.settings_page.add_endpoint)
        return page

    def _notes(self) -> NotesPage:
        services = self._services
        faces = services.library, services.chat
        return NotesPage(self._bridge, services.notes, *faces, self._theme)

    def _rails(self) -> RailsPage:
        rails, assistants = self._services.rails, self._services.chat.assistants
        folders = RailsFolders(lambda: rails.own, assistants.all)
        return RailsPage(self._bridge, folders, self._theme)

    def _programs(self) -> ProgramsPage:
        page = ProgramsPage(self._bridge, self._services.server, self._window.settings, self._theme)
        page.column.addWidget(MCPSection(self._bridge, ProgramSetup()))
        return page

    def _health(self) -> HealthPage:
        def diagnose(cancel: threading.Event) -> Iterator[Finding]:
            return findings(subject_of(self._services), cancel)

        repair = RepairRequest(self._services.home)
        return HealthPage(self._bridge, self._theme, diagnose, repair)

    def _privacy(self) -> PrivacyPage:
        page = PrivacyPage(self._bridge, self._services.connections)
        page.place_requested.connect(self._window.show_place)
        return page

    def _shared_library(self) -> ScrolledPage:
        services = self._services
        return shared_library_page(
            self._bridge, self._window.settings, services.shared_access, services.shared,
            services.library,
        )  # fmt: skip

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
