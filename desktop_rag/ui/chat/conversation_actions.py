"""Actions on conversations and messages: fork, rewrite, export, import. Qt thread."""

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QObject, QUrl, Slot
from PySide6.QtGui import QGuiApplication, QPageSize, QPdfWriter, QTextDocument, QTextDocumentWriter
from PySide6.QtWidgets import QAbstractButton, QDialog, QMessageBox, QWidget

from desktop_rag.answer.chat import Chat
from desktop_rag.core.conversation import Conversation, Message, ModelCheckOffered
from desktop_rag.core.errors import os_error_as
from desktop_rag.core.files.own_files import file_name_of, persons_mask
from desktop_rag.core.language.translation import tr
from desktop_rag.core.library_events import Notice
from desktop_rag.core.question import Question, SentRequest
from desktop_rag.core.settings import FEW_FILES, ModelCheck
from desktop_rag.ui.chat.chat_session import ChatSession
from desktop_rag.ui.chat.conversation_model import title_of
from desktop_rag.ui.foundation.ask_request import Done, UndoOffer
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.foundation.days import clock_in_words
from desktop_rag.ui.foundation.wording import one_line
from desktop_rag.ui.messages.claim_panel import ClaimPanel
from desktop_rag.ui.personal.rewrite_dialog import RewriteDialog
from desktop_rag.ui.widgets.controls import TextButton, plain_question
from desktop_rag.ui.widgets.form_fields import note, text_area
from desktop_rag.ui.widgets.forms import choose_file, open_once, save_as
from desktop_rag.ui.widgets.layouts import Stretch, horizontal, vertical

_FORMS = {
    tr("Markdown (*.md)"): "md",
    tr("PDF (*.pdf)"): "pdf",
    tr("Word and LibreOffice (*.odt)"): "odt",
    tr("Web page (*.html)"): "html",
    tr("To import it again (*.json)"): "json",
}

Copied = Callable[[Conversation, list[Message]], None]

_SENT = tr(
    "Exactly what the app sent for this answer. It is kept in memory until the app closes, and"
    " written nowhere."
)
_NOT_KEPT = tr(
    "What was sent for this answer is not known any more: it is kept in memory only, until the app"
    " closes."
)


class SentDialog(QDialog):
    """The requests to models for an answer as text; None where they are not kept."""

    def __init__(self, requests: Sequence[SentRequest] | None, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("What was sent to the model"))
        self._text = "\n\n\n".join(map(_request_in_words, requests or ()))
        self._shown = text_area(tr("Requests"), self._text)
        self._shown.setReadOnly(True)
        self._copy = TextButton(tr("Copy"), then=self._on_copy_clicked)
        vertical(
            note(_NOT_KEPT if requests is None else _SENT),
            (self._shown, 1),
            horizontal(Stretch(), self._copy, TextButton(tr("Close"), then=self.reject)),
            on=self,
            margins=(20, 18, 20, 16),
            spacing=10,
        )
        # Only now: a parentless visible widget is a window.
        self._shown.setVisible(bool(requests))
        self._copy.setVisible(bool(requests))
        self.resize(720, 560 if requests else 120)

    @Slot()
    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self._copy.setText(tr("Copied"))


def _request_in_words(request: SentRequest) -> str:
    head = tr(
        "To {model} at {host}, {moment}",
        model=request.model, host=request.host, moment=clock_in_words(request.at),
    )  # fmt: skip
    return f"{head}\n\n{request.text}"


class _InertPage(QTextDocument):
    """A page without its pictures: a model may have written where they are."""

    def loadResource(self, _kind: int, _name: QUrl | str) -> None:
        return None


def _as_pages(html: str, ending: str) -> bytes:
    """An exported page as a PDF or a text document. Any thread."""
    document = _InertPage()
    document.setHtml(html)
    room = QBuffer()
    room.open(QIODevice.OpenModeFlag.WriteOnly)
    if ending == ".pdf":
        writer = QPdfWriter(room)
        writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
        document.print_(writer)
        del writer  # which ends the file
    else:
        QTextDocumentWriter(room, b"odf").write(document)
    return bytes(room.data().data())


