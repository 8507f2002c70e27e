"""What is done with a whole conversation or from one of its messages: copies, files. Qt thread.

The store is asked through the bridge; a file is written by it too.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from desktop_rag.core.conversation import Conversation, Message
from desktop_rag.core.errors import AppError
from desktop_rag.core.library_events import Notice
from desktop_rag.core.settings import FEW_FILES
from desktop_rag.ui.chat.chat_session import ChatSession
from desktop_rag.ui.chat.conversation_list import title_of
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.messages.claim_panel import ClaimPanel
from desktop_rag.ui.personal.rewrite_dialog import RewriteDialog

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat

_FORMS = {"Markdown (*.md)": "md", "Web page (*.html)": "html", "JSON (*.json)": "json"}
_LONGEST_NAME = 60
_MANY_FILES = (
    "Ask {count:,} files?\n\nEach that may hold something takes a request to {model}. You can stop"
    " at any time and keep what was found until then."
)

Copied = Callable[[Conversation, list[Message]], None]


class ConversationActions(QObject):
    """`told` carries a Notice of what was done."""

    told = Signal(object)

    def __init__(self, bridge: Bridge, chat: "Chat", parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._history = chat.history
        self._window = parent

    def fork(self, message: Message, copied: Copied) -> None:
        """Copy the conversation up to and with this message."""
        self._copy(lambda: self._history.fork(message.conversation_id, message.message_id), copied)

    def fork_before(self, message: Message, copied: Copied) -> None:
        """Copy what came before this message."""
        conversation_id, message_id = message.conversation_id, message.message_id
        self._copy(lambda: self._history.fork_before(conversation_id, message_id), copied)

    def put_back(self, message: Message, replacing: Message, done: Callable[[], None]) -> None:
        """Bring the answer back that another one has replaced."""
        message_id = replacing.message_id
        self._bridge.run(
            self,
            lambda: self._history.put_back(message, in_place_of=message_id),
            lambda _nothing: done(),
        )

    def ask_every_file(self, session: ChatSession) -> None:
        """Answer from every file by itself, after a question when that takes many requests."""
        conversation_id = session.conversation_id
        # Nothing is asked in a conversation that was let go of meanwhile.
        self._when_agreed(
            session,
            lambda: self._chat.files_to_ask(conversation_id),
            lambda: session.retry(every_file=True),
        )

    def ask_about_files(self, question: str, ask: Callable[[str], None]) -> None:
        """Ask what takes a request for each file, after a question when these are many."""
        self._when_agreed(self, lambda: self._chat.files_about(question), lambda: ask(question))

    def _when_agreed(
        self, owner: QObject, count_files: Callable[[], tuple[int, str]], go_on: Callable[[], None]
    ) -> None:
        def ask(count_and_model: tuple[int, str]) -> None:
            count, model = count_and_model
            if not model or count <= FEW_FILES:
                go_on()
                return
            box = QMessageBox(self._window)
            box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            box.setTextFormat(Qt.TextFormat.PlainText)
            box.setWindowTitle("Ask every file")
            box.setText(_MANY_FILES.format(count=count, model=one_line(model)))
            go = box.addButton("Ask them", QMessageBox.ButtonRole.AcceptRole)
            box.addButton(QMessageBox.StandardButton.Cancel)
            go.clicked.connect(go_on)
            box.open()

        self._bridge.run(owner, count_files, ask)

    def find_place(self, panel: ClaimPanel) -> None:
        """Look where all documents say most about the claim that a panel shows."""
        claim = panel.claim
        self._bridge.run(
            panel,
            lambda: self._chat.place_about(claim.checked.claim),
            lambda place: panel.show_place(claim, place),
        )

    def ask_to_rewrite(self, message: Message, done: Callable[[], None]) -> None:
        """Let the person write an answer of their own."""

        def open_dialog(text: str) -> None:
            dialog = RewriteDialog(text, self._window, is_rewritten=message.is_rewritten)
            dialog.submitted.connect(lambda text: self._rewrite(message, text, done))
            dialog.deleted.connect(lambda: self._delete_rewrite(message, done))
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

        self._bridge.run(self, lambda: self._history.own_text(message), open_dialog)

    def _rewrite(self, message: Message, text: str, done: Callable[[], None]) -> None:
        def tell(path: Path) -> None:
            self.told.emit(Notice("Your answer is kept.", f"Later questions find it: {path}."))
            done()

        self._bridge.run(self, lambda: self._history.rewrite(message, text), tell)

    def _delete_rewrite(self, message: Message, done: Callable[[], None]) -> None:
        def tell(_nothing: None) -> None:
            self.told.emit(Notice("Your answer was deleted."))
            done()

        self._bridge.run(self, lambda: self._history.delete_rewrite(message), tell)

    def ask_where_to_export(self, conversation: Conversation) -> None:
        """Let the person choose a file, then write the conversation into it."""
        dialog = QFileDialog(self._window, "Export the chat")
        dialog.setObjectName("exportDialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(list(_FORMS))
        dialog.selectFile(f"{_file_name(conversation)}.md")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(_FORMS[chosen]))
        dialog.setDefaultSuffix("md")
        dialog.fileSelected.connect(lambda path: self.export(conversation, Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def export(self, conversation: Conversation, path: Path) -> None:
        """Write the conversation; the ending of the file says how, Markdown if it is none."""
        conversation_id = conversation.conversation_id

        def write() -> None:
            text = self._history.export(conversation_id, path.suffix)
            try:
                path.write_text(text, encoding="utf-8")
            except OSError as exc:
                title = "The chat could not be written."
                raise AppError(title, f"{path}: {exc.strerror}. Choose another place.") from exc

        self._bridge.run(
            self, write, lambda _nothing: self.told.emit(Notice(f"Exported to {path}."))
        )

    def import_into(self, copied: Copied) -> None:
        """Let the person choose a file, then make a conversation of it."""
        dialog = QFileDialog(self._window, "Import a chat")
        dialog.setObjectName("importDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter("Exported chats (*.json)")
        dialog.fileSelected.connect(
            lambda path: self._copy(lambda: self._history.import_file(Path(path)), copied)
        )
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _copy(self, make: Callable[[], Conversation], copied: Copied) -> None:
        def work() -> tuple[Conversation, list[Message]]:
            conversation = make()
            return conversation, self._history.messages(conversation.conversation_id)

        self._bridge.run(self, work, lambda result: copied(*result))


def _file_name(conversation: Conversation) -> str:
    kept = "".join(c if c.isalnum() or c in " -_" else " " for c in title_of(conversation))
    return " ".join(kept.split())[:_LONGEST_NAME].strip() or "chat"
