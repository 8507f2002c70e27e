"""The sources panel's state: sources of the last answer, or of one the person picked. Qt thread."""

from collections.abc import Sequence

from desktop_rag.core.conversation import Message, Role, SourceRef
from desktop_rag.ui.chat.side_panels import SidePanels
from desktop_rag.ui.documents.sources_panel import SourcesPanel
from desktop_rag.ui.messages.message_model import MessageModel


class AnswerSources:
    """Follows the last answer; a picked answer stays until the last one has new sources."""

    def __init__(self, panel: SourcesPanel, sides: SidePanels) -> None:
        self._panel = panel
        self._sides = sides
        self._model: MessageModel | None = None
        self._followed: tuple[SourceRef, ...] = ()

    def follow(self, model: MessageModel) -> None:
        """Show the sources of the last answer if they changed."""
        last = model.turn(-1).message if model.rowCount() else None
        sources = last.sources if last and last.role is Role.ASSISTANT else ()
        if model is not self._model or sources != self._followed:
            self._model, self._followed = model, sources
            self._show(sources)

    def open(self, message: Message) -> None:
        """Show the sources of this answer, or the nearest passages if it has none."""
        self._show(message.sources, message.nearest)
        self._sides.open_right()

    def _show(self, sources: Sequence[SourceRef], nearest: Sequence[SourceRef] = ()) -> None:
        self._panel.show_sources(sources, nearest)
        self._sides.set_right_content(has_content=bool(sources or nearest))