class ConversationActions(QObject):
    """Forks, rewrites, exports and imports; what is done is told to the window."""

    def __init__(self, bridge: Bridge, chat: Chat, parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._chat = chat
        self._history = chat.history
        self._window = parent

    def fork(self, message: Message, copied: Copied) -> None:
        """Copy the conversation up to and including this message."""
        self._copy(lambda: self._history.fork(message.conversation_id, message.message_id), copied)

    def fork_before(self, message: Message, copied: Copied) -> None:
        """Copy the conversation up to, but not including, this message."""
        conversation_id, message_id = message.conversation_id, message.message_id
        self._copy(lambda: self._history.fork_before(conversation_id, message_id), copied)

    def offer_former_answer(
        self, former: Message, current: Message, done: Callable[[], None]
    ) -> None:
        """Offer to restore an answer that another one replaced."""

        def restore() -> None:
            self._bridge.run(
                self,
                lambda: self._history.put_back(former, in_place_of=current.message_id),
                lambda _nothing: done(),
            )

        notice = Notice(tr("The answer was replaced by a new one."))
        self._bridge.post(UndoOffer(notice, restore))

    def show_sent(self, message: Message) -> None:
        """Show what was sent to models for an answer."""
        open_once(SentDialog(self._chat.sent_for(message), self._window))

    def remove_answer(self, message: Message, done: Callable[[], None]) -> None:
        """Remove an answer that stands below another one, with an offer to undo."""

        def offer(place: int) -> None:
            done()
            notice = Notice(tr("The answer was removed."))
            self._bridge.post(UndoOffer(notice, lambda: put_back(place)))

        def put_back(place: int) -> None:
            self._bridge.run(
                self, lambda: self._history.put_back_at(message, place), lambda _nothing: done()
            )

        self._bridge.run(self, lambda: self._history.remove_answer(message), offer)

    def ask_every_file(self, session: ChatSession) -> None:
        """Answer from each file separately, after a confirmation if it takes many requests."""
        conversation_id = session.conversation_id
        # Owned by the session: nothing is asked once it is closed.
        self._after_confirmation(
            session,
            lambda: self._chat.files_to_ask(conversation_id),
            lambda: session.retry(every_file=True),
        )

    def ask_about_files(self, question: Question, ask: Callable[[Question], None]) -> None:
        """Ask a question that takes a request per file, after a confirmation if there are many."""
        self._after_confirmation(
            self,
            lambda: self._chat.files_about(question.text, question.scope),
            lambda: ask(question),
        )

    def _after_confirmation(
        self, owner: QObject, count_files: Callable[[], tuple[int, str]], go_on: Callable[[], None]
    ) -> None:
        def ask(count_and_model: tuple[int, str]) -> None:
            count, model = count_and_model
            if not model or count <= FEW_FILES:
                go_on()
                return
            text = tr(
                "Ask {count:,} files one by one?\n\nEach relevant file takes one request to"
                " {model}. You can stop at any time and keep what was found so far.",
                count=count,
                model=one_line(model),
            )
            box = plain_question(self._window, tr("Ask every file"), text)
            go = box.addButton(tr("Ask files"), QMessageBox.ButtonRole.AcceptRole)
            box.addButton(QMessageBox.StandardButton.Cancel)
            go.clicked.connect(go_on)
            box.open()

        self._bridge.run(owner, count_files, ask)

    def ask_for_check(
        self, offer: ModelCheckOffered, session: ChatSession, choose: Callable[[ModelCheck], None]
    ) -> None:
        """Ask whether a remote model is to check answers; it begins with the one of the offer."""
        given = {"model": one_line(offer.model), "host": one_line(offer.host)}
        cost = tr(", {cost:.2g} at the known prices", cost=offer.cost) if offer.cost else ""
        text = tr(
            "Have {model} check answers too?\n\nIt reads the sentences that a comparison of"
            " words leaves open, and their sources. They go to {host} in one request for each"
            " answer: about {tokens:,} tokens for this one{cost}. First it is measured with 40"
            " sample sentences.",
            tokens=offer.tokens,
            cost=cost,
            **given,
        )
        box = plain_question(self._window, tr("Check with the model"), text)
        always = box.addButton(tr("Check every answer"), QMessageBox.ButtonRole.AcceptRole)
        never = box.addButton(tr("Never"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(tr("Not now"), QMessageBox.ButtonRole.RejectRole)
        choices: dict[QAbstractButton, ModelCheck] = {
            always: ModelCheck.ALWAYS,
            never: ModelCheck.NEVER,
        }

        def answered() -> None:
            if choice := choices.get(box.clickedButton()):
                choose(choice)
                session.answer_offer(offer, is_taken=choice is ModelCheck.ALWAYS)

        box.finished.connect(answered)
        box.open()

    def find_best_passage(self, panel: ClaimPanel) -> None:
        """Search for the passage that best verifies the panel's claim."""
        claim, sources = panel.claim, panel.sources
        self._bridge.run(
            panel,
            lambda: self._chat.place_about(claim.checked.claim, sources),
            lambda place: panel.show_best_passage(claim, place),
        )

    def ask_to_rewrite(self, message: Message, done: Callable[[], None]) -> None:
        """Let the person write their own version of an answer."""

        def open_dialog(text: str) -> None:
            dialog = RewriteDialog(text, self._window, is_rewritten=message.is_rewritten)
            dialog.submitted.connect(lambda text: self._rewrite(message, text, done))
            dialog.delete_requested.connect(lambda: self._delete_rewrite(message, done))
            open_once(dialog)

        self._bridge.run(self, lambda: self._history.own_text(message), open_dialog)

    def _rewrite(self, message: Message, text: str, done: Callable[[], None]) -> None:
        hint = tr("Answers to later questions can cite it.")
        saved = Notice(tr("Your answer was saved."), hint)
        self._change(lambda: self._history.rewrite(message, text), saved, done)

    def _delete_rewrite(self, message: Message, done: Callable[[], None]) -> None:
        deleted = Notice(tr("Your answer was deleted."))
        self._change(lambda: self._history.delete_rewrite(message), deleted, done)

    def _change(
        self, change: Callable[[], object], notice: Notice, done: Callable[[], None]
    ) -> None:
        def finish(_result: object) -> None:
            self._bridge.post(Done(notice))
            done()

        self._bridge.run(self, change, finish)

    def ask_where_to_export(self, conversation: Conversation) -> None:
        """Let the person choose a file, then export the conversation to it."""
        save_as(
            self._window,
            tr("Export chat"),
            f"{file_name_of(title_of(conversation))}.md",
            _FORMS,
            lambda path: self.export(conversation, Path(path)),
            name="exportDialog",
        )

    def export(self, conversation: Conversation, path: Path) -> None:
        """Write the conversation in the format of the file's extension; Markdown by default."""
        conversation_id = conversation.conversation_id

        def write() -> None:
            ending = path.suffix.casefold()
            is_paged = ending in (".pdf", ".odt")
            text = self._history.export(conversation_id, ".html" if is_paged else ending)
            title, elsewhere = tr("The chat could not be exported."), tr("Choose another location.")
            with os_error_as(title, path, elsewhere), persons_mask():
                path.write_bytes(_as_pages(text, ending) if is_paged else text.encode())

        self._bridge.run(
            self,
            write,
            lambda _nothing: self._bridge.post(Done(Notice(tr("Exported to {path}.", path=path)))),
        )

    def import_into(self, copied: Copied) -> None:
        """Let the person choose a file, then import a conversation from it."""
        choose_file(
            self._window,
            tr("Import chat"),
            lambda path: self._copy(lambda: self._history.import_file(Path(path)), copied),
            name="importDialog",
            filters=[tr("Exported chats (*.json)")],
        )

    def _copy(self, make: Callable[[], Conversation], copied: Copied) -> None:
        def work() -> tuple[Conversation, list[Message]]:
            conversation = make()
            return conversation, self._history.messages(conversation.conversation_id)

        self._bridge.run(self, work, lambda result: copied(*result))
