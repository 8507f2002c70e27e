"""Teaches a question of a chat to a topic of its assistant's rails, by one press. Qt thread."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtWidgets import QMenu, QWidget

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.features.rails.assistants.rail_service import rails_of
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import one_line, shortened

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ui.messages.message_model import MessageModel

_MOST_NAME = 60


class Teaching(QObject):
    """Offers it where the chosen assistant has rails of its own that can be edited.

    `taught` carries a Notice and the undo function.
    """

    taught = Signal(object, object)

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._rails = rails_of(chat)
        self._window = parent
        self._chosen = ""
        self._has_topics = False
        self._model: MessageModel | None = None

    @Slot(object)
    def follow(self, model: "MessageModel") -> None:
        """Offer it in the chat of this model from now on."""
        self._model = model
        self._offer(has_topics=self._has_topics)

    @Slot(object)
    def choose(self, assistant: Assistant | None) -> None:
        """Look whether this assistant's rails have topics."""
        rails, chosen = self._rails, assistant.rails if assistant else ""
        self._chosen = chosen
        if rails is None or not chosen:
            self._offer(has_topics=False)
            return

        def show(names: Sequence[str]) -> None:
            if self._chosen == chosen:
                self._offer(has_topics=bool(names))

        # Rails that are broken or gone have none; an answer says what is wrong with them.
        self._bridge.run(self, lambda: rails.topic_names(chosen), show, lambda _: show(()))

    @Slot(str, QWidget)
    def show_menu(self, question: str, button: QWidget) -> None:
        """Let the person choose the topic, below the button."""
        rails, chosen = self._rails, self._chosen
        if rails is None:
            return

        def show(names: Sequence[str]) -> None:
            menu = QMenu(self._window)
            menu.aboutToHide.connect(menu.deleteLater)
            for name in names:
                words = tr("Teach this to “{name}”", name=shortened(one_line(name), _MOST_NAME))
                action = menu.addAction(words.replace("&", "&&"))
                action.triggered.connect(lambda _=False, topic=name: self._teach(topic, question))
            menu.popup(button.mapToGlobal(QPoint(0, button.height())))

        self._bridge.run(button, lambda: rails.topic_names(chosen), show)

    def _teach(self, name: str, question: str) -> None:
        rails, chosen = self._rails, self._chosen
        if rails is None:
            return

        def offer(undo: Callable[[], None]) -> None:
            notice = Notice(
                tr("“{name}” knows this sentence now.", name=one_line(name)), one_line(question)
            )
            self.taught.emit(notice, lambda: self._bridge.run(self, undo))

        self._bridge.run(self, lambda: rails.teach(chosen, name, question), offer)

    def _offer(self, *, has_topics: bool) -> None:
        self._has_topics = has_topics
        if self._model is not None:
            self._model.offer_teaching(is_offered=has_topics)
