"""The rails in an assistant's form, and teaching them a question of the chat. Qt thread."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from desktop_rag.core.assistant import Assistant
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.features.rails.assistants.rail_names import BUILT_IN
from desktop_rag.ui.foundation.ask_request import UndoOffer
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import failure_in_words, one_line, shortened
from desktop_rag.ui.widgets.controls import PlainLabel, TextButton
from desktop_rag.ui.widgets.form_fields import DropDown, note
from desktop_rag.ui.widgets.forms import choose_folder
from desktop_rag.ui.widgets.layouts import horizontal, vertical

if TYPE_CHECKING:
    from desktop_rag.features.rails.services import AssistantRails
    from desktop_rag.ui.messages.message_model import MessageModel

_CHOOSES = object()
_NONE_NOTE = tr("Every question is answered from the documents.")
_FOLDER_NOTE = tr(
    "Rails of your own, from Settings → Assistants → Rails or as docs/rails.md describes them."
    " Programs in the folder are not run."
)


class RailsField(QWidget):
    """Chooses no rails, a built-in set or a folder, and tries a sentence with them.

    `try_requested` carries the rails and the sentence; the answer goes to `show_tried`.
    """

    try_requested = Signal(str, str)

    def __init__(self, rails: str) -> None:
        super().__init__()
        self.choice = DropDown()
        self.choice.setAccessibleName(tr("Rails"))
        self.choice.addItem(tr("None"), "")
        for known in BUILT_IN:
            self.choice.addItem(known.title, known.name)
        self.choice.addItem(tr("A folder…"), _CHOOSES)
        self._note = note()
        self._sentence = QLineEdit()
        self._sentence.setAccessibleName(tr("Try a sentence"))
        self._sentence.setPlaceholderText(tr("Try a sentence: which party shall I vote for?"))
        self._try = TextButton(tr("Try"), then=self._on_try)
        self._try.setAutoDefault(False)
        self._tried = PlainLabel(tone="muted", scale="small", wrap=True, selectable=True)
        self._chosen = ""
        self._build()
        self.choice.activated.connect(self._on_activated)
        self._sentence.textChanged.connect(self._show_choice)
        self.choose(rails)

    def _build(self) -> None:
        vertical(
            self.choice,
            self._note,
            horizontal((self._sentence, 1), self._try),
            self._tried,
            on=self,
            margins=0,
            spacing=6,
        )

    @property
    def rails(self) -> str:
        """The chosen rails: "" for none, a name, or a folder's path."""
        return self._chosen

    def offer(self, folders: Sequence[Path]) -> None:
        """Offer the folders that were written in the window."""
        for folder in folders:
            if self.choice.findData(str(folder)) < 0:
                place = self.choice.count() - 1
                self.choice.insertItem(place, one_line(folder.name), str(folder))

    @Slot(str)
    def choose(self, rails: str) -> None:
        """Choose these rails; a folder gets a row of its own."""
        place = self.choice.findData(rails)
        if place < 0:
            place = self.choice.count() - 1
            self.choice.insertItem(place, one_line(Path(rails).name or rails), rails)
        self._chosen = rails
        self.choice.setCurrentIndex(place)
        self._tried.setText("")
        self._show_choice()

    @Slot(str)
    def show_tried(self, words: str) -> None:
        """Show what would be done with the sentence."""
        self._tried.say(words, "muted")

    def show_error(self, error: AppError) -> None:
        """Show why the sentence can't be tried."""
        self._tried.say(failure_in_words(error), "danger")

    @Slot()
    def _show_choice(self) -> None:
        known = {each.name: each.explanation for each in BUILT_IN} | {"": _NONE_NOTE}
        text = known.get(self._chosen)
        self._note.setText(text or one_line(f"{_FOLDER_NOTE} {self._chosen}"))
        for widget in (self._sentence, self._try):
            widget.setVisible(bool(self._chosen))
        self._tried.setVisible(bool(self._tried.text()))
        self._try.setEnabled(bool(self._sentence.text().strip()))

    @Slot(int)
    def _on_activated(self, place: int) -> None:
        data = self.choice.itemData(place)
        if isinstance(data, str):
            self.choose(data)
            return
        self.choose(self._chosen)
        title = tr("Choose a folder of rails")
        choose_folder(self, title, self.choose, start=str(Path.home()))

    @Slot()
    def _on_try(self) -> None:
        self._try.setEnabled(False)
        self.try_requested.emit(self._chosen, self._sentence.text())
        self._try.setEnabled(True)


_MOST_NAME = 60


class Teaching(QObject):
    """Teaches a question of the chat to a topic of the rails, where these can be edited."""

    def __init__(
        self, bridge: Bridge, rails: "Callable[[], AssistantRails]", parent: QWidget
    ) -> None:
        """`rails` opens the rails, once an assistant has some."""
        super().__init__(parent)
        self._bridge = bridge
        self._rails = rails
        self._window = parent
        self._chosen = ""
        self._has_topics = False
        self._model: MessageModel | None = None

    @Slot(object)
    def follow(self, model: "MessageModel") -> None:
        """Offer teaching in the chat of this model from now on."""
        self._model = model
        self._offer(has_topics=self._has_topics)

    @Slot(object)
    def choose(self, assistant: Assistant | None) -> None:
        """Offer teaching if this assistant's rails have topics."""
        self._chosen = chosen = assistant.rails if assistant else ""
        if not chosen:
            self._offer(has_topics=False)
            return

        def show(names: Sequence[str]) -> None:
            if self._chosen == chosen:
                self._offer(has_topics=bool(names))

        # Broken or missing rails have no topics; an answer says what is wrong with them.
        self._bridge.run(
            self, lambda: self._rails().own.topic_names(chosen), show, lambda _: show(())
        )

    @Slot(str, QWidget)
    def show_menu(self, question: str, button: QWidget) -> None:
        """Let the person choose the topic, below the button."""
        chosen = self._chosen

        def show(names: Sequence[str]) -> None:
            menu = QMenu(self._window)
            menu.aboutToHide.connect(menu.deleteLater)
            for name in names:
                words = tr("Teach this to “{name}”", name=shortened(one_line(name), _MOST_NAME))
                action = menu.addAction(words.replace("&", "&&"))
                action.triggered.connect(lambda _=False, topic=name: self._teach(topic, question))
            menu.popup(button.mapToGlobal(QPoint(0, button.height())))

        self._bridge.run(button, lambda: self._rails().own.topic_names(chosen), show)

    def _teach(self, name: str, question: str) -> None:
        chosen = self._chosen

        def offer(undo: Callable[[], None]) -> None:
            notice = Notice(
                tr("“{name}” knows this sentence now.", name=one_line(name)), one_line(question)
            )
            self._bridge.post(UndoOffer(notice, lambda: self._bridge.run(self, undo)))

        self._bridge.run(self, lambda: self._rails().own.teach(chosen, name, question), offer)

    def _offer(self, *, has_topics: bool) -> None:
        self._has_topics = has_topics
        if self._model is not None:
            self._model.offer_teaching(is_offered=has_topics)
