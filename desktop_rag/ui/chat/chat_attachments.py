"""Attachments of the current conversation, by button, drop or paste. Qt thread.

Attachments belong to the conversation: they are stored at once, or with its first question, and
go with every question until they are removed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QWidget

from desktop_rag.core.conversation import Attachment, AttachmentKind, Image
from desktop_rag.core.errors import AppError
from desktop_rag.core.language.translation import tr
from desktop_rag.core.model_profile import ExaminationChanged
from desktop_rag.ui.chat.chat_session import ChatSession
from desktop_rag.ui.chat.chat_sessions import ChatSessions
from desktop_rag.ui.composer.attached_files import AttachedFiles
from desktop_rag.ui.composer.composer import Composer
from desktop_rag.ui.composer.model_choice import AssistantChoice
from desktop_rag.ui.documents.document_opener import DocumentOpener
from desktop_rag.ui.foundation.bridge import Bridge
from desktop_rag.ui.viewers.viewer import DocumentSpan
from desktop_rag.ui.widgets.file_drop import FileDrop
from desktop_rag.ui.widgets.image_view import ImageView

if TYPE_CHECKING:
    from desktop_rag.answer.chat import Chat
    from desktop_rag.ingest.library import Library


class ChatAttachments(QObject):
    """Connects the composer with the attachments of the current conversation."""

    def __init__(
        self,
        bridge: Bridge,
        library: "Library",
        chat: "Chat",
        composer: Composer,
        sessions: ChatSessions,
        opener: DocumentOpener,
        *,
        choice: AssistantChoice,
        page: QWidget,
    ) -> None:
        """Files can be dropped onto `page`, and dialogs open over it.

        `choice` knows the assistant, whose model has to accept the attachments.
        """
        super().__init__(page)
        self._bridge = bridge
        self._library = library
        self._chat = chat
        self._composer = composer
        self._sessions = sessions
        self._opener = opener
        self._choice = choice
        self._page = page
        drop = FileDrop(page, composer)
        drop.dropped.connect(self._on_files_added)
        composer.files_added.connect(self._on_files_added)
        composer.image_pasted.connect(self._on_image_pasted)
        composer.attach_requested.connect(self._on_attach_requested)
        composer.removal_requested.connect(self._on_removal_requested)
        composer.submitted.connect(self._on_submitted)
        composer.edit_submitted.connect(self._on_submitted)
        sessions.shown.connect(self._on_session_shown)
        sessions.conversation_stored.connect(self._load)
        # A refusal by the endpoint may have shown what the model accepts.
        sessions.answered.connect(self.check)
        choice.chosen.connect(self.check)
        bridge.hear(ExaminationChanged, self._on_examination_changed)

    @Slot()
    def check(self) -> None:
        """Check again that the model accepts the attachments."""
        files = self._files
        if not any(a.kind is AttachmentKind.IMAGE for a in files.ready):
            self._show_refusal(files, None)
            return
        attachments, assistant_id = files.ready, self._choice.assistant_id
        self._bridge.run(
            files,
            lambda: self._chat.refusal(attachments, assistant_id),
            lambda error: self._show_refusal(files, error),
        )

    @Slot(object)
    def open(self, attachment: Attachment) -> None:
        """Show an image, or the text of a file."""
        if attachment.kind is AttachmentKind.IMAGE:
            self._bridge.run(
                self,
                lambda: self._chat.attachments.image(attachment),
                lambda image: self._show_image(attachment, image),
            )
        elif attachment.has_text:
            self._opener.read(DocumentSpan(attachment.document_id))

    def _show_image(self, attachment: Attachment, image: Image | None) -> None:
        ImageView(attachment.name, image, self._page).open()

    # --- current conversation --------------------------------------------------------------------

    @property
    def _files(self) -> AttachedFiles:
        """The files of the current session, which owns them."""
        session = self._sessions.current
        return next(iter(session.findChildren(AttachedFiles)), None) or self._begin(session)

    def _begin(self, session: ChatSession) -> AttachedFiles:
        files = AttachedFiles(self._bridge, self._library, self._chat, session)
        files.changed.connect(self._on_changed)
        session.destroyed.connect(files.stop)
        # No question is sent before the stored attachments are loaded.
        files.is_loaded = not session.conversation_id
        return files

    @Slot(object)
    def _on_session_shown(self, session: ChatSession) -> None:
        # The delayed question was for another conversation.
        self._composer.cancel_delayed_send()
        self._show()
        if session.conversation_id:
            self._load()

    @Slot()
    def _load(self) -> None:
        files, conversation_id = self._files, self._sessions.current.conversation_id
        self._bridge.run(files, lambda: self._chat.attachments.of(conversation_id), files.load)

    @Slot()
    def _on_changed(self) -> None:
        files = self.sender()
        assert isinstance(files, AttachedFiles)
        session = _session_of(files)
        # The session stays open while files are being read.
        session.is_reading = files.is_reading
        conversation_id = session.conversation_id
        if conversation_id and files.is_loaded and files.ready != files.stored:
            files.stored = files.ready
            # Whichever call runs last stores the current state.
            self._bridge.run(
                files, lambda: self._chat.attachments.set(conversation_id, files.ready)
            )
        if files is self._files:
            self._show()

    def _show(self) -> None:
        files = self._files
        self._composer.show_attachments(files.files, files.ready)
        self._composer.set_attachments_pending(is_pending=not files.is_settled)
        self.check()

    def _show_refusal(self, files: AttachedFiles, error: AppError | None) -> None:
        if files is self._files:
            self._composer.show_refusal(error)

    # --- actions of the person -------------------------------------------------------------------

    @Slot(object)
    def _on_files_added(self, paths: Sequence[Path]) -> None:
        self._files.add_files(paths)

    @Slot(object)
    def _on_image_pasted(self, image: QImage) -> None:
        self._files.add_image(image)

    @Slot()
    def _on_attach_requested(self) -> None:
        dialog = QFileDialog(self._page, tr("Attach files to this chat"))
        dialog.setObjectName("attachDialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self._on_files_chosen)
        dialog.open()

    @Slot("QStringList")
    def _on_files_chosen(self, names: list[str]) -> None:
        self._files.add_files(Path(name) for name in names)

    @Slot(int)
    def _on_removal_requested(self, key: int) -> None:
        self._files.remove(key)

    @Slot()
    def _on_submitted(self) -> None:
        self._files.drop_failed()

    def _on_examination_changed(self, event: ExaminationChanged) -> None:
        if not event.is_running:
            self.check()


def _session_of(files: AttachedFiles) -> ChatSession:
    session = files.parent()
    assert isinstance(session, ChatSession)
    return session
