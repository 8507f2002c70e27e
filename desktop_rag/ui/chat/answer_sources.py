"""The sources panel's state: sources of the last answer, or of one the person picked. Qt thread."""

from typing import TYPE_CHECKING

from desktop_rag.core.conversation import Message, Role, SourceRef
from desktop_rag.ui.chat.side_panels import SidePanels
from desktop_rag.ui.documents.sources_panel import SourcesPanel
from desktop_rag.ui.foundation.bridge import Bridge, Job
from desktop_rag.ui.messages.message_model import MessageModel

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

# A question and its answer.
_FIRST_TURNS = 2


class AnswerSources:
    """Follows the last answer; a picked answer stays until the last one has new sources.

    The panel opens with the first question of a conversation, before there is an answer to read:
    opening it later would move the text. It closes when that answer has no sources, and opens again
    with the first answer that has some. From then on it stays, so that no later question moves the
    text. A question without documents has none.
    """

    def __init__(
        self, bridge: Bridge, chat: "Chat", panel: SourcesPanel, sides: SidePanels
    ) -> None:
        self._bridge = bridge
        self._chat = chat
        self._marking = Job()
        self._panel = panel
        self._sides = sides
        self._model: MessageModel | None = None
        self._followed: tuple[SourceRef, ...] = ()
        self._stays = False
        self._waits = False
        self._is_asked = False
        self._has_content = False

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
            self._panel.show_sources(sources, is_searching=waits)
            self._mark(last)
        elif not self._followed and waits != self._waits:
            self._panel.show_sources((), is_searching=waits)
        self._waits = waits
        self._stays = bool(sources) or (self._stays and not is_other)
        self._is_asked = last is not None and not last.scope.is_without_documents
        is_first = waits and model.rowCount() <= _FIRST_TURNS
        self._set_content(has_content=self._is_asked and (self._stays or is_first))

    def show(self, message: Message) -> None:
        """Show the sources of this answer, or the nearest passages if it has none."""
        self._stays = True  # what the person asked to see stays
        self._panel.show_sources(message.sources, message.nearest)
        self._mark(message)
        self._set_content(has_content=True)

    def toggle(self) -> None:
        """Show or hide the panel; at the person's wish also one without sources."""
        if self._is_asked and not self._has_content:
            self._stays = True
            self._set_content(has_content=True)
            self._sides.open_right()
        else:
            self._sides.toggle_right()

    def _set_content(self, *, has_content: bool) -> None:
        self._has_content = has_content
        self._sides.set_right_content(has_content=has_content)

    def _mark(self, message: Message | None) -> None:
        """Mark in the cards what each sentence of the answer cites."""
        self._marking.cancel()
        if message and any(source.is_cited for source in message.sources):
            self._marking = self._bridge.run(
                self._panel, lambda: self._chat.cited_places(message), self._panel.mark_cited
            )
