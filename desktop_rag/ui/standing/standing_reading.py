"""The scheduled questions with the document of a source beside them. Qt thread."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from desktop_rag.ui.documents.document_beside import DocumentBeside
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.theme import Theme
from desktop_rag.ui.standing.standing_actions import StandingActions
from desktop_rag.ui.standing.standing_page import StandingPage

if TYPE_CHECKING:
    from desktop_rag.ingest.library import Library


class StandingReading(DocumentBeside):
    """Holds the page."""

    def __init__(
        self, bridge: Bridge, actions: StandingActions, library: "Library", theme: Theme
    ) -> None:
        page = StandingPage(bridge, actions, theme)
        super().__init__(bridge, library, theme, DocumentOpener(bridge, library, theme, page))
        self._questions = page
        self.addWidget(page)
        self._questions.read_requested.connect(self.read_source)
        self.library_requested.connect(actions.library_requested)

    @Slot(str)
    def choose(self, question_id: str) -> None:
        """Show this question, once it is read."""
        self._questions.choose(question_id)
