"""The sources panel's state: sources of the last answer, or of one the person picked. Qt thread."""

from collections.abc import Sequence

from desktop_rag.core.conversation import Message, Role, SourceRef
from desktop_rag.ui.chat.side_panels import SidePanels
from desktop_rag.ui.documents.sources_panel import SourcesPanel
from desktop_rag.ui.messages.message_model import MessageModel


class AnswerSources:
    """Follows the last answer; a picked answer stays until the last one has new sources.

    The panel opens with the first question of a conversation, before there is an answer to read,
    and stays: opening it later, or for a moment only, would move the text. A question without
    documents has none.
    """

    def __init__(self, panel: SourcesPanel, sides: SidePanels) -> None:
        self._panel = panel
        self._sides = sides
        self._model: MessageModel | None = None
        self._followed: tuple[SourceRef, ...] = ()

    def follow(self, model: MessageModel) -> None:
        """Show the sources of the last answer if they changed."""
        turn = model.turn(-1) if model.rowCount() else None
        last = turn.message if turn else None
        sources = last.sources if last and last.role is Role.ASSISTANT else ()
        is_other = model is not self._model
        # Those of the answer before stay until there are new ones.
        waits = turn is not None and (turn.is_live or turn.message.role is Role.USER)
        if is_other or (sources != self._followed and (sources or not waits)):
            self._model, self._followed = model, sources
            self._show(sources, is_searching=waits)
        is_asked = last is not None and not last.scope.is_without_documents
        self._sides.set_right_content(has_content=is_asked)

    def show(self, message: Message) -> None:
        """Show the sources of this answer, or the nearest passages if it has none."""
        self._show(message.sources, message.nearest)
        self._sides.set_right_content(has_content=True)

    def _show(
        self,
        sources: Sequence[SourceRef],
        nearest: Sequence[SourceRef] = (),
        *,
        is_searching: bool = False,
    ) -> None:
        self._panel.show_sources(sources, nearest, is_searching=is_searching)
